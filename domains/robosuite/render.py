"""Pictures of a recorded episode of a robosuite task: its recorded joint positions, drawn off screen."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...core.errors import UsageError, no_such
from ...core.ports import Picture, Playback
from ...core.recording import Recording
from .tasks import TASKS

CAMERAS: Final = ("frontview", "agentview", "sideview", "birdview", "robot0_robotview", "robot0_eye_in_hand")


@dataclass(frozen=True, slots=True, kw_only=True)
class RobosuiteRenderer:
    """Implements `core.ports.Renderer` for one task."""

    task_name: str
    cameras: tuple[str, ...] = CAMERAS

    def require(self) -> None:
        """Raises UsageError if no graphics back end works."""
        from ..arm.graphics import live_backend

        live_backend()

    def playback(self, recording: Recording, *, camera: str, width: int, height: int) -> Playback:
        """Prepare to draw this recording. Raises UsageError for an unknown camera or another recording."""
        if camera not in self.cameras:
            raise no_such("camera", camera, self.cameras)
        if "qpos" not in recording.states or recording.info.get("task") != self.task_name:
            raise UsageError(f"the episode cannot be drawn: it is not one of robosuite:{self.task_name}")
        return _Playback(self.task_name, recording, camera, width, height)


class _Playback:
    """A scene with its own graphics context."""

    def __init__(self, name: str, recording: Recording, camera: str, width: int, height: int) -> None:
        from ..arm.graphics import Drawing, fixed_camera

        self._drawing = Drawing(width, height)

        import mujoco

        from .environment import RobosuiteEnvironment
        from .options import complete

        self._mujoco: Any = mujoco
        self.step_s: float | None = float(recording.constants["control_period_s"])
        self._environment = RobosuiteEnvironment(name, complete(TASKS[name], {}, preset="paper"))
        seed = recording.info["seed"]
        assert isinstance(seed, int)
        self._environment.reset(index=0, seed=seed)     # places what has no joint, such as a door
        self._states = recording.states
        self._ended_by = recording.info.get("ended_by")
        scene = self._environment.scene
        self._model, self._data = scene.mj_model, scene.mj_data
        if self._states["qpos"].shape[1] != len(self._data.qpos):
            raise UsageError("the episode cannot be drawn: its scene differs on this machine")
        self._drawing.connect(
            self._model, self._data, lambda module: fixed_camera(module, self._model, camera))

    def picture(self, row: int) -> Picture:
        """The state of this row as an image (height, width, 3) of uint8."""
        self._data.qpos[:] = self._states["qpos"][row]
        self._hide_wiped(row)
        self._mujoco.mj_forward(self._model, self._data)
        return self._drawing.picture()

    def caption(self, row: int) -> tuple[str, ...]:
        """The reward, and whether the task is solved if the recording says so."""
        reward = float(self._states["reward"][row])
        wiped = "marker_wiped" in self._states
        measured = f"wiped {float(np.mean(self._states['marker_wiped'][row])):.0%}" if wiped else f"reward {reward:.2f}"
        return (self._state(row), measured) if "success" in self._states else (measured,)

    def _state(self, row: int) -> str:
        success = np.asarray(self._states["success"])
        last = row == len(success) - 1 and self._ended_by
        if success[: row + 1].any():
            return "SOLVED"
        return f"not solved: {self._ended_by}" if last else "not solved yet"

    def close(self) -> None:
        """Release the graphics context."""
        self._drawing.close()
        self._environment.close()

    def _hide_wiped(self, row: int) -> None:
        if "marker_wiped" not in self._states:
            return
        for marker, wiped in zip(
            self._environment.scene.model.mujoco_arena.markers, self._states["marker_wiped"][row], strict=True,
        ):
            self._model.geom(marker.visual_geoms[0]).rgba[3] = 0.0 if wiped else 1.0
