"""The twin: other physics than any training preset, and a camera that sees what is there."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.domains.hanoi.randomisation import PRESETS
from memento.extensions.cell.cell_file import Cell, TwinPart
from memento.extensions.cell.guard import here
from memento.extensions.cell.lens import looking
from memento.extensions.cell.scene_view import EVERYTHING
from memento.extensions.cell.sensor_model import NONE, measured_colour, measured_depth

from ...benchmarks.cell_grounding import scatter
from .conftest import Twin

DYNAMICS = (
    "sliding_friction_scale", "torsional_friction", "rolling_friction", "cube_mass_scale", "joint_damping_scale",
    "actuator_gain_scale",
)


def test_its_dynamics_are_outside_of_every_preset() -> None:
    twin = TwinPart()
    for name in DYNAMICS:
        low, high = getattr(twin, name)
        for preset in PRESETS.values():
            drawn_low, drawn_high = getattr(preset, name)
            assert high < drawn_low or low > drawn_high, name


def test_a_stop_does_not_throw_the_hand_onward(twin: Twin) -> None:
    """The controller leads waypoints by their velocity; where a hand lags, its own place would be a jump backwards."""
    arm, _ = twin
    arm.prepare(index=0, seed=3)
    ahead = here(arm.state())
    ahead = replace(ahead, position=ahead.position + np.array([0.03, 0.0, 0.0]))
    for _ in range(2):
        arm.move(ahead)
    before = arm.state()
    arm.stop()
    arm.move(here(before))
    moved = arm.state().eef_pos - before.eef_pos
    assert moved[0] > -0.001, "it does not jump away from where it went"


def test_every_ray_hits_what_a_single_ray_hits(twin: Twin) -> None:
    """MuJoCo's many rays at once skip bodies whose box is misplaced."""
    arm, camera = twin
    arm.prepare(index=0, seed=3)
    camera.begin(3)
    view = camera.view
    geoms = view.cast().geom
    assert {"gripper0_right_hand_collision", "cube_small_0"} <= {
        arm.scene.mj_model.geom(int(geom)).name for geom in np.unique(geoms) if geom >= 0
    }
    hit = np.zeros((1, 1), dtype=np.int32)
    place = view._pose.position.reshape(3, 1).copy()
    for index in range(0, len(geoms), 97):
        ray = view._world_rays[index].reshape(3, 1).copy()
        mujoco.mj_ray(view._model, arm.scene.mj_data, place, ray, EVERYTHING, True, -1, hit, None)
        assert hit[0, 0] == geoms[index]


@pytest.mark.slow
@given(
    seed=st.integers(0, 1000), joints=st.lists(st.floats(-0.6, 0.6), min_size=7, max_size=7),
    near=st.floats(0.15, 1.0), aside=st.floats(-0.4, 0.4),
)
@settings(max_examples=12, deadline=None)
def test_an_image_is_what_casting_every_ray_gives(
    twin: Twin, seed: int, joints: list[float], near: float, aside: float,
) -> None:
    """Wherever arm and objects are, also where the camera is among them."""
    arm, camera = twin
    arm.prepare(index=0, seed=seed)
    scatter(arm, np.random.default_rng(seed))
    arm.scene.mj_data.qpos[:7] += joints
    mujoco.mj_forward(arm.scene.mj_model, arm.scene.mj_data)
    view = camera.view
    view.place(looking(near * np.array([0.75, aside, 0.7]) + (0.0, 0.0, 0.8), np.array([0.0, 0.0, 0.86])))
    pixels, hits = view.changed()
    cast = view.cast()
    for name in ("depth_m", "geom", "normal", "cosine"):
        image = getattr(view.still, name).copy()
        image[pixels] = getattr(hits, name)
        assert np.allclose(image, getattr(cast, name), rtol=0.0, atol=1e-9), name


def test_noise_has_its_std() -> None:
    rng = np.random.default_rng(1)
    model = NONE.model_copy(update={"axial_m": 0.002, "colour": 4.0})
    depth, colour = np.full((240, 320), 0.9), np.full((240, 320, 3), 100.0, dtype=np.float32)
    off = measured_depth(model, model.draw(rng), depth, np.ones_like(depth), rng) - 0.9
    assert abs(off.mean()) < 5e-5 and abs(off.std() / 0.002 - 1.0) < 0.01 and abs(off).max() < 4.4 * 0.002
    seen = measured_colour(model, colour, rng).astype(float) + 0.5      # fractions are cut off
    assert abs(seen.mean() - 100.0) < 0.05 and abs(seen.std() / np.sqrt(16.0 + 1.0 / 12.0) - 1.0) < 0.01


def test_a_depth_is_read_next_to_its_pixel_as_often_as_the_std_says() -> None:
    rng = np.random.default_rng(2)
    model = NONE.model_copy(update={"lateral_px": 0.4})
    depth = np.tile(np.arange(1.0, 321.0), (240, 1))
    away = measured_depth(model, model.draw(rng), depth, np.ones_like(depth), rng)[:, 2:-2] - depth[:, 2:-2]
    assert abs((away == 0.0).mean() - 0.7887) < 0.006       # a normal of std 0.4 rounds to 0
    assert abs((away == 1.0).mean() - (away == -1.0).mean()) < 0.006


def test_a_seed_is_the_same_image(twin: Twin) -> None:
    arm, camera = twin
    images = []
    for seed in (4, 5, 4):
        arm.prepare(index=0, seed=seed)
        camera.begin(seed)
        images.append(camera.expose(0.0))
    assert np.array_equal(images[0].colour, images[2].colour)
    assert np.array_equal(images[0].depth_m, images[2].depth_m)
    assert not np.array_equal(images[0].depth_m, images[1].depth_m)


def test_frames_arrive_after_the_latency(cell: Cell, twin: Twin) -> None:
    arm, camera = twin
    arm.prepare(index=0, seed=1)
    camera.begin(1)
    here = camera.frame()
    assert here is None, "the first frame is on its way"
    arrived = []
    for _ in range(6):
        arm.move(arm._here())
        frame = camera.frame()
        if frame is not None:
            arrived.append(round(arm.time_s - frame.time_s, 6))
    assert arrived and min(arrived) >= cell.camera.noise.latency_s


def test_a_perfect_sensor_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    depth = rng.uniform(0.5, 1.5, (8, 9))
    errors = NONE.draw(rng)
    assert np.allclose(measured_depth(NONE, errors, depth, np.ones_like(depth), rng), depth, atol=1e-6)


def test_the_sensor_loses_depths_at_edges_and_grazing_surfaces() -> None:
    rng = np.random.default_rng(0)
    model = NONE.model_copy(update={"edge_dropout": 1.0, "grazing_dropout": 1.0, "quantum_m": 0.01})
    depth = np.ones((10, 10))
    depth[:, 5:] = 1.204
    cosine = np.ones_like(depth)
    cosine[0] = 0.05
    seen = measured_depth(model, model.draw(rng), depth, cosine, rng)
    assert not seen[:, 4:6].any() and not seen[0].any()
    assert np.allclose(seen[1:, 6:], 1.2, atol=1e-6)


def test_a_camera_sees_what_it_looks_at_in_the_middle() -> None:
    pose = looking(np.array([0.7, 0.1, 1.5]), np.array([0.0, 0.0, 0.8]), roll_rad=0.3)
    away = np.array([0.0, 0.0, 0.8]) - pose.position
    assert np.allclose(pose.rotation.T @ away / np.linalg.norm(away), [0.0, 0.0, 1.0])
    assert np.isclose(np.linalg.det(pose.rotation), 1.0)
