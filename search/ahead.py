"""Which episodes a search will probably order next, so that idle workers can roll them out ahead. Pure.

An episode depends on its program, its number and its seed alone, so its result is the same whenever it is rolled out.
What is expected is known from the state between two facts: the fresh episodes on which the elite and the best program
of the generation so far would meet, and in the last generation those of the final choice. The order says what is
likelier; no decision depends on any of it, and a search that orders other episodes has lost nothing but idle time.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ..core import order_ids
from ..core.events import Roll
from ..core.values import CandidateState
from .conversing import Talks
from .criticising import Looks
from .fresh import NO_RECORDS, STARTS, Challenge, FreshStarts, is_saturated, looks_of, rolled, starts_stream, stream_of
from .gate import AtTheGate
from .islands import IslandSearch
from .meetings import SearchState, choice_of, kept
from .options import is_spent
from .random_search import Draws
from .rounds import Round, fitter
from .selection import Search, outputs, select_elite
from .sequencer import Stages

Key = tuple[str, int, int]

MOST = 24
"""Episodes that are expected at once: what comes later is less likely, and results take memory until they are used."""


def expected(state: Any, generations: int) -> tuple[Roll, ...]:
    """The rollouts that the keeper in this state will probably order, but has not ordered yet, the likeliest first.

    `state` is that of a whole run, `generations` how many its search may have. The ids may differ from those of the
    later orders; program, split, number and seed are the same.
    """
    search = _search_of(state)
    if search is None:
        return ()
    found = dict(islice(((_key(roll), roll) for roll in _of(search, generations)), 2 * MOST))
    return tuple(found.values())[:MOST]


def basis(state: Any) -> tuple[Any, ...]:
    """What `expected` depends on: while all of it is the same objects, there is no need to ask again.

    Most facts of a search are episodes and scores of candidates, which change none of it.
    """
    search = _search_of(state)
    if search is None:
        return ()
    if isinstance(search, IslandSearch):
        return (search.meeting, *(each for island in search.islands for each in _parts(island)))
    return _parts(search)


def _parts(search: SearchState) -> tuple[Any, ...]:
    return tuple(getattr(search, name) for name in search.__dataclass_fields__ if name not in _ALWAYS_NEW)


_ALWAYS_NEW = frozenset({"trials", "requested", "tunings", "ahead"})


def _search_of(state: Any) -> SearchState | None:
    while isinstance(state, AtTheGate | Looks | Talks | Stages):
        state = state.inner
    return state if isinstance(state, SearchState) else None


def _key(roll: Roll) -> Key:
    return roll.program.text, roll.index, roll.seed


def _of(search: SearchState, generations: int) -> Iterator[Roll]:
    if search.over:
        return
    if isinstance(search, IslandSearch) and search.meeting is None:
        for island in search.islands:
            yield from _of(island, generations)
        return
    ordered = _under_way(search)
    yield from (roll for roll in _likely(search, generations) if _key(roll) not in ordered)


def _under_way(search: SearchState) -> frozenset[Key]:
    """The episodes of the meeting, which are in no record before its round ends."""
    if search.meeting is None:
        return frozenset()
    plan = search.meeting.trials.plan
    return frozenset(
        (trial.program.text, plan.number_of(place), seed)
        for trial in search.meeting.trials.open.values() for place, seed in enumerate(plan.seeds)
    )


def _likely(search: SearchState, generations: int) -> Iterator[Roll]:
    match search.meeting:
        case None:
            yield from _before_meetings(search, _leader(search), generations)
        case Challenge() as challenge:
            yield from _next_look(search, challenge)
            if _is_last(search, generations):
                yield from _of_choice(search, challenge.candidate)
        case FreshStarts() as starts:
            yield from _further_starts(search, starts)


def _before_meetings(search: SearchState, leader: CandidateState, generations: int) -> Iterator[Roll]:
    """The generation is under way: its end is expected, with the leader so far as its best program."""
    fresh = search.trials.plan.fresh
    met = {order_ids.ELITE: search.elite}
    if leader.program != search.elite.program:
        met[order_ids.CANDIDATE] = leader
    looks = looks_of(fresh.confirm) if fresh.confirm else ()
    for length in looks[:1]:
        for who, one in met.items():
            yield from _rolls(search, {_name(search, who): one}, length)
    yield from _of_end(search, leader, generations)
    for length in looks[1:]:    # of the elite alone: every challenger meets it, but few leaders stay so for long
        yield from _rolls(search, {_name(search, order_ids.ELITE): search.elite}, length)


def _name(search: SearchState, who: str) -> str:
    return str(order_ids.confirmation(search.generation, who, island=search.trials.plan.island))


def _of_end(search: SearchState, leader: CandidateState, generations: int) -> Iterator[Roll]:
    """What follows where the leader becomes the elite: fresh starts of a perfect one, and the final choice."""
    plan = search.trials.plan
    if plan.fresh.starts and leader.id != search.elite.id and is_saturated(leader):
        name = str(order_ids.fresh_starts(search.generation))
        length = min(STARTS, plan.fresh.starts)
        _, orders = rolled(plan, starts_stream(plan.fresh), NO_RECORDS, {name: leader}, length)
        yield from (order for order in orders if isinstance(order, Roll))
    if _is_last(search, generations):
        yield from _of_choice(search, leader)


def _of_choice(search: SearchState, leader: CandidateState) -> Iterator[Roll]:
    """The first round of the final choice, if the leader is the last elite."""
    plan = search.trials.plan
    if not plan.fresh.choice:
        return
    others = outputs(search, measured=plan.episodes is not None) if isinstance(search, Search) else ()
    choice = choice_of(search, leader, kept(search, (leader, *others)))
    if choice is not None:
        yield from _rolls(search, choice.names(), choice.length)


def _next_look(search: SearchState, challenge: Challenge) -> Iterator[Roll]:
    """The pairs after those that are under way."""
    later = challenge.looks[challenge.look + 1 : challenge.look + 2]
    for length in later:
        yield from _rolls(search, challenge.names(search.generation), length)


def _further_starts(search: SearchState, starts: FreshStarts) -> Iterator[Roll]:
    """The starts after those that are under way."""
    plan = search.trials.plan
    name, length = str(order_ids.fresh_starts(search.generation)), min(starts.most, starts.length + STARTS)
    _, orders = rolled(plan, starts_stream(plan.fresh), starts.records, {name: starts.elite}, length)
    yield from (order for order in orders if isinstance(order, Roll))


def _rolls(search: SearchState, programs: Mapping[str, CandidateState], length: int) -> Iterator[Roll]:
    """The episodes that these programs lack of the first `length` fresh ones."""
    plan = search.trials.plan
    _, orders = rolled(plan, stream_of(plan.fresh), search.records, programs, length)
    yield from (order for order in orders if isinstance(order, Roll))


def _leader(search: SearchState) -> CandidateState:
    """The program that would end the generation as its best, if it ended now."""
    match search:
        case Search():
            return select_elite(search)
        case Round():
            return fitter(search.slots, search.elite)
        case Draws() if search.generation <= len(search.slots):
            return fitter(search.slots[search.generation - 1], search.elite)
    return search.elite


def _is_last(search: SearchState, generations: int) -> bool:
    return search.generation >= generations or is_spent(search.trials.plan, search.trials.ordered)
