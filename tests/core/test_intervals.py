"""The intervals against scipy's, and the sign-flip test against its definition."""

import itertools
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.intervals import ALPHA, EXACT, mean_interval, share_interval, sign_flip_p_values, t_quantile
from scipy import stats


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 18, 19, 199, 200, 201, 500, 10_000])
def test_the_quantile_is_that_of_student(degrees: int) -> None:
    assert t_quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=1e-6)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_share_has_the_interval_of_wilson(of: tuple[int, int]) -> None:
    expected = stats.binomtest(*of).proportion_ci(confidence_level=0.95, method="wilson")
    assert share_interval(*of) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_an_interval_of_a_mean_is_cut_at_what_is_possible() -> None:
    values = [0.9, 1.0, 0.95, 0.2]
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert mean_interval(values) == pytest.approx((low, high))
    assert mean_interval(values, least=0.0, most=1.0) == pytest.approx((low, 1.0))
    assert mean_interval([0.4, 0.4]) == (0.4, 0.4)
    assert mean_interval([0.4]) is None
    assert share_interval(0, 0) is None


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=6))
def test_few_pairs_count_every_flip(values: list[int]) -> None:
    sums = [abs(sum(s * v for s, v in zip(signs, values, strict=True)))
            for signs in itertools.product((-1, 1), repeat=len(values))]
    expected = sum(each >= abs(sum(values)) for each in sums) / len(sums)
    assert sign_flip_p_values([values]) == [pytest.approx(expected) if any(values) else None]


def test_many_pairs_draw_flips_with_a_seed() -> None:
    values = list(np.random.default_rng(3).normal(0.35, 1.0, 40))
    assert len(values) > EXACT
    expected = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=9_999, rng=np.random.default_rng(1)
    ).pvalue
    assert sign_flip_p_values([values]) == [pytest.approx(expected, abs=0.01)]
    assert sign_flip_p_values([values]) == sign_flip_p_values([values])
    assert sign_flip_p_values([[1.0] * 40]) == [1 / 10_000]
    assert sign_flip_p_values([[1.0], [2.0]]) == [None, None]
    assert sign_flip_p_values([]) == []


@given(st.lists(st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=1, max_size=5))
def test_adjusted_values_lie_between_the_single_one_and_bonferroni(rows: list[list[int]]) -> None:
    alone = [sign_flip_p_values([row])[0] for row in rows]
    found = sign_flip_p_values(rows)
    number = sum(value is not None for value in alone)
    for single, adjusted in zip(alone, found, strict=True):
        assert (single is None) == (adjusted is None)
        if single is not None and adjusted is not None:
            assert single - 1e-12 <= adjusted <= 1.0
    known = [(a, b) for a, b in zip(alone, found, strict=True) if a is not None and b is not None]
    if known:       # the first step is at most Bonferroni's
        assert min(b for _, b in known) <= number * max(a for a, _ in known) + 1e-12


def test_rows_that_differ_alike_count_as_one_and_others_do_not() -> None:
    row = [1.0, 1.1, 0.9, 1.2, 1.0, 1.0, 0.8, 1.1]
    [single] = sign_flip_p_values([row])
    assert single == 2 / 2**8
    assert sign_flip_p_values([row, [2 * value for value in row], [0.0] * 8]) == [single, single, None]
    other = [1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 0.5]
    first, second = sign_flip_p_values([row, other])
    assert first is not None and second is not None and single <= first < second


def test_false_discoveries_stay_below_their_level() -> None:
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(400):
        base = rng.normal(size=8)
        values = sign_flip_p_values([list(rng.normal(size=8) - base) for _ in range(5)])
        wrong += min(value for value in values if value is not None) <= ALPHA
    assert wrong / 400 <= 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5


def test_a_huge_value_of_a_foreign_log_makes_the_interval_infinite() -> None:
    assert mean_interval([1e308, 0.0, 0.5], least=0.0) == (0.0, inf)
