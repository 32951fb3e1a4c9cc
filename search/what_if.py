"""What if: further draws of one recorded proposal, each rolled out on the episodes of its parents. Pure.

`OrderBefore` finds the order of a candidate in a keeper that a log is replayed through; `DrawsKeeper` asks for the same
proposal again, as often as wanted. Nothing is selected: every draw plays all episodes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.events import (
    CandidateRejected,
    CandidateScored,
    EvaluatorChosen,
    Fact,
    InitialChosen,
    ProposalFailed,
    ProposalMade,
    Propose,
)
from ..core.keeper import Decision, Keeper
from ..core.order_ids import draw_id, slot_of
from ..core.programs.program_text import digest
from ..core.values import CandidateState, Program
from .rollout_plan import RolloutPlan
from .trials import Step, Trials, brief_of, chain, failed_candidate, trial_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a search had concluded by then: E*, the first candidate of each program by its digest, and rejections."""

    evaluator: Program | None = None
    programs: Mapping[str, str] = field(default_factory=dict)
    rejected: frozenset[str] = frozenset()      # candidates that the climb rejected

    def after(self, fact: Fact) -> "Known":
        """What is known after one more conclusion."""
        match fact:
            case InitialChosen(order=str(order)):
                return self._with(fact.program, order)
            case CandidateScored(candidate=candidate) if candidate.program.text:
                return self._with(candidate.program, candidate.id)
            case CandidateRejected():
                return replace(self, rejected=self.rejected | {fact.candidate})
            case EvaluatorChosen(final=True):
                return replace(self, evaluator=fact.chosen.program)
        return self

    def _with(self, program: Program, candidate: str) -> "Known":
        return replace(self, programs={digest(program): candidate, **self.programs})


class OrderBefore:
    """Decides as the inner keeper does, and notes the last order for one proposal and what was known before it.

    A proposal that was requested speculatively may be ordered twice; the last one is the one that was answered.
    """

    def __init__(self, inner: Keeper[Any], candidate: str) -> None:
        self._inner = inner
        self._candidate = candidate
        self._known = Known()
        self.order: Propose | None = None
        self.known = Known()

    def start(self) -> Decision[Any]:
        """The start of the inner keeper."""
        return self._note(self._inner.start())

    def decide(self, state: Any, fact: Fact) -> Decision[Any]:
        """The decision of the inner keeper."""
        return self._note(self._inner.decide(state, fact))

    def finished(self, state: Any) -> bool:
        """Whether the inner keeper is finished."""
        return self._inner.finished(state)

    def _note(self, decision: Decision[Any]) -> Decision[Any]:
        for fact in decision.facts:
            self._known = self._known.after(fact)
        for order in decision.orders:
            if isinstance(order, Propose) and slot_of(order.id) == self._candidate:
                self.order, self.known = order, self._known
        return decision


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawsState:
    """The state: the draws that wait for an answer, the open trials, and the settled draws with their episodes."""

    waiting: frozenset[str]
    trials: Trials
    settled: Mapping[str, CandidateState] = field(default_factory=dict)


class DrawsKeeper:
    """Asks `draws` times for the proposal of an order, and rolls each out on the plan's episodes.

    A draw with the code of a parent or of another draw takes its episodes over.
    """

    def __init__(self, *, order: Propose, plan: RolloutPlan, draws: int) -> None:
        self._order = order
        self._plan = replace(plan, racing=False, duplicates=True)
        self._ids = tuple(draw_id(slot_of(order.id), number) for number in range(draws))

    def start(self) -> Decision[DrawsState]:
        """Order all proposals."""
        trials = Trials(plan=self._plan, open={})
        for parent in self._order.parents:
            trials = trials.knowing(parent)
        orders = tuple(replace(self._order, id=name) for name in self._ids)
        return Decision(state=DrawsState(waiting=frozenset(self._ids), trials=trials), orders=orders)

    def decide(self, state: DrawsState, fact: Fact) -> Decision[DrawsState]:
        """The decision after one proposal, episode or score."""
        if not isinstance(fact, ProposalMade | ProposalFailed):
            return _follow(state, state.trials.take(fact))
        name = fact.order or ""
        if name not in state.waiting:
            return Decision(state=state)
        state = replace(state, waiting=state.waiting - {name})
        order = self._order
        trial = trial_of(
            fact, name, operator=order.operator, generation=order.generation, slot=order.slot, parents=order.parents
        )
        if isinstance(fact, ProposalFailed):
            return _settle(state, failed_candidate(trial, fact.fault))
        return _follow(state, state.trials.begin(trial, shape=fact.shape))

    def finished(self, state: DrawsState) -> bool:
        """Whether every draw is settled."""
        return not state.waiting and not state.trials.open


def _follow(state: DrawsState, step: Step) -> Decision[DrawsState]:
    """The decision that a step of the trials leads to."""
    decision = Decision(state=replace(state, trials=step.trials), orders=step.orders, facts=step.facts)
    for candidate in step.settled:
        decision = chain(decision, _settle(decision.state, candidate))
    return decision


def _settle(state: DrawsState, candidate: CandidateState) -> Decision[DrawsState]:
    scored = CandidateScored(order=candidate.id, candidate=brief_of(candidate))
    return Decision(state=replace(state, settled={**state.settled, candidate.id: candidate}), facts=(scored,))


def shown_less(order: Propose) -> Propose:
    """The order as a search orders it whose memory is not full: prompts show nothing that was tried beside the climb.
    """
    return replace(order, tried=(), others=())

