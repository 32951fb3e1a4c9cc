"""The kinematic world: the arm, and cubes that are held, dropped, pushed and toppled."""


import numpy as np
import pytest
from memento.domains.hanoi import task

from ...support.rollouts import fields, kinematic, play
from .driving import (
    CLOSE,
    HALF,
    HOLES,
    LARGE,
    MEDIUM,
    OPEN,
    SMALL,
    XLARGE,
    above,
    carry,
    drive,
    grip,
    pick,
    place_in,
    restless,
    started,
)

# The arm


def test_actions_beyond_the_box_are_clipped() -> None:
    one, other = started(), started()
    one.step(np.array([9.0, -9.0, 9.0, 0.0, 0.0, 9.0, 9.0]))
    other.step(np.array([1.0, -1.0, 1.0, 0.0, 0.0, 1.0, 1.0]))
    assert np.array_equal(one.observe(), other.observe())


@pytest.mark.parametrize(("gain", "direction"), [(0.85, -1.0), (1.15, 1.0)])
def test_weak_actuators_sag_and_a_proportional_command_rests_off_its_goal(gain: float, direction: float) -> None:
    env = started(actuator_gain_scale=gain)
    height = env.world.hand.pos[2]
    grip(env, 0.0, 20)
    assert direction * (env.world.hand.pos[2] - height) > 0.04, "achieved: it drifts"
    drive(env, (-0.1, 0.0, 1.0), steps=30)
    assert direction * (env.world.hand.pos[2] - 1.0) == pytest.approx(0.004, abs=0.0015)
    env = started(actuator_gain_scale=gain, goal_update="desired")
    height = env.world.hand.pos[2]
    grip(env, 0.0, 20)
    assert direction * (env.world.hand.pos[2] - height) == pytest.approx(0.004, abs=0.0015), "desired: it does not"


def test_desired_goals_accumulate() -> None:
    env = started(goal_update="desired")
    x = env.world.hand.pos[0]
    env.step(np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    grip(env, 0.0, 8)
    assert env.world.hand.pos[0] - x == pytest.approx(0.05, abs=0.002)


def test_damping_slows_the_arm() -> None:
    def first_step(damping: float) -> float:
        env = started(joint_damping_scale=damping)
        x = env.world.hand.pos[0]
        env.step(np.array([1.0] + [0.0] * 6))
        return env.world.hand.pos[0] - x

    assert first_step(1.5) < first_step(1.0) < first_step(0.8) < 0.05


def test_the_hand_turns_and_reports_it() -> None:
    env = started()
    for _ in range(10):
        env.step(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.4, 0.0]))
    x, y, z, w = fields(env, np.asarray(env.observe()))["robot0_eef_quat"]
    yaw = np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))
    assert yaw == pytest.approx(env.world.hand.yaw) and yaw == pytest.approx(0.85, abs=0.01)
    assert np.linalg.norm([x, y, z, w]) == pytest.approx(1.0)


def test_fingers_take_time_and_stop_at_what_the_actuators_reach() -> None:
    env = started(actuator_gain_scale=0.85)
    grip(env, CLOSE)
    widths = []
    for _ in range(5):
        env.step(np.array([0.0] * 6 + [OPEN]))
        widths.append(fields(env, np.asarray(env.observe()))["robot0_gripper_qpos"].tolist())
    assert widths[0][0] < widths[-1][0] == pytest.approx(0.034)
    assert widths[-1][1] == -widths[-1][0]


# Grasping


@pytest.mark.parametrize("shift", [(0.0, 0.0), (0.0, 0.012), (0.0, -0.012), (0.01, 0.0), (-0.01, 0.005)])
def test_a_grasp_within_tolerance_holds_and_reports_the_width(shift: tuple[float, float]) -> None:
    env = started()
    assert pick(env, SMALL, shift)
    assert fields(env, np.asarray(env.observe()))["robot0_gripper_qpos"][0] == pytest.approx(HALF[SMALL])
    assert env.world.cubes.pos[SMALL][1] == pytest.approx(env.world.hand.pos[1], abs=1e-9), "the fingers centre it"
    before = env.world.cubes.pos[SMALL][2]
    drive(env, (*env.world.hand.pos[:2], 1.15))
    assert env.world.cubes.pos[SMALL][2] - before > 0.1
    assert env.world.cubes.pos[MEDIUM][2] < 0.95, "the others stay"


