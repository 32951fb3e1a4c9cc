"""The robosuite environment as a worker uses it: reproducible from its seed, quiet, free of graphics."""

import subprocess
import sys

import mujoco
import numpy as np
import pytest
from memento.core.errors import RolloutError
from memento.core.values import JSON
from memento.domains.arm.physics.choice import PHYSICS
from memento.domains.hanoi import DOMAIN, task
from memento.domains.hanoi.environment import HanoiEnvironment
from memento.domains.hanoi.sensors import observation_slices
from memento.domains.hanoi.task import Array

from ...support.nightly import first_and_nightly

STEPS = 40


def make(given: dict[str, JSON]) -> HanoiEnvironment:
    return HanoiEnvironment(DOMAIN.options(given, preset="paper"))


@pytest.fixture(scope="module")
def environment() -> HanoiEnvironment:
    return make({"physics": "stock", "randomisation": "hard", "horizon": 500})


def roll(environment: HanoiEnvironment, seed: int, steps: int = STEPS) -> tuple[Array, Array]:
    """qpos and observations of an episode whose actions depend on the seed."""
    actions = np.random.default_rng(seed).uniform(-1, 1, (steps, 7))
    environment.reset(index=0, seed=seed)
    states, seen = [], []
    for action in actions:
        seen.append(environment.observe())
        states.append(environment.simulation.scene.mj_data.qpos.copy())
        environment.step(action)
    return np.array(states), np.array(seen)


@pytest.mark.slow
def test_same_seed_same_episode_whatever_came_before(environment: HanoiEnvironment) -> None:
    states, seen = roll(environment, 7)
    for earlier in (1, 2):
        roll(environment, earlier, steps=15 * earlier)
        again, seen_again = roll(environment, 7)
        assert np.array_equal(states, again)
        assert np.array_equal(seen, seen_again)


@pytest.mark.slow
def test_other_seeds_give_other_episodes(environment: HanoiEnvironment) -> None:
    assert not np.array_equal(roll(environment, 3, 2)[0], roll(environment, 4, 2)[0])


SCRIPT = """
import hashlib, sys, threading
import numpy as np
from memento.domains.hanoi import DOMAIN
from memento.domains.hanoi.environment import HanoiEnvironment
physics, threads, seeds = sys.argv[1], int(sys.argv[2]), [int(seed) for seed in sys.argv[3:]]
options = DOMAIN.options({"physics": physics, "randomisation": "hard", "horizon": 500}, preset="paper")
found = {}

def play(mine):
    environment = HanoiEnvironment(options)
    for seed in mine:
        digest = hashlib.sha256()
        environment.reset(index=0, seed=seed)
        for action in np.random.default_rng(seed).uniform(-1, 1, (12, 7)):
            digest.update(environment.observe().tobytes())
            environment.step(action)
            digest.update(environment.simulation.scene.mj_data.qpos.tobytes())
        found[seed] = digest.hexdigest()

for mine in [seeds[each::threads] for each in range(threads)]:
    if threads == 1:
        play(mine)
    else:
        threading.Thread(target=play, args=(mine,)).start()
for thread in threading.enumerate():
    if thread is not threading.current_thread():
        thread.join(100)
print(*(found[seed] for seed in sorted(found)))
"""


