"""The version of MEMENTO, and nothing else: every part may import it, and the build reads it without running code."""

__version__ = "0.1.0"
