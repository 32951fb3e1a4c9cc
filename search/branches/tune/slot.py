"""One slot of the tuning branch: an optimiser tries other constants for a program, and what proves better is proposed.

A slot has three parts, and each ends it if it shows no gain:

1. Search: the optimiser tries values on the search's episodes, whose f_e of the program itself are known. CMA-ES takes
   these in turn, one population after the other; coordinate search tries each value on at least two.
2. Finals: the best values meet the program's own ones on a few fresh episodes. Constants that do not matter have
   the program's values again by then.
3. Duel: the best finalist meets the program itself on further fresh episodes, which have selected nothing.

The best of many values on one episode is also the luckiest: a gait that falls over from most other starts. A program
that fails on one start of four passes the twelve fresh episodes of finals and duel in one case of thirty.

A slot with too few episodes for its number of constants declines. Episodes that it does not use are for a later tuning.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Literal

from ....core.errors import SearchError
from ....core.events import ConstantsTried, TryConstants, TuningEnded
from ....core.faults import Fault, FaultKind
from ....core.order_ids import parse, vector_id
from ....core.programs.constants import Constant, tunable_constants, with_values
from ....core.seeds import derive_seed
from ....core.text import plural
from ....core.values import CandidateState, Program, TunedConstant
from ...rollout_plan import RolloutPlan
from .optimisers import FEW, CmaSearch, Optimiser, Point, Tried, optimiser_for, own_point
from .values import (
    Learned,
    f_ratio,
    in_ranges_of,
    in_words,
    learned_from,
    no_constants,
    result_of,
    values_at,
)

BATCHES = 2  # of the optimiser, at least
LEAST_FIRST = 2  # fresh episodes of each finalist in the smallest slot,
FIRST = 4  # and before a slot tries further values
DUEL = 2  # times as many further ones have the two programs of the duel
MOST_FINALISTS = 6
COMPARING = 6  # at most one part in this many of a long tuning's episodes goes to finals and duel
VECTORS = 60  # that a budget should suffice for before each vector gets a further episode,
PER_CONSTANT = 30  # or this many for each constant, whichever is more
LONG = 180  # episodes from which CMA-ES begins near the program's own values

MANY = 24  # vectors from which a constant without a visible effect is called insensitive,
MANY_PER_CONSTANT = 4  # and this many for each constant: one of ten that matter has none then, at worst
CLEAR = 1.5  # the F ratio of a constant that moves where there are fewer vectors: one in four has it by chance


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningTask:
    """What is tuned, and on what: the constants of a program, and the search's episodes with its own f_e on them."""

    id: str
    parent: CandidateState
    constants: tuple[Constant, ...]
    evaluator: Program
    split: str
    own: Mapping[int, float]  # f_e of the program itself, by the seed of the episode
    racing: bool
    seed: int  # of the slot, from which those of fresh episodes derive

    def own_fitness(self, seeds: Sequence[int]) -> float:
        """The mean f_e of the program itself."""
        return fsum(self.own[seed] for seed in seeds) / len(seeds)

    def fresh(self, first: int, count: int) -> tuple[int, ...]:
        """The seeds of fresh episodes, which nothing else of the run uses."""
        return tuple(derive_seed(self.seed, "fresh", e) for e in range(first, first + count))


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningShares:
    """How the episodes of a slot are divided."""

    each: int  # episodes on which the search tries one vector of values
    vectors: int  # that the search tries
    finalists: int  # the program's own values among them
    first: int  # episodes of each finalist
    further: int  # of both programs of the duel


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueBatch:
    """Vectors under trial on the same episodes. The first of them has the number `first` in its slot."""

    part: Literal["search", "finals", "duel"]
    first: int
    points: tuple[Point, ...]
    seeds: tuple[int, ...]
    answers: Mapping[int, ConstantsTried] = field(default_factory=dict)  # by the number of the vector

    def with_answer(self, fact: ConstantsTried) -> "ValueBatch":
        """The batch with one more result; itself if the result is not one of those that it lacks."""
        number = parse(fact.order or "").vector
        if number is None or not self.first <= number < self.first + len(self.points) or number in self.answers:
            return self
        return replace(self, answers={**self.answers, number: fact})

    @property
    def facts(self) -> tuple[ConstantsTried, ...]:
        """The results in the order of the points, once all are there; until then none."""
        if len(self.answers) < len(self.points):
            return ()
        return tuple(self.answers[number] for number in sorted(self.answers))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The state of one slot between two facts: what it is about, the batch under way, and what earlier ones showed."""

    task: TuningTask
    shares: TuningShares
    optimiser: Optimiser
    spare: int  # episodes that are not ordered yet
    batch: ValueBatch | None = None
    tried: tuple[Tried, ...] = ()  # of the search, as gains over the program itself on the same episodes
    finals: tuple[Tried, ...] = ()  # the program's own values first
    duel: tuple[Tried, ...] = ()  # the program's own values, and the best finalist
    vectors: int = 0  # tried so far, in all parts
    episodes: int = 0

    @property
    def id(self) -> str:
        """The slot."""
        return self.task.id

    @property
    def parent(self) -> CandidateState:
        """The program that is tuned."""
        return self.task.parent

    @property
    def over(self) -> bool:
        """Whether nothing is left to be tried."""
        return self.batch is None

    @property
    def learned(self) -> Learned | None:
        """What this tuning leaves for a later one; None from a coordinate search, which begins again."""
        return learned_from(self.parent.program, self.task.constants, self.optimiser)

    def take(self, fact: ConstantsTried) -> "tuple[Tuning, tuple[TryConstants, ...]]":
        """The tuning after one result. A batch counts once it is complete, in the order of its points."""
        batch = None if self.batch is None else self.batch.with_answer(fact)
        if batch is None or batch is self.batch:
            return self, ()
        if not batch.facts:
            return replace(self, batch=batch), ()
        results = tuple(result_of(each, len(batch.seeds)) for each in batch.facts)
        tuning = replace(
            self, batch=None, vectors=self.vectors + len(results),
            episodes=self.episodes + sum(len(each.fitnesses) for each in batch.facts),
        )
        match batch.part:
            case "search":
                return _searching(_learning(tuning, results, batch.seeds))
            case "finals":
                return _duelling(replace(tuning, finals=results))
            case _:
                return replace(tuning, duel=results), ()

    def conclusion(self) -> TuningEnded | Fault:
        """The program with the values that won the duel, or why there is none."""
        if len(self.duel) < 2 or self.duel[1].fitness <= self.duel[0].fitness:
            return not_tuned(_no_gain(self))
        own, best = self.duel
        constants, flat = self.task.constants, _insensitive(self)
        values = values_at(constants, best.point)
        moves = tuple(
            TunedConstant(name=each.name, before=each.value, after=value, insensitive=place in flat)
            for place, (each, value) in enumerate(zip(constants, values, strict=True))
        )
        return TuningEnded(
            order=self.id,
            program=with_values(self.parent.program, constants, values),
            summary=in_words(moves),
            constants=moves,
            tried=self.vectors,
            episodes=self.episodes,
            before=own.fitness,
            fitness=best.fitness,
        )


def begin_tuning(
    slot: str, parent: CandidateState, plan: RolloutPlan, *, episodes: int, seed: int, after: Learned | None = None
) -> tuple[Tuning, tuple[TryConstants, ...]] | Fault:
    """The tuning of a program with a budget of episodes, or why it declines.

    It goes on `after` an earlier one, if that tuned the same program with other values.
    """
    found = tunable_constants(parent.program)
    if not found:
        return no_constants()
    if plan.evaluator is None:
        raise SearchError("constants cannot be tuned without an evaluator")
    known = None if after is None else in_ranges_of(after, parent.program, found)
    scores = [score.fitness for score in parent.scores]
    own = scores if len(scores) == len(plan.seeds) else [parent.fitness] * len(plan.seeds)
    task = TuningTask(
        id=slot, parent=parent, constants=known or found, evaluator=plan.evaluator, split=plan.split,
        own=dict(zip(plan.seeds, own, strict=True)), racing=plan.racing, seed=seed,
    )
    each = _episodes_of_a_vector(len(found), len(plan.seeds), episodes)
    if after is None or known is None:
        before = task.own_fitness(plan.seeds[:each])
        optimiser = optimiser_for(found, fitness=before, seed=seed, near=episodes >= LONG)
    else:
        optimiser = after.optimiser.drawing(seed)
    shares = _shares(optimiser, each, episodes)
    if isinstance(shares, int):
        return not_tuned(
            f"{plural(len(found), 'constant')} would need {shares} episodes, and the slot had {max(0, episodes)}"
        )
    return _searching(Tuning(task=task, shares=shares, optimiser=optimiser, spare=episodes))


def not_tuned(why: str) -> Fault:
    """A slot of tuning that proposes nothing."""
    return Fault(kind=FaultKind.NOT_TUNED, message=why)


# ------------------------------------------------------- how episodes are divided, and what each part orders


def _episodes_of_a_vector(constants: int, seeds: int, episodes: int) -> int:
    """On how many of the search's episodes one vector is tried: many vectors come before many episodes.

    Coordinate search goes by single vectors, so each of its vectors needs two.
    """
    least = 1 if constants > FEW else 2
    return min(seeds, max(least, episodes // max(VECTORS, PER_CONSTANT * constants)))


def _shares(optimiser: Optimiser, each: int, episodes: int) -> TuningShares | int:
    """The shares, or the episodes that would be needed: two batches of the optimiser, the finals and the duel."""
    size = len(optimiser.ask())
    finalists = 3 if isinstance(optimiser, CmaSearch) else 2
    one = finalists + 2 * DUEL  # episodes of finals and duel for each first one of a finalist
    searched = BATCHES * size * each
    if episodes < searched + LEAST_FIRST * one:
        return searched + LEAST_FIRST * one
    first = min(FIRST, (episodes - searched) // one)
    comparing = episodes // COMPARING
    if comparing > FIRST * one:
        first = FIRST * max(1, comparing // (2 * FIRST * one))
        finalists = max(finalists, min(MOST_FINALISTS, comparing // first - 2 * DUEL))
    vectors = (episodes - (finalists + 2 * DUEL) * first) // each
    if isinstance(optimiser, CmaSearch):
        vectors -= vectors % size  # it learns from whole populations
    return TuningShares(each=each, vectors=vectors, finalists=finalists, first=first, further=DUEL * first)


def _searching(tuning: Tuning) -> tuple[Tuning, tuple[TryConstants, ...]]:
    """Ask the optimiser for the next points, as many as the shares allow; after the last ones the finals begin."""
    left = tuning.shares.vectors - tuning.vectors
    points = tuning.optimiser.ask()[:left] if left else ()
    if points:
        return _order_batch(tuning, "search", points, _turn(tuning))
    finalists = _finalists(tuning)
    if len(finalists) < 2:
        return tuning, ()
    return _order_batch(tuning, "finals", finalists, tuning.task.fresh(0, tuning.shares.first))


def _duelling(tuning: Tuning) -> tuple[Tuning, tuple[TryConstants, ...]]:
    """Order the duel of the best finalist with the program's own values, unless these are the best."""
    own = tuning.finals[0]
    best = max(tuning.finals, key=lambda each: each.fitness)  # of equal ones the first
    if best is own:
        return tuning, ()
    fresh = tuning.task.fresh(tuning.shares.first, tuning.shares.further)
    return _order_batch(tuning, "duel", (own.point, best.point), fresh)


