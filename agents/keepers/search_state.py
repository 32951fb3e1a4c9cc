"""The common part of all search states, and their update by a step on trials."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from ...core.events import ProposalFailed, ProposalMade
from ...core.keeper import Decision
from ...core.values import Candidate
from .trials import Step, Trial, Trials, chained, failed


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """The state between two facts. `generation` g is in progress; its parents come from `elite`, C_(g-1)."""

    generation: int
    elite: Candidate
    requested: frozenset[str] = frozenset()  # proposals without an answer
    trials: Trials
    over: bool = False


S = TypeVar("S", bound=SearchState)
Settle = Callable[[S, Candidate], Decision[S]]
"""The decision after a candidate was evaluated or failed: its slot is spent."""


def tried(state: S, trial: Trial, fact: ProposalMade | ProposalFailed, settle: Settle[S]) -> Decision[S]:
    """Start the trial of a proposal, or settle it as a failed candidate."""
    if isinstance(fact, ProposalFailed):
        return settle(state, failed(trial, fact.fault))
    return followed(state, state.trials.begin(trial, shape=fact.shape), settle)


def followed(state: S, step: Step, settle: Settle[S]) -> Decision[S]:
    """Apply a step on trials, and settle the evaluated candidates one by one."""
    decision = Decision(state=replace(state, trials=step.trials), orders=step.orders, facts=step.facts)
    for candidate in step.settled:
        decision = chained(decision, settle(decision.state, candidate))
    return decision
