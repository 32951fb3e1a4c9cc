"""`memento bench steps` measures every path and ratio, on controls that a replay reproduces bit for bit."""

import pytest
from memento.benchmarks.steps import RATIOS, measure_paths


@pytest.mark.slow
def test_every_path_is_measured_next_to_its_floor() -> None:
    figures = measure_paths(rounds=1, steps=30, seed=0, goal_update="achieved")
    steps_per_s, ratios = figures["steps_per_s"], figures["ratios"]
    assert isinstance(steps_per_s, dict) and isinstance(ratios, dict)
    assert set(steps_per_s) == {name for pair in RATIOS.values() for name in pair}
    assert set(ratios) == set(RATIOS)
    assert all(isinstance(value, float) and value > 0 for value in (*steps_per_s.values(), *ratios.values()))
