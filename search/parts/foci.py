"""Another focus for each macro-mutation and crossover of a generation, drawn from the run's seed."""

from dataclasses import replace

from ...core.events import Propose
from ...core.methods import SearchPart
from ...core.seeds import derive_seed
from ...core.values import Focus, Operator
from ..part import Part
from ..setting_groups import PartSettings, SettingGroup
from ..state import Search

FOCI = SettingGroup(name="foci", parts=frozenset({SearchPart.MACRO}))


class FociSettings(PartSettings):
    """Whether there are foci."""

    macro_focus: bool = FOCI.field(True, "each macro-mutation and crossover of a generation gets another focus")


FOCUSED = frozenset({Operator.MACRO, Operator.CROSSOVER})


def focus_at(seed: int, generation: int, place: int, of: int) -> Focus:
    """The focus of proposal number `place` of a branch with `of` of them in a generation."""
    return Focus(seed=derive_seed(seed, "focus", generation), place=place, of=of)


class Foci(Part):
    """Draws the foci."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def show(self, search: Search, order: Propose) -> Propose:
        """The order with its focus."""
        if order.operator not in FOCUSED:
            return order
        places = len(search.slots[order.operator])
        return replace(order, focus=focus_at(self._seed, search.generation, order.slot, places))
