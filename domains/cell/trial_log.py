"""What a real cell can record of a trial: perceived poses, waypoints, forces, and how fresh the poses are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..hanoi.sensors import observation_slices
from .grounding import Grounding, N
from .ports import ArmState, Array


class TrialLog:
    """Rows of one trial: one for its start, one per control period."""

    def __init__(self, observation: Array) -> None:
        self._at = observation_slices(N)
        self._rows: dict[str, list[Any]] = {
            "seen_cube_pos": [], "seen_cube_quat": [], "seen_container_pos": [], "seen_container_quat": [],
            "waypoint_pos": [], "force_n": [], "unseen_s": [],
        }
        self._observed(observation)
        self._rows["waypoint_pos"].append(observation[self._at["robot0_eef_pos"]])
        self._rows["force_n"].append(np.zeros(3))
        self._rows["unseen_s"].append(np.zeros(N))

    def add(self, observation: Array, waypoint: Array, state: ArmState, grounding: Grounding) -> None:
        """One control period."""
        self._observed(observation)
        self._rows["waypoint_pos"].append(waypoint)
        self._rows["force_n"].append(state.force_n)
        self._rows["unseen_s"].append(grounding.ages_s(state.time_s))

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Each quantity with one row per state of the recording."""
        return {name: np.array(rows, dtype=np.float32) for name, rows in self._rows.items()}

    def _observed(self, observation: Array) -> None:
        at = self._at
        self._rows["seen_cube_pos"].append(observation[at["cube_pos"]].reshape(N, 3))
        self._rows["seen_cube_quat"].append(observation[at["cube_quat"]].reshape(N, 4))
        self._rows["seen_container_pos"].append(observation[at["boxes_pos"]].reshape(3, 3))
        self._rows["seen_container_quat"].append(observation[at["boxes_quat"]].reshape(3, 4))
