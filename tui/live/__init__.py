"""The live display of a run in a terminal, drawn with rich."""
