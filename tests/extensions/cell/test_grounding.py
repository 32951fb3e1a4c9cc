"""Ψ_R finds tables, containers and cubes in images with all errors of the camera."""

from itertools import pairwise

import mujoco
import numpy as np
import pytest
from memento.core.errors import RolloutError
from memento.extensions.cell.cell_file import Cell
from memento.extensions.cell.fitting import find_plates, fit_cube, nearest_quarter
from memento.extensions.cell.grounding import Grounding
from memento.extensions.cell.segmenters import learn, make_segmenter
from memento.extensions.cell.table_plane import table_plane
from memento.extensions.cell.tracks import CubeTrack, HandPose, HandPoses

from ...benchmarks.cell_grounding import measure, scatter
from .conftest import Twin

CAMERA = np.array([0.75, 0.0, 1.5])


@pytest.mark.slow
def test_the_errors_are_small_under_the_full_noise_model(cell: Cell) -> None:
    errors = measure(cell, scenes=8)
    assert np.nanmedian(errors.cube_mm) < 2.5 and np.nanpercentile(errors.cube_mm, 95) < 6.0
    assert np.nanmedian(errors.yaw_deg) < 1.0 and not np.isnan(errors.cube_mm).any()
    assert np.median(errors.container_mm) < 3.0


@pytest.mark.slow
def test_the_shipped_colours_are_what_frames_of_the_twin_teach(cell: Cell, twin: Twin) -> None:
    arm, camera = twin
    frames = []
    for seed in range(4):
        arm.prepare(index=0, seed=100 + seed)
        camera.begin(seed)
        frames.append(camera.expose(0.0))
    for name, colour in learn(frames).items():
        assert np.allclose(colour.mean, cell.segmenter.colours[name].mean, atol=0.01), name


PLACED = (      # x, y and yaw of A, B and C
    ((-0.05, -0.30, 0.6), (0.10, -0.06, 0.0), (-0.08, 0.22, -0.7)),
    ((0.02, -0.10, 0.0), (-0.03, 0.10, 0.2), (0.03, 0.30, 0.0)),       # each nearer to the next one's usual place
)


@pytest.mark.slow
@pytest.mark.parametrize("placed", PLACED)
def test_containers_are_found_wherever_they_lie(
    cell: Cell, twin: Twin, placed: tuple[tuple[float, float, float], ...]
) -> None:
    arm, camera = twin
    arm.prepare(index=0, seed=5)
    camera.begin(5)
    for start, (x, y, yaw) in zip(arm.dynamics.container_qpos, placed, strict=True):
        arm.scene.mj_data.qpos[[start, start + 1]] = x, y
        arm.scene.mj_data.qpos[start + 3 : start + 7] = np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)
    mujoco.mj_forward(arm.scene.mj_model, arm.scene.mj_data)
    arm._truth.update()
    scatter(arm, np.random.default_rng(5))
    scenery = Grounding(cell, camera.lens, make_segmenter(cell.segmenter)).begin([camera.expose(0.0)])
    assert np.linalg.norm(scenery.containers[:, :2] - np.array(placed)[:, :2], axis=1).max() < 0.008
    assert np.abs(scenery.yaws_rad - np.array(placed)[:, 2]).max() < 0.08


def test_plates_are_found_among_strays_and_no_more_than_there_are() -> None:
    rng = np.random.default_rng(4)
    middles = np.array([[0.1, -0.3], [0.0, 0.0], [-0.1, 0.15]])
    points = np.concatenate([middle + rng.uniform(-0.055, 0.055, (900, 2)) for middle in middles])
    found = find_plates(np.concatenate([points, rng.uniform(-0.5, 0.5, (150, 2))]), 0.11, 3, 400)
    assert len(found) == 3
    assert all(np.linalg.norm(found - middle, axis=1).min() < 0.015 for middle in middles)
    assert len(find_plates(points[:1800], 0.11, 3, 400)) == 2 and find_plates(points[:0], 0.11, 3, 400).shape == (0, 2)


@pytest.mark.slow
def test_a_table_elsewhere_is_refused_with_what_to_do(cell: Cell, twin: Twin) -> None:
    arm, camera = twin
    arm.prepare(index=0, seed=1)
    camera.begin(1)
    high = cell.camera.model_copy(update={"position_m": (0.75, 0.0, 1.7), "look_at_m": (0.03, 0.0, 1.06)})
    wrong = cell.model_copy(update={"camera": high})
    with pytest.raises(RolloutError, match=r"no table .*memento cell check"):
        Grounding(wrong, camera.lens, make_segmenter(wrong.segmenter)).begin([camera.expose(0.0)])


