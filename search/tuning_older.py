"""One slot of the tuning branch by the rules of version 1 to 6, by which recorded runs go on.

It takes the best of the values that were tried, on as few as one episode. By rules of version 6 a long tuning by CMA-ES
takes the search's episodes in turn, and compares the best values on further episodes at its end.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..core.errors import SearchError
from ..core.events import ConstantsTried, TryConstants, TuningEnded
from ..core.faults import Fault
from ..core.order_ids import parse, vector_id
from ..core.programs.constants import Constant, tunable_constants, with_values
from ..core.programs.program_text import MAX_SUMMARY
from ..core.seeds import derive_seed
from ..core.text import one_line
from ..core.values import CandidateState, Program, TunedConstant
from .rollout_plan import RolloutPlan
from .tuning_search import CmaSearch, Optimiser, Point, Tried, optimiser_for, own_point
from .tuning_values import (
    PARTS,
    Learned,
    by_change,
    f_ratio,
    in_ranges_of,
    learned_from,
    no_constants,
    result_of,
    values_at,
)

VECTORS = 60  # that a budget should suffice for before each gets a further episode,
PER_CONSTANT = 30  # and this many for each constant
FINALISTS = 5  # values that a long tuning compares at least, the program's own among them,
FINAL_EPISODES = 6  # on this many further episodes each
LONG = 6 * FINALISTS * FINAL_EPISODES  # episodes of a tuning, so that this is at most a sixth
ENOUGH = 4 * PARTS  # values before a constant is called insensitive
SHOWN = 5  # moved constants that a summary names


@dataclass(frozen=True, slots=True, kw_only=True)
class OlderTuning:
    """The state of one slot between two facts. `left` counts the values that may still be tried.

    A long tuning takes the episodes of `turns` in turn, and compares `finalists` values at its end.
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

    @property
    def spare(self) -> int:
        """None: what a slot does not use is lost."""
        return 0

    @property
    def learned(self) -> Learned | None:
        """What this tuning leaves for a later one; None from a coordinate search, which begins again."""
        return learned_from(self.parent.program, self.constants, self.optimiser)

    def take(self, fact: ConstantsTried) -> "tuple[OlderTuning, tuple[TryConstants, ...]]":
        """The tuning after one result. The optimiser learns a batch once it is complete, in the order of its points."""
        number = parse(fact.order or "").vector
        first = len(self.tried)
        if number is None or not first <= number < first + len(self.batch) or number in self.answers:
            return self, ()
        tuning = replace(self, answers={**self.answers, number: fact})
        if len(tuning.answers) < len(tuning.batch):
            return tuning, ()
        facts = [tuning.answers[first + place] for place in range(len(tuning.batch))]
        batch = [result_of(each, len(tuning.seeds)) for each in facts]
        episodes = tuning.episodes + sum(len(each.fitnesses) for each in facts)
        tuning = replace(tuning, batch=(), answers={}, episodes=episodes)
        if tuning.comparing:
            return replace(tuning, compared=tuple(batch), comparing=False), ()
        return _next_batch(replace(
            tuning, optimiser=tuning.optimiser.learned(batch), tried=(*tuning.tried, *batch),
        ))

    def concluded(self) -> TuningEnded:
        """The program with the best values; of equal ones the first. Without any values it is the parent's program."""
        whole = [each for each in self.compared or self.tried if each.whole]
        best = max(whole, key=lambda each: each.fitness, default=None)
        own = tuple(each.value for each in self.constants)
        values = own if best is None else values_at(self.constants, best.point)
        before = self.compared[0].fitness if self.compared else self.before
        flat = _insensitive(self)
        constants = tuple(
            TunedConstant(name=each.name, before=each.value, after=value, insensitive=place in flat)
            for place, (each, value) in enumerate(zip(self.constants, values, strict=True))
        )
        return TuningEnded(
            order=self.id,
            program=with_values(self.parent.program, self.constants, values),
            summary=in_words(constants),
            constants=constants,
            tried=len(self.tried) + len(self.compared),
            episodes=self.episodes,
            before=before,
            fitness=before if best is None else best.fitness,
        )


