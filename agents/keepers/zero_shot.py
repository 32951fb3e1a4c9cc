"""Zero-shot (paper, section 4): programs from the initial prompt alone, in one round; the best is the result."""

from dataclasses import dataclass, replace

from ...core.values import Candidate, Operator
from .outcomes import branch_ended
from .rounds import Request, Selection
from .selection import best_of, falls_behind
from .trials import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroShot:
    """The rule of zero-shot policies. There is no population: no program depends on another."""

    candidates: int

    def found(self, initial: Candidate) -> None:
        """No population."""

    def ask(self, generation: int, population: None) -> tuple[Request, ...]:
        """Independent programs."""
        return (Request(operator=Operator.INITIAL),) * self.candidates

    def select(
        self, generation: int, population: None, elite: Candidate, candidates: tuple[Candidate, ...]
    ) -> Selection[None]:
        """The fittest candidate, even if p_0 was fitter; p_0 only if all failed."""
        best = best_of(candidates)
        ended = branch_ended(generation, Operator.INITIAL, best)
        return Selection(population=None, elite=best or elite, facts=(ended,))

    def keep(self, selection: Selection[None], elite: Candidate) -> Selection[None]:
        """Not used: the one round has no elite to compare with, so its settings refuse a confirmation."""
        return replace(selection, elite=elite)

    def is_hopeless(self, trial: Trial, leader: Candidate | None, elite: Candidate) -> bool:
        """Whether it cannot be the best."""
        return falls_behind(trial, leader)
