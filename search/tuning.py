"""One slot of the tuning branch: an optimiser tries other constants for a program, and the best go into a candidate.

The values are tried on the first of the search's episodes, whose seeds all candidates share, so that values differ
by their effect alone. Where many values fit into the budget each gets few episodes; the candidate gets all of them.

The best of many values on one episode is also the luckiest: a gait that falls over from most other starts. So a long
tuning by CMA-ES takes the search's episodes in turn, one population after the other, and compares the best values on
further episodes at its end.

CMA-ES goes on where an earlier tuning ended, if the program is the same but for the values of its constants.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..core.errors import SearchError
from ..core.events import ConstantsTried, TryConstants, TuningEnded
from ..core.order_ids import parse, vector_id
from ..core.programs.constants import Constant, tunable_constants, with_values
from ..core.programs.program_text import MAX_SUMMARY, digest
from ..core.seeds import derive_seed
from ..core.text import one_line
from ..core.values import CandidateState, Program, TunedConstant
from .trials import RolloutPlan
from .tuning_search import CmaSearch, Optimiser, Point, Tried, optimiser_for, own_point

VECTORS = 60  # that a budget should suffice for before each gets a further episode,
PER_CONSTANT = 30  # and so many for each constant
FINALISTS = 5  # values that a long tuning compares at least, the program's own among them,
FINAL_EPISODES = 6  # on so many further episodes each
LONG = 6 * FINALISTS * FINAL_EPISODES  # episodes of a tuning, so that this is at most a sixth


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The state of one slot between two facts. `left` counts the values that may still be tried.

    A long tuning takes the episodes of `turns` in turn, and compares so many `finalists` at its end.
    """

    id: str
    parent: CandidateState
    constants: tuple[Constant, ...]
    optimiser: Optimiser
    evaluator: Program
    split: str
    seeds: tuple[int, ...]  # of the batch
    racing: bool
    before: float  # of the parent on these seeds
    left: int
    turns: tuple[int, ...] = ()  # none: every batch has the same episodes
    finalists: int = 0
    final_seeds: tuple[int, ...] = ()  # of the finalists
    comparing: bool = False  # the batch is the finalists
    compared: tuple[Tried, ...] = ()  # their results, the program's own values first
    batch: tuple[Point, ...] = ()
    answers: Mapping[int, ConstantsTried] = field(default_factory=dict)  # of the batch, by the number of the values
    tried: tuple[Tried, ...] = ()  # of earlier batches
    episodes: int = 0

    @property
    def over(self) -> bool:
        """Whether nothing is left to be tried."""
        return not self.batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What a tuning leaves for a later one of the same program with other values of its constants."""

    constants: tuple[Constant, ...]
    structure: str
    optimiser: CmaSearch


def begun(
    slot: str,
    parent: CandidateState,
    plan: RolloutPlan,
    *,
    episodes: int,
    seed: int,
    after: Learned | None = None,
    compares: bool = True,
) -> tuple[Tuning, tuple[TryConstants, ...]] | None:
    """The tuning of a program with a budget of episodes; None if it names no constants that it reads.

    It goes on `after` an earlier one, if that tuned the same program with other values. With `compares` a long tuning
    by CMA-ES takes the search's episodes in turn, and compares the best values at its end.
    """
    constants = tunable_constants(parent.program)
    if not constants:
        return None
    known = None if after is None else _in_ranges_of(after, parent.program, constants)
    if plan.evaluator is None:
        raise SearchError("constants cannot be tuned without an evaluator")
    each = min(len(plan.seeds), max(1, episodes // max(VECTORS, PER_CONSTANT * len(constants))))
    scores = [score.fitness for score in parent.scores[:each]]
    before = math.fsum(scores) / each if len(scores) == each else parent.fitness
    long = compares and episodes >= LONG
    if after is None or known is None:
        optimiser = optimiser_for(constants, fitness=before, seed=seed, near=long)
    else:
        optimiser = after.optimiser.drawing(seed)
    tuning = Tuning(
        id=slot, parent=parent, constants=known or constants, evaluator=plan.evaluator, split=plan.split,
        optimiser=optimiser, seeds=plan.seeds[:each], racing=plan.racing, before=before,
        left=max(1, episodes // each),
    )
    return _next_batch(_comparing(tuning, episodes, plan, seed) if long else tuning)


def _comparing(tuning: Tuning, episodes: int, plan: RolloutPlan, seed: int) -> Tuning:
    """The tuning with finalists: whole populations, and the rest of the episodes for the comparison."""
    if not isinstance(tuning.optimiser, CmaSearch):
        return tuning
    each, size = len(tuning.seeds), tuning.optimiser.population_size
    left = (episodes - FINALISTS * FINAL_EPISODES) // each
    left -= left % size
    return replace(
        tuning, left=left, turns=plan.seeds, finalists=(episodes - each * left) // FINAL_EPISODES,
        final_seeds=tuple(derive_seed(seed, "final", e) for e in range(FINAL_EPISODES)),
    )


def learned_by(tuning: Tuning) -> Learned | None:
    """What this tuning leaves for a later one; None from a coordinate search, which begins again."""
    if not isinstance(tuning.optimiser, CmaSearch):
        return None
    structure = _structure(tuning.parent.program, tuning.constants)
    return Learned(constants=tuning.constants, structure=structure, optimiser=tuning.optimiser)


def taken(tuning: Tuning, fact: ConstantsTried) -> tuple[Tuning, tuple[TryConstants, ...]]:
    """The tuning after one result. The optimiser learns a batch once it is complete, in the order of its points."""
    number = parse(fact.order or "").vector
    first = len(tuning.tried)
    if number is None or not first <= number < first + len(tuning.batch) or number in tuning.answers:
        return tuning, ()
    tuning = replace(tuning, answers={**tuning.answers, number: fact})
    if len(tuning.answers) < len(tuning.batch):
        return tuning, ()
    facts = [tuning.answers[first + place] for place in range(len(tuning.batch))]
    batch = [_result(each, len(tuning.seeds)) for each in facts]
    episodes = tuning.episodes + sum(len(each.fitnesses) for each in facts)
    tuning = replace(tuning, batch=(), answers={}, episodes=episodes)
    if tuning.comparing:
        return replace(tuning, compared=tuple(batch), comparing=False), ()
    return _next_batch(replace(
        tuning, optimiser=tuning.optimiser.learned(batch), tried=(*tuning.tried, *batch),
    ))


def values_at(tuning: Tuning, point: Point) -> tuple[float, ...]:
    """The values at a point, and at the program's own one exactly its own."""
    if point == own_point(tuning.constants):
        return tuple(each.value for each in tuning.constants)
    return tuple(each.at(place) for each, place in zip(tuning.constants, point, strict=True))


