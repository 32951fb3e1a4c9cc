"""Intervals and tests for a few episodes, in plain arithmetic: no package beyond numpy. Pure.

    share_interval   a share of episodes: Wilson's score interval (Wilson 1927)
    mean_interval    a mean: the t interval (Student 1908)
    sign_flip_p      whether paired differences are centred at 0: the sign-flip permutation test (Fisher 1935)
    holm             p-values adjusted for their number (Holm 1979)

All intervals are two-sided and hold 95 %. They assume independent episodes.
"""

from collections.abc import Sequence
from functools import cache
from math import atan, cos, fsum, inf, pi, sin, sqrt
from statistics import NormalDist
from typing import Final, TypeAlias

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
    half = t_quantile(n - 1) * sqrt(fsum((value - mean) ** 2 for value in values) / (n - 1) / n)
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


def sign_flip_p(differences: Sequence[float], *, seed: int = 0) -> float | None:
    """The two-sided p-value of the mean difference under random signs; 1 for no difference, None for fewer than two.

    All sign flips are counted for up to 14 pairs. More are drawn with `seed`, 9,999 times, and the observed signs count
    as one of the draws (Phipson and Smyth 2010).
    """
    values = np.asarray(differences, dtype=float)
    if len(values) < 2:
        return None
    if not values.any():
        return 1.0
    observed = abs(values.sum()) * (1 - 1e-12)
    if len(values) <= EXACT:
        signs = 1.0 - 2.0 * ((np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) & 1)
        return float(np.mean(abs(signs @ values) >= observed))
    rng, extreme, left = np.random.default_rng(seed), 0, FLIPS
    while left:
        rows = min(left, max(1, _CHUNK // len(values)))
        extreme += int((abs(rng.choice((-1.0, 1.0), (rows, len(values))) @ values) >= observed).sum())
        left -= rows
    return (extreme + 1) / (FLIPS + 1)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The p-values adjusted for their number, so that the chance of any false discovery stays 5 %; None stays None."""
    known = sorted((value, place) for place, value in enumerate(p_values) if value is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    most = 0.0
    for rank, (value, place) in enumerate(known):
        most = max(most, min(1.0, value * (len(known) - rank)))
        adjusted[place] = most
    return adjusted
