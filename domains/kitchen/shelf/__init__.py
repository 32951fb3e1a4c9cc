"""What the offline model builds kitchen policies and evaluators with: parts of mixed quality, kept as Markdown.

The initial program, made of the first alternatives, fails. Nothing here comes from a reference policy or the
reference evaluator.
"""

from functools import cache

from ....core.ports import Shelf
from ...shelf_reader import read_shelf


@cache
def shelf() -> Shelf:
    """The shelf, read once."""
    return read_shelf(__package__)
