"""The recording of an episode, the same for every Hanoi environment: true states, actions, task predicates.

States are stored as float32, rounded to 2^-24 (0.06 µm, 0.06 µrad): finer digits of a cube at rest are noise
that is never read and does not compress. Actions keep every bit, so an episode can be replayed exactly from its
seed and its actions. `success` and `illegal_score` come from the exact states.
A full episode of 12,000 steps with four cubes is 3.9 MB in memory and about 1.5 MB on disk (126 bytes per step).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from ...core.recording import Recording
from ...core.values import JSON
from . import task
from .sensors import observation_size, observation_slices
from .task import Array

# Recorded name -> the observation field whose true value it is, and the shape of one row (-1: by cube).
_FIELDS: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "eef_pos": ("robot0_eef_pos", (3,)),
    "eef_quat": ("robot0_eef_quat", (4,)),
    "gripper_qpos": ("robot0_gripper_qpos", (2,)),
    "joint_pos": ("robot0_joint_pos", (7,)),
    "cube_pos": ("cube_pos", (-1, 3)),
    "cube_quat": ("cube_quat", (-1, 4)),
    "container_pos": ("boxes_pos", (3, 3)),
    "container_quat": ("boxes_quat", (3, 4)),
}
ACTION_SIZE = 7
_FIRST_ROWS = 1024
_RESOLUTION = 2.0 ** 24     # of a stored state, in steps per unit: that of float32 at 1


class Trace:
    """Collects one episode. Rows are the true state in the layout of the observation vector.

    Call `begin` with the state after reset, then `add` once per control step.
    """

    def __init__(self, half_edges: Sequence[float], *, control_period_s: float) -> None:
        self._half_edges = tuple(half_edges)
        self._control_period_s = control_period_s
        width = observation_size(len(self._half_edges))
        self._states = np.empty((_FIRST_ROWS, width), dtype=np.float32)
        self._actions = np.empty((_FIRST_ROWS, ACTION_SIZE))
        self._illegal: list[float] = []
        self._success: list[bool] = []

    def begin(self, truth: Array, *, illegal_score: float = 0.0, success: bool = False) -> None:
        """Discard the last episode and record the state after reset."""
        self._illegal, self._success = [illegal_score], [success]
        self._states[0] = truth

    def add(
        self, truth: Array, action: Sequence[float] | Array, *, illegal_score: float, success: bool,
    ) -> None:
        """Record one control step: the action and the true state after it."""
        step = len(self._illegal)
        if step == len(self._states):
            self._states = np.concatenate([self._states, np.empty_like(self._states)])
            self._actions = np.concatenate([self._actions, np.empty_like(self._actions)])
        self._states[step] = truth
        self._actions[step - 1] = action
        self._illegal.append(illegal_score)
        self._success.append(success)

    def recording(self, info: Mapping[str, JSON]) -> Recording:
        """The episode so far (paper: the trajectory τ_e)."""
        rows = len(self._illegal)
        slices = observation_slices(len(self._half_edges))
        stored = (np.rint(self._states[:rows] * _RESOLUTION) / _RESOLUTION).astype(np.float32)
        states = {
            name: stored[:, slices[field]].reshape(rows, *self._row_shape(shape)).copy()
            for name, (field, shape) in _FIELDS.items()
        }
        states["illegal_score"] = np.array(self._illegal, dtype=np.float32)
        states["success"] = np.array(self._success, dtype=np.bool_)
        return Recording(
            states=states,
            actions={"actions": self._actions[: rows - 1].copy()},
            constants={
                "cube_size": np.array(self._half_edges),
                "table_height_m": np.array(task.TABLE_HEIGHT_M),
                "control_period_s": np.array(self._control_period_s),
                "hole_local_m": np.array(task.HOLE_LOCAL_M),
            },
            info=dict(info),
        )

    def _row_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (len(self._half_edges), *shape[1:]) if shape[0] == -1 else shape
