"""The faces of a run: a pure view of its facts, and displays that tell it."""