@pytest.mark.parametrize("yaw", [-0.7, -0.3, 0.0, 0.2, 0.6])
def test_a_cube_is_found_from_its_visible_faces(yaw: float) -> None:
    rng = np.random.default_rng(1)
    half, centre = 0.028, np.array([0.05, 0.1, 0.9])
    points = centre + rng.normal(0.0, 0.001, (600, 3)) + _surface(half, yaw, centre, rng)
    fit = fit_cube(points, half, CAMERA)
    assert fit is not None and fit.measured == (True, True, True) and fit.top
    assert np.linalg.norm(fit.position - centre) < 0.002
    assert abs(nearest_quarter(fit.yaw_rad, yaw) - yaw) < np.radians(2.0)


def test_a_cube_that_is_half_hidden_stays_where_it_was_as_far_as_its_points_allow() -> None:
    rng = np.random.default_rng(2)
    half, centre = 0.028, np.array([0.05, 0.0, 0.9])
    points = centre + _surface(half, 0.0, centre, rng)
    left = points[points[:, 1] < centre[1] - 0.3 * half]
    fit = fit_cube(left, half, CAMERA, prior=centre)
    assert fit is not None and not fit.measured[1]
    assert np.linalg.norm(fit.position - centre) < 0.003


def test_the_plane_is_found_among_many_other_points() -> None:
    rng = np.random.default_rng(3)
    table = np.column_stack([rng.uniform(-0.4, 0.4, (1500, 2)), rng.normal(0.8, 0.001, 1500)])
    plane = table_plane(np.concatenate([table, rng.uniform(-0.4, 1.2, (1000, 3))]), rng)
    assert plane is not None
    normal, offset = plane
    assert normal[2] > 0.9999 and abs(offset - 0.8) < 0.001
    assert table_plane(rng.uniform(0, 1, (500, 3)), rng) is None, "no plane holds a third of them"


def test_a_jump_is_believed_when_it_is_seen_twice() -> None:
    track = CubeTrack(0.025, smoothing=0.5, jump_m=0.01)
    hand = HandPose(time_s=0.0, position=np.array([0.0, 0.0, 1.1]), yaw_rad=0.0)
    here, there = np.array([0.0, 0.0, 0.9]), np.array([0.1, 0.0, 0.9])
    seen = [here, there, here, there, there]
    found = []
    for place in seen:
        track.measured(_fit_at(place), hand)
        assert track.position is not None
        found.append(float(track.position[0]))
    assert found == [0.0, 0.0, 0.0, 0.0, 0.1]


def test_a_held_cube_moves_with_the_hand_also_while_it_is_not_seen() -> None:
    from memento.extensions.cell.ports import ArmState

    track, hands = CubeTrack(0.025, smoothing=0.5, jump_m=0.01), HandPoses()
    places = [np.array([0.0, 0.0, 0.9]) + k * np.array([0.01, 0.0, 0.02]) for k in range(6)]
    track.measured(_fit_at(places[0]), HandPose(time_s=0.0, position=places[0], yaw_rad=0.0))
    for step, place in enumerate(places):
        state = ArmState(
            time_s=0.05 * step, eef_pos=place, eef_quat=np.array([1.0, 0.0, 0.0, 0.0]),
            gripper_qpos=np.array([0.025, -0.025]), gripper_qvel=np.zeros(2), joint_pos=np.zeros(7),
            joint_vel=np.zeros(7), force_n=np.zeros(3),
        )
        track.follow(state, hands.add(state))
    assert track.held and np.allclose(track.position, places[-1])
    late = hands.at(0.1)
    assert np.allclose(track.prior(late), places[2]), "where it was at the time of an older exposure"
    assert all(b.time_s >= a.time_s for a, b in pairwise(hands._poses))


def _surface(half: float, yaw: float, centre: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Points of the faces of a cube that the camera sees, relative to its centre."""
    turn = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    faces = [axis * sign for axis in np.eye(3) for sign in (-1, 1)]
    seen = [face for face in faces if (turn @ face) @ (CAMERA - centre - half * turn @ face) > 0]
    points = rng.uniform(-half, half, (600, 3))
    chosen = np.array(seen)[rng.integers(len(seen), size=600)]
    points = np.where(chosen != 0, half * chosen, points)
    return points @ turn.T


def _fit_at(place: np.ndarray):
    from memento.extensions.cell.fitting import CubeFit

    return CubeFit(
        position=place, yaw_rad=0.0, measured=(True, True, True), half_edge_m=0.025, points=100, top=True,
    )
