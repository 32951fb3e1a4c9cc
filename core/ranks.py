"""Rank correlation of two lists of numbers."""

from collections.abc import Sequence
from math import fsum, sqrt

LEAST = 3   # pairs


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's coefficient; equal values share the mean of their ranks. None below 3 pairs, or if nothing varies."""
    if len(first) < LEAST:
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