def _order_batch(
    tuning: Tuning, part: Literal["search", "finals", "duel"], points: tuple[Point, ...], seeds: tuple[int, ...]
) -> tuple[Tuning, tuple[TryConstants, ...]]:
    """The orders to try a batch."""
    task = tuning.task
    batch = ValueBatch(part=part, first=tuning.vectors, points=points, seeds=seeds)
    floor = tuning.optimiser.floor if task.racing and part == "search" else None
    orders = tuple(
        TryConstants(
            id=vector_id(task.id, batch.first + place),
            program=with_values(task.parent.program, task.constants, values_at(task.constants, point)),
            point=point,
            evaluator=task.evaluator,
            split=task.split,
            seeds=seeds,
            floor=floor,
        )
        for place, point in enumerate(points)
    )
    return replace(tuning, batch=batch, spare=tuning.spare - len(orders) * len(seeds)), orders


def _turn(tuning: Tuning) -> tuple[int, ...]:
    """The seeds of the next batch of the search: for CMA-ES the next ones in turn, else always the first ones."""
    seeds, each = tuple(tuning.task.own), tuning.shares.each
    batches = len(tuning.tried) // len(tuning.optimiser.ask()) if isinstance(tuning.optimiser, CmaSearch) else 0
    return tuple(seeds[(batches * each + e) % len(seeds)] for e in range(each))


