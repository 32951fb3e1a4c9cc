"""E_R measures an execution from what a real cell records, and never judges it."""

import numpy as np
from memento.extensions.cell.domain import DOMAIN

HALF = np.array([0.022, 0.025, 0.028, 0.031])
CONTAINERS = np.array([[0.0, -0.25, 0.805], [0.0, 0.0, 0.805], [0.0, 0.25, 0.805]])


def evaluate(trajectory: dict[str, np.ndarray]) -> tuple[float, dict]:
    space: dict = {"__name__": "evaluator"}
    exec(compile(DOMAIN.reference_evaluator().text, "real.py", "exec"), space)
    return space["Evaluator"]().evaluate(trajectory)


def execution(*, miss: bool = False) -> dict[str, np.ndarray]:
    """40 steps: the smallest cube is grasped 6 mm above its centre, carried to B and released 4 mm too high."""
    rows = 61
    heights = 0.8 + 2 * np.cumsum(HALF[::-1])[::-1] - HALF
    cubes = np.zeros((rows, 4, 3))
    cubes[:] = np.column_stack([np.full(4, 0.055), np.full(4, -0.25), heights])
    eef = np.tile(cubes[0, 0] + [0.0, 0.003, 0.006], (rows, 1))
    fingers, grip = np.full(rows, 0.04), np.full(rows - 1, -1.0)
    grip[5:40] = 1.0
    fingers[8:41] = 0.0 if miss else HALF[0]
    if not miss:
        target, above = np.array([0.057, 0.0, 0.8 + HALF[0]]), np.array([0.0, 0.0, 0.004])
        for row in range(10, 41):
            share = (row - 9) / 31
            cubes[row, 0] = (1 - share) * cubes[0, 0] + share * (target + above)
            eef[row] = cubes[row, 0] + [0.0, 0.003, 0.006]
        cubes[40:42, 0], cubes[42:, 0], eef[41:] = target + above, target, eef[40]
    actions = np.zeros((rows - 1, 7))
    actions[:, 6] = grip
    turn = np.zeros((rows, 3, 4))
    turn[..., 0] = 1.0
    return {
        "eef_pos": eef, "gripper_qpos": np.stack([fingers, -fingers], axis=1), "seen_cube_pos": cubes,
        "seen_container_pos": np.tile(CONTAINERS, (rows, 1, 1)), "seen_container_quat": turn,
        "waypoint_pos": eef + 0.001,
        "force_n": np.tile([0.0, 0.0, 3.0], (rows, 1)), "unseen_s": np.zeros((rows, 4)), "actions": actions,
        "cube_size": HALF, "table_height_m": np.array(0.8), "control_period_s": np.array(0.05),
    }


def test_a_placing_is_measured() -> None:
    fitness, metrics = evaluate(execution())
    assert fitness == 0.0
    assert (metrics["grasps"], metrics["grasps_that_held"], metrics["placings"]) == (1, 1, 1)
    assert metrics["grasp_height_above_centre_mm"]["median"] == 6.0
    assert metrics["grasp_lateral_mm"]["median"] == 3.0
    assert metrics["placing_lateral_mm"]["median"] == 2.0
    assert metrics["placing_in_hole_offset_mm"] == {"x": 2.0, "y": 0.0} and metrics["placing_on_cube_offset_mm"] is None
    assert metrics["force_peak_while"] == "at rest, open, over A, 195 mm above the table"
    assert metrics["release_height_above_rest_mm"]["median"] == 4.0
    assert metrics["force_peak_n"] == 3.0 and metrics["seconds"] == 3.0
    assert metrics["dropped_on_the_way"] == 0 and metrics["tower_seen_on_c"] is False


def cut(given: dict[str, np.ndarray], rows: int) -> dict[str, np.ndarray]:
    """The first rows of an execution: a trial that was stopped."""
    once = {"cube_size", "table_height_m", "control_period_s"}
    return {
        name: value if name in once else value[:rows - 1] if name == "actions" else value[:rows]
        for name, value in given.items()
    }


def test_a_cube_in_the_hand_of_a_stopped_trial_is_not_placed() -> None:
    _, metrics = evaluate(cut(execution(), 26))         # in mid-air, half-way to B
    assert (metrics["grasps_that_held"], metrics["placings"]) == (1, 0)
    assert (metrics["in_hand_at_end"], metrics["dropped_on_the_way"]) == (1, 0)
    assert metrics["placing_in_hole_offset_mm"] is None and metrics["release_height_above_rest_mm"] is None
    assert metrics["seconds_per_placing"] is None


def test_a_cube_held_over_its_hole_is_no_progress() -> None:
    _, held = evaluate(cut(execution(), 40))
    _, placed = evaluate(execution())
    assert held["progress"] == 0.0 and (held["placings"], held["in_hand_at_end"]) == (0, 1)
    assert placed["progress"] > 0.0 and (placed["placings"], placed["in_hand_at_end"]) == (1, 0)


def test_an_opening_before_the_end_makes_a_placing() -> None:
    _, commanded = evaluate(cut(execution(), 41))       # closed up to the last action
    assert (commanded["placings"], commanded["in_hand_at_end"]) == (0, 1)
    _, begun = evaluate(cut(execution(), 42))           # an order to open, and the fingers opened
    assert (begun["placings"], begun["in_hand_at_end"]) == (1, 0)
    given = cut(execution(), 42)
    given["gripper_qpos"][41] = given["gripper_qpos"][40]       # an order to open, and the fingers still hold
    _, slow = evaluate(given)
    assert (slow["placings"], slow["in_hand_at_end"]) == (0, 1)


def test_a_command_of_0_keeps_the_grip() -> None:
    given = execution()
    given["actions"][6:40, 6] = 0.0
    assert evaluate(given) == evaluate(execution())


def test_phases_are_counted_where_there_are_any() -> None:
    given = execution()
    assert "phases_done" not in evaluate(given)[1]
    given["phase_status"] = np.array([1, 0, 0, 1, 0, 0, 2, 2, *[0] * 53], dtype=float)[:, None]
    _, metrics = evaluate(given)
    assert (metrics["phases_done"], metrics["phases_ended_by_contact"]) == (1, 1)


def test_a_cube_lost_on_the_way_is_dropped() -> None:
    given = execution()
    given["gripper_qpos"][30:] = 0.0
    for rows in (61, 36):           # with an opening later, and stopped before it
        _, metrics = evaluate(cut(given, rows))
        assert (metrics["placings"], metrics["dropped_on_the_way"], metrics["in_hand_at_end"]) == (0, 1, 0)


def test_a_missed_grasp_is_counted() -> None:
    _, metrics = evaluate(execution(miss=True))
    assert (metrics["grasps"], metrics["grasps_that_held"], metrics["placings"]) == (1, 0, 0)
    assert metrics["missed_height_above_centre_mm"]["median"] == 6.0 and metrics["placing_lateral_mm"] is None


def test_it_reads_only_what_a_real_cell_records() -> None:
    given = execution()
    known = {"cube_pos", "cube_quat", "container_pos", "container_quat", "success", "illegal_score"}
    assert not known & given.keys()
    evaluate(given)
