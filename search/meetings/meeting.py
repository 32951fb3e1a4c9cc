"""The common part of all searches: their state, and how programs meet on fresh episodes. Pure.

A *challenge* decides between the best of a generation and the elite. A *choice*, at the end of the last generation,
compares the best programs of the run. And where nothing is left to gain on the search's episodes, *fresh starts* look
for an episode in which the elite fails.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from ...core.events import Fact, Order, ProposalFailed, ProposalMade
from ...core.keeper import Decision
from ...core.values import CandidateState
from ..trials import Step, Trial, Trials, chain, failed_candidate
from .stream import Records


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """Programs on fresh episodes: their open trials."""

    trials: Trials

    def with_records(self, state: "S", found: Mapping[str, CandidateState]) -> "S":
        """The state in which this meeting goes on, with what was seen of programs in it."""
        return replace(state, meeting=self, records={**state.records, **found})

    def end_round(self, keeper: "Adopts[Any]", state: Any) -> Decision[Any]:
        """The decision after the last episode of a round."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """The state between two facts. `generation` g is in progress; its parents come from `elite`, C_(g-1).

    `records` hold what was seen of programs on fresh episodes, `contenders` the best programs for the final choice,
    `meeting` is a comparison on fresh episodes under way. `saturated`: the elite is perfect on fresh starts, too.
    """

    generation: int
    elite: CandidateState
    requested: frozenset[str] = frozenset()  # proposals without an answer
    trials: Trials
    over: bool = False
    records: Records = field(default_factory=dict)
    contenders: tuple[CandidateState, ...] = ()
    meeting: Meeting | None = None
    saturated: bool = False


S = TypeVar("S", bound=SearchState)
Settle = Callable[[S, CandidateState], Decision[S]]
"""The decision after a candidate was evaluated or failed: its slot is spent."""


class Adopts(Protocol[S]):
    """The part of a keeper that the meetings on fresh episodes need."""

    def is_last(self, state: S) -> bool:
        """Whether the generation in progress is the last."""

    def adopt(self, state: S, elite: CandidateState) -> Decision[S]:
        """The decision after the elite of the generation is known."""

    def begin_generation(self, state: S) -> Decision[S]:
        """Open the next generation, or end the search."""


def begin_round(keeper: Adopts[S], state: S, meeting: Meeting, orders: tuple[Order, ...]) -> Decision[S]:
    """Go on with a round of a meeting; without anything to roll out it has ended already."""
    ordered = state.trials.ordered + len(orders)
    state = replace(state, meeting=meeting, trials=replace(state.trials, ordered=ordered))
    return Decision(state=state, orders=orders) if orders else meeting.end_round(keeper, state)


def follow_meeting(keeper: Adopts[S], state: S, fact: Fact) -> Decision[S]:
    """Apply an answer to the meeting under way. The last one of a round decides how it goes on."""
    if state.meeting is None:
        return Decision(state=state)
    step = state.meeting.trials.take(fact)
    meeting = replace(state.meeting, trials=step.trials)
    state = meeting.with_records(state, {each.program.text: each for each in step.settled})
    here = Decision(state=state, orders=step.orders)
    if step.trials.open or state.meeting is None:
        return here
    return chain(here, state.meeting.end_round(keeper, state))


def attempt(state: S, trial: Trial, fact: ProposalMade | ProposalFailed, settle: Settle[S]) -> Decision[S]:
    """Start the trial of a proposal, or settle it as a failed candidate."""
    state = replace(state, trials=state.trials.with_practice(fact))
    if isinstance(fact, ProposalFailed):
        return settle(state, failed_candidate(trial, fact.fault))
    return follow(state, state.trials.begin(trial, shape=fact.shape), settle)


def follow(state: S, step: Step, settle: Settle[S]) -> Decision[S]:
    """Apply a step on trials, and settle the evaluated candidates one by one."""
    decision = Decision(state=replace(state, trials=step.trials), orders=step.orders, facts=step.facts)
    for candidate in step.settled:
        decision = chain(decision, settle(decision.state, candidate))
    return decision
