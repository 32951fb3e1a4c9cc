"""`memento methods`: the search methods."""

from typing import Final

from .output import print_table

EXAMPLE: Final = "memento methods"


def methods() -> None:
    """List the search methods."""
    from ..core.methods import METHODS

    print_table([(method.name, method.title) for method in METHODS.values()])
