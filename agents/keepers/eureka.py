"""Eureka, adapted to policies: no population; a generation is independent macro-mutations of one program.

`eureka` continues from the best of that generation, even if it is less fit than before, as the original method does.
`eureka-elite` continues from the best so far. The elite of both is the best so far.
"""

from dataclasses import dataclass, replace

from ...core.values import Candidate, Operator
from .outcomes import branch_ended
from .rounds import Request, Selection, fitter
from .selection import best_of, falls_behind
from .trials import Trial, bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Eureka:
    """The rule of Eureka. The population is the one program that the next generation mutates."""

    candidates: int
    keeps_best: bool

    def found(self, initial: Candidate) -> Candidate:
        """Generation 1 mutates p_0."""
        return initial

    def ask(self, generation: int, population: Candidate) -> tuple[Request, ...]:
        """Independent macro-mutations of the same program."""
        return (Request(operator=Operator.MACRO, parents=(population,)),) * self.candidates

    def select(
        self, generation: int, population: Candidate, elite: Candidate, candidates: tuple[Candidate, ...]
    ) -> Selection[Candidate]:
        """The fittest; the lowest slot wins a tie. If all failed, the parent stays."""
        best = best_of(candidates)
        elite = fitter(candidates, elite)
        chosen = elite if self.keeps_best else best or population
        winner = elite if self.keeps_best else best
        ended = branch_ended(generation, Operator.MACRO, winner)
        return Selection(population=chosen, elite=elite, facts=(ended,))

    def keep(self, selection: Selection[Candidate], elite: Candidate) -> Selection[Candidate]:
        """`eureka-elite` mutates the old elite again; `eureka` goes on from the best of the generation."""
        return replace(selection, elite=elite, population=elite if self.keeps_best else selection.population)

    def is_hopeless(self, trial: Trial, leader: Candidate | None, elite: Candidate) -> bool:
        """Whether it cannot be the best of its generation or, for `eureka-elite`, cannot reach the best so far."""
        return falls_behind(trial, leader) or (self.keeps_best and bound(trial) < elite.fitness)