def in_a_process(physics: str, threads: int, *seeds: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", SCRIPT, physics, str(threads), *map(str, seeds)],
        capture_output=True, text=True, timeout=150, check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("physics", first_and_nightly(*reversed(PHYSICS)))
def test_an_episode_is_the_same_in_any_process_thread_and_order(physics: str) -> None:
    first = in_a_process(physics, 1, 11, 12, 13, 14)
    assert len(set(first)) == 4
    assert in_a_process(physics, 1, 14, 12, 13, 11) == first, "in another order"
    assert in_a_process(physics, 2, 11, 12, 13, 14) == first, "on two threads at once"
    assert in_a_process(physics, 1, 13) == first[2:3], "alone"


@pytest.mark.parametrize("warning", ["mjWARN_CONTACTFULL", "mjWARN_CNSTRFULL"])
def test_dropped_contacts_are_an_internal_error(environment: HanoiEnvironment, warning: str) -> None:
    environment.reset(index=0, seed=0)
    environment.step(np.zeros(7))
    environment.simulation.scene.mj_data.warning[getattr(mujoco.mjtWarning, warning)].number = 1     # as MuJoCo does it
    with pytest.raises(RolloutError, match="MuJoCo dropped contacts at step 1"):
        environment.step(np.zeros(7))
    environment.reset(index=0, seed=0)
    environment.step(np.zeros(7))       # the error affects one episode only


def test_the_arena_has_room_to_spare(environment: HanoiEnvironment) -> None:
    roll(environment, 3)
    data, model = environment.simulation.scene.mj_data, environment.simulation.scene.mj_model
    assert 0 < data.maxuse_arena < model.narena / 20
    assert model.narena == 32 << 20


@pytest.mark.slow
def test_import_changes_neither_the_environment_nor_the_log() -> None:
    script = (
        "import os, logging; before = dict(os.environ); import memento.domains.hanoi.environment;"
        "assert dict(os.environ) == before; assert not logging.getLogger('robosuite_logs').filters"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=150, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_tower_stands_where_the_task_says(environment: HanoiEnvironment) -> None:
    environment.reset(index=0, seed=5)
    for _ in range(10):
        assert environment.step(np.zeros(7)) is None
    states = environment.recording().states
    cubes, boxes, quats = (
        states[name].astype(np.float64) for name in ("cube_pos", "container_pos", "container_quat")
    )
    gate = task.in_gate(cubes, boxes, quats)
    assert gate[..., task.SOURCE].all()
    assert not gate[..., [task.SPARE, task.TARGET]].any()
    edges = task.cube_half_edges(4)
    for upper in range(3):
        assert task.stacked(cubes[:, upper + 1], cubes[:, upper], edges[upper + 1], edges[upper]).all()
    assert np.abs(boxes[..., 2] - task.CONTAINER_Z_M).max() < 2e-3


def test_draws_reach_the_model(environment: HanoiEnvironment) -> None:
    environment.reset(index=0, seed=21)
    drawn = environment.recording().info["drawn"]
    assert isinstance(drawn, dict)
    model, dynamics = environment.simulation.scene.mj_model, environment.simulation.dynamics
    scale = np.array(drawn["cube_mass_scale"])
    bodies = dynamics.cube_bodies
    assert np.allclose(model.body_mass[bodies], dynamics.nominal.mass[bodies] * scale)
    assert np.allclose(model.body_inertia[bodies], dynamics.nominal.inertia[bodies] * scale[:, None])
    assert np.allclose(model.dof_damping, dynamics.nominal.damping * drawn["joint_damping_scale"])
    assert np.allclose(model.actuator_gainprm[:, 0], dynamics.nominal.gain[:, 0] * drawn["actuator_gain_scale"])
    environment.step(np.zeros(7))
    data = environment.simulation.scene.mj_data
    cubes = {geom for geom in range(model.ngeom) if model.geom_bodyid[geom] in bodies}
    contacts = [data.contact[i] for i in range(data.ncon)]
    touching = [contact for contact in contacts if cubes & {contact.geom1, contact.geom2}]
    assert len(touching) >= 8
    for contact in touching:
        assert contact.dim == 6     # so that torsional and rolling friction act
        assert contact.friction[2] == pytest.approx(drawn["torsional_friction"])
        assert contact.friction[3] == pytest.approx(drawn["rolling_friction"])


def test_the_robot_reads_itself_without_noise(environment: HanoiEnvironment) -> None:
    environment.reset(index=0, seed=2)
    environment.step(np.array([1.0, 0, 0, 0, 0, 0, -1.0]))
    seen = environment.observe()
    where = observation_slices(4)
    states = environment.recording().states
    assert np.allclose(seen[where["robot0_eef_pos"]], states["eef_pos"][-1], atol=1e-6)
    assert np.allclose(seen[where["robot0_eef_quat"]], states["eef_quat"][-1], atol=1e-6)
    assert seen[where["robot0_joint_vel"]].any()
    assert np.array_equal(seen[where["cube_size"]], task.cube_half_edges(4))


def test_the_horizon_ends_an_episode(environment: HanoiEnvironment) -> None:
    environment = make({"physics": "stock", "randomisation": "none", "horizon": 3})
    environment.reset(index=0, seed=0)
    assert [environment.step(np.zeros(7)) for _ in range(3)] == [None, None, "horizon"]
    assert not environment.success()
    assert environment.recording().info["ended_by"] == "horizon"


@pytest.mark.slow
def test_an_idle_episode_stops_with_idle_stop_s() -> None:
    environment = make({"physics": "stock", "randomisation": "none", "idle_stop_s": 0.5})
    environment.reset(index=0, seed=0)
    ends = [environment.step(np.zeros(7)) for _ in range(10)]
    assert ends == [None] * 9 + ["idle"]


def test_a_wrong_action_is_named(environment: HanoiEnvironment) -> None:
    environment.reset(index=0, seed=0)
    with pytest.raises(ValueError, match="7 numbers"):
        environment.step(np.zeros(6))
