"""Tuples whose places are filled one by one: the slots of a generation, the episodes of a trial."""

from typing import TypeVar

T = TypeVar("T")


def put(items: tuple[T | None, ...], place: int, item: T) -> tuple[T | None, ...]:
    """The same tuple with `item` at `place`."""
    return (*items[:place], item, *items[place + 1 :])
