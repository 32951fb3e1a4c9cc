"""The contract of every renderer: inherit RendererContract and set the attributes of `Subject`."""

import copy
from collections.abc import Iterator
from contextlib import closing
from typing import ClassVar

import numpy as np
import pytest
from memento.core.errors import UsageError
from memento.core.ports import Domain, Drawable, Environment, Playback, Renderer
from memento.core.recording import Recording
from memento.core.values import JSON

from .playing import play
from .subject import Subject

STEPS, WIDTH, HEIGHT = 4, 160, 120


class RendererContract(Subject):
    """Skipped if the renderer reports that this machine cannot draw.

    Set `difference` if a picture shows unrecorded state: the allowed difference of two pictures of a row, of 255.
    """

    difference: ClassVar[float] = 0.0

    @pytest.fixture(scope="class")
    @classmethod
    def renderer(cls, loaded: Domain, options: dict[str, JSON]) -> Renderer:
        assert isinstance(loaded, Drawable)
        renderer = loaded.renderer(options)
        try:
            renderer.require()
        except UsageError as error:
            pytest.skip(str(error))
        return renderer

    @pytest.fixture(scope="class")
    @classmethod
    def recording(cls, environment: Environment) -> Recording:
        return play(environment, cls().actions(environment, STEPS), seed=1).recording

    @pytest.fixture(scope="class")
    @classmethod
    def playback(cls, renderer: Renderer, recording: Recording) -> Iterator[Playback]:
        with closing(cls.opened(renderer, recording)) as playback:
            yield playback

    @staticmethod
    def opened(renderer: Renderer, recording: Recording, camera: str | None = None) -> Playback:
        return renderer.playback(recording, camera=camera or renderer.cameras[0], width=WIDTH, height=HEIGHT)

    def test_cameras_have_names(self, renderer: Renderer) -> None:
        assert renderer.cameras and all(camera.strip() for camera in renderer.cameras)
        assert len({*renderer.cameras}) == len(renderer.cameras)

    def test_every_row_has_a_picture_of_the_size(self, playback: Playback, recording: Recording) -> None:
        for row in range(recording.steps + 1):
            picture = playback.picture(row)
            assert picture.shape == (HEIGHT, WIDTH, 3) and picture.dtype == np.uint8
            assert picture.std() > 0, "the picture is not blank"

    def test_every_row_has_a_caption(self, playback: Playback, recording: Recording) -> None:
        for row in range(recording.steps + 1):
            lines = playback.caption(row)
            assert 1 <= len(lines) <= 2 and all(line and "\n" not in line for line in lines)
        assert playback.step_s is None or playback.step_s > 0

    def test_rows_are_drawn_in_any_order(self, playback: Playback, recording: Recording) -> None:
        rows = range(recording.steps + 1)
        forwards = [(playback.picture(row), playback.caption(row)) for row in rows]
        for row in reversed(rows):
            picture, caption = forwards[row]
            assert playback.caption(row) == caption
            assert np.abs(playback.picture(row).astype(float) - picture).mean() <= self.difference

    def test_pictures_are_the_callers(self, playback: Playback) -> None:
        picture = playback.picture(0)
        picture[:] = 0
        assert playback.picture(0).any()

    def test_an_episode_of_no_steps_is_drawn_by_another_camera(self, renderer: Renderer, recording: Recording) -> None:
        """Drawing does not change the recording either."""
        given = recording.cut(0)
        kept = copy.deepcopy(given)
        with closing(self.opened(renderer, given, renderer.cameras[-1])) as playback:
            assert playback.picture(0).shape == (HEIGHT, WIDTH, 3)
            assert playback.caption(0)
        assert given.info == kept.info
        for name, array in kept.arrays().items():
            assert np.array_equal(given.arrays()[name], array)

    def test_an_unknown_camera_is_refused_with_the_nearest(self, renderer: Renderer, recording: Recording) -> None:
        camera = renderer.cameras[0]
        with pytest.raises(UsageError, match=camera):
            self.opened(renderer, recording, f"{camera}q")
