"""How every candidate of a stage is evaluated: its episodes with common seeds, and the fresh ones."""

from dataclasses import dataclass

from ..core.methods import SearchPart
from ..core.values import Program
from .setting_groups import Count, PartSettings, Positive, SettingGroup, Share

ROLLOUTS = SettingGroup(name="rollouts")
FRESH = SettingGroup(name="fresh episodes", parts=frozenset({SearchPart.ELITE}))


class RolloutSettings(PartSettings):
    """The episodes of each candidate, and the fresh ones of elites."""

    n_roll: Positive = ROLLOUTS.field(..., "N_roll, episodes per candidate")
    duplicates: bool = ROLLOUTS.field(False, "a known program takes its episodes over; changes no result")
    confirm_episodes: Count = FRESH.field(0, "fresh episodes, at most, on which a new elite meets the old one")
    choice_episodes: Count = FRESH.field(0, "fresh episodes, at the end of the search, of its best programs")
    choice_tolerance: Share = FRESH.field(0.005, "the difference of F that this choice leaves open; 0: none")


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshPlan:
    """The fresh episodes of a search: pairs of a challenge, episodes of the last choice, starts of a perfect elite.

    0 is none of them, as in the paper. Their seeds derive from `seed`. `first` is the number of their first episode in
    its environment: after those of the search, since the number, too, decides what an episode is, such as its kitchen.
    A choice does not resolve differences of f_e below `tolerance`; with 0 it takes all its episodes.
    """

    seed: int = 0
    confirm: int = 0
    choice: int = 0
    starts: int = 0
    first: int = 0
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutPlan:
    """How every candidate of a stage is evaluated: N_roll episodes with common seeds, then scored.

    Episode e of every candidate uses `seeds[e]` (common random numbers), so that candidates differ by
    their code alone. Its number in its environment is `numbers[e]`, or e without any. Without an `evaluator` episodes
    are only rolled out. With `racing`, a method that needs only the winner may prune a candidate that cannot win any
    more. With `duplicates`, a program that was proposed before takes that one's episodes over.
    """

    split: str  # of the run's environments: "search", or one of `stages.split_of`
    seeds: tuple[int, ...]
    evaluator: Program | None
    racing: bool = False
    duplicates: bool = False
    has_success: bool = True  # False: the task has no success predicate, so that S does not exist
    fitness: str = ""  # what the evaluator measures, for prompts
    episodes: int | None = None  # the most episodes that the stage may order; None: no budget of episodes
    practice: int = 0  # episodes in which one proposal may try drafts, which a budget of episodes counts as well
    fresh: FreshPlan = FreshPlan()
    island: int = 0  # whose candidates are evaluated, from 1; 0 in a search that has only one
    numbers: tuple[int, ...] = ()
    version: int = 1  # of the evaluator

    def number_of(self, place: int) -> int:
        """The number of an episode in its environment and in the ids of its orders."""
        return self.numbers[place] if self.numbers else place

    def place_of(self, number: int) -> int | None:
        """The place of the episode with this number; None without such an episode."""
        if self.numbers:
            return self.numbers.index(number) if number in self.numbers else None
        return number if number < len(self.seeds) else None
