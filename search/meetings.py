"""The common part of all searches: their state, and the programs' meetings on fresh episodes. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from ..core import order_ids
from ..core.events import Fact, Order, ProposalFailed, ProposalMade, SaturationChecked
from ..core.keeper import Decision
from ..core.values import CandidateState
from .fresh import (
    FEWEST,
    STARTS,
    Challenge,
    Choice,
    FreshStarts,
    Meeting,
    Records,
    chosen,
    contenders,
    failed_starts,
    halved,
    is_saturated,
    joined_numbers,
    judged,
    looks_of,
    next_length,
    rolled,
    starts_stream,
    stream_of,
    with_record,
    with_starts,
)
from .trials import Step, Trial, Trials, chained, failed


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


def elect(keeper: Adopts[S], state: S, elite: CandidateState, others: Iterable[CandidateState] = ()) -> Decision[S]:
    """End the generation with its best program, which may have to win against the elite on fresh episodes first.

    `others` are further programs of the generation that the final choice may compare.
    """
    plan = state.trials.plan.fresh
    if plan.choice:
        state = replace(state, contenders=kept(state, (elite, *others)))
    if not plan.confirm or elite.id == state.elite.id:
        return _elected(keeper, state, elite)
    if elite.program == state.elite.program:
        return _elected(keeper, state, state.elite)  # the same program: there is nothing to compare
    challenge = Challenge(
        candidate=elite, elite=state.elite, trials=state.trials, looks=looks_of(plan.confirm)
    )
    return _challenge(keeper, state, challenge)


def follow_meeting(keeper: Adopts[S], state: S, fact: Fact) -> Decision[S]:
    """Apply an answer to the meeting under way. The last one of a round decides how it goes on."""
    meeting = state.meeting
    if meeting is None:
        return Decision(state=state)
    step = meeting.trials.take(fact)
    found = {each.program.text: each for each in step.settled}
    meeting = replace(meeting, trials=step.trials)
    if isinstance(meeting, FreshStarts):
        meeting = replace(meeting, records={**meeting.records, **found})
    else:
        state = replace(state, records={**state.records, **found})
    state = replace(state, meeting=meeting)
    if step.trials.open:
        return Decision(state=state, orders=step.orders)
    return chained(Decision(state=state, orders=step.orders), _round_ended(keeper, state))


def _round_ended(keeper: Adopts[S], state: S) -> Decision[S]:
    match state.meeting:
        case Challenge() as challenge:
            return _judge(keeper, state, challenge)
        case Choice() as choice:
            return _halve(keeper, state, choice)
        case FreshStarts() as starts:
            return _check_starts(keeper, state, starts)
    return Decision(state=state)


def _rolling(keeper: Adopts[S], state: S, meeting: Meeting, orders: tuple[Order, ...]) -> Decision[S]:
    """Go on with a round of a meeting; without anything to roll out it has ended already."""
    ordered = state.trials.ordered + len(orders)
    state = replace(state, meeting=meeting, trials=replace(state.trials, ordered=ordered))
    return Decision(state=state, orders=orders) if orders else _round_ended(keeper, state)


def _challenge(keeper: Adopts[S], state: S, challenge: Challenge) -> Decision[S]:
    """Roll out what this look lacks."""
    plan = state.trials.plan
    names = challenge.names(state.generation)
    trials, orders = rolled(plan, stream_of(plan.fresh), state.records, names, challenge.length)
    return _rolling(keeper, state, replace(challenge, trials=trials), orders)


def _judge(keeper: Adopts[S], state: S, challenge: Challenge) -> Decision[S]:
    verdict = judged(challenge, state.records, state.generation)
    if verdict is None:
        return _challenge(keeper, state, replace(challenge, look=challenge.look + 1))
    elite = challenge.candidate if verdict.confirmed else challenge.elite
    state = replace(state, meeting=None)
    return chained(Decision(state=state, facts=(verdict,)), _elected(keeper, state, elite))


def _elected(keeper: Adopts[S], state: S, elite: CandidateState) -> Decision[S]:
    """Adopt the elite of a generation; after the last one the best programs of the run meet once more."""
    plan = state.trials.plan
    if not plan.fresh.choice or not keeper.is_last(state):
        return keeper.adopt(state, with_record(elite, state.records))
    choice = choice_of(state, elite, state.contenders)
    if choice is None:
        return keeper.adopt(state, with_record(elite, state.records))
    return _roll_choice(keeper, state, choice)


def choice_of(state: SearchState, elite: CandidateState, known: Sequence[CandidateState]) -> Choice | None:
    """The final choice between this elite and the best of the `known` programs; None without a second one.

    Its programs can be seen on the first `length` episodes; none of these is ordered yet.
    """
    plan = state.trials.plan
    met = contenders(elite, known, state.records)
    left = plan.fresh.choice if plan.episodes is None else plan.episodes - state.trials.ordered
    while len(met) > 1 and next_length(met, state.records, 0, left) < FEWEST:
        met = met[:-1]
    if len(met) < 2:
        return None
    length = next_length(met, state.records, 0, left)
    return Choice(programs=met, met=met, trials=state.trials, length=length, left=left)


def _choose(keeper: Adopts[S], state: S, choice: Choice) -> Decision[S]:
    """See the programs that are left on further common episodes."""
    length = next_length(choice.programs, state.records, choice.length, choice.left)
    return _roll_choice(keeper, state, replace(choice, length=length))


def _roll_choice(keeper: Adopts[S], state: S, choice: Choice) -> Decision[S]:
    """Roll the programs of a choice out on what they lack of its episodes."""
    plan = state.trials.plan
    trials, orders = rolled(plan, stream_of(plan.fresh), state.records, choice.names(), choice.length)
    return _rolling(keeper, state, replace(choice, trials=trials, left=choice.left - len(orders)), orders)


def _halve(keeper: Adopts[S], state: S, choice: Choice) -> Decision[S]:
    programs = halved(choice, state.records)
    if len(programs) > 1:
        return _choose(keeper, state, replace(choice, programs=programs))
    state = replace(state, meeting=None)
    fact = chosen(choice, state.records, state.generation, programs[0])
    then = keeper.adopt(state, with_record(programs[0], state.records))
    return chained(Decision(state=state, facts=(fact,)), then)


def start_afresh(keeper: Adopts[S], state: S) -> Decision[S] | None:
    """Before a generation: look for a start on which a perfect elite fails. None if the generation may begin."""
    plan = state.trials.plan
    if not plan.fresh.starts or state.saturated or not is_saturated(state.elite):
        return None
    left = plan.fresh.starts if plan.episodes is None else plan.episodes - state.trials.ordered
    most = min(plan.fresh.starts, left)
    if most < 1:
        return None
    starts = FreshStarts(elite=state.elite, trials=state.trials, length=0, most=most)
    return _try_starts(keeper, state, starts)


def _try_starts(keeper: Adopts[S], state: S, starts: FreshStarts) -> Decision[S]:
    plan = state.trials.plan
    length = min(starts.most, starts.length + STARTS)
    name = str(order_ids.fresh_starts(state.generation))
    trials, orders = rolled(plan, starts_stream(plan.fresh), starts.records, {name: starts.elite}, length)
    return _rolling(keeper, state, replace(starts, trials=trials, length=length), orders)


def _check_starts(keeper: Adopts[S], state: S, starts: FreshStarts) -> Decision[S]:
    """A start on which the elite is not perfect joins the search's episodes; without any the search may end."""
    places = failed_starts(starts)
    if not places and starts.length < starts.most:
        return _try_starts(keeper, state, starts)
    state = replace(state, meeting=None, saturated=not places)
    elite = state.elite
    if places:
        plan = state.trials.plan
        stream = starts_stream(plan.fresh)
        numbers = joined_numbers(plan, places)
        state = replace(state, trials=state.trials.joined(tuple(stream(place) for place in places), numbers))
        elite = with_starts(starts, places, state.trials.plan)
        state = replace(state, elite=elite)
    checked = SaturationChecked(
        generation=state.generation, candidate=elite.id, episodes=starts.length,
        joined=tuple(state.trials.plan.fresh.first + place for place in places), fitness=elite.fitness,
        success_rate=elite.success_rate,
    )
    return chained(Decision(state=state, facts=(checked,)), keeper.begin_generation(state))


def kept(state: SearchState, found: Iterable[CandidateState]) -> tuple[CandidateState, ...]:
    """The programs that the final choice may compare: every elite, and the fittest others."""
    known = {one.id: one for one in (*state.contenders, *found, state.elite) if one.fault is None and one.bound is None}
    ranked = sorted(known.values(), key=lambda one: (-one.fitness, one.generation, one.id))
    return tuple(one for place, one in enumerate(ranked) if place < KEPT or one.id == state.elite.id)


KEPT = 12  # programs besides the elite: more than a choice compares, since records change their order


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
