"""The statistics of a comparison, by scipy. Pure: numbers in, numbers out; what is not defined is None.

scipy is imported where it is used: an installation without the extra `compare` can import this module.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite, sqrt
from typing import Any

import numpy as np

from ..core.rank_correlation import rank_correlation

CONFIDENCE = 0.95
RESAMPLES = 9999


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Mean and sample standard deviation (ddof = 1) with a bootstrap interval of the mean.

    The deviation of one value is not defined, and neither is its interval.
    """

    n: int
    mean: float
    std: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """Pearson's r and Spearman's rho of n pairs; None where one side does not vary."""

    n: int
    pearson: float | None
    spearman: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    """One method against another on common seeds. `difference` is mean(one - other) with its interval.

    `wilcoxon` is the two-sided p-value of the signed-rank test, `permutation` that of the sign-flip test of the
    mean difference. If all differences are 0, both are 1.
    """

    n: int
    difference: float
    low: float | None
    high: float | None
    wins: int
    losses: int
    wilcoxon: float | None
    permutation: float | None

    @property
    def least_p(self) -> float:
        """The smallest p-value that n pairs can give, two-sided: with 3 seeds 0.25, with 10 about 0.002."""
        return min(1.0, 2.0 ** (1 - self.n))


def spread(values: Sequence[float], *, seed: int = 0) -> Spread | None:
    """Mean, deviation and bootstrap interval of `values`; None without values."""
    if not values:
        return None
    n, mean = len(values), fsum(values) / len(values)
    if n == 1:
        return Spread(n=1, mean=mean, std=None, low=None, high=None)
    std = sqrt(fsum((value - mean) ** 2 for value in values) / (n - 1))
    low, high = bootstrap_interval(values, seed=seed)
    return Spread(n=n, mean=mean, std=std, low=low, high=high)


def bootstrap_interval(values: Sequence[float], *, seed: int = 0) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean of at least two values."""
    from scipy import stats

    if len(set(values)) == 1:
        return values[0], values[0]
    found = stats.bootstrap(
        (np.asarray(values, dtype=float),), np.mean, confidence_level=CONFIDENCE, n_resamples=RESAMPLES,
        method="percentile", rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(found.low), float(found.high)


def paired_test(one: Mapping[int, float], other: Mapping[int, float], *, seed: int = 0) -> PairedTest | None:
    """Compare two methods by their values per seed, over the seeds that both have; None without any."""
    common = sorted(one.keys() & other.keys())
    if not common:
        return None
    differences = [one[key] - other[key] for key in common]
    low = high = None
    if len(common) > 1:
        low, high = bootstrap_interval(differences, seed=seed)
    wilcoxon, permutation = _p_values(np.asarray(differences), seed)
    return PairedTest(
        n=len(common),
        difference=fsum(differences) / len(common),
        low=low,
        high=high,
        wins=sum(value > 0 for value in differences),
        losses=sum(value < 0 for value in differences),
        wilcoxon=wilcoxon,
        permutation=permutation,
    )


def _p_values(differences: "np.ndarray[Any, np.dtype[np.float64]]", seed: int) -> tuple[float | None, float | None]:
    from scipy import stats

    if len(differences) < 2:
        return None, None
    if not differences.any():
        return 1.0, 1.0
    flipped = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=RESAMPLES, rng=np.random.default_rng(seed)
    )
    return float(stats.wilcoxon(differences, zero_method="pratt").pvalue), float(flipped.pvalue)


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceSplit:
    """The variance of one result over models × seeds, split into components that add up to `total`.

    `search` is what neither the model nor the seed explains: the draws of single searches, and what a model does on
    one seed alone. `models` and `seeds` count the rows and columns.
    """

    models: int
    seeds: int
    mean: float
    model: float
    seed: float
    search: float

    @property
    def total(self) -> float:
        """The sum of the components."""
        return self.model + self.seed + self.search


def variance_split(values: Mapping[str, Mapping[int, float]]) -> VarianceSplit | None:
    """The components of a two-way table of models × seeds with one run each, by the seeds that all models have.

    They are the estimates of the analysis of variance with random effects (Searle, Casella and McCulloch 1992); a
    negative one counts 0. None for fewer than two models or two common seeds.
    """
    seeds = sorted(set.intersection(*({*row} for row in values.values()))) if values else []
    if len(values) < 2 or len(seeds) < 2:
        return None
    table = np.array([[row[seed] for seed in seeds] for row in values.values()], dtype=float)
    rows, columns, mean = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True), float(table.mean())
    models, count = table.shape
    of_models = count * float(((rows - mean) ** 2).sum()) / (models - 1)
    of_seeds = models * float(((columns - mean) ** 2).sum()) / (count - 1)
    rest = float(((table - rows - columns + mean) ** 2).sum()) / ((models - 1) * (count - 1))
    return VarianceSplit(
        models=models, seeds=count, mean=mean, model=max(0.0, (of_models - rest) / count),
        seed=max(0.0, (of_seeds - rest) / models), search=rest,
    )


def adjust(p_values: Sequence[float | None]) -> list[float | None]:
    """The p-values adjusted for their number (Benjamini-Hochberg). None stays None."""
    from scipy import stats

    known = [value for value in p_values if value is not None]
    adjusted = iter(stats.false_discovery_control(known) if known else ())
    return [None if value is None else float(next(adjusted)) for value in p_values]


def correlate(pairs: Sequence[tuple[float, float]]) -> Correlation:
    """Pearson and Spearman of pairs (F, S)."""
    from scipy import stats

    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if len(pairs) < 3 or len(set(first)) == 1 or len(set(second)) == 1:
        return Correlation(n=len(pairs), pearson=None, spearman=None)
    r, rho = float(stats.pearsonr(first, second).statistic), rank_correlation(first, second)
    return Correlation(n=len(pairs), pearson=r if isfinite(r) else None, spearman=rho)


def area_under(curve: Sequence[float]) -> float | None:
    """The area under a best-so-far curve over its generations, divided by their number: 1 is perfect from p_0 on."""
    from scipy import integrate

    if len(curve) < 2:
        return None
    return float(integrate.trapezoid(curve)) / (len(curve) - 1)


def ratio(part: float, whole: float) -> float | None:
    """A rate; None where there was nothing to count."""
    return part / whole if whole else None


def fleiss_kappa(ballots: Iterable[Sequence[int]]) -> float | None:
    """Fleiss' kappa of judges who chose among numbered options; one ballot per pool, abstentions left out.

    Fleiss (1971), with the number of raters free to differ between subjects. None where fewer than two
    judges chose anywhere, or where all choices of all ballots are one (chance agreement is then 1).
    """
    judged = [Counter(choices) for choices in ballots if len(choices) > 1]
    if not judged:
        return None
    sizes = [sum(counts.values()) for counts in judged]
    observed = fsum(
        fsum(count * (count - 1) for count in counts.values()) / (size * (size - 1))
        for counts, size in zip(judged, sizes, strict=True)
    ) / len(judged)
    together = sum(judged, Counter[int]())
    expected = fsum((count / sum(sizes)) ** 2 for count in together.values())
    return None if expected >= 1.0 else (observed - expected) / (1.0 - expected)


def agreement(ballots: Iterable[Sequence[int]]) -> float | None:
    """The share of pairs of judges of one pool who chose the same, over all pools."""
    same = pairs = 0
    for choices in ballots:
        size = len(choices)
        pairs += size * (size - 1)
        same += sum(count * (count - 1) for count in Counter(choices).values())
    return ratio(same, pairs)
