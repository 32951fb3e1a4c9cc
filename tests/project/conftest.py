"""The real program, in a process."""

from ..support.program import memento, memento_live

__all__ = ["memento", "memento_live"]
