"""What the offline model builds Hanoi policies and evaluators with: parts of mixed quality, kept as Markdown.

The initial program, made of the first alternatives, fails. Nothing here comes from a reference policy or the
reference evaluator.
"""

from functools import cache

from ....core.ports import Shelf
from ...shelf_reader import read_shelf


@cache
def shelf(n_cubes: int) -> Shelf:
    """The shelf for a tower of `n_cubes`. Its programs read sizes and positions from what they observe."""
    return read_shelf(__package__, {"n_cubes": str(n_cubes)})
