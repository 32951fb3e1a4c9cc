"""Pictures of a recorded episode: its actions are repeated in an environment that draws itself."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...core.errors import UsageError, no_such
from ...core.ports import Picture, Playback
from ...core.recording import Recording
from ...core.text import error_words
from ...core.values import JSON
from ..arm.graphics import live_backend
from .actions import ActionReader
from .environment import simulator_of
from .options import Settings
from .spaces import flat_vector, split

CAMERAS: Final = ("default",)
FOLLOWING: Final = "track"  # the name of that camera in all of Gymnasium's models
CAMERA_ARGUMENTS: Final = frozenset({"camera_id", "camera_name", "default_camera_config"})
MOST_SHOWN: Final = 8       # numbers of an action in a caption
CLOSE: Final = 1e-6         # a repeated observation may differ by this: float32 fields are recorded as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class GymRenderer:
    """Implements `core.ports.Renderer`. The environment has one camera, its own."""

    settings: Settings
    cameras: tuple[str, ...] = CAMERAS

    def require(self) -> None:
        """Raises UsageError if the environment draws no pictures, or cannot on this machine."""
        known = self.settings.description
        if self.settings.python is not None:
            raise UsageError(f"gym:{known.id} cannot be drawn: it is installed for {self.settings.python} only, and "
                             "pictures are drawn under the Python of MEMENTO")
        if not known.draws:
            raise UsageError(f"gym:{known.id} draws no pictures: it has no render_mode \"rgb_array\"")
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")   # no window of pygame's
        if known.needs_opengl:
            os.environ.setdefault("MUJOCO_GL", live_backend())
        replay = _Replay(self.settings, 0)
        try:
            replay.picture()
        finally:
            replay.close()

    def playback(self, recording: Recording, *, camera: str, width: int, height: int) -> Playback:
        """Repeat the recorded actions from the recorded seed. Raises UsageError if the episode comes out otherwise."""
        if camera not in self.cameras:
            raise no_such("camera", camera, self.cameras)
        if "environment_seed" not in recording.info or "kept_from_step" in recording.info:
            raise UsageError("the episode cannot be drawn: its recording does not begin at the start")
        return _Playback(self.settings, recording, width, height)


class _Replay:
    """An environment that draws itself, at the beginning of an episode."""

    def __init__(self, settings: Settings, seed: int) -> None:
        known = settings.description
        self._settings, self._seed = settings, seed
        self._reader = ActionReader(known.action)
        self._simulator = simulator_of(settings, render=True)
        self.observation = self._said(lambda: self._simulator.begin(seed)[0])
        follow(self._simulator.env, known.kwargs)
        self.row = 0

    def _said(self, do: Callable[[], Any]) -> Any:
        """Do something in the environment. Raises UsageError with what it raised."""
        try:
            return do()
        except Exception as error:      # the environment is the user's, and so is whatever it raises
            name = self._settings.description.id
            raise UsageError(f"gym:{name} cannot draw here: {error_words(error)}") from error

    def step(self, action: Any) -> None:
        """Repeat one step."""
        native = self._reader.native(np.asarray(action, dtype=np.float64))
        self.observation = self._said(lambda: self._simulator.step(native)[0])
        self.row += 1

    def picture(self) -> Picture:
        """What the environment draws now."""
        picture: Picture = self._said(lambda: np.asarray(self._simulator.env.render()))
        if picture.ndim == 3 and picture.shape[2] == 4:     # alpha, as PyBullet's cameras give
            picture = picture[:, :, :3]
        if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
            raise UsageError(f"gym:{self._settings.description.id} draws no picture of red, green and blue")
        return picture

    def close(self) -> None:
        """Release the environment."""
        self._simulator.close()


def follow(env: Any, kwargs: Mapping[str, JSON]) -> None:
    """Draw through the model's camera that follows the robot, if Gymnasium's MuJoCo has one and no other was asked for.

    Gymnasium's own camera stands still in most of these environments, so a robot that runs leaves its picture.
    """
    renderer: Any = getattr(env.unwrapped, "mujoco_renderer", None)
    if renderer is None or not hasattr(renderer, "camera_id") or CAMERA_ARGUMENTS & kwargs.keys():
        return
    import mujoco

    found = mujoco.mj_name2id(env.unwrapped.model, mujoco.mjtObj.mjOBJ_CAMERA, FOLLOWING)
    if found >= 0:
        renderer.camera_id = found


class _Playback:
    """Draws rows in order; an earlier row begins the episode again."""

    def __init__(self, settings: Settings, recording: Recording, width: int, height: int) -> None:
        known = settings.description
        self.step_s: float | None = known.step_s
        self._settings, self._recording = settings, recording
        self._size = width, height
        self._actions = recording.actions["action"]
        self._totals = np.concatenate([[0.0], np.cumsum(recording.actions["reward"])])
        self._replay = self._begin()
        start = split(flat_vector(self._replay.observation, known.observation)[None], known.observation)
        for name, rows in start.items():
            here = recording.states.get(name)
            if here is not None and not np.allclose(rows[0], here[0], rtol=CLOSE, atol=CLOSE, equal_nan=True):
                self._replay.close()
                raise UsageError(
                    f"the episode cannot be drawn: gym:{known.id} begins otherwise with the same seed, so the versions "
                    "on this machine differ from the recording's, or the environment is not repeatable"
                )

    def _begin(self) -> _Replay:
        return _Replay(self._settings, int(str(self._recording.info["environment_seed"])))

    def picture(self, row: int) -> Picture:
        """The picture of this row, in the requested size, with black bars where the shapes differ."""
        if row < self._replay.row:
            self._replay.close()
            self._replay = self._begin()
        while self._replay.row < row:
            self._replay.step(self._actions[self._replay.row])
        return _picture_of_size(self._replay.picture(), *self._size)

    def caption(self, row: int) -> tuple[str, ...]:
        """The return so far, and the action that led here."""
        lines = [f"return {self._totals[row]:,.2f}"]
        if row > 0:
            numbers = self._actions[row - 1]
            shown = ", ".join(f"{number:g}" if numbers.dtype.kind in "iu" else f"{number:.2f}"
                              for number in numbers[:MOST_SHOWN])
            lines.append(f"action {shown}{', …' if len(numbers) > MOST_SHOWN else ''}"
                         f"   reward {self._recording.actions['reward'][row - 1]:.3f}")
        return tuple(lines)

    def close(self) -> None:
        """Release the environment."""
        self._replay.close()


def _picture_of_size(picture: Picture, width: int, height: int) -> Picture:
    """The picture scaled to fit into this size, in the middle of a black one."""
    from PIL import Image

    scale = min(width / picture.shape[1], height / picture.shape[0])
    size = max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale))
    scaled = np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.BILINEAR))
    whole = np.zeros((height, width, 3), dtype=np.uint8)
    top, left = (height - size[1]) // 2, (width - size[0]) // 2
    whole[top : top + size[1], left : left + size[0]] = scaled
    return whole
