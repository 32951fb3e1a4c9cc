"""The evaluator stage without evolution: E* is a given program, or the model's first valid one. Pure."""

from dataclasses import dataclass, replace

from ..core import order_ids
from ..core.errors import SearchError
from ..core.events import (
    EvaluatorChosen,
    EvaluatorExamined,
    Examine,
    Fact,
    ProposalFailed,
    ProposalMade,
    ProposeEvaluator,
)
from ..core.faults import Fault
from ..core.keeper import Decision
from ..core.values import CandidateState, EvaluatorCandidate, Examination, Program
from .initial import ATTEMPTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Unevolved:
    """The state between two facts: the attempt, and the evaluator under examination or chosen."""

    attempt: int = 0
    examined: EvaluatorCandidate | None = None
    chosen: EvaluatorCandidate | None = None  # E*; set at the end of the stage


class UnevolvedEvaluatorKeeper:
    """Settles E* on T_0 without judges: a given program, or zero-shot."""

    def __init__(self, *, baseline: CandidateState, given: Program | None) -> None:
        self._baseline = baseline
        self._given = given

    def start(self) -> Decision[Unevolved]:
        """Examine the given program, or request one."""
        return self._ask(Unevolved()) if self._given is None else self._examine(Unevolved(), self._given)

    def decide(self, state: Unevolved, fact: Fact) -> Decision[Unevolved]:
        """The decision after a reply or an examination. Raises SearchError if there is no valid evaluator."""
        name = self._id(state)
        match fact:
            case ProposalMade() if fact.order == name and self._given is None:
                return self._examine(state, fact.program, fact.summary, fact.measures)
            case ProposalFailed() if fact.order == name and self._given is None:
                return self._retry(state, fact.fault)
            case EvaluatorExamined() if state.examined and fact.order == order_ids.examine_id(name):
                return self._settle(state, state.examined, fact.examination)
        return Decision(state=state)

    def finished(self, state: Unevolved) -> bool:
        """Whether E* is settled."""
        return state.chosen is not None

    def _id(self, state: Unevolved) -> str:
        given = self._given is not None
        return str(order_ids.fixed_evaluator() if given else order_ids.zero_shot_evaluator(state.attempt))

    def _ask(self, state: Unevolved) -> Decision[Unevolved]:
        order = ProposeEvaluator(
            id=self._id(state),
            generation=0,
            slot=state.attempt,
            parent=None,
            episodes=self._baseline.episodes,
            success_rate=self._baseline.success_rate,
        )
        return Decision(state=state, orders=(order,))

    def _examine(
        self, state: Unevolved, program: Program, summary: str = "", measures: str = ""
    ) -> Decision[Unevolved]:
        candidate = EvaluatorCandidate(
            id=self._id(state), generation=0, slot=state.attempt, program=program, summary=summary, measures=measures
        )
        order = Examine(
            id=order_ids.examine_id(candidate.id), evaluator=program, episodes=self._baseline.episodes
        )
        return Decision(state=replace(state, examined=candidate), orders=(order,))

    def _settle(
        self, state: Unevolved, candidate: EvaluatorCandidate, examination: Examination
    ) -> Decision[Unevolved]:
        if examination.fault is not None:
            if self._given is not None:
                raise SearchError(f"the given evaluator is not valid: {examination.fault.message}")
            return self._retry(state, examination.fault)
        chosen = replace(candidate, examination=examination)
        fact = EvaluatorChosen(generation=0, chosen=chosen, final=True)
        return Decision(state=replace(state, chosen=chosen), facts=(fact,))

    def _retry(self, state: Unevolved, fault: Fault) -> Decision[Unevolved]:
        if state.attempt + 1 >= ATTEMPTS:
            raise SearchError(
                f"no valid evaluator in {ATTEMPTS} replies (the last: {fault.message}); "
                "use --evaluator reference, or another model"
            )
        return self._ask(Unevolved(attempt=state.attempt + 1))