def _learning(tuning: Tuning, results: Sequence[Tried], seeds: Sequence[int]) -> Tuning:
    """The tuning after a batch of the search, with its gains over the program itself."""
    own = tuning.task.own_fitness(seeds)
    gains = tuple(replace(each, fitness=each.fitness - own) for each in results)
    return replace(tuning, optimiser=tuning.optimiser.after(results), tried=(*tuning.tried, *gains))


# --------------------------------------------------------------- what the search found, and what matters


def _finalists(tuning: Tuning) -> tuple[Point, ...]:
    """The program's own values, then the best ones that were found, all different.

    With many vectors these are the mean of CMA-ES and the best that were tried, where constants that do not matter
    keep the program's own values. With few vectors most effects are hidden by chance: so the best one is compared as
    it was tried, and with the constants alone that have a clear effect.
    """
    constants, own = tuning.task.constants, own_point(tuning.task.constants)
    places = frozenset(range(len(constants)))
    gained = [each for each in sorted(tuning.tried, key=lambda each: -each.fitness) if each.whole and each.fitness > 0]
    best = [each.point for each in gained]
    if not isinstance(tuning.optimiser, CmaSearch):
        found = best  # each step of coordinate search shows itself that its constant matters
    elif _many(tuning):
        found = [_kept(point, own, places - _insensitive(tuning)) for point in (tuning.optimiser.mean, *best)]
    else:
        clear = frozenset(place for place in places if _effect(tuning, place) >= CLEAR)
        kept = [_kept(point, own, clear) for point in (*best[:1], tuning.optimiser.mean, *best[1:])]
        found = [*kept[:1], *best[:1], *kept[1:]]
    different: dict[tuple[float, ...], Point] = {}
    for point in (own, *found):
        different.setdefault(values_at(constants, point), point)
    return tuple(different.values())[: tuning.shares.finalists]