@pytest.mark.parametrize("shift", [(0.0, 0.025), (0.0, -0.03), (0.025, 0.0)])
def test_a_grasp_out_of_tolerance_fails(shift: tuple[float, float]) -> None:
    assert not pick(started(), SMALL, shift)


def test_a_grasp_above_the_cube_fails() -> None:
    env = started()
    grip(env, OPEN)
    drive(env, above(env, SMALL))
    drive(env, above(env, SMALL, 0.003))
    grip(env, CLOSE)
    assert env.world.cubes.held is None
    assert fields(env, np.asarray(env.observe()))["robot0_gripper_qpos"][0] < 0.002


def test_fingers_on_top_of_a_cube_are_stopped() -> None:
    env = started()
    x, y, z = env.world.cubes.pos[SMALL]
    drive(env, (x, y + 0.03, 1.1))
    grip(env, OPEN)
    drive(env, (x, y + 0.03, z), steps=20)
    assert env.world.hand.pos[2] >= z + HALF[SMALL] + 0.01


def test_the_palm_stops_the_hand() -> None:
    env = started()
    grip(env, OPEN)
    drive(env, above(env, SMALL))
    drive(env, (*env.world.cubes.pos[SMALL][:2], 0.85), steps=25)
    assert env.world.hand.pos[2] > env.world.cubes.pos[SMALL][2] - 0.012


# Placing, dropping, toppling


def test_a_cube_is_placed_in_a_hole_and_stacked() -> None:
    env = started()
    place_in(env, SMALL, 1)
    assert env.world.cubes.pos[SMALL] == pytest.approx([*HOLES[1], task.TABLE_HEIGHT_M + HALF[SMALL]], abs=0.004)
    place_in(env, MEDIUM, 2)
    place_in(env, SMALL, 2, task.TABLE_HEIGHT_M + 2 * HALF[MEDIUM])
    assert env.world.cubes.pos[SMALL][2] == pytest.approx(task.TABLE_HEIGHT_M + 2 * HALF[MEDIUM] + HALF[SMALL])
    assert env.recording().info["placements"] == 2, "the third is not yet settled"
    assert env.world.drops == 0


def test_a_held_cube_stops_on_what_is_below_and_the_hand_feels_it() -> None:
    env = started()
    place_in(env, SMALL, 1)
    assert pick(env, MEDIUM)
    assert carry(env, HOLES[2], task.TABLE_HEIGHT_M - 0.04, then_open=False) is None
    assert env.world.cubes.pos[MEDIUM][2] == pytest.approx(task.TABLE_HEIGHT_M + HALF[MEDIUM], abs=1e-6)


def test_a_larger_cube_on_a_smaller_one_is_illegal() -> None:
    env = started()
    place_in(env, SMALL, 1)
    assert pick(env, MEDIUM)
    assert carry(env, HOLES[1], task.TABLE_HEIGHT_M + 2 * HALF[SMALL]) == "illegal"
    assert not env.success()
    recording = env.recording()
    assert recording.states["illegal_score"][-1] >= task.ILLEGAL_AT > recording.states["illegal_score"][:-1].max()


def test_a_cube_released_in_the_air_falls_and_counts_as_a_drop() -> None:
    env = started()
    assert pick(env, SMALL)
    drive(env, (*env.world.hand.pos[:2], 1.1))
    drive(env, (0.2, 0.0, 1.1))
    grip(env, OPEN, 2)
    assert env.world.cubes.pos[SMALL][2] == pytest.approx(task.TABLE_HEIGHT_M + HALF[SMALL])
    assert env.world.drops == 1
    assert env.recording().info["drops"] == 1


