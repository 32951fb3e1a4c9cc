"""Intervals and tests for a few episodes, in plain arithmetic: no package beyond numpy. Pure.

    share_interval       a share of episodes: Wilson's score interval (Wilson 1927)
    mean_interval        a mean: the t interval (Student 1908)
    sign_flip_p_values   whether paired differences are centred at 0: sign-flip permutation tests (Fisher 1935),
                         adjusted for their number by the maxT procedure (Westfall and Young 1993)

All intervals are two-sided and hold 95 %. They assume independent episodes.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from math import atan, cos, fsum, inf, pi, sin, sqrt
from statistics import NormalDist
from typing import Any, Final, TypeAlias

import numpy as np

Interval: TypeAlias = tuple[float, float]

CONFIDENCE: Final = 0.95
ALPHA: Final = 0.05         # a difference with a smaller p-value is distinguishable from 0
EXACT: Final = 14           # pairs up to which all sign flips are counted
FLIPS: Final = 9_999        # random sign flips of more pairs
_SERIES: Final = 200        # degrees of freedom up to which the quantile is exact
_CHUNK: Final = 2**20       # signs drawn at once


def share_interval(successes: int, n: int) -> Interval | None:
    """Wilson's interval of a share of n episodes; None for no episode."""
    if n == 0:
        return None
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share, spread = successes / n, z * z / n
    middle = share + spread / 2
    half = z * sqrt(share * (1 - share) / n + spread / (4 * n))
    low, high = (middle - half) / (1 + spread), (middle + half) / (1 + spread)
    return (0.0 if successes == 0 else low, 1.0 if successes == n else high)


def mean_interval(values: Sequence[float], *, least: float = -inf, most: float = inf) -> Interval | None:
    """The t interval of the mean, cut at the least and the most possible value; None for fewer than two values.

    It is a point where all values are equal: what was not seen does not widen it.
    """
    n = len(values)
    if n < 2:
        return None
    mean = fsum(values) / n
    half = t_quantile(n - 1) * sqrt(fsum((value - mean) * (value - mean) for value in values) / (n - 1) / n)
    return max(least, mean - half), min(most, mean + half)


@cache
def t_quantile(degrees: int) -> float:
    """The t of Student's distribution with this many degrees of freedom between whose signs 95 % of it lie."""
    if degrees > _SERIES:       # Abramowitz and Stegun (1964), 26.7.5
        z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
        return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, degrees) < CONFIDENCE else (low, middle)
    return (low + high) / 2


def _within(t: float, degrees: int) -> float:
    """The probability of |T| < t: the finite series of Abramowitz and Stegun (1964), 26.7.3 and 26.7.4."""
    angle = atan(t / sqrt(degrees))
    term = cos(angle) if degrees % 2 else 1.0
    total = term if degrees > 1 else 0.0
    for k in range(2 + degrees % 2, degrees - 1, 2):
        term *= cos(angle) ** 2 * (k - 1) / k
        total += term
    return 2 / pi * (angle + sin(angle) * total) if degrees % 2 else sin(angle) * total


def sign_flip_p_values(rows: Sequence[Sequence[float]], *, seed: int = 0) -> list[float | None]:
    """For each row of paired differences, the two-sided p-value of its mean under random signs, adjusted for all rows.

    The columns are the pairs that the rows have in common; a flip changes a whole column, so that rows which differ in
    the same pairs count little more than one. The adjusted values are those of the step-down maxT procedure with
    |sum| / root of the sum of squares as T. All flips are counted for up to 14 pairs. More are drawn with `seed`, 9,999
    times, and the observed signs count as one of the draws (Phipson and Smyth 2010). None for a row without a
    difference, and for all rows of a single pair.
    """
    if not rows:
        return []
    table = np.asarray(rows, dtype=float)
    norms = np.sqrt((table**2).sum(axis=1))
    p_values: list[float | None] = [None] * len(rows)
    order = sorted((place for place in range(len(rows)) if norms[place]),
                   key=lambda place: -abs(table[place].sum()) / norms[place])
    if not order or table.shape[1] < 2:
        return p_values
    scaled = table[order] / norms[order][:, None]
    observed = abs(scaled.sum(axis=1)) - 1e-9     # rows have length 1: equal sums differ by rounding only
    extreme, drawn = np.zeros(len(order)), 0
    for signs in _signs(table.shape[1], seed):
        largest = np.maximum.accumulate(abs(signs @ scaled.T)[:, ::-1], axis=1)[:, ::-1]    # of this row and the next
        extreme, drawn = extreme + (largest >= observed).sum(axis=0), drawn + len(signs)
    random = table.shape[1] > EXACT
    for place, value in zip(order, np.maximum.accumulate((extreme + random) / (drawn + random)), strict=True):
        p_values[place] = float(value)
    return p_values


def _signs(pairs: int, seed: int) -> Iterator[np.ndarray[Any, np.dtype[np.float64]]]:
    """Rows of signs, all of them or random ones, in pieces that fit into memory."""
    if pairs <= EXACT:
        yield 1.0 - 2.0 * ((np.arange(2**pairs)[:, None] >> np.arange(pairs)) & 1)
        return
    rng, left = np.random.default_rng(seed), FLIPS
    while left:
        size = min(left, max(1, _CHUNK // pairs))
        yield rng.choice((-1.0, 1.0), (size, pairs))
        left -= size
