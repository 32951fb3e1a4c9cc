"""One seat of the judge panel: fixed criteria for the scored evaluator pool, weighted differently per seat."""

import ast
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, fields

from ...core.events import Judge
from ...core.values import EvaluatorCandidate
from .edits import level

WIDE_SPREAD = 0.1       # a standard deviation of f_e over T_0 that counts as full discrimination
RICH = 12               # this many metrics count as rich feedback
ROOM = 0.35             # failed rollouts should score at most about this, to leave room above
TASTE = 0.08            # standard deviation of a seat's random preference in addition to the criteria


@dataclass(frozen=True, slots=True, kw_only=True)
class Merits:
    """The criteria for one evaluator, each in [0, 1]."""

    validity: float         # share of T_0 that it scored without fault
    discrimination: float   # spread of f_e over the episodes
    milestones: float       # agreement of f_e with its own milestone metrics over the episodes
    range: float            # failures score low, yet not all 0: room above, a slope below
    richness: float         # number of informative metrics


CRITERIA = tuple(field.name for field in fields(Merits))


def judge(order: Judge, rng: random.Random) -> tuple[int, str]:
    """The slot that this seat votes for, and its reason. Raises SyntaxError if no pool entry can be parsed."""
    emphasis = {name: rng.gammavariate(1.5, 1.0) + 0.05 for name in CRITERIA}
    total = sum(emphasis.values())
    taste = [rng.gauss(0.0, TASTE) for _ in order.pool]
    merits = [merits_of(entry, order.success_rate) for entry in order.pool]
    marks = [
        sum(emphasis[name] * getattr(merit, name) for name in CRITERIA) / total + extra
        for merit, extra in zip(merits, taste, strict=True)
    ]
    best = max(range(len(marks)), key=marks.__getitem__)
    return order.pool[best].slot, reason_for(merits[best], emphasis)


def reason_for(merit: Merits, emphasis: dict[str, float]) -> str:
    """One sentence: the criteria that this seat weights most, and their values."""
    preferred = sorted(CRITERIA, key=lambda name: -emphasis[name])[:2]
    found = " and ".join(f"{name} {getattr(merit, name):.2f}" for name in preferred)
    return f"By this seat's emphasis it is the best of the pool: {found} of 1."


def merits_of(entry: EvaluatorCandidate, success_rate: float | None) -> Merits:
    """The criteria from an evaluator's scores on T_0."""
    scores = entry.examination.scores
    good = [score for score in scores if score.fault is None and math.isfinite(score.fitness)]
    if not good:
        return Merits(validity=0.0, discrimination=0.0, milestones=0.0, range=0.0, richness=0.0)
    fitness = [score.fitness for score in good]
    mean = math.fsum(fitness) / len(fitness)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in fitness) / len(fitness))
    succeeded = success_rate or 0.0     # a task without a success predicate has room above any fitness
    due = succeeded + (1 - succeeded) * ROOM
    progress = [mean_level(list(score.metrics.values())) for score in good]
    names = {name for score in good for name in score.metrics}
    telling = sum(1 for name in names if len({str(score.metrics.get(name)) for score in good}) > 1)
    return Merits(
        validity=len(good) / len(scores) if entry.examination.valid else 0.0,
        discrimination=min(1.0, spread / WIDE_SPREAD),
        milestones=agreement(fitness, progress) * reads_time(entry),
        range=max(0.0, 1.0 - abs(mean - due) / max(due, 1 - due)) if mean > 0 else 0.0,
        richness=min(1.0, (telling + len(names)) / (2 * RICH)),
    )


def mean_level(values: Sequence[object]) -> float:
    """The mean of the values that are milestone metrics, in [0, 1]; 0 if there are none."""
    levels = [found for value in values if isinstance(value, int | float) and (found := level(value)) is not None]
    return math.fsum(levels) / len(levels) if levels else 0.0


def agreement(one: Sequence[float], other: Sequence[float]) -> float:
    """The share of pairs of episodes that two scores rank alike; ties count half. 0.5 for one episode."""
    ranked = [
        (one[a] - one[b]) * (other[a] - other[b]) for a in range(len(one)) for b in range(a + 1, len(one))
    ]
    if not ranked:
        return 0.5
    return sum(1.0 if product > 0 else 0.5 if product == 0 else 0.0 for product in ranked) / len(ranked)


def reads_time(entry: EvaluatorCandidate) -> float:
    """1 for an evaluator that reads at least three recorded arrays, less for one that reads fewer."""
    if entry.program is None:
        return 0.0
    tree = ast.parse(entry.program.text)
    keys = {
        node.slice.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
    }
    return min(1.0, len(keys) / 3)