def test_an_overhanging_cube_topples_next_to_its_support() -> None:
    env = started()
    place_in(env, SMALL, 1)
    place_in(env, MEDIUM, 2)
    assert pick(env, SMALL)
    x, y = HOLES[2]
    carry(env, (x, y + HALF[MEDIUM] + 0.006), task.TABLE_HEIGHT_M + 2 * HALF[MEDIUM])
    assert env.world.cubes.pos[SMALL][2] < task.TABLE_HEIGHT_M + 2 * HALF[MEDIUM]
    assert abs(env.world.cubes.pos[SMALL][1] - y) > HALF[MEDIUM] + HALF[SMALL] - 0.001
    assert env.world.cubes.pos[MEDIUM][:2] == pytest.approx([x, y], abs=0.004)


def test_a_cube_within_the_tolerance_of_its_support_stays() -> None:
    env = started()
    place_in(env, SMALL, 1)
    place_in(env, MEDIUM, 2)
    assert pick(env, SMALL)
    carry(env, (HOLES[2][0], HOLES[2][1] + HALF[MEDIUM] - 0.006), task.TABLE_HEIGHT_M + 2 * HALF[MEDIUM])
    assert env.world.cubes.pos[SMALL][2] == pytest.approx(task.TABLE_HEIGHT_M + 2 * HALF[MEDIUM] + HALF[SMALL])


def test_a_cube_next_to_the_hole_tilts_on_the_rim() -> None:
    env = started()
    assert pick(env, SMALL)
    x, y = HOLES[1]
    carry(env, (x, y + 0.03), task.TABLE_HEIGHT_M)
    assert env.world.cubes.tilted[SMALL]
    assert env.world.cubes.pos[SMALL][2] > task.TABLE_HEIGHT_M + HALF[SMALL] + 0.004
    quat = fields(env, np.asarray(env.observe()))["cube_quat"][:4]
    assert abs(quat[1]) > 0.1, "and the observation shows it"
    assert pick(env, SMALL), "the cube can be grasped again"


def test_a_closed_gripper_pushes_cubes_in_its_way() -> None:
    env = started()
    assert pick(env, SMALL)
    carry(env, (0.2, 0.0), task.TABLE_HEIGHT_M)
    drive(env, (*env.world.hand.pos[:2], 0.95))
    grip(env, CLOSE, 3)
    y = env.world.cubes.pos[SMALL][1]
    drive(env, (0.2, y - 0.06, 0.95))
    drive(env, (0.2, y - 0.06, task.TABLE_HEIGHT_M + 0.02))
    drive(env, (0.2, y + 0.05, task.TABLE_HEIGHT_M + 0.02), steps=12)
    assert env.world.cubes.pos[SMALL][1] - y > 0.05
    assert env.world.cubes.pos[SMALL][2] == pytest.approx(task.TABLE_HEIGHT_M + HALF[SMALL])


@pytest.mark.parametrize("n_cubes", [n_cubes for n_cubes in task.N_CUBES if n_cubes > 1])
def test_all_that_stands_on_a_pushed_cube_goes_along(n_cubes: int) -> None:
    cubes = started(n_cubes=n_cubes).world.cubes
    before = np.array(cubes.pos)
    assert cubes.shove(n_cubes - 2, 0.0, 0.012)
    moved = np.array(cubes.pos) - before
    assert moved[:, 1] == pytest.approx([*[0.012] * (n_cubes - 1), 0.0])


def test_the_bars_stop_a_cube_that_is_pushed_along_the_table() -> None:
    env = started()
    assert pick(env, SMALL)
    carry(env, (HOLES[2][0], HOLES[2][1] - 0.13), task.TABLE_HEIGHT_M)
    x, y, z = env.world.cubes.pos[SMALL]
    drive(env, (x, y - 0.06, 1.0))
    grip(env, CLOSE)
    drive(env, (x, y - 0.06, z))
    drive(env, (x, y + 0.2, z))
    pushed = env.world.cubes.pos[SMALL]
    assert pushed[1] > y + 0.01
    assert pushed[1] + HALF[SMALL] <= HOLES[2][1] - 0.075 + 0.002
    assert pushed[2] == pytest.approx(z)


