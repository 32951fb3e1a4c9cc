"""Eureka, adapted to policies: no population; a generation is independent macro-mutations of one program. Pure.

`eureka` continues from the best of that generation, even if it is less fit than before, as the original method does.
`eureka-elite` continues from the best so far. The elite of both is the best so far.
"""

from dataclasses import dataclass, replace

from ..core.values import CandidateState, Operator
from .branch import best_of, falls_behind
from .outcomes import branch_ended
from .rounds import Selection, SlotRequest, fitter
from .trials import Trial, bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Eureka:
    """The rule of Eureka. The population is the one program that the next generation mutates."""

    candidates: int
    keeps_best: bool

    def found(self, initial: CandidateState) -> CandidateState:
        """Generation 1 mutates p_0."""
        return initial

    def ask(self, generation: int, population: CandidateState) -> tuple[SlotRequest, ...]:
        """Independent macro-mutations of the same program."""
        return (SlotRequest(operator=Operator.MACRO, parents=(population,)),) * self.candidates

    def select(
        self, generation: int, population: CandidateState, elite: CandidateState, candidates: tuple[CandidateState, ...]
    ) -> Selection[CandidateState]:
        """The fittest; the lowest slot wins a tie. If all failed, the parent stays."""
        best = best_of(candidates)
        elite = fitter(candidates, elite)
        chosen = elite if self.keeps_best else best or population
        winner = elite if self.keeps_best else best
        ended = branch_ended(generation, Operator.MACRO, winner)
        return Selection(population=chosen, elite=elite, facts=(ended,))

    def keep(self, selection: Selection[CandidateState], elite: CandidateState) -> Selection[CandidateState]:
        """`eureka-elite` mutates the old elite again; `eureka` goes on from the best of the generation."""
        return replace(selection, elite=elite, population=elite if self.keeps_best else selection.population)

    def is_hopeless(self, trial: Trial, leader: CandidateState | None, elite: CandidateState) -> bool:
        """Whether it cannot be the best of its generation or, for `eureka-elite`, cannot reach the best so far."""
        most = bound(trial)
        return falls_behind(trial, leader, most) or (self.keeps_best and most < elite.fitness)
