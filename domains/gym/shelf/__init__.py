"""What the offline model builds policies of any Gymnasium environment with: parts that its spaces select and complete.

The parts are feedback and switches for one number of the action, rhythms for several, goal-seeking for goal
environments, and rules for discrete choices. Nothing is made for a particular environment: names, indices and sizes
come from the spaces, the documentation's tables and the ranges of random episodes.

    parts    the parts of a shelf that the spaces decide: constants and alternatives with the names of what moves
    signals  what the numbers of an observation are: places and speeds of what moves
"""

from functools import cache
from importlib.resources import files

from ....core.ports import Shelf, ShelfPart
from ...shelf_reader import read_shelf
from ..description import Description, description_of
from .parts import RHYTHM, facts_of, first_of, further_parts, kinds_of, tuning_episodes

__all__ = ["shelf", "tuning_episodes"]


def shelf(known: Description) -> Shelf:
    """The shelf of the environment that `known` describes."""
    return _shelf(known.as_text())


@cache
def _shelf(text: str) -> Shelf:
    known = description_of(text)
    parts: tuple[ShelfPart, ...] = further_parts(known)
    kinds = kinds_of(known)
    return read_shelf(files(__package__), facts_of(known), kinds=kinds, further=parts, first=first_of(known),
                      tuned=RHYTHM in kinds)