def test_a_turning_hand_does_not_carry_its_cube_into_another() -> None:
    env = started()
    assert pick(env, SMALL, shift=(-0.016, 0.0))
    x, y, _ = env.world.cubes.pos[MEDIUM]
    _, _, low = env.world.cubes.pos[LARGE]
    drive(env, (x, y - 0.1, 1.15))
    drive(env, (x, y - 0.1, low))
    drive(env, (x - 0.01, y - 0.052, low))
    for _ in range(12):
        env.step(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]))
        held, other = env.world.cubes.pos[SMALL], env.world.cubes.pos[LARGE]
        gap = max(abs(held[axis] - other[axis]) for axis in range(3)) - HALF[SMALL] - HALF[LARGE]
        assert gap > -0.002


def test_a_hand_sweeping_through_the_tower_knocks_cubes_off() -> None:
    env = started()
    x, y, z = env.world.cubes.pos[SMALL]
    grip(env, CLOSE, 3)
    drive(env, (x, y - 0.1, 1.1))
    drive(env, (x, y - 0.1, z))
    drive(env, (x, y + 0.1, z), steps=14)
    assert env.world.cubes.pos[SMALL][2] < z - 0.05
    heights = [env.world.cubes.pos[cube][2] for cube in (MEDIUM, LARGE, XLARGE)]
    assert heights == pytest.approx([0.943, 0.89, 0.831], abs=1e-6)


def test_pushes_from_outside_move_cubes_a_little() -> None:
    quiet = play(kinematic(), 3, lambda step, rng: np.zeros(7), 400)
    pushed = play(kinematic(push_rate_hz=0.2, push_speed_m_s=0.1), 3, lambda step, rng: np.zeros(7), 400)
    assert np.ptp(quiet.states["cube_pos"], axis=0).max() == 0.0
    moved = np.ptp(pushed.states["cube_pos"], axis=0)[:, :2].max()
    assert 0.0005 < moved < 0.03


@pytest.mark.parametrize("seed", range(6))
def test_nothing_ever_flies_or_sinks(seed: int) -> None:
    """Under any policy, cubes not in the hand lie on the table or on a support, and all numbers stay finite."""
    env = kinematic(randomisation="hard")
    recording = play(env, seed, restless, 400)
    states = recording.states
    assert all(np.isfinite(rows).all() for rows in states.values())
    cubes = states["cube_pos"].astype(float)
    bottoms = cubes[..., 2] - np.array(HALF)
    assert bottoms.min() > task.TABLE_HEIGHT_M - 1e-5
    assert np.allclose(np.linalg.norm(states["cube_quat"], axis=-1), 1.0, atol=1e-5)
    assert states["eef_pos"][..., 2].min() > task.TABLE_HEIGHT_M


def stir(step: int, rng: np.random.Generator) -> np.ndarray:
    """Down to the tower, then in circles through the cubes."""
    action = rng.uniform(-1.0, 1.0, 7)
    action[:3] *= 0.6
    action[:3] += [0.15, -0.35, -0.2] if step < 30 else [0.2 * np.sin(step / 9), 0.3 * np.sin(step / 15), -0.1]
    action[6] = CLOSE if step // 9 % 2 else OPEN
    return action


def test_cubes_do_not_run_into_one_another() -> None:
    deep = pairs = 0
    toppled = False
    for seed in range(8):
        cubes = play(kinematic(randomisation="table"), seed, stir, 400).states["cube_pos"].astype(float)
        toppled |= bool(np.ptp(cubes[:, SMALL, 2]) > 0.05)
        for one in range(4):
            for other in range(one + 1, 4):
                apart = np.abs(cubes[:, one] - cubes[:, other]).max(axis=1)
                deep += int((apart < HALF[one] + HALF[other] - 0.004).sum())
                pairs += len(cubes)
    assert toppled, "otherwise the test proves nothing"
    assert deep < 0.002 * pairs
