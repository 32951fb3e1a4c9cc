"""What the states of all searches have in common, and how a step on trials carries one of them on."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from ...core.events import ProposalFailed, ProposalMade
from ...core.keeper import Decision
from ...core.values import Candidate
from .trials import Step, Trial, Trials, chained, failed


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """The state between two facts. `generation` g is the one being made; its parents come from `elite`, C_(g-1)."""

    generation: int
    elite: Candidate
    asked: frozenset[str] = frozenset()  # proposals that have no answer yet
    trials: Trials
    over: bool = False


S = TypeVar("S", bound=SearchState)
Settle = Callable[[S, Candidate], Decision[S]]
"""What follows from a candidate that is evaluated or failed: its slot is spent."""


def tried(state: S, trial: Trial, fact: ProposalMade | ProposalFailed, settle: Settle[S]) -> Decision[S]:
    """Take up what was proposed for a slot: a trial, or a failed candidate."""
    if isinstance(fact, ProposalFailed):
        return settle(state, failed(trial, fact.fault))
    return followed(state, state.trials.begin(trial, shape=fact.shape), settle)


def followed(state: S, step: Step, settle: Settle[S]) -> Decision[S]:
    """Take a step on trials over, and settle those whom it evaluated, one after the other."""
    decision = Decision(state=replace(state, trials=step.trials), orders=step.orders, facts=step.facts)
    for candidate in step.settled:
        decision = chained(decision, settle(decision.state, candidate))
    return decision