def _in_ranges_of(
    after: Learned, program: Program, constants: tuple[Constant, ...]
) -> tuple[Constant, ...] | None:
    """The constants of a program in the ranges of an earlier tuning; None if it tuned another program.

    A range that the program names must be the same, and values must be within the earlier ranges.
    """
    if [(each.name, each.kind) for each in constants] != [(each.name, each.kind) for each in after.constants]:
        return None
    if _structure(program, constants) != after.structure:
        return None
    for each, old in zip(constants, after.constants, strict=True):
        same = (each.low, each.high) == (old.low, old.high)
        if not same and (each.named or old.named or not old.low <= each.value <= old.high):
            return None
    return tuple(
        replace(each, low=old.low, high=old.high, geometric=old.geometric)
        for each, old in zip(constants, after.constants, strict=True)
    )


def _structure(program: Program, constants: Sequence[Constant]) -> str:
    """A digest of a program without the values of these constants."""
    values = [float(place) for place in range(len(constants))]
    return digest(with_values(program, constants, values))


def _next_batch(tuning: Tuning) -> tuple[Tuning, tuple[TryConstants, ...]]:
    """Ask the optimiser for the next points, as many as the budget allows; after the last ones, compare finalists."""
    points = tuning.optimiser.ask()[: tuning.left] if tuning.left else ()
    if points:
        return _ordered(replace(tuning, batch=points, left=tuning.left - len(points), seeds=_seeds(tuning)))
    if tuning.finalists:
        return _ordered(replace(tuning, batch=_finalists(tuning), comparing=True, seeds=tuning.final_seeds))
    return tuning, ()


def _ordered(tuning: Tuning) -> tuple[Tuning, tuple[TryConstants, ...]]:
    """The orders to try the batch."""
    floor = tuning.optimiser.floor if tuning.racing else None
    first = len(tuning.tried)
    orders = tuple(
        TryConstants(
            id=vector_id(tuning.id, first + place),
            program=with_values(tuning.parent.program, tuning.constants, values_at(tuning, point)),
            point=point,
            evaluator=tuning.evaluator,
            split=tuning.split,
            seeds=tuning.seeds,
            floor=floor,
        )
        for place, point in enumerate(tuning.batch)
    )
    return tuning, orders


def _seeds(tuning: Tuning) -> tuple[int, ...]:
    """The seeds of the next batch: in a long tuning those after the seeds of the batch before, in turn."""
    if not tuning.turns or not tuning.tried:
        return tuning.seeds
    first = tuning.turns.index(tuning.seeds[-1]) + 1
    return tuple(tuning.turns[(first + e) % len(tuning.turns)] for e in range(len(tuning.seeds)))


