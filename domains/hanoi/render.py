"""Pictures of a recorded episode: its stored states put into the robosuite scene and drawn off screen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...core.errors import UsageError, no_such
from ...core.ports import Picture, Playback
from ...core.recording import Recording
from ...core.values import JSON
from . import task
from .narration import Story
from .task import Array

# The first is defined here, close to the table; the others are robosuite's.
CAMERAS: Final = (
    "table", "frontview", "agentview", "sideview", "birdview", "robot0_robotview", "robot0_eye_in_hand",
)
TABLE_VIEW: Final[Mapping[str, Any]] = {
    "lookat": (-0.03, 0.0, 0.97), "distance": 1.3, "azimuth": 152.0, "elevation": -22.0,
}
LABEL_AT_M: Final = np.array([0.16, 0.0, 0.0])      # from a container's origin, towards the camera
LABEL_RGBA: Final = np.array([0.15, 0.15, 0.15, 1.0], dtype=np.float32)
REACHED_M: Final = 1e-4
REACH_TRIES: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class HanoiRenderer:
    """Implements `core.ports.Renderer`. With `by_hand` the arm is solved for from the recorded hand pose.

    That is for environments with a hand and no arm: their joint angles are not the robot's.
    """

    variant: str
    by_hand: bool = False
    cameras: tuple[str, ...] = CAMERAS

    def require(self) -> None:
        """Raises UsageError if no graphics back end works."""
        from ..arm.graphics import live_backend

        live_backend()

    def playback(self, recording: Recording, *, camera: str, width: int, height: int) -> Playback:
        """A scene of this recording's size. Raises UsageError if no graphics back end works."""
        if camera not in self.cameras:
            raise no_such("camera", camera, self.cameras)
        missing = sorted({"joint_pos", "gripper_qpos", "cube_pos", "cube_quat"} - recording.states.keys())
        if missing:
            raise UsageError(f"the episode cannot be drawn: its recording has no {', '.join(missing)}")
        return _Playback(recording, camera, width, height, variant=self.variant, by_hand=self.by_hand)


class _Playback:
    """A scene with its own graphics context."""

    def __init__(
        self, recording: Recording, camera: str, width: int, height: int, *, variant: str, by_hand: bool,
    ) -> None:
        from ..arm.graphics import Drawing

        self._drawing = Drawing(width, height)

        import mujoco

        from .scene import HanoiScene
        from .simulation import object_addresses

        self.step_s: float | None = float(recording.constants["control_period_s"])
        self._story = Story(recording)
        half_edges = tuple(recording.constants["cube_size"].tolist())
        self.scene = HanoiScene(
            names=task.cube_names(len(half_edges)), half_edges_m=half_edges, variant=variant,
        )
        model = self.scene.mj_model
        self._mujoco: Any = mujoco
        self._cubes, self._containers = object_addresses(self.scene)
        self._drawing.connect(model, self.scene.mj_data, lambda mujoco: _camera(mujoco, model, camera))
        self._states = recording.states
        self._arm = _Reacher(mujoco, self.scene) if by_hand else None

    def picture(self, row: int) -> Picture:
        """The state of this row as an image (height, width, 3) of uint8."""
        self.pose(row)
        return self._drawing.picture(self._name_containers)

    def caption(self, row: int) -> tuple[str, ...]:
        """The move with its phase, and the state of the tower."""
        return self._story.lines(row)

    def pose(self, row: int) -> Array:
        """Put the scene into the state of this row; returns its qpos."""
        data, states = self.scene.mj_data, self._states
        data.qpos[7:9] = states["gripper_qpos"][row]
        for kind, starts in (("cube", self._cubes), ("container", self._containers)):
            for index, start in enumerate(starts):
                data.qpos[start : start + 3] = states[f"{kind}_pos"][row, index]
                data.qpos[start + 3 : start + 7] = states[f"{kind}_quat"][row, index]
        if self._arm is None:
            data.qpos[0:7] = states["joint_pos"][row]
        else:
            self._arm.reach(states["eef_pos"][row], states["eef_quat"][row])
        self._mujoco.mj_forward(self.scene.mj_model, data)
        qpos: Array = data.qpos.copy()
        return qpos

    def _name_containers(self, view: Any) -> None:
        """Draw the labels A, B and C, each in front of its container."""
        mujoco = self._mujoco
        for name, start in zip(task.CONTAINERS, self._containers, strict=True):
            if view.ngeom < view.maxgeom:
                label, place = view.geoms[view.ngeom], self.scene.mj_data.qpos[start : start + 3] + LABEL_AT_M
                mujoco.mjv_initGeom(
                    label, mujoco.mjtGeom.mjGEOM_LABEL, np.zeros(3), place, np.eye(3).reshape(9), LABEL_RGBA,
                )
                label.label = name
                view.ngeom += 1

    def close(self) -> None:
        """Release the graphics context."""
        self._drawing.close()
        self.scene.close()


def _camera(mujoco: Any, model: Any, name: str) -> Any:
    from ..arm.graphics import fixed_camera

    if name != "table":
        return fixed_camera(mujoco, model, name)
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FREE
    camera.lookat[:] = TABLE_VIEW["lookat"]
    camera.distance, camera.azimuth = TABLE_VIEW["distance"], TABLE_VIEW["azimuth"]
    camera.elevation = TABLE_VIEW["elevation"]
    return camera


class _Reacher:
    """Solves the arm's joints for a given hand pose: damped least squares from the last posture."""

    def __init__(self, mujoco: Any, scene: Any) -> None:
        self._mujoco, self._model, self._data = mujoco, scene.mj_model, scene.mj_data
        robot = scene.robots[0]
        self._site = int(robot.eef_site_id["right"])
        self._hand = int(self._model.body(robot.robot_model.eef_name["right"]).id)
        self._low, self._high = self._model.jnt_range[:7].T
        self._data.qpos[0:7] = robot.init_qpos

    def reach(self, place: Any, turn_xyzw: Any) -> None:
        """Set the arm's joints for the end effector at `place` (3,) and the hand turned by `turn_xyzw` (4,)."""
        mujoco, model, data = self._mujoco, self._model, self._data
        target = np.asarray(turn_xyzw, dtype=np.float64)[[3, 0, 1, 2]]
        linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        inverse, between, turn = np.zeros(4), np.zeros(4), np.zeros(3)
        for _ in range(REACH_TRIES):
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mju_negQuat(inverse, data.xquat[self._hand])
            mujoco.mju_mulQuat(between, target, inverse)
            mujoco.mju_quat2Vel(turn, between, 1.0)
            error = np.concatenate([np.asarray(place, dtype=np.float64) - data.site_xpos[self._site], turn])
            if np.abs(error).max() < REACHED_M:
                return
            mujoco.mj_jacSite(model, data, linear, angular, self._site)
            jacobian = np.concatenate([linear[:, :7], angular[:, :7]])
            damped = jacobian @ jacobian.T + 1e-4 * np.eye(6)
            step = jacobian.T @ np.linalg.solve(damped, error)
            data.qpos[0:7] = np.clip(data.qpos[0:7] + step, self._low, self._high)


def renderer(options: Mapping[str, JSON], *, by_hand: bool) -> HanoiRenderer:
    """The renderer for episodes under these completed options."""
    return HanoiRenderer(variant=str(options["variant"]), by_hand=by_hand)