def _kept(point: Point, own: Point, moving: frozenset[int]) -> Point:
    """The point with the program's own values but for the constants at these places."""
    return tuple(point[place] if place in moving else here for place, here in enumerate(own))


def _insensitive(tuning: Tuning) -> frozenset[int]:
    """The places of the constants on which the fitness does not seem to depend; none where there are few vectors.

    The tried values of a constant are divided into three equal parts. If the mean fitness differs between the parts
    by less than chance would make it differ (an F ratio below 1), the constant is insensitive.
    """
    if not _many(tuning):
        return frozenset()
    return frozenset(place for place in range(len(tuning.task.constants)) if _effect(tuning, place) < 1)


def _many(tuning: Tuning) -> bool:
    """Whether there are vectors enough to say that a constant has no effect."""
    return len(tuning.tried) >= max(MANY, MANY_PER_CONSTANT * len(tuning.task.constants))


def _effect(tuning: Tuning, place: int) -> float:
    return f_ratio([each.point[place] for each in tuning.tried], [each.fitness for each in tuning.tried])


def _no_gain(tuning: Tuning) -> str:
    """What ended the slot without a proposal."""
    tried = plural(len(tuning.tried), "vector")
    results, fresh = (tuning.duel, tuning.shares.further) if tuning.duel else (tuning.finals, tuning.shares.first)
    if not results:
        return f"no gain of {tried} could be distinguished from chance"
    best = max(each.fitness for each in results[1:])
    return (
        f"the best of {tried} had F {best:.3f} on {plural(fresh, 'fresh episode')}, "
        f"the program itself {results[0].fitness:.3f}"
    )
