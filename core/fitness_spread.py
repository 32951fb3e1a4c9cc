"""How far the fitness F of a program can be trusted: its spread over the episodes, and its smallest step."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

FINEST = 0.001  # a smaller step of f_e counts as none
_TOLERANCE = 1e-6  # f_e that differ by less are equal


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """`standard_error` of the mean F over the episodes; `step` is the smallest difference that F can show.

    Both are None where they cannot be estimated: from one episode, or from f_e that are all equal or in no steps.
    """

    standard_error: float | None
    step: float | None


def spread_of(fitnesses: Sequence[float]) -> Spread:
    """The spread of F, the mean of these f_e in [0, 1].

    The step is estimated: the largest number of which 1 and all f_e seen are multiples, over the number of episodes.
    """
    count = len(fitnesses)
    if count < 2:
        return Spread(standard_error=None, step=None)
    mean = math.fsum(fitnesses) / count
    variance = math.fsum((fitness - mean) ** 2 for fitness in fitnesses) / (count - 1)
    return Spread(standard_error=math.sqrt(variance / count), step=_step(fitnesses))


def _step(fitnesses: Sequence[float]) -> float | None:
    if max(fitnesses) - min(fitnesses) < _TOLERANCE:
        return None
    step = 1.0
    for fitness in fitnesses:
        larger, smaller = max(step, fitness), min(step, fitness)
        while smaller > _TOLERANCE:
            rest = math.fmod(larger, smaller)
            larger, smaller = smaller, rest if smaller - rest > _TOLERANCE else 0.0
        step = larger
        if step < FINEST:
            return None
    return step / len(fitnesses)
