"""Calibration in a robot cell (paper, appendix A): κ_(i+1) from κ_i and what the trials with it showed. Pure.

Each step tests one vector of constants. The next one starts from the last tested one, better or not, as in the paper;
the result is the best of the tested sequence.
"""

from dataclasses import dataclass, replace

from ..core.programs.calibration import worth
from ..core.values import CandidateState, Operator
from .outcomes import branch_ended
from .rounds import Selection, SlotRequest
from .trials import Trial

Tested = tuple[CandidateState, ...]
"""The tested programs, which differ in their constants only, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """Whether proposals follow the metrics of earlier trials, as a model's do; a random search reads none."""

    read_metrics: bool = True


class Calibration:
    """Implements `rounds.Rule`. The population is all that was tested.

    Of equal results the latest is kept: a model changes what metrics blame, and a change that lost no trial may have
    gained a margin that successes do not show, such as a smaller force. A search that reads no metrics moves at random
    among equals, so its earliest is kept. The given constants stay in both cases unless others are better.
    """

    def __init__(self, proposals: Proposals) -> None:
        self._latest = proposals.read_metrics

    def found(self, initial: CandidateState) -> Tested:
        """κ_0 is that of the given program."""
        return (initial,)

    def ask(self, generation: int, population: Tested) -> tuple[SlotRequest, ...]:
        """One proposal, from the last tested constants."""
        return (SlotRequest(operator=Operator.CALIBRATE, parents=population[-1:], earlier=population[:-1]),)

    def select(
        self, generation: int, population: Tested, elite: CandidateState, candidates: tuple[CandidateState, ...]
    ) -> Selection[Tested]:
        """The best so far."""
        tested = tuple(each for each in candidates if each.program.text)  # the others had no usable reply
        later_wins = self._latest and elite.operator is not Operator.INITIAL
        best = max((*tested, elite) if later_wins else (elite, *tested), key=worth)
        ended = branch_ended(generation, Operator.CALIBRATE, tested[0] if tested else None)
        return Selection(population=(*population, *tested), elite=best, facts=(ended,))

    def keep(self, selection: Selection[Tested], elite: CandidateState) -> Selection[Tested]:
        """The same with the old elite."""
        return replace(selection, elite=elite)

    def is_hopeless(self, trial: Trial, leader: CandidateState | None, elite: CandidateState) -> bool:
        """Never: each trial shows something, whatever comes of it."""
        return False
