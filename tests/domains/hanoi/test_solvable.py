"""The simulated task is solvable, and the end of an episode follows from the simulator's true state."""

import numpy as np
import pytest
from memento.core.values import JSON
from memento.domains.hanoi import DOMAIN, task
from memento.domains.hanoi.environment import HanoiEnvironment

from .oracle import Oracle, play


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("physics", ["exact", "fast"])
def test_the_tower_can_be_moved(physics: str) -> None:
    options = DOMAIN.options({"physics": physics, "randomisation": "light"}, preset="paper")
    environment = HanoiEnvironment(options)
    ends = [play(environment, seed)[0] for seed in (1, 2)]
    assert ends == ["success", "success"]
    assert environment.success()
    recording = environment.recording()
    assert recording.info["off_peg_parkings"] == 0
    assert recording.states["success"][-1] and not recording.states["success"][:-1].any()
    # The same predicate, computed over the whole recording.
    states = recording.states
    cubes, boxes, quats = (
        states[name].astype(np.float64) for name in ("cube_pos", "container_pos", "container_quat")
    )
    held = task.success(cubes, boxes, quats, task.cube_half_edges(4))
    assert held[-1]


@pytest.mark.slow
def test_a_larger_cube_on_a_smaller_one_is_illegal() -> None:
    environment = HanoiEnvironment(DOMAIN.options({"physics": "fast", "randomisation": "none"}, preset="paper"))
    environment.reset(index=0, seed=0)
    data, starts = environment.simulation.scene.mj_data, environment.simulation.dynamics.cube_qpos
    small, medium = (slice(start, start + 3) for start in starts[:2])
    data.qpos[small], data.qpos[medium] = data.qpos[medium].copy(), data.qpos[small].copy()
    assert environment.step(np.zeros(7)) == "illegal"
    assert not environment.success()


@pytest.mark.slow
def test_one_cube_is_taken_to_c_in_one_move() -> None:
    given: dict[str, JSON] = {"physics": "fast", "randomisation": "none", "n_cubes": 1}
    environment = HanoiEnvironment(DOMAIN.options(given, preset="paper"))
    ended, _ = play(environment, 0)
    recording = environment.recording()
    states = recording.states
    assert ended == "success" and environment.success()
    assert states["cube_pos"].shape == (recording.steps + 1, 1, 3)
    assert states["success"][-1] and not states["success"][:-1].any()
    assert recording.info["placements"] == 1
    assert not states["illegal_score"].any()
    assert not task.illegal_score(states["cube_pos"].astype(np.float64), task.cube_half_edges(1)).any()
    story = DOMAIN.story(recording)
    assert story.notes[0].startswith("cubes let go elsewhere than taken: 1, at least 1 needed; at the end 1 of 1 cubes")


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["cube", "asymmetric", "cylinder"])
def test_each_variant_stands_and_can_be_lifted(variant: str) -> None:
    given: dict[str, JSON] = {"physics": "fast", "randomisation": "none", "variant": variant}
    environment = HanoiEnvironment(DOMAIN.options(given, preset="paper"))
    environment.reset(index=0, seed=0)
    oracle = Oracle(environment)
    heights = []
    for _ in range(160):
        assert environment.step(oracle.action()) is None
        heights.append(environment.simulation.truth.cubes[0][2])
    assert max(heights) > heights[0] + 0.05
    assert environment.recording().info["variant"] == variant


@pytest.mark.slow
@pytest.mark.parametrize("n_cubes", [2, 3, 5, 6])
def test_other_towers_stand(n_cubes: int) -> None:
    given: dict[str, JSON] = {"physics": "fast", "randomisation": "table", "n_cubes": n_cubes}
    environment = HanoiEnvironment(DOMAIN.options(given, preset="paper"))
    environment.reset(index=0, seed=1)
    for _ in range(30):
        assert environment.step(np.zeros(7)) is None
    states = environment.recording().states
    assert states["cube_pos"].shape == (31, n_cubes, 3)
    assert np.abs(states["cube_pos"][-1] - states["cube_pos"][0]).max() < 3e-3
