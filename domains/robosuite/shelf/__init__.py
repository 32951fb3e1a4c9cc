"""What the offline model builds policies and evaluators of the cube tasks with: parts of mixed quality, in Markdown.

One set of parts serves Lift and Stack, whose observations it reads. The initial program, made of the first
alternatives, fails.
"""

from functools import cache

from ....core.ports import Shelf
from ...shelf_reader import read_shelf

TASKS = ("Lift", "Stack")


@cache
def shelf(task: str) -> Shelf | None:
    """The shelf of a task; None for tasks without one."""
    return read_shelf(__package__, {"task": task}) if task in TASKS else None
