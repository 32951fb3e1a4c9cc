"""How fast parts of MEMENTO are, measured where it runs."""
