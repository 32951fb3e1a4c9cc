"""Spearman's rank correlation, in plain arithmetic."""

from collections.abc import Sequence
from math import fsum, sqrt


def rank_correlation(first: Sequence[float], second: Sequence[float], *, least: int = 3) -> float | None:
    """Spearman's rho; equal values share the mean of their ranks. None below `least` pairs, or if a side is constant.

    Ranks are halves of whole numbers, so that the sums are exact.
    """
    if len(first) < least:
        return None
    a, b = _ranks(first), _ranks(second)
    middle = (len(a) - 1) / 2
    spread = sqrt(fsum((x - middle) ** 2 for x in a) * fsum((y - middle) ** 2 for y in b))
    return fsum((x - middle) * (y - middle) for x, y in zip(a, b, strict=True)) / spread if spread else None


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(values)
    last = {value: place for place, value in enumerate(order)}
    first = {value: place for place, value in reversed([*enumerate(order)])}
    return [(first[value] + last[value]) / 2 for value in values]
