"""The branches of each method's generations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.methods import (
    METHODS,
    branches_of,
    candidates_expected,
    halves,
    is_tuned,
    tunes,
    tuning_episodes,
    tuning_generations,
)

pytestmark = pytest.mark.quick

SETTINGS = {"k": 7, "k_hc": 3, "k_macro": 2, "k_cross": 1, "generations": 4}


@pytest.mark.parametrize(("method", "expected"), [
    ("memento", [("climb", "hill", 3), ("macro", "macro", 2), ("cross", "cross", 1)]),
    ("hill-only", [("climb", "hill", 7)]),
    ("without-crossover", [("climb", "hill", 4), ("macro", "macro", 3)]),
    ("eureka", [("macro", "macro", 7)]),
    ("eureka-elite", [("macro", "macro", 7)]),
    ("revolve", [("islands", "", 7)]),
    ("zero-shot", [("programs", "initial", 7)]),
    ("random", [("random", "random", 7)]),
    ("cma-es", [("tune", "tune", 1)]),
    ("calibrate", [("calibrate", "calibrate", 1)]),
    ("of another version", []),
])
def test_branches(method: str, expected: list[tuple[str, str, int]]) -> None:
    settings = {**SETTINGS, "method": method}
    assert [(branch.label, branch.word, branch.slots) for branch in branches_of(settings)] == expected
    assert candidates_expected(settings) == 4 * sum(slots for _, _, slots in expected)


def test_tuning_is_a_branch_where_it_has_slots() -> None:
    labels = [branch.label for branch in branches_of({**SETTINGS, "method": "memento", "k_tune": 2})]
    assert labels == ["climb", "macro", "tune", "cross"]
    assert tunes({"method": "memento", "k_tune": 2}) and tunes({"method": "cma-es"})
    assert not tunes({"method": "memento", "k_tune": 0}) and not tunes({"method": "eureka", "k_tune": 2})


@given(st.integers(0, 1000))
def test_an_odd_slot_goes_to_the_climb(slots: int) -> None:
    climbs, macros = halves(slots)
    assert climbs + macros == slots and climbs - macros in (0, 1)


def test_every_method_and_operator_has_its_names() -> None:
    ours = ("random", "cma-es", "calibrate")
    assert {method.published for method in METHODS.values() if method.name not in ours} == {
        "MEMENTO", "Hill-only", "Without-Crossover", "Eureka", "REvolve", "Zero-shot",
    }


@given(st.integers(1, 30), st.integers(0, 40))
def test_as_many_generations_tune_as_the_plan_says(generations: int, tuned: int) -> None:
    given = {"generations": generations, "tune_generations": tuned, "k_tune": 2, "k_hc": 3, "tune_episodes": 10}
    found = [each for each in range(1, generations + 1) if is_tuned(each, of=generations, tuned=tuned)]
    assert len(found) == tuning_generations(given)
    assert found == list(range(found[0], found[-1] + 1)), "one after the other"
    assert tuning_episodes(given) == 20 * len(found)
    assert candidates_expected(given) == 3 * generations + 2 * len(found)