def _finalists(tuning: Tuning) -> tuple[Point, ...]:
    """The program's own values, the mean of CMA-ES and the best values that were tried, all different."""
    best = sorted(tuning.tried, key=lambda each: -each.fitness)
    mean = tuning.optimiser.mean if isinstance(tuning.optimiser, CmaSearch) else ()
    points = (own_point(tuning.constants), mean, *(each.point for each in best))
    return tuple(dict.fromkeys(point for point in points if point))[: tuning.finalists]


def _result(fact: ConstantsTried, of: int) -> Tried:
    """The mean of f_e; an episode that was left out counts as 1."""
    missing = of - len(fact.fitnesses)
    return Tried(fact.point, (math.fsum(fact.fitnesses) + missing) / of, missing == 0)


# The result of a tuning: the program with the best values, what moved, and what had no effect.


PARTS = 3  # of the tried values of a constant, compared to find whether the fitness depends on it
SHOWN = 5  # moved constants that a summary names
ENOUGH = 4 * PARTS  # values before that is said


def ended(tuning: Tuning) -> TuningEnded:
    """The program with the best values; of equal ones the first. Without any values it is the parent's program."""
    whole = [each for each in tuning.compared or tuning.tried if each.whole]
    best = max(whole, key=lambda each: each.fitness, default=None)
    values = tuple(each.value for each in tuning.constants) if best is None else values_at(tuning, best.point)
    before = tuning.compared[0].fitness if tuning.compared else tuning.before
    flat = _insensitive(tuning)
    constants = tuple(
        TunedConstant(name=each.name, before=each.value, after=value, insensitive=place in flat)
        for place, (each, value) in enumerate(zip(tuning.constants, values, strict=True))
    )
    return TuningEnded(
        order=tuning.id,
        program=with_values(tuning.parent.program, tuning.constants, values),
        summary=in_words(constants),
        constants=constants,
        tried=len(tuning.tried) + len(tuning.compared),
        episodes=tuning.episodes,
        before=before,
        fitness=before if best is None else best.fitness,
    )


def in_words(constants: Sequence[TunedConstant]) -> str:
    """What tuning moved, the largest changes first, then what had no effect: "GAIN 0.4 → 1.7; insensitive: WAIT"."""
    moved = [each for each in constants if each.after != each.before and not each.insensitive]
    moved.sort(key=lambda each: -_change(each))
    words = [f"{each.name} {each.before:.4g} → {each.after:.4g}" for each in moved[:SHOWN]]
    words += [f"and {len(moved) - SHOWN} more"] * (len(moved) > SHOWN)
    parts = [", ".join(words) or "no constant mattered"]
    flat = [each.name for each in constants if each.insensitive]
    if flat:
        parts.append(f"insensitive: {', '.join(flat)}")
    return one_line("; ".join(parts), MAX_SUMMARY)


def _change(constant: TunedConstant) -> float:
    """How far a constant moved: the logarithm of the ratio where both values have one sign."""
    before, after = constant.before, constant.after
    return abs(math.log(after / before)) if before * after > 0 else math.inf


def _insensitive(tuning: Tuning) -> frozenset[int]:
    """The places of the constants on which the fitness does not seem to depend.

    The tried values of a constant are divided into three equal parts. If the mean fitness differs between the parts
    by less than chance would make it differ (an F ratio below 1), the constant is insensitive.
    """
    if len(tuning.tried) < ENOUGH:
        return frozenset()
    fitnesses = [each.fitness for each in tuning.tried]
    places = range(len(tuning.constants))
    return frozenset(
        place for place in places if f_ratio([each.point[place] for each in tuning.tried], fitnesses) < 1
    )


def f_ratio(positions: Sequence[float], fitnesses: Sequence[float]) -> float:
    """The variance between the parts of a constant's values over that within them; 0 where nothing varies."""
    order = sorted(range(len(positions)), key=lambda place: (positions[place], place))
    size = len(order) / PARTS
    parts = [[fitnesses[one] for one in order[round(part * size) : round((part + 1) * size)]] for part in range(PARTS)]
    mean = math.fsum(fitnesses) / len(fitnesses)
    means = [math.fsum(part) / len(part) for part in parts]
    between = math.fsum(len(part) * (own - mean) ** 2 for part, own in zip(parts, means, strict=True)) / (PARTS - 1)
    within = math.fsum((one - own) ** 2 for part, own in zip(parts, means, strict=True) for one in part)
    within /= len(fitnesses) - PARTS
    if not between:
        return 0.0
    return between / within if within else math.inf
