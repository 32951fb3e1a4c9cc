"""The statistics against published examples, against one another, and at their edges."""

import random
from math import isclose

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.evidence.statistics import (
    adjust,
    agreement,
    area_under,
    correlate,
    fleiss_kappa,
    paired_test,
    spread,
    variance_split,
)

pytestmark = pytest.mark.quick

shares = st.floats(0, 1).map(lambda value: round(value, 3))

# Fleiss (1971): 10 subjects, 14 raters, 5 categories; kappa = 0.210.
FLEISS = [
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
]


def test_fleiss_kappa_is_that_of_the_published_example():
    ballots = [[option for option, count in enumerate(row) for _ in range(count)] for row in FLEISS]
    kappa = fleiss_kappa(ballots)
    assert kappa is not None
    assert round(kappa, 3) == 0.210


def test_full_agreement_on_different_options_is_one_and_on_one_option_is_undefined():
    assert fleiss_kappa([[0, 0, 0], [1, 1, 1]]) == 1.0
    assert fleiss_kappa([[2, 2, 2], [2, 2]]) is None
    assert fleiss_kappa([[1], []]) is None
    assert agreement([[0, 0, 1]]) == pytest.approx(2 / 6)
    assert agreement([[1]]) is None


@settings(max_examples=30, deadline=None)
@given(values=st.lists(shares, min_size=1, max_size=12))
def test_a_spread_holds_its_mean_and_does_not_depend_on_order(values):
    found = spread(values)
    assert found is not None
    assert isclose(found.mean, sum(values) / len(values), abs_tol=1e-12)
    if len(values) > 1:
        assert found.low is not None and found.high is not None
        assert min(values) - 1e-12 <= found.low <= found.high <= max(values) + 1e-12
        assert found.low - 1e-9 <= found.mean <= found.high + 1e-9
    else:
        assert found.std is found.low is found.high is None
    mixed = random.Random(1).sample(values, len(values))
    assert isclose(spread(mixed).mean, found.mean, abs_tol=1e-12)


def test_nothing_has_no_spread():
    assert spread([]) is None


def test_the_deviation_is_the_paper_s_own():
    # Successes of 29 of 30 episodes over three seeds: 0.97 ± 0.06 in the paper.
    found = spread([1.0, 1.0, 0.9])
    assert (round(found.mean, 2), round(found.std, 2)) == (0.97, 0.06)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(pairs=st.lists(st.tuples(shares, shares), min_size=2, max_size=10))
def test_a_paired_test_turned_round_is_the_same_test(pairs):
    one = {seed: pair[0] for seed, pair in enumerate(pairs)}
    other = {seed: pair[1] for seed, pair in enumerate(pairs)}
    there, back = paired_test(one, other), paired_test(other, one)
    assert there.n == back.n == len(pairs)
    assert isclose(there.difference, -back.difference, abs_tol=1e-12)
    assert (there.wins, there.losses) == (back.losses, back.wins)
    assert isclose(there.wilcoxon, back.wilcoxon, abs_tol=1e-9)
    assert isclose(there.permutation, back.permutation, abs_tol=1e-9)
    assert there.permutation >= there.least_p - 1e-9


def test_only_common_seeds_are_compared():
    found = paired_test({1: 0.5, 2: 0.7, 9: 1.0}, {1: 0.4, 2: 0.4, 7: 0.0})
    assert found.n == 2
    assert found.difference == pytest.approx(0.2)
    assert paired_test({1: 0.5}, {2: 0.5}) is None


def test_a_clear_difference_over_ten_seeds_is_significant_and_over_three_cannot_be():
    one = {seed: 0.8 + 0.01 * seed for seed in range(10)}
    other = {seed: 0.4 + 0.005 * seed for seed in range(10)}
    assert paired_test(one, other).permutation == pytest.approx(2 / 2**10)
    three = paired_test({s: one[s] for s in range(3)}, {s: other[s] for s in range(3)})
    assert three.permutation == pytest.approx(0.25) == three.least_p


def test_no_difference_at_all_has_p_one():
    same = dict.fromkeys(range(5), 0.5)
    found = paired_test(same, same)
    assert (found.wilcoxon, found.permutation, found.wins, found.losses) == (1.0, 1.0, 0, 0)


def test_one_seed_tells_no_p():
    found = paired_test({1: 0.9}, {1: 0.1})
    assert (found.n, found.wilcoxon, found.permutation, found.low) == (1, None, None, None)


def test_adjusted_values_are_never_smaller_and_keep_what_is_not_known():
    raw = [0.01, None, 0.04, 0.03, 0.5]
    adjusted = adjust(raw)
    assert adjusted[1] is None
    assert all(new >= old for new, old in zip(adjusted, raw, strict=True) if old is not None)
    assert adjust([]) == []


def test_correlation_needs_variation():
    assert correlate([(0.1, 0.0), (0.5, 0.0), (0.9, 0.0)]).pearson is None
    found = correlate([(0.1, 0.1), (0.2, 0.3), (0.3, 0.9)])
    assert found.spearman == pytest.approx(1.0)
    assert 0.9 < found.pearson < 1.0


def test_the_area_is_the_mean_height_of_the_curve():
    assert area_under([0.5, 0.5, 0.5]) == pytest.approx(0.5)
    assert area_under([0.0, 1.0]) == pytest.approx(0.5)
    assert area_under([0.3]) is None


def test_the_variance_of_models_and_seeds_is_split() -> None:
    by_model = {"a": {1: 0.0, 2: 0.1, 3: 0.2}, "b": {1: 0.5, 2: 0.6, 3: 0.7}}
    split = variance_split(by_model)
    assert split is not None
    assert (split.models, split.seeds) == (2, 3)
    assert split.mean == pytest.approx(0.35)
    assert (split.model, split.seed, split.search) == pytest.approx((0.125, 0.01, 0.0), abs=1e-12)
    assert split.total == pytest.approx(0.135)
    only_search = variance_split({"a": {1: 0.0, 2: 1.0}, "b": {1: 1.0, 2: 0.0}})
    assert only_search is not None
    assert (only_search.model, only_search.seed, only_search.search) == (0.0, 0.0, 1.0), "no component is negative"
    equal = variance_split({"a": {1: 0.5, 2: 0.5}, "b": {1: 0.5, 2: 0.5}})
    assert equal is not None and equal.total == 0.0


def test_what_cannot_be_split_has_no_components() -> None:
    assert variance_split({}) is None
    assert variance_split({"a": {1: 0.0, 2: 0.1}}) is None, "one model"
    assert variance_split({"a": {1: 0.0, 2: 0.1}, "b": {2: 0.5, 3: 0.6}}) is None, "one common seed"
    common = variance_split({"a": {1: 9.0, 2: 0.1, 3: 0.2}, "b": {2: 0.5, 3: 0.6}})
    assert common is not None and common.seeds == 2


def test_the_components_are_those_that_the_values_were_drawn_with() -> None:
    draw = np.random.default_rng(4)
    models, seeds = draw.normal(0, 3, 200), draw.normal(0, 2, 200)
    values = {
        str(model): {seed: models[model] + seeds[seed] + draw.normal(0, 1) for seed in range(200)}
        for model in range(200)
    }
    split = variance_split(values)
    assert split is not None
    assert (split.model, split.seed, split.search) == pytest.approx((9, 4, 1), rel=0.2)
