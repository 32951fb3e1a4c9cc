"""The slots of a generation, the options of a search, and the settings of its parts."""

from dataclasses import dataclass
from typing import TypeVar

from ..core.methods import SearchPart
from .setting_groups import Count, PartSettings, Positive, SettingGroup

T = TypeVar("T")

GENERATIONS = SettingGroup(name="generations", parts=frozenset({SearchPart.GENERATIONS}))
BRANCHES = SettingGroup(name="branches", parts=frozenset({SearchPart.BRANCHES}))
SLOTS = SettingGroup(name="slots", parts=frozenset({SearchPart.SLOTS}))


class SlotSettings(PartSettings):
    """The generations of a search, and the slots of each."""

    generations: Positive = GENERATIONS.field(..., "G, generations of policy search")
    k_hc: Count = BRANCHES.field(..., "hill-climb proposals per generation")
    k_macro: Count = BRANCHES.field(..., "macro-mutations per generation")
    k_cross: Count = BRANCHES.field(..., "crossovers per generation")
    k_tune: Count = BRANCHES.field(0, "tunings of the elite's constants per generation, without a model")
    k: Positive = SLOTS.field(24, "candidates per generation, in methods with one kind of proposal")


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationBudget:
    """The budget: K_hc, K_macro and K_cross proposals per generation, G generations.

    `tune` slots tune constants, each with `tune_episodes` episodes, in `tune_generations` generations from the second
    on; 0: in all.
    """

    generations: int
    hill_climb: int
    macro: int
    crossover: int
    tune: int = 0
    tune_episodes: int = 0
    tune_generations: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """`seed` is the run's seed, for methods that draw."""

    seed: int = 0


PLAIN = SearchOptions()


class Choices:
    """The settings of the parts of a method. Each part asks for the class of its own settings."""

    def __init__(self, *given: object) -> None:
        """Earlier ones come first where several are of one class. All settings of a run are of every part's class."""
        self._given = given

    def of(self, kind: type[T]) -> T:
        """The settings of a part; its defaults where nothing is given."""
        return next((each for each in self._given if isinstance(each, kind)), None) or kind()

    def but(self, *given: object) -> "Choices":
        """The same, except that these parts have other settings."""
        return Choices(*given, *self._given)
