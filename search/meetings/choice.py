"""The choice at the end of a search: its best programs meet on fresh episodes. Pure."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Any

from ...core import order_ids
from ...core.events import EliteChosen
from ...core.figures import figure_of
from ...core.keeper import Decision
from ...core.values import CandidateState, Ranked
from ..trials import chain
from .meeting import Adopts, Meeting, S, SearchState, begin_round
from .stream import Records, fitnesses, roll_on, stream_of, with_record

CONTENDERS = 5  # programs that a choice compares at most, the elite among them,
FEWEST = 4  # on this many common episodes at least,
MOST = 64  # and at most
SETTLED = 8  # common episodes before a choice may end early
KEPT = 12  # programs besides the elite that a search remembers for it: more, since records change their order


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Meeting):
    """The best programs of the run meet, by successive halving (Karnin, Koren and Somekh, 2013).

    `programs` are still in it, the elite first among equals; `met` are all that began it. All of `programs` are seen on
    the first `length` episodes of the stream. `left` further episodes may be ordered.
    """

    programs: tuple[CandidateState, ...]
    met: tuple[CandidateState, ...]
    length: int
    left: int

    def names(self) -> dict[str, CandidateState]:
        """The programs that are still in it by the ids of new records."""
        return {str(order_ids.choice(self.met.index(one))): one for one in self.programs}

    def end_round(self, keeper: Adopts[Any], state: Any) -> Decision[Any]:
        """The better half goes on; the last one is the elite, or the first where nothing else is worth an episode."""
        programs = better_half(self, state.records)
        if len(programs) > 1 and not self._is_settled(programs, state):
            length = next_length(programs, state.records, self.length, self.left)
            return _roll(keeper, state, replace(self, programs=programs, length=length))
        state = replace(state, meeting=None)
        fact = result_of(self, state.records, state.generation, programs[0])
        then = keeper.adopt(state, with_record(programs[0], state.records))
        return chain(Decision(state=state, facts=(fact,)), then)

    def _is_settled(self, programs: tuple[CandidateState, ...], state: SearchState) -> bool:
        """Whether more episodes are not worth their time.

        So it is where none of the programs failed in any fresh episode, or where the best one surely loses less than
        the tolerance to any other: below the upper end of the 95 % interval of each mean paired difference.
        """
        tolerance, records = state.trials.plan.fresh.tolerance, state.records
        if not tolerance or self.length < SETTLED:
            return False
        seen = [records[one.program.text] for one in programs]
        if all(one.success_rate == 1 and not _failures(one) for one in seen):
            return True
        best, *others = (fitnesses(records, one, self.length) for one in programs)
        return all(_greatest_gain(best, other) < tolerance for other in others)


def _greatest_gain(best: Sequence[float], other: Sequence[float]) -> float:
    """The upper end of the 95 % interval of the mean by which `other` is better, over common episodes."""
    gains = [b - a for a, b in zip(best, other, strict=True)]
    return fmean(gains) + 1.96 * stdev(gains) / math.sqrt(len(gains))


def with_contenders(state: S, found: Iterable[CandidateState]) -> S:
    """The state that remembers the programs which the choice may compare: every elite, and the fittest others."""
    return replace(state, contenders=best_known(state, found))


def best_known(state: SearchState, found: Iterable[CandidateState]) -> tuple[CandidateState, ...]:
    """The elite, and the fittest of what was found and is remembered."""
    known = {one.id: one for one in (*state.contenders, *found, state.elite) if one.fault is None and one.bound is None}
    ranked = sorted(known.values(), key=lambda one: (-one.fitness, one.generation, one.id))
    return tuple(one for place, one in enumerate(ranked) if place < KEPT or one.id == state.elite.id)


def crown(keeper: Adopts[S], state: S, elite: CandidateState) -> Decision[S]:
    """Adopt the elite of a generation; after the last one the best programs of the run meet once more."""
    choice = None
    if state.trials.plan.fresh.choice and keeper.is_last(state):
        choice = choice_of(state, elite, state.contenders)
    if choice is None:
        return keeper.adopt(state, with_record(elite, state.records))
    return _roll(keeper, state, choice)


def choice_of(state: SearchState, elite: CandidateState, known: Sequence[CandidateState]) -> Choice | None:
    """The choice between this elite and the best of the `known` programs; None without a second one.

    Its programs can be seen on the first `length` episodes; none of these is ordered yet.
    """
    plan = state.trials.plan
    met = contenders_of(elite, known, state.records)
    left = plan.fresh.choice if plan.episodes is None else plan.episodes - state.trials.ordered
    while len(met) > 1 and next_length(met, state.records, 0, left) < FEWEST:
        met = met[:-1]
    if len(met) < 2:
        return None
    length = next_length(met, state.records, 0, left)
    return Choice(programs=met, met=met, trials=state.trials, length=length, left=left)


def _roll(keeper: Adopts[S], state: S, choice: Choice) -> Decision[S]:
    """Roll the programs out on what they lack of the choice's episodes."""
    plan = state.trials.plan
    trials, orders = roll_on(plan, stream_of(plan.fresh), state.records, choice.names(), choice.length)
    return begin_round(keeper, state, replace(choice, trials=trials, left=choice.left - len(orders)), orders)


def contenders_of(
    elite: CandidateState, known: Sequence[CandidateState], records: Records
) -> tuple[CandidateState, ...]:
    """The elite and the best other programs, by all that was seen of them; each program once."""

    def known_of(one: CandidateState) -> float:
        return figure_of(with_record(one, records)).fitness

    found = {elite.program.text: elite}
    for one in sorted(known, key=lambda each: (-known_of(each), each.generation, each.id)):
        found.setdefault(one.program.text, one)
    return tuple(found.values())[:CONTENDERS]


def next_length(programs: Sequence[CandidateState], records: Records, length: int, left: int) -> int:
    """Up to which episode of the stream these programs can be seen with their share of `left` episodes."""
    rounds = max(1, math.ceil(math.log2(max(2, len(programs)))))
    share, cost = left // rounds, 0
    seen = [len(fitnesses(records, one)) for one in programs]
    while length < MOST:
        further = sum(each <= length for each in seen)
        if cost + further > share:
            break
        length, cost = length + 1, cost + further
    return length


def better_half(choice: Choice, records: Records) -> tuple[CandidateState, ...]:
    """The better half by the mean f_e of the common episodes, the best first; of equals the elite, then the earlier."""

    def mean(one: CandidateState) -> float:
        return math.fsum(fitnesses(records, one, choice.length))

    order = sorted(choice.programs, key=lambda one: (-mean(one), choice.met.index(one)))
    return tuple(order[: (len(order) + 1) // 2])


def result_of(choice: Choice, records: Records, generation: int, winner: CandidateState) -> EliteChosen:
    """The result of a choice."""
    ranking = []
    for one in choice.met:
        known, values = records[one.program.text], fitnesses(records, one)
        ranking.append(Ranked(
            candidate=one.id, episodes=len(values), fitness=math.fsum(values) / len(values),
            success_rate=known.success_rate, failures=_failures(known),
        ))
    ranking.sort(key=lambda each: (each.candidate != winner.id, -each.episodes, -each.fitness))
    return EliteChosen(generation=generation, candidate=winner.id, elite=choice.met[0].id, ranking=tuple(ranking))


def _failures(one: CandidateState) -> int:
    """The episodes that ended with a fault, or without success where the task has a predicate for it."""
    has_success = one.success_rate is not None
    return sum(each.fault is not None or (has_success and not each.success) for each in one.episodes)
