"""Episodes of the kinematic domain: solvable, reproducible bit for bit, and recorded."""


import numpy as np
import pytest
from memento.domains.hanoi import task
from memento.domains.hanoi.recording import Trace
from memento.domains.hanoi_kinematic.hand import CONTROL_PERIOD_S

from ...support.rollouts import fields, kinematic, play, same, solve
from .driving import HALF, SMALL, carry, drive, pick, restless, started

pytestmark = pytest.mark.quick

# Solvable and reproducible


@pytest.mark.slow
@pytest.mark.parametrize("goal_update", ["achieved", "desired"])
def test_a_careful_policy_solves_the_papers_randomisation(goal_update: str) -> None:
    env = kinematic(randomisation="table", goal_update=goal_update)
    solved = [solve(env, seed) == "success" for seed in range(1000, 1020)]
    assert sum(solved) >= 18


@pytest.mark.slow
def test_a_careful_policy_solves_19_of_20() -> None:
    env = kinematic(randomisation="table")
    ends = [solve(env, seed) for seed in range(2000, 2100)]
    assert ends.count("success") >= 95


@pytest.mark.parametrize("n_cubes", [1, 2, 3, 5, 6])
def test_other_towers_can_be_solved_too(n_cubes: int) -> None:
    env = kinematic(n_cubes=n_cubes, horizon=5000)
    assert solve(env, 0) == "success"
    recording = env.recording()
    assert recording.states["cube_pos"].shape == (recording.steps + 1, n_cubes, 3)
    assert bool(recording.states["success"][-1]) and not recording.states["success"][:-1].any()


@pytest.mark.slow
def test_hard_defeats_a_policy_that_trusts_one_common_bias() -> None:
    env = kinematic(randomisation="hard")
    assert sum(solve(env, seed) == "success" for seed in range(12)) <= 6


def test_another_seed_is_another_episode() -> None:
    env = kinematic(randomisation="table")
    one, other = (play(env, seed, restless, 20) for seed in (1, 2))
    assert not same(one.states, other.states)
    assert one.info["drawn"] != other.info["drawn"]


# Observations and recordings


def test_the_observation_is_the_truth_without_noise() -> None:
    env = started()
    seen = fields(env, np.asarray(env.observe()))
    assert np.allclose(seen["robot0_eef_pos"], env.world.hand.pos)
    assert np.allclose(seen["robot0_eef_quat"], [1.0, 0.0, 0.0, 0.0])
    assert np.allclose(seen["cube_pos"].reshape(4, 3), env.world.cubes.pos)
    assert np.allclose(seen["cube_size"], HALF)
    assert np.allclose(seen["boxes_pos"].reshape(3, 3)[:, :2], task.CONTAINER_XY_M)
    assert np.allclose(seen["boxes_quat"].reshape(3, 4), [1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("preset", ["none", "light", "table", "hard"])
def test_every_preset_starts_with_a_legal_tower_on_a(preset: str) -> None:
    env = kinematic(randomisation=preset)
    for seed in range(20):
        recording = play(env, seed, lambda step, rng: np.zeros(7), 3)
        arrays = recording.arrays()
        poses = (arrays[name][0].astype(float) for name in ("cube_pos", "container_pos", "container_quat"))
        gate = task.in_gate(*poses)
        assert gate[:, 0].all() and not gate[:, 1:].any()
        cubes = arrays["cube_pos"][0].astype(float)
        for upper in range(3):
            assert task.stacked(cubes[upper + 1], cubes[upper], HALF[upper + 1], HALF[upper])
        assert not arrays["success"].any() and arrays["illegal_score"].max() < 0.1


def test_a_recording_has_the_whole_episode() -> None:
    env = kinematic()
    recording = play(env, 3, restless, 50)
    assert recording.steps == len(recording.actions["actions"]) == 50
    assert all(len(rows) == 51 for rows in recording.states.values())
    assert np.abs(recording.actions["actions"]).max() <= 1.0, "as clipped"
    assert np.allclose(recording.states["cube_pos"][-1], env.world.cubes.pos, atol=1e-6)
    assert np.allclose(recording.states["eef_pos"][-1], env.world.hand.pos, atol=1e-6)
    assert recording.info["drawn"]
    names = [*recording.states, *recording.actions, *recording.constants]
    assert len(names) == len(set(names))


def test_a_trace_grows_and_starts_again() -> None:
    trace = Trace(HALF, control_period_s=0.05)
    for steps in (3000, 5):
        trace.begin(np.zeros(78))
        for step in range(steps):
            trace.add(np.full(78, step + 1.0), np.full(7, float(step)), illegal_score=0.5, success=step == steps - 1)
        recording = trace.recording({})
        assert recording.steps == steps
        assert recording.states["cube_pos"][:, 2, 1].tolist() == list(range(steps + 1))
        assert recording.actions["actions"][:, 6].tolist() == list(range(steps))
        assert recording.states["success"].sum() == 1 and recording.states["success"][-1]


def test_a_full_episode_of_the_paper_takes_under_four_megabytes_in_memory() -> None:
    trace = Trace(HALF, control_period_s=0.05)
    trace.begin(np.zeros(78))
    for _ in range(12_000):
        trace.add(np.zeros(78), np.zeros(7), illegal_score=0.0, success=False)
    assert sum(array.nbytes for array in trace.recording({}).arrays().values()) == pytest.approx(3.85e6, rel=0.02)


def test_the_horizon_ends_an_episode() -> None:
    env = started(horizon=5)
    assert [env.step(np.zeros(7)) for _ in range(5)] == [None] * 4 + ["horizon"]


def test_strict_rules_end_an_episode_that_parks_a_cube_on_the_table() -> None:
    def park(rules: str) -> str | None:
        env = started(rules=rules)
        assert pick(env, SMALL)
        carry(env, (0.2, 0.0), task.TABLE_HEIGHT_M)
        drive(env, (0.2, 0.0, 1.0))
        ends = [env.step(np.zeros(7)) for _ in range(round(2.5 / CONTROL_PERIOD_S))]
        assert env.recording().info["off_peg_parkings"] == 1
        return next((end for end in ends if end is not None), None)

    assert park("strict") == "illegal"
    assert park("paper") is None
