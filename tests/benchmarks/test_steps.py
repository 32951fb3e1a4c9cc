"""`memento bench steps` measures every path and ratio, on controls that a replay reproduces bit for bit."""

import pytest

from .steps import RATIOS, measure_paths


@pytest.mark.slow
@pytest.mark.nightly
def test_every_path_is_measured_next_to_its_floor() -> None:
    figures = measure_paths(rounds=1, steps=30, seed=0, goal_update="achieved")
    steps_per_s, ratios = figures["steps_per_s"], figures["ratios"]
    assert isinstance(steps_per_s, dict) and isinstance(ratios, dict)
    assert set(steps_per_s) == {name for pair in RATIOS.values() for name in pair}
    assert set(ratios) == set(RATIOS)
    for name, (one, other) in RATIOS.items():
        assert ratios[name] == pytest.approx(steps_per_s[one] / steps_per_s[other], rel=0.02), "of one round"
    assert steps_per_s["fast"] > steps_per_s["stock"], "by a factor of eight: noise does not turn it round"
