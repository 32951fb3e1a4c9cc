"""The recording of a kitchen episode: predicates, visibility and poses over time, actions and their outcomes."""

from typing import Final

import numpy as np

from ...core.recording import Array, Recording
from ...core.values import JSON
from .embedded.sight import VISIBILITY_M
from .observation import ACTIONS, PREDICATES, Fragment, Pose
from .rules import TARGETS, ErrorCategory
from .scene import GRID_M

TARGET_WORDS: Final = tuple(kind.lower() for kind in TARGETS)


class Trace:
    """Collects one episode: `begin` with the state after reset, then `add` once per step."""

    def __init__(self, *, max_steps: int) -> None:
        self._max_steps = max_steps
        self._rows: list[tuple[Fragment, tuple[bool, ...]]] = []
        self._actions: list[tuple[int, bool, int, int, bool]] = []
        self._objects: list[str] = []

    def begin(self, fragment: Fragment, seen: tuple[bool, ...]) -> None:
        """Discard the last episode and record the state after reset."""
        self._rows, self._actions, self._objects = [(fragment, seen)], [], []

    def add(
        self, fragment: Fragment, seen: tuple[bool, ...], *, action: str, target: int, object_id: str, valid: bool,
        category: ErrorCategory,
    ) -> None:
        """Record one step: the action, its object id (empty if none exists), the outcome, the state after it."""
        self._rows.append((fragment, seen))
        success = category is ErrorCategory.NONE
        self._objects.append(object_id)
        self._actions.append((ACTIONS.index(action), success, int(category), target, valid))

    def recording(self, *, scene: str) -> Recording:
        """The episode so far (paper: the trajectory τ_e)."""
        fragments = [row[0] for row in self._rows]
        predicates = np.array([fragment.predicates for fragment in fragments], dtype=np.bool_)
        states: dict[str, Array] = {name: predicates[:, k].copy() for k, name in enumerate(PREDICATES)}
        seen = np.array([row[1] for row in self._rows], dtype=np.bool_)
        visible = np.array([fragment.target_visible for fragment in fragments], dtype=np.bool_)
        distance = np.array([fragment.target_distance_m for fragment in fragments], dtype=np.float32)
        for k, word in enumerate(TARGET_WORDS):
            states[f"{word}_seen"] = seen[:, k].copy()
            states[f"{word}_visible"] = visible[:, k].copy()
            states[f"{word}_distance_m"] = distance[:, k].copy()
        poses = [fragment.pose for fragment in fragments]
        states["agent_xz_m"] = np.array([(pose.x_m, pose.z_m) for pose in poses], dtype=np.float32)
        states["agent_yaw_deg"] = np.array([pose.yaw_deg for pose in poses], dtype=np.int16)
        states["camera_horizon_deg"] = np.array([pose.horizon_deg for pose in poses], dtype=np.int16)
        states["visible_count"] = np.array([fragment.visible_count for fragment in fragments], dtype=np.int16)
        columns = np.array(self._actions, dtype=np.int64).reshape(-1, 5)
        return Recording(
            states=states,
            actions={
                "action": columns[:, 0].astype(np.int8),
                "action_success": columns[:, 1].astype(np.bool_),
                "error_category": columns[:, 2].astype(np.int8),
                "action_target": columns[:, 3].astype(np.int8),
                "action_valid": columns[:, 4].astype(np.bool_),
                "action_object": np.array(self._objects, dtype=np.str_),
            },
            constants={
                "action_names": np.array(ACTIONS),
                "error_names": np.array([category.name.lower() for category in ErrorCategory]),
                "target_names": np.array(("none", *TARGET_WORDS, "other")),
                "max_steps": np.array(self._max_steps),
                "visibility_m": np.array(VISIBILITY_M),
                "agent_y_m": np.array(poses[0].y_m),
            },
            info={"scene": scene, "start": _start(poses[0])},
        )


def _start(pose: Pose) -> dict[str, JSON]:
    return {
        "cell": [round(pose.x_m / GRID_M), round(pose.z_m / GRID_M)], "yaw_deg": pose.yaw_deg,
        "horizon_deg": pose.horizon_deg,
    }
