"""The common part of all search states, and their update by a step on trials."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from ...core.events import Fact, ProposalFailed, ProposalMade
from ...core.keeper import Decision
from ...core.values import Candidate
from .confirmation import Challenge, challenged, judged
from .trials import Step, Trial, Trials, chained, failed


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """The state between two facts. `generation` g is in progress; its parents come from `elite`, C_(g-1)."""

    generation: int
    elite: Candidate
    requested: frozenset[str] = frozenset()  # proposals without an answer
    trials: Trials
    over: bool = False
    challenge: Challenge | None = None  # the confirmation of the next elite, while it is under way


S = TypeVar("S", bound=SearchState)
Settle = Callable[[S, Candidate], Decision[S]]
"""The decision after a candidate was evaluated or failed: its slot is spent."""


Adopt = Callable[[S, Candidate], Decision[S]]
"""The decision after the elite of a generation is known."""


def confirmed(state: S, elite: Candidate, adopt: Adopt[S]) -> Decision[S]:
    """Adopt the elite of the generation; a new one may have to be confirmed on fresh episodes first."""
    plan = state.trials.plan
    if not plan.confirm_episodes or elite.id == state.elite.id:
        return adopt(state, elite)
    challenge, orders = challenged(plan, state.generation, elite, state.elite)
    ordered = state.trials.ordered + challenge.trials.ordered
    state = replace(state, challenge=challenge, trials=replace(state.trials, ordered=ordered))
    return Decision(state=state, orders=orders)


def follow_challenge(state: S, fact: Fact, adopt: Adopt[S]) -> Decision[S]:
    """Apply an answer to the confirmation under way. The last one decides which program is the elite."""
    if state.challenge is None:
        return Decision(state=state)
    challenge, orders = state.challenge.take(fact)
    verdict = judged(challenge, state.generation)
    if verdict is None:
        return Decision(state=replace(state, challenge=challenge), orders=orders)
    state = replace(state, challenge=None)
    elite = challenge.candidate if verdict.confirmed else challenge.elite
    return chained(Decision(state=state, orders=orders, facts=(verdict,)), adopt(state, elite))


def tried(state: S, trial: Trial, fact: ProposalMade | ProposalFailed, settle: Settle[S]) -> Decision[S]:
    """Start the trial of a proposal, or settle it as a failed candidate."""
    state = replace(state, trials=state.trials.practised(fact))
    if isinstance(fact, ProposalFailed):
        return settle(state, failed(trial, fact.fault))
    return followed(state, state.trials.begin(trial, shape=fact.shape), settle)


def followed(state: S, step: Step, settle: Settle[S]) -> Decision[S]:
    """Apply a step on trials, and settle the evaluated candidates one by one."""
    decision = Decision(state=replace(state, trials=step.trials), orders=step.orders, facts=step.facts)
    for candidate in step.settled:
        decision = chained(decision, settle(decision.state, candidate))
    return decision
