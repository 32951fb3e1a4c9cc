"""Pictures of a recorded trial: what the cell's camera sees and the whole scene, next to each other.

Both are cast from the recorded states without a graphics library and without noise, in the paint of the cell's file.
In the camera's picture a cross marks where the grounding saw each cube.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...core.errors import UsageError, no_such
from ...core.ports import Picture, Playback
from ...core.recording import Recording
from ...domains.hanoi import task
from ...domains.hanoi.narration import Story
from .cell_file import Cell
from .lens import CameraPose, looking
from .ports import Array, Lens

BOTH, CAMERA, SCENE = "both", "camera", "scene"
NEEDED = frozenset({"joint_pos", "gripper_qpos", "cube_pos", "cube_quat", "container_pos", "container_quat"})
LOOK_AT_M: Final = np.array([-0.03, 0.0, 0.95])
FROM_M: Final = np.array([1.02, -0.57, 1.45])
VIEW_RAD: Final = 0.8               # the vertical angle of the picture of the scene
OUTSIDE: Final = 0.45               # brightness of what the camera's own image does not hold
CROSS_PX: Final = 4
LINE_RGB: Final = (20, 20, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRenderer:
    """Implements `core.ports.Renderer`."""

    cell: Cell
    cameras: tuple[str, ...] = (BOTH, CAMERA, SCENE)

    def require(self) -> None:
        """Nothing: no graphics library is used."""

    def playback(self, recording: Recording, *, camera: str, width: int, height: int) -> Playback:
        """The twin's scene in the recorded states. Raises UsageError."""
        if camera not in self.cameras:
            raise no_such("camera", camera, self.cameras)
        missing = sorted(NEEDED - recording.states.keys())
        if missing:
            raise UsageError(f"the trial cannot be drawn: its recording has no {', '.join(missing)}")
        return _Playback(self.cell, recording, camera, width, height)


class _Playback:
    """The scene, and one or two views of it."""

    def __init__(self, cell: Cell, recording: Recording, camera: str, width: int, height: int) -> None:
        from ...domains.hanoi.scene import HanoiScene
        from ...domains.hanoi.simulation import object_addresses

        self.step_s: float | None = float(recording.constants["control_period_s"])
        self._story = Story(recording)
        self._states = recording.states
        half_edges = tuple(recording.constants["cube_size"].tolist())
        self._scene = HanoiScene(names=task.cube_names(len(half_edges)), half_edges_m=half_edges)
        self._cubes, self._containers = object_addresses(self._scene)
        self._pose(0)
        widths = (width // 2, width - width // 2) if camera == BOTH else (width, width)
        self._views: list[_View] = []
        if camera != SCENE:
            self._views.append(_camera_view(self._scene, cell, widths[0], height))
        if camera != CAMERA:
            lens = Lens(width=widths[1], height=height, focal_px=height / 2 / float(np.tan(VIEW_RAD / 2)))
            self._views.append(_View(self._scene, cell, lens, looking(FROM_M, LOOK_AT_M)))

    def picture(self, row: int) -> Picture:
        """The views of this row, from left to right, as (height, width, 3) of uint8."""
        self._pose(row)
        seen = self._states["seen_cube_pos"][row] if "seen_cube_pos" in self._states else np.empty((0, 3))
        pictures = [view.picture(seen) for view in self._views]
        whole = np.concatenate(pictures, axis=1)
        if len(pictures) > 1:
            whole[:, pictures[0].shape[1] - 1] = LINE_RGB
        return whole

    def caption(self, row: int) -> tuple[str, ...]:
        """The move with its phase, and the state of the tower."""
        return self._story.lines(row)

    def close(self) -> None:
        """Release the scene."""
        self._scene.close()

    def _pose(self, row: int) -> None:
        import mujoco

        data, states = self._scene.mj_data, self._states
        data.qpos[0:7], data.qpos[7:9] = states["joint_pos"][row], states["gripper_qpos"][row]
        for kind, starts in (("cube", self._cubes), ("container", self._containers)):
            for index, start in enumerate(starts):
                data.qpos[start : start + 3] = states[f"{kind}_pos"][row, index]
                data.qpos[start + 3 : start + 7] = states[f"{kind}_quat"][row, index]
        mujoco.mj_forward(self._scene.mj_model, data)


def _camera_view(scene: Any, cell: Cell, width: int, height: int) -> "_View":
    """What the cell's camera sees, as large as fits; around it the picture is darker."""
    part = cell.camera
    scale = min(width / part.width, height / part.height)
    pose = part.stands
    own = np.zeros((height, width), dtype=np.bool_)
    high, wide = round(part.height * scale), round(part.width * scale)
    top, left = (height - high) // 2, (width - wide) // 2
    own[top : top + high, left : left + wide] = True
    lens = Lens(width=width, height=height, focal_px=part.focal_px * scale)
    return _View(scene, cell, lens, pose, np.where(own, 1.0, OUTSIDE))


class _View:
    """One camera's pictures. With `bright` (height, width) it marks cubes that were seen."""

    def __init__(self, scene: Any, cell: Cell, lens: Lens, pose: CameraPose, bright: Array | None = None) -> None:
        from .paint import Paint
        from .scene_view import SceneView

        self._lens, self._at, self._bright = lens, pose, bright
        self._view = SceneView(scene.mj_model, scene.mj_data, lens)
        self._view.place(pose)
        self._paint = Paint(scene.mj_model, cell.objects)
        self._still = self._paint.shaded(self._view.still)

    def picture(self, seen: Array) -> Picture:
        """The present state; `seen` (n, 3) are places to mark."""
        from .scene_view import altered

        pixels, hits = self._view.changed()
        image = altered(self._still, pixels, self._paint.shaded(hits))
        image = image.reshape(self._lens.height, self._lens.width, 3)
        if self._bright is None:
            return np.asarray(np.clip(image, 0, 255), dtype=np.uint8)
        picture: Picture = np.asarray(np.clip(image * self._bright[..., None], 0, 255), dtype=np.uint8)
        for place in seen:
            self._mark(picture, place)
        return picture

    def _mark(self, picture: Picture, place: Array) -> None:
        """A white cross with a dark border where this place (3,) is seen."""
        lens = self._lens
        away = (np.asarray(place, dtype=np.float64) - self._at.position) @ self._at.rotation
        if away[2] <= 0.0:
            return
        column = int(lens.focal_px * away[0] / away[2] + lens.width / 2)
        row = int(lens.focal_px * away[1] / away[2] + lens.height / 2)
        for thick, colour in ((1, 0), (0, 255)):
            for high, wide in ((CROSS_PX, 0), (0, CROSS_PX)):
                top, left = row - high - thick, column - wide - thick
                bottom, right = row + high + thick + 1, column + wide + thick + 1
                picture[max(0, top) : max(0, bottom), max(0, left) : max(0, right)] = colour