def begun(
    slot: str,
    parent: CandidateState,
    plan: RolloutPlan,
    *,
    episodes: int,
    seed: int,
    after: Learned | None = None,
    compares: bool = True,
) -> tuple[OlderTuning, tuple[TryConstants, ...]] | Fault:
    """The tuning of a program with a budget of episodes, or that it names no constants that it reads.

    It goes on `after` an earlier one, if that tuned the same program with other values. With `compares` a long tuning
    by CMA-ES takes the search's episodes in turn, and compares the best values at its end.
    """
    constants = tunable_constants(parent.program)
    if not constants:
        return no_constants()
    known = None if after is None else in_ranges_of(after, parent.program, constants)
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
    tuning = OlderTuning(
        id=slot, parent=parent, constants=known or constants, evaluator=plan.evaluator, split=plan.split,
        optimiser=optimiser, seeds=plan.seeds[:each], racing=plan.racing, before=before,
        left=max(1, episodes // each),
    )
    return _next_batch(_comparing(tuning, episodes, plan, seed) if long else tuning)


def _comparing(tuning: OlderTuning, episodes: int, plan: RolloutPlan, seed: int) -> OlderTuning:
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


def _next_batch(tuning: OlderTuning) -> tuple[OlderTuning, tuple[TryConstants, ...]]:
    """Ask the optimiser for the next points, as many as the budget allows; after the last ones, compare finalists."""
    points = tuning.optimiser.ask()[: tuning.left] if tuning.left else ()
    if points:
        return _ordered(replace(tuning, batch=points, left=tuning.left - len(points), seeds=_seeds(tuning)))
    if tuning.finalists:
        return _ordered(replace(tuning, batch=_finalists(tuning), comparing=True, seeds=tuning.final_seeds))
    return tuning, ()


def _ordered(tuning: OlderTuning) -> tuple[OlderTuning, tuple[TryConstants, ...]]:
    """The orders to try the batch."""
    floor = tuning.optimiser.floor if tuning.racing else None
    first = len(tuning.tried)
    orders = tuple(
        TryConstants(
            id=vector_id(tuning.id, first + place),
            program=with_values(tuning.parent.program, tuning.constants, values_at(tuning.constants, point)),
            point=point,
            evaluator=tuning.evaluator,
            split=tuning.split,
            seeds=tuning.seeds,
            floor=floor,
        )
        for place, point in enumerate(tuning.batch)
    )
    return tuning, orders


def _seeds(tuning: OlderTuning) -> tuple[int, ...]:
    """The seeds of the next batch: in a long tuning those after the seeds of the batch before, in turn."""
    if not tuning.turns or not tuning.tried:
        return tuning.seeds
    first = tuning.turns.index(tuning.seeds[-1]) + 1
    return tuple(tuning.turns[(first + e) % len(tuning.turns)] for e in range(len(tuning.seeds)))


def _finalists(tuning: OlderTuning) -> tuple[Point, ...]:
    """The program's own values, the mean of CMA-ES and the best values that were tried, all different."""
    best = sorted(tuning.tried, key=lambda each: -each.fitness)
    mean = tuning.optimiser.mean if isinstance(tuning.optimiser, CmaSearch) else ()
    points = (own_point(tuning.constants), mean, *(each.point for each in best))
    return tuple(dict.fromkeys(point for point in points if point))[: tuning.finalists]


def in_words(constants: Sequence[TunedConstant]) -> str:
    """What tuning moved, the largest changes first, then what had no effect: "GAIN 0.4 → 1.7; insensitive: WAIT"."""
    moved = by_change(constants)
    words = [f"{each.name} {each.before:.4g} → {each.after:.4g}" for each in moved[:SHOWN]]
    words += [f"and {len(moved) - SHOWN} more"] * (len(moved) > SHOWN)
    parts = [", ".join(words) or "no constant mattered"]
    flat = [each.name for each in constants if each.insensitive]
    if flat:
        parts.append(f"insensitive: {', '.join(flat)}")
    return one_line("; ".join(parts), MAX_SUMMARY)


def _insensitive(tuning: OlderTuning) -> frozenset[int]:
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
