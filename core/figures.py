"""What is known of a program in one figure: all its episodes, those of the search and the fresh ones. Pure."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from .values import CandidateState

REGULAR_ENDS = frozenset({"success", "horizon"})
"""Endings that policy prompts do not distinguish: policy search never uses S (paper, section 3.2)."""
NOISE = 0.001
"""f_e of two programs in one episode that differ by no more are about equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFitness:
    """The mean f_e of a program over all `episodes` that were seen of it; of them `fresh` selected nothing.

    `on_fresh` is the mean over these, None without any. `early` counts the episodes that ended before their time, by
    a fault, a fall or a broken rule, under the words for that ending.
    """

    fitness: float
    episodes: int
    fresh: int = 0
    on_fresh: float | None = None
    early: Mapping[str, int]

    @property
    def ended_early(self) -> int:
        """How many of the episodes ended before their time."""
        return sum(self.early.values())


def figure_of(one: CandidateState) -> KnownFitness:
    """The figure of a candidate: never its F on the search's episodes alone where fresh ones were seen."""
    met = one.fresh
    fresh = [] if met is None else [score.fitness for score in met.scores]
    values = [*(score.fitness for score in one.scores), *fresh]
    early = Counter(
        each.ended_by for each in (*one.episodes, *(() if met is None else met.episodes))
        if each.ended_by not in REGULAR_ENDS
    )
    return KnownFitness(
        fitness=math.fsum(values) / len(values) if fresh else one.fitness, episodes=len(values) or len(one.episodes),
        fresh=len(fresh), on_fresh=math.fsum(fresh) / len(fresh) if fresh else None, early=dict(sorted(early.items())),
    )
