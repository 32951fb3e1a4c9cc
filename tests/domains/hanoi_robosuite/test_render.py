"""Pictures of recordings, where a graphics back end is live, and a plain word where none is."""

from pathlib import Path

import numpy as np
import pytest
from memento.core.errors import UsageError
from memento.core.recording import Recording
from memento.domains.hanoi import DOMAIN, render
from memento.domains.hanoi.environment import HanoiEnvironment


@pytest.fixture(scope="module")
def recording() -> Recording:
    environment = HanoiEnvironment(DOMAIN.options({"physics": "fast", "randomisation": "none"}, preset="paper"))
    environment.reset(index=0, seed=0)
    for _ in range(12):
        environment.step(np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]))
    return environment.recording()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_picture_shows_the_tower_and_the_arm_moving(recording: Recording, tmp_path: Path) -> None:
    try:
        render.live_backend()
    except UsageError as error:
        pytest.skip(str(error))
    pictures = list(render.frames(recording, width=160, height=120, every=12))
    assert [picture.shape for picture in pictures] == [(120, 160, 3)] * 2
    first, last = (picture.astype(int) for picture in pictures)
    assert np.abs(first - last).max() > 50
    red = (first[..., 0] > 2 * first[..., 1]) & (first[..., 0] > 2 * first[..., 2])
    blue = (first[..., 2] > 2 * first[..., 0]) & (first[..., 2] > first[..., 1] + 40)
    assert red.sum() > 5 and blue.sum() > 5
    assert np.argwhere(red)[:, 0].mean() < np.argwhere(blue)[:, 0].mean(), "the small cube is on top"
    video = tmp_path / "episode.mp4"
    render.save_video(recording, video, width=160, height=120)
    assert video.stat().st_size > 1000


def test_an_unknown_camera_is_refused(recording: Recording) -> None:
    with pytest.raises(UsageError, match="frontview"):
        next(render.frames(recording, camera="topview"))


def test_without_graphics_the_mend_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "_PROBE", "raise SystemExit('no such library')")
    render.live_backend.cache_clear()
    with pytest.raises(UsageError, match=r"egl: no such library; osmesa: no such library.*install libegl1"):
        render.live_backend()
    render.live_backend.cache_clear()
