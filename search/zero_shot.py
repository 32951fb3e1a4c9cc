"""Zero-shot (paper, section 4): programs from the initial prompt alone, in one round; the best is the result. Pure."""

from dataclasses import dataclass, replace

from ..core.values import CandidateState, Operator
from .branch import best_of, falls_behind
from .outcomes import branch_ended
from .rounds import Selection, SlotRequest
from .trials import Trial, bound


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroShot:
    """The rule of zero-shot policies. There is no population: no program depends on another."""

    candidates: int

    def found(self, initial: CandidateState) -> None:
        """No population."""

    def ask(self, generation: int, population: None) -> tuple[SlotRequest, ...]:
        """Independent programs."""
        return (SlotRequest(operator=Operator.INITIAL),) * self.candidates

    def select(
        self, generation: int, population: None, elite: CandidateState, candidates: tuple[CandidateState, ...]
    ) -> Selection[None]:
        """The fittest candidate, even if p_0 was fitter; p_0 only if all failed."""
        best = best_of(candidates)
        ended = branch_ended(generation, Operator.INITIAL, best)
        return Selection(population=None, elite=best or elite, facts=(ended,))

    def keep(self, selection: Selection[None], elite: CandidateState) -> Selection[None]:
        """Not used: the one round has no elite to compare with, so its settings refuse a confirmation."""
        return replace(selection, elite=elite)

    def is_hopeless(self, trial: Trial, leader: CandidateState | None, elite: CandidateState) -> bool:
        """Whether it cannot be the best."""
        return falls_behind(trial, leader, bound(trial))
