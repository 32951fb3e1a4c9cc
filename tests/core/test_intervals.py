"""The intervals against scipy's, and the sign-flip test against its definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.intervals import EXACT, holm, mean_interval, share_interval, sign_flip_p, t_quantile
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
    assert sign_flip_p(values) == (expected if any(values) else 1.0)


def test_many_pairs_draw_flips_with_a_seed() -> None:
    values = list(np.random.default_rng(3).normal(0.35, 1.0, 40))
    assert len(values) > EXACT
    expected = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=9_999, rng=np.random.default_rng(1)
    ).pvalue
    assert sign_flip_p(values) == pytest.approx(expected, abs=0.01)
    assert sign_flip_p(values) == sign_flip_p(values)
    assert sign_flip_p([1.0] * 40) == 1 / 10_000
    assert sign_flip_p([1.0]) is None


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=8))
def test_holm_keeps_the_order_and_never_lowers(values: list[float | None]) -> None:
    found = holm(values)
    known = [(a, b) for a, b in zip(values, found, strict=True) if a is not None and b is not None]
    assert len(known) == sum(value is not None for value in values)
    assert all(a <= b <= min(1.0, a * len(known)) + 1e-12 for a, b in known)
    assert [b for _, b in sorted(known)] == sorted(b for _, b in known)


def test_holm_multiplies_the_least_most() -> None:
    assert holm([0.04, 0.01, None, 0.03]) == pytest.approx([0.06, 0.03, None, 0.06])
