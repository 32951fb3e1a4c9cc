"""Metrics of many episodes are aggregated to a bounded size, whatever an evaluator returns."""

import json
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.metrics import (
    LEFT_OUT,
    MAX_ENTRIES,
    MAX_NAME,
    MAX_TEXT,
    MOST_COMMON,
    NEVER,
    OMITTED,
    aggregate,
    bounded_metrics,
    flat_metrics,
    mean,
)
from memento.core.values import Score

names = st.text("ab.…\n\ud800 x", max_size=5) | st.just("long " * 30)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | names | st.just(10**400)
trees = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=10) | st.dictionaries(names, inner, max_size=6),
    max_leaves=12,
)
metrics = st.dictionaries(names, trees, max_size=6)


def scored(*each: dict) -> list[Score]:
    return [Score(fitness=0.5, metrics=one) for one in each]


def test_numbers_booleans_words_and_nesting():
    summary = aggregate(
        scored(
            {"dist": 1.0, "done": True, "phase": "reach", "hole": {"a": 0.25, "b": [1, 2]}},
            {"dist": 3.0, "done": False, "phase": "reach", "hole": {"a": 0.75, "b": [3, 4]}},
            {"dist": 2, "done": True, "phase": "grasp", "hole": {"a": 0.5, "b": [5, 6]}},
        )
    )
    assert summary["dist"] == {"mean": 2.0, "min": 1.0, "max": 3.0}
    assert summary["done"] == {"rate": 2 / 3}
    assert summary["phase"] == {"most_common": {"reach": 2, "grasp": 1}}
    assert summary["hole.a"] == {"mean": 0.5, "min": 0.25, "max": 0.75}
    assert summary["hole.b.1"] == {"mean": 4.0, "min": 2.0, "max": 6.0}


def test_absent_values_are_counted_and_nothing_is_made_up_for_them():
    summary = aggregate(scored({"a": 1.0, "b": math.nan}, {"a": None, "b": math.inf}, {}))
    assert summary == {"a": {"mean": 1.0, "min": 1.0, "max": 1.0, "count": 1}, "b": NEVER}
    assert aggregate([]) == {}


def test_what_no_episode_reached_is_still_named():
    never = {"first_grasp_s": None, "drops": [], "holes": {}, "lifted": {"a": None, "b": [None]}}
    summary = aggregate(scored(never, never))
    assert summary.pop("drops.length") == {"mean": 0.0, "min": 0.0, "max": 0.0}
    assert summary == dict.fromkeys(["first_grasp_s", "holes", "lifted.a", "lifted.b.0"], NEVER)


def test_the_evaluators_order_stays():
    whole = {"zeta": 1.0, "stage": {"reach": True, "grasp": False}, "alpha": 2.0}
    names = ["zeta", "stage.reach", "stage.grasp", "alpha", "early_exit"]
    assert list(aggregate(scored({"early_exit": True}, {}, whole))) == names
    assert list(bounded_metrics(whole)) == names[:-1]


def test_too_many_names_are_dropped_from_the_deepest_and_counted():
    shallow = {f"m{number:03}": 1.0 for number in range(60)}
    summary = aggregate(scored({"deep": {f"n{number}": 1.0 for number in range(60)}, **shallow}))
    assert len(summary) == MAX_ENTRIES
    assert set(shallow) < set(summary)
    assert next(iter(summary)) == "deep.n0"
    assert summary[OMITTED] == {"omitted": 120 - (MAX_ENTRIES - 1)}


def test_long_lists_and_huge_numbers():
    summary = aggregate(scored({"path": list(range(1000)), "huge": 10**5000, "word": [{"x": 10**5000}, "y"]}))
    assert summary["path.length"] == {"mean": 1000.0, "min": 1000.0, "max": 1000.0}
    assert summary["huge"] == NEVER


@settings(deadline=None, max_examples=40)
@given(st.lists(metrics, max_size=4), st.integers())
def test_bounded_json_and_independent_of_order(each: list[dict], seed: int):
    summary = aggregate(scored(*each))
    assert len(summary) <= MAX_ENTRIES
    assert all(len(name) <= MAX_NAME + len(".length") for name in summary)
    for entry in summary.values():
        words = entry.get("most_common", {})
        assert len(words) <= MOST_COMMON
        assert all(len(word) <= MAX_TEXT for word in words)
    json.dumps(summary, allow_nan=False).encode("utf-8")
    shuffled = aggregate(scored(*random.Random(seed).sample(each, len(each))))
    assert list(shuffled.items()) == list(summary.items())


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(st.lists(metrics, max_size=4))
def test_no_metric_is_lost(each: list[dict]):
    summary = aggregate(scored(*each))
    names = {name for one in each for name in flat_metrics(one)}
    assert OMITTED in summary or names == set(summary)
    for name in names & set(summary):
        present = sum(name in flat_metrics(one) for one in each)
        assert summary[name].get("count", len(each)) <= present


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_the_mean_lies_in_the_range_and_never_overflows(numbers: list[float]):
    assert min(numbers) <= mean(numbers) <= max(numbers)


@pytest.mark.slow
@given(metrics)
def test_the_metrics_that_are_kept_of_one_score_are_bounded(given):
    kept = bounded_metrics(given)
    assert len(kept) <= MAX_ENTRIES
    for name, value in kept.items():
        assert len(name) <= MAX_NAME + len(".length")
        assert value is None or isinstance(value, int | float) or len(value) <= MAX_TEXT


letters = st.text("abc", min_size=1, max_size=5)
plain_trees = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=10) | st.dictionaries(letters, inner, max_size=4), max_leaves=12
)


@pytest.mark.slow
@given(st.lists(st.dictionaries(letters, plain_trees, max_size=6), max_size=4))
def test_few_metrics_give_the_same_summary_whole_and_bounded(given):
    bounded = [bounded_metrics(each) for each in given]
    if not any(LEFT_OUT in each for each in bounded):
        flat = [name for each in given for name in aggregate(scored(each))]
        assert OMITTED in flat or aggregate(scored(*bounded)) == aggregate(scored(*given))


def test_of_many_metrics_of_one_score_the_deepest_go_first():
    kept = bounded_metrics({"a": {"b": dict.fromkeys(map(str, range(100)), 1.0)}, "c": "word " * 1000, "d": True})
    assert len(kept) == MAX_ENTRIES
    assert (kept["d"], kept[LEFT_OUT]) == (True, 102 - (MAX_ENTRIES - 1))
    assert len(kept["c"]) == MAX_TEXT
