"""Which episodes a search will probably order next, so that idle workers can roll them out ahead. Pure.

An episode depends on its program, its number and its seed alone, so its result is the same whenever it is rolled out.
What is expected is known from the state between two facts: the fresh episodes on which the elite and the best program
of the generation so far would meet, and in the last generation those of the final choice. The order says what is
likelier; no decision depends on any of it, and a search that orders other episodes has lost nothing but idle time.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Literal

from ..core import order_ids
from ..core.events import Roll
from ..core.methods import SearchPart
from ..core.values import CandidateState
from .branches.tune.branch import Tunings
from .conversing import Talks
from .criticising import Looks
from .dealing import is_spent
from .elite_keeper import EliteKeeper
from .gate import AtTheGate
from .islands import IslandSearch, IslandsKeeper
from .meetings.challenge import Challenge
from .meetings.choice import best_known, choice_of
from .meetings.meeting import SearchState
from .meetings.paired import looks_of
from .meetings.starts import STARTS, FreshStarts, is_saturated, starts_stream
from .meetings.stream import NO_RECORDS, roll_on, stream_of
from .parts.speculation import Ahead
from .random_search import Draws
from .rounds import Round, fitter
from .sequencer import Stages
from .setting_groups import PartSettings, SettingGroup, Switch
from .state import Search

AHEAD = SettingGroup(
    name="rolling ahead", parts=frozenset({SearchPart.ELITE}),
    switches=(Switch(
        name="confirm_episodes",
        on=lambda values: bool(values["confirm_episodes"] or values["choice_episodes"])
        or values["stop_when"] == "saturated",
        otherwise="without fresh episodes, which alone are rolled out ahead: remove it, or set confirm_episodes",
    ),),
)


class AheadSettings(PartSettings):
    """Whether episodes are rolled out ahead."""

    roll_ahead: Literal["auto", "on", "off"] = AHEAD.field(
        "auto", "idle workers roll out fresh episodes that will probably be needed; changes no result"
    )


Key = tuple[str, int, int]

MOST = 24
"""Episodes that are expected at once: what comes later is less likely, and results take memory until they are used."""


def likely_rolls(state: Any, generations: int) -> tuple[Roll, ...]:
    """The rollouts that the keeper in this state will probably order, but has not ordered yet, the likeliest first.

    `state` is that of a whole run, `generations` how many its search may have. The ids may differ from those of the
    later orders; program, split, number and seed are the same.
    """
    keeper, search = _search_of(state)
    if search is None:
        return ()
    found = dict(islice(((_key(roll), roll) for roll in _of(keeper, search, generations)), 2 * MOST))
    return tuple(found.values())[:MOST]


def basis(state: Any) -> tuple[Any, ...]:
    """What `expected` depends on: while all of it is the same objects, there is no need to ask again.

    Most facts of a search are episodes and scores of candidates, which change none of it.
    """
    _, search = _search_of(state)
    if search is None:
        return ()
    if isinstance(search, IslandSearch):
        return (search.meeting, *(each for island in search.islands for each in _parts(island)))
    return _parts(search)


def _parts(search: SearchState) -> tuple[Any, ...]:
    found = tuple(getattr(search, name) for name in search.__dataclass_fields__ if name not in _ALWAYS_NEW)
    slices = search.slices if isinstance(search, Search) else {}
    return (*found, *(one for kind, one in slices.items() if kind not in _SLICES_ALWAYS_NEW))


_ALWAYS_NEW = frozenset({"trials", "requested", "slices"})
_SLICES_ALWAYS_NEW = frozenset({Tunings, Ahead})


def _search_of(state: Any) -> tuple[Any, SearchState | None]:
    """The keeper of the search under way, and its state."""
    keeper = None
    while isinstance(state, AtTheGate | Looks | Talks | Stages):
        if isinstance(state, Stages) and state.stage is not None:
            keeper = state.stage.keeper
        state = state.inner
    return keeper, state if isinstance(state, SearchState) else None


def _key(roll: Roll) -> Key:
    return roll.program.text, roll.index, roll.seed


def _of(keeper: Any, search: SearchState, generations: int) -> Iterator[Roll]:
    if search.over:
        return
    if isinstance(keeper, IslandsKeeper) and isinstance(search, IslandSearch) and search.meeting is None:
        for place, island in enumerate(search.islands):
            yield from _of(keeper.keeper_of(search, place), island, generations)
        return
    ordered = _under_way(search)
    yield from (roll for roll in _likely(keeper, search, generations) if _key(roll) not in ordered)


def _under_way(search: SearchState) -> frozenset[Key]:
    """The episodes of the meeting, which are in no record before its round ends."""
    if search.meeting is None:
        return frozenset()
    plan = search.meeting.trials.plan
    return frozenset(
        (trial.program.text, plan.number_of(place), seed)
        for trial in search.meeting.trials.open.values() for place, seed in enumerate(plan.seeds)
    )


def _likely(keeper: Any, search: SearchState, generations: int) -> Iterator[Roll]:
    match search.meeting:
        case None:
            yield from _before_meetings(keeper, search, generations)
        case Challenge() as challenge:
            yield from _next_look(search, challenge)
            if _is_last(search, generations):
                yield from _of_choice(keeper, search, challenge.candidate)
        case FreshStarts() as starts:
            yield from _further_starts(search, starts)


def _before_meetings(keeper: Any, search: SearchState, generations: int) -> Iterator[Roll]:
    """The generation is under way: its end is expected, with the leader so far as its best program."""
    fresh, leader = search.trials.plan.fresh, _leader(keeper, search)
    met = {order_ids.ELITE: search.elite}
    if leader.program != search.elite.program:
        met[order_ids.CANDIDATE] = leader
    looks = looks_of(fresh.confirm) if fresh.confirm else ()
    for length in looks[:1]:
        for who, one in met.items():
            yield from _rolls(search, {_name(search, who): one}, length)
    yield from _of_end(keeper, search, leader, generations)
    for length in looks[1:]:    # of the elite alone: every challenger meets it, but few leaders stay so for long
        yield from _rolls(search, {_name(search, order_ids.ELITE): search.elite}, length)


def _name(search: SearchState, who: str) -> str:
    return str(order_ids.confirmation(search.generation, who, island=search.trials.plan.island))


def _of_end(keeper: Any, search: SearchState, leader: CandidateState, generations: int) -> Iterator[Roll]:
    """What follows where the leader becomes the elite: fresh starts of a perfect one, and the final choice."""
    plan = search.trials.plan
    if plan.fresh.starts and leader.id != search.elite.id and is_saturated(leader):
        name = str(order_ids.fresh_starts(search.generation))
        length = min(STARTS, plan.fresh.starts)
        _, orders = roll_on(plan, starts_stream(plan.fresh), NO_RECORDS, {name: leader}, length)
        yield from (order for order in orders if isinstance(order, Roll))
    if _is_last(search, generations):
        yield from _of_choice(keeper, search, leader)


def _of_choice(keeper: Any, search: SearchState, leader: CandidateState) -> Iterator[Roll]:
    """The first round of the final choice, if the leader is the last elite."""
    plan = search.trials.plan
    if not plan.fresh.choice:
        return
    others = keeper.outputs(search) if isinstance(keeper, EliteKeeper) and isinstance(search, Search) else ()
    choice = choice_of(search, leader, best_known(search, (leader, *others)))
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
    _, orders = roll_on(plan, starts_stream(plan.fresh), starts.records, {name: starts.elite}, length)
    yield from (order for order in orders if isinstance(order, Roll))


def _rolls(search: SearchState, programs: Mapping[str, CandidateState], length: int) -> Iterator[Roll]:
    """The episodes that these programs lack of the first `length` fresh ones."""
    plan = search.trials.plan
    _, orders = roll_on(plan, stream_of(plan.fresh), search.records, programs, length)
    yield from (order for order in orders if isinstance(order, Roll))


def _leader(keeper: Any, search: SearchState) -> CandidateState:
    """The program that would end the generation as its best, if it ended now."""
    match search:
        case Search() if isinstance(keeper, EliteKeeper):
            return keeper.leader(search)
        case Round():
            return fitter(search.slots, search.elite)
        case Draws() if search.generation <= len(search.slots):
            return fitter(search.slots[search.generation - 1], search.elite)
    return search.elite


def _is_last(search: SearchState, generations: int) -> bool:
    return search.generation >= generations or is_spent(search.trials.plan, search.trials.ordered)
