"""The presets have the tables' numbers, draws stay in their ranges, and equal seeds give equal draws."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.domains.hanoi.randomisation import (
    HARD,
    PRESETS,
    QUANTITIES,
    TABLE,
    Drawn,
    draw_pushes,
    episode_generators,
)


def draw(preset: str, seed: int, n_cubes: int = 4) -> Drawn:
    return PRESETS[preset].draw(episode_generators(seed)[0], n_cubes)


def test_table_is_the_papers_table_and_nothing_else() -> None:
    given_there = {
        "sliding_friction_scale": (0.3, 1.8), "torsional_friction": (0.001, 0.01),
        "rolling_friction": (0.0001, 0.001), "noise_std_m": (0.002, 0.025), "bias_m": (-0.015, 0.015),
        "world_offset_m": (-0.015, 0.015), "cube_mass_scale": (0.7, 1.5), "joint_damping_scale": (0.8, 1.5),
        "actuator_gain_scale": (0.85, 1.15), "initial_cube_xy_m": (-0.003, 0.003),
    }
    table = asdict(TABLE)
    assert {name: table[name] for name in given_there} == given_there
    assert all(table[name] == (0.0, 0.0) for name in QUANTITIES if name not in given_there)


def test_hard_is_table_and_more() -> None:
    changed = [name for name in QUANTITIES if getattr(HARD, name) != getattr(TABLE, name)]
    assert changed == ["noise_correlation", "latency_steps", "object_bias_m", "orientation_noise_std_rad",
                    "container_yaw_rad", "bias_drift_m_per_sqrt_s", "push_rate_hz", "push_speed_m_s"]


def values(value: object) -> list[float]:
    if isinstance(value, tuple):
        return [number for item in value for number in values(item)]
    assert isinstance(value, (int, float))
    return [float(value)]


@pytest.mark.parametrize("preset", PRESETS)
@given(seed=st.integers(0, 2**63 - 1), n_cubes=st.integers(1, 6))
def test_every_draw_is_in_its_range_and_reproducible(preset: str, seed: int, n_cubes: int) -> None:
    drawn = draw(preset, seed, n_cubes)
    for name in QUANTITIES:
        low, high = getattr(PRESETS[preset], name)
        assert all(low <= value <= high for value in values(getattr(drawn, name))), name
    assert len(drawn.cube_mass_scale) == len(drawn.initial_cube_xy_m) == n_cubes
    assert len(drawn.object_bias_m) == n_cubes + 3
    assert drawn == draw(preset, seed, n_cubes)


def test_draws_fill_their_ranges() -> None:
    drawn = [draw("hard", seed) for seed in range(300)]
    for name in ("noise_std_m", "actuator_gain_scale", "bias_m", "container_yaw_rad"):
        low, high = getattr(HARD, name)
        found = [value for one in drawn for value in values(getattr(one, name))]
        assert min(found) < low + 0.05 * (high - low)
        assert max(found) > high - 0.05 * (high - low)
        assert abs(np.mean(found) - (low + high) / 2) < 0.1 * (high - low)
    assert {one.latency_steps for one in drawn} == {1, 2, 3}


def test_another_range_of_one_quantity_leaves_the_others_draws_alone() -> None:
    changed = replace(TABLE, bias_m=(0.0, 0.0)).draw(episode_generators(5)[0], 4)
    assert replace(changed, bias_m=draw("table", 5).bias_m) == draw("table", 5)


def test_a_draw_is_json() -> None:
    drawn = draw("hard", 3)
    assert json.loads(json.dumps(drawn.to_json())) == drawn.to_json()
    assert set(drawn.to_json()) == set(QUANTITIES)


def test_pushes_come_at_their_rate_in_order() -> None:
    rng = np.random.default_rng(0)
    drawn = draw("hard", 1)
    counts = []
    for _ in range(100):
        pushes = draw_pushes(drawn, rng, n_cubes=4, horizon=2000, control_period_s=0.05)
        counts.append(len(pushes))
        assert [push.step for push in pushes] == sorted(push.step for push in pushes)
        assert all(0 <= push.step < 2000 and 0 <= push.cube < 4 for push in pushes)
        assert all(np.hypot(*push.velocity_m_s) == pytest.approx(drawn.push_speed_m_s) for push in pushes)
    assert abs(np.mean(counts) - 0.05 * 100) < 1.0
    assert draw_pushes(draw("table", 1), rng, n_cubes=4, horizon=2000, control_period_s=0.05) == ()


def test_the_two_generators_of_an_episode_differ() -> None:
    one, other = episode_generators(9)
    assert one.standard_normal() != other.standard_normal()
