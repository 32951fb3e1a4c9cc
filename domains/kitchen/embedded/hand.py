"""The position of the hand: a held item hangs ahead of the camera and below it, and turns and tilts with it."""

from typing import Final

import numpy as np

from ..scene import Point, Stance
from .sight import Floats, agent_view

HAND_AHEAD_M: Final = 0.38      # of the camera, turned with it
HAND_BELOW_M: Final = 0.16
SKIN_M: Final = 0.01            # overlap that a held item may have with other bodies


def hand_at(stance: Stance, agent_y_m: float, *, yaw_deg: float | None = None) -> Floats:
    """The centre of a held item, in metres; `yaw_deg` is the agent's direction during a turn."""
    view = agent_view(stance, agent_y_m)
    forward, up = view.forward, view.up
    if yaw_deg is not None:
        angle = np.radians(yaw_deg)
        flat = np.hypot(forward[0], forward[2])
        forward = np.array([np.sin(angle) * flat, forward[1], np.cos(angle) * flat])
        lean = np.hypot(up[0], up[2]) * (1.0 if stance.horizon_deg >= 0 else -1.0)
        up = np.array([np.sin(angle) * lean, up[1], np.cos(angle) * lean])
    return np.asarray(view.eye + HAND_AHEAD_M * forward - HAND_BELOW_M * up)


def turned_size(extent: Point, yaw_deg: float) -> Floats:
    """The axis-aligned size of a box of this extent (across, up, along) when it faces `yaw_deg`."""
    across, up, along = extent
    if yaw_deg % 90.0 == 0.0:
        return np.array([across, up, along] if yaw_deg % 180.0 == 0.0 else [along, up, across])
    c, s = abs(np.cos(np.radians(yaw_deg))), abs(np.sin(np.radians(yaw_deg)))
    return np.array([across * c + along * s, up, across * s + along * c])
