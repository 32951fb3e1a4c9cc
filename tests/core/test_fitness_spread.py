"""The spread of F over the episodes, and its smallest step."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.agents.feedback import FitnessSpread, spread_of


def test_the_standard_error_is_that_of_the_mean() -> None:
    assert spread_of([0.0, 1.0]) == FitnessSpread(standard_error=0.5, step=0.5)
    assert spread_of([0.3] * 5).standard_error == pytest.approx(0.0)


@pytest.mark.parametrize("fitnesses", [(), (0.4,)])
def test_one_episode_has_no_spread(fitnesses: tuple) -> None:
    assert spread_of(fitnesses) == FitnessSpread(standard_error=None, step=None)


@pytest.mark.parametrize(("fitnesses", "step"), [
    ([0.25, 0.5], 0.125), ([0.1 + 0.2, 0.7, 0.0, 1.0], 0.025), ([0.4, 1.0], 0.1), ([2 / 3, 1 / 3, 0.0], 1 / 9),
    ([0.5, 0.5], None), ([0.123456, 0.654321], None),
])
def test_the_smallest_step(fitnesses: list[float], step: float | None) -> None:
    found = spread_of(fitnesses).step
    assert found == (None if step is None else pytest.approx(step))


@given(st.lists(st.integers(0, 20), min_size=2, max_size=12).filter(lambda each: len(set(each)) > 1))
def test_every_fitness_on_a_grid_is_a_multiple_of_the_step(places: list[int]) -> None:
    step = spread_of([place / 20 for place in places]).step * len(places)
    assert step >= 1 / 20 - 1e-6
    assert all(abs(round(place / 20 / step) * step - place / 20) < 1e-4 for place in places)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12))
def test_any_fitnesses_have_a_spread(fitnesses: list[float]) -> None:
    spread = spread_of(fitnesses)
    assert 0 <= spread.standard_error <= 0.5 + 1e-9
    assert spread.step is None or 0 < spread.step <= 1 / len(fitnesses)
