"""The sensor noise: the right statistics in the right fields, exact values elsewhere, reproducible to the bit."""

from dataclasses import replace

import numpy as np
import pytest
from memento.domains.hanoi.randomisation import NONE, Drawn, Randomisation
from memento.domains.hanoi.sensors import Sensors, observation_layout, observation_size, observation_slices
from memento.domains.hanoi.task import cube_half_edges

SLICES = observation_slices(4)
HALF_EDGES = cube_half_edges(4)
PERIOD_S = 0.05


def truth() -> np.ndarray:
    vector = np.random.default_rng(3).uniform(0.1, 1.0, observation_size(4))
    vector[SLICES["cube_quat"]] = np.tile([1.0, 0.0, 0.0, 0.0], 4)
    vector[SLICES["boxes_quat"]] = np.tile([np.cos(0.3), 0.0, 0.0, np.sin(0.3)], 3)
    return vector


def drawn(**quantities: float) -> Drawn:
    ranges = {name: (value, value) for name, value in quantities.items()}
    return replace(NONE, **ranges).draw(np.random.default_rng(0), 4)


def observe(draw: Drawn, count: int, seed: int = 0) -> np.ndarray:
    sensors = Sensors(draw, np.random.default_rng(seed), half_edges=HALF_EDGES, control_period_s=PERIOD_S)
    return np.array([sensors.observe(truth()) for _ in range(count)])


def errors(draw: Drawn, count: int, seed: int = 0) -> np.ndarray:
    """Observed minus true positions, (count, 7 objects, 3)."""
    seen = observe(draw, count, seed) - truth()
    return np.concatenate([seen[:, SLICES["cube_pos"]], seen[:, SLICES["boxes_pos"]]], axis=1).reshape(count, 7, 3)


def test_the_layout_is_the_papers_table() -> None:
    assert [(name, shape[0]) for name, shape in observation_layout(4)] == [
        ("robot0_eef_pos", 3), ("robot0_eef_quat", 4), ("robot0_gripper_qpos", 2), ("robot0_gripper_qvel", 2),
        ("robot0_joint_pos", 7), ("robot0_joint_vel", 7), ("cube_pos", 12), ("cube_quat", 16), ("cube_size", 4),
        ("boxes_pos", 9), ("boxes_quat", 12),
    ]
    assert observation_size(4) == 78


def test_without_randomisation_the_truth_is_seen() -> None:
    assert np.array_equal(observe(drawn(), 300), np.tile(truth(), (300, 1)))


def test_noise_is_gaussian_independent_and_on_positions_only() -> None:
    found = errors(drawn(noise_std_m=0.01), 4000)
    assert found.std() == pytest.approx(0.01, rel=0.02)
    assert abs(found.mean()) < 2e-4
    flat = found.reshape(4000, 21)
    correlation = np.corrcoef(flat.T) - np.eye(21)
    assert np.abs(correlation).max() < 0.08
    assert abs(np.corrcoef(flat[1:, 0], flat[:-1, 0])[0, 1]) < 0.06
    noisy = observe(drawn(noise_std_m=0.01), 50)
    for name in SLICES:
        if name not in ("cube_pos", "boxes_pos"):
            assert np.array_equal(noisy[:, SLICES[name]], np.tile(truth()[SLICES[name]], (50, 1))), name


def test_the_bias_is_shared_by_all_objects_and_constant() -> None:
    draw = Randomisation(**{**{name: getattr(NONE, name) for name in NONE.__slots__}, "bias_m": (-0.015, 0.015)}).draw(
        np.random.default_rng(1), 4)
    found = errors(draw, 300)
    assert np.allclose(found, np.array(draw.bias_m), atol=1e-15)
    assert len(set(draw.bias_m)) == 3


def test_an_objects_own_bias_is_added() -> None:
    draw = replace(NONE, bias_m=(0.01, 0.01), object_bias_m=(-0.01, 0.01)).draw(np.random.default_rng(1), 4)
    assert np.allclose(errors(draw, 10), 0.01 + np.array(draw.object_bias_m), atol=1e-15)


def test_correlated_noise_has_the_same_std_and_the_given_correlation_across_blocks() -> None:
    found = errors(drawn(noise_std_m=0.01, noise_correlation=0.9), 6000).reshape(6000, 21)
    assert found.std() == pytest.approx(0.01, rel=0.05)
    lag_one = [np.corrcoef(found[1:, k], found[:-1, k])[0, 1] for k in range(21)]
    assert np.mean(lag_one) == pytest.approx(0.9, abs=0.02)
    jumps = np.abs(np.diff(found, axis=0)).max(axis=1)
    assert jumps[255::256].mean() < 1.3 * jumps.mean(), "no jump where a block of noise ends"
    starts = np.array([errors(drawn(noise_std_m=0.01, noise_correlation=0.97), 1, seed) for seed in range(100)])
    assert starts.std() == pytest.approx(0.01, rel=0.1), "it starts in its stationary state"


@pytest.mark.slow
def test_the_bias_drifts_by_the_square_root_of_time() -> None:
    ends = np.array([errors(drawn(bias_drift_m_per_sqrt_s=0.001), 1001, seed)[-1] for seed in range(150)])
    assert np.ptp(ends, axis=1).max() < 1e-12, "all objects share it"
    assert ends[:, 0].std() == pytest.approx(0.001 * (1001 * PERIOD_S) ** 0.5, rel=0.15)


@pytest.mark.parametrize("late", [1, 3])
def test_latency_holds_objects_back_and_not_the_robot(late: int) -> None:
    sensors = Sensors(drawn(latency_steps=late), np.random.default_rng(0), half_edges=HALF_EDGES,
                      control_period_s=PERIOD_S)
    for step in range(10):
        seen = sensors.observe(np.full(78, float(step)))
        assert seen[SLICES["robot0_eef_pos"]][0] == step
        for name in ("cube_pos", "cube_quat", "boxes_pos", "boxes_quat"):
            assert set(seen[SLICES[name]]) == {float(max(0, step - late))}


def test_orientation_noise_is_a_small_rotation() -> None:
    seen = observe(drawn(orientation_noise_std_rad=0.05), 2000)
    for name, true in (("cube_quat", [1.0, 0.0, 0.0, 0.0]), ("boxes_quat", [np.cos(0.3), 0.0, 0.0, np.sin(0.3)])):
        quats = seen[:, SLICES[name]].reshape(-1, 4)
        assert np.allclose(np.linalg.norm(quats, axis=1), 1.0)
        angles = 2 * np.arccos(np.clip(np.abs(quats @ np.array(true)), 0.0, 1.0))
        assert np.sqrt((angles ** 2).mean() / 3) == pytest.approx(0.05, rel=0.05)


def test_observing_leaves_the_truth_alone_and_repeats_to_the_bit() -> None:
    draw = drawn(noise_std_m=0.01, noise_correlation=0.97, latency_steps=2, orientation_noise_std_rad=0.05,
                 bias_drift_m_per_sqrt_s=0.001)
    assert observe(draw, 600, 4).tobytes() == observe(draw, 600, 4).tobytes()
    assert observe(draw, 300, 4).tobytes() == observe(draw, 600, 4)[:300].tobytes(), "whatever the length"
    vector = truth()
    Sensors(draw, np.random.default_rng(0), half_edges=HALF_EDGES, control_period_s=PERIOD_S).observe(vector)
    assert np.array_equal(vector, truth())
