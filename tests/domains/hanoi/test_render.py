"""Pictures of recordings if a graphics back end works, and a plain message if none does."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from memento.core.errors import UsageError
from memento.core.ports import Drawable, Playback
from memento.core.recording import Recording
from memento.core.recording_file import load_recording, save_recording
from memento.domains.arm import graphics
from memento.domains.hanoi import DOMAIN, render
from memento.domains.hanoi.environment import HanoiEnvironment
from memento.domains.hanoi.task import Array
from memento.domains.hanoi_kinematic import DOMAIN as KINEMATIC

from ...support.rollouts import kinematic, solve

OPTIONS = DOMAIN.options({"physics": "fast", "randomisation": "none"}, preset="paper")
WIDTH, HEIGHT = 160, 120


def rolled(physics: str, seed: int, steps: int) -> tuple[HanoiEnvironment, Array]:
    """An episode of random pushes, and the scene's qpos at every row."""
    environment = HanoiEnvironment(DOMAIN.options({"physics": physics, "randomisation": "hard"}, preset="paper"))
    environment.reset(index=0, seed=seed)
    rows = [environment.simulation.scene.mj_data.qpos.copy()]
    for action in np.random.default_rng(seed).uniform(-1, 1, (steps, 7)):
        environment.step(action)
        rows.append(environment.simulation.scene.mj_data.qpos.copy())
    return environment, np.array(rows)


@pytest.fixture(scope="module")
def episode(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recording, Array]:
    """A recording read back from disk, and the simulator's states."""
    environment, rows = rolled("exact", 5, 60)
    path = tmp_path_factory.mktemp("stored") / "episode.npz"
    save_recording(path, environment.recording())
    return load_recording(path), rows


@pytest.fixture(scope="module")
def drawn(episode: tuple[Recording, Array]) -> Iterator[Playback]:
    try:
        graphics.live_backend()
    except UsageError as error:
        pytest.skip(str(error))
    playback = DOMAIN.renderer(OPTIONS).playback(episode[0], camera="table", width=WIDTH, height=HEIGHT)
    yield playback
    playback.close()


def test_both_domains_can_be_drawn() -> None:
    assert isinstance(DOMAIN, Drawable)
    assert isinstance(KINEMATIC, Drawable)


@pytest.mark.slow
def test_a_picture_shows_the_recorded_state(drawn: Playback, episode: tuple[Recording, Array]) -> None:
    recording, rows = episode
    for row in (0, 1, 30, recording.steps):
        assert np.abs(drawn.pose(row) - rows[row]).max() < 2.0 ** -23, "to the resolution of stored states"


@pytest.mark.slow
@pytest.mark.parametrize("physics", ["exact", "fast"])
def test_the_stored_actions_replay_the_episode_bit_for_bit(physics: str, tmp_path: Path) -> None:
    environment, rows = rolled(physics, 9, 80)
    save_recording(tmp_path / "episode.npz", environment.recording())
    stored = load_recording(tmp_path / "episode.npz")
    environment.reset(index=0, seed=1)      # something else in between
    environment.reset(index=0, seed=9)
    assert np.array_equal(environment.simulation.scene.mj_data.qpos, rows[0])
    for row, action in enumerate(stored.actions["actions"], start=1):
        environment.step(action)
        assert np.array_equal(environment.simulation.scene.mj_data.qpos, rows[row])
    again = environment.recording()
    for name, array in stored.states.items():
        assert np.array_equal(again.states[name], array)


@pytest.mark.slow
def test_a_picture_shows_the_tower_and_the_arm_moving(drawn: Playback, episode: tuple[Recording, Array]) -> None:
    first, last = (drawn.picture(row).astype(int) for row in (0, episode[0].steps))
    assert first.shape == (HEIGHT, WIDTH, 3)
    assert np.abs(first - last).max() > 50
    red = (first[..., 0] > 2 * first[..., 1]) & (first[..., 0] > 2 * first[..., 2])
    blue = (first[..., 2] > 2 * first[..., 0]) & (first[..., 2] > first[..., 1] + 40)
    assert red.sum() > 5
    assert blue.sum() > 5
    assert np.argwhere(red)[:, 0].mean() < np.argwhere(blue)[:, 0].mean(), "the small cube is on top"
    assert np.array_equal(drawn.picture(0), first.astype(np.uint8)), "the same row, the same picture"


@pytest.mark.slow
def test_every_camera_shows_another_picture(drawn: Playback, episode: tuple[Recording, Array]) -> None:
    pictures = []
    for camera in render.CAMERAS:
        playback = DOMAIN.renderer(OPTIONS).playback(episode[0], camera=camera, width=WIDTH, height=HEIGHT)
        pictures.append(playback.picture(0))
        playback.close()
    assert all(picture.std() > 10 for picture in pictures)
    assert len({picture.tobytes() for picture in pictures}) >= len(pictures) - 1    # two coincide


@pytest.mark.slow
def test_without_a_recorded_arm_the_arm_follows_the_hand(drawn: Playback) -> None:
    env = kinematic(randomisation="light")
    assert solve(env, 3) == "success"
    recording = env.recording()
    playback = KINEMATIC.renderer(KINEMATIC.options({}, preset="paper")).playback(
        recording, camera="table", width=WIDTH, height=HEIGHT,
    )
    for row in range(0, recording.steps, 40):
        playback.pose(row)
        hand = playback.scene.mj_data.site_xpos[playback.scene.robots[0].eef_site_id["right"]]
        assert np.abs(hand - recording.states["eef_pos"][row]).max() < 2e-3
    playback.close()


@pytest.mark.slow
def test_a_recording_that_cannot_be_drawn_is_refused(episode: tuple[Recording, Array]) -> None:
    bare = Recording(states={"success": episode[0].states["success"]}, actions={})
    with pytest.raises(UsageError, match="no cube_pos, cube_quat"):
        DOMAIN.renderer(OPTIONS).playback(bare, camera="table", width=WIDTH, height=HEIGHT)


@pytest.mark.slow
def test_without_graphics_the_fix_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphics, "_PROBE", "raise SystemExit('no such library')")
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    graphics.live_backend.cache_clear()
    with pytest.raises(UsageError, match=r"egl: no such library; osmesa: no such library.*libegl1.*libosmesa6"):
        DOMAIN.renderer(OPTIONS).require()
    graphics.live_backend.cache_clear()
