"""Crossover: recombinations of the results of climb and macro-mutation (paper, Algorithm 2, lines 16 to 19)."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.keeper import Decision
from ...core.values import CandidateState, Operator
from ..branch import Branch, Engine, best_of
from ..parts.partners import Partners
from ..state import Search


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The parents of this generation's crossovers."""

    parents: tuple[CandidateState, CandidateState]


class Crossover(Branch):
    """C^cross is the best of K_cross recombinations of a pair, even if the elite is fitter."""

    operator = Operator.CROSSOVER

    def __init__(self, count: int, partners: Partners, *, follows: Sequence[Branch]) -> None:
        super().__init__(count, follows=follows)
        self.partners = partners

    def begin(self, search: Search, engine: Engine) -> Decision[Search]:
        """Both parents are known now."""
        return super().begin(search.with_slice(Pair(parents=self.partners.pair(search))), engine)

    def parents(self, search: Search) -> tuple[CandidateState, ...]:
        """The pair."""
        return search.slice(Pair).parents

    def result(self, search: Search) -> CandidateState | None:
        """The fittest candidate; None if all failed."""
        return best_of(search.slots.get(self.operator, ()))

    def least(self, search: Search) -> float:
        """None: the result is the best whatever the elite's F."""
        return 0.0
