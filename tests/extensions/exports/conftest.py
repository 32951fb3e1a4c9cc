"""A finished run and the real program, for all tests of exports."""

from ...cli.conftest import finished, memento

__all__ = ["finished", "memento"]
