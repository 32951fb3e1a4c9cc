"""Opens the arm and the camera of a cell."""

from collections.abc import Callable
from dataclasses import dataclass

from .cell_file import Cell
from .ports import Arm, Camera

PERIOD_S = 0.05     # between two actions of a policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """An open arm and camera. `begin(seed)` starts a trial of a simulated camera."""

    arm: Arm
    camera: Camera
    begin: Callable[[int], None]
    close: Callable[[], None]


def open_cell(cell: Cell) -> Hardware:
    """The arm and the camera of a cell. Imports the simulator for a twin."""
    from .twin_arm import TwinArm
    from .twin_camera import TwinCamera

    arm = TwinArm(cell)
    camera = TwinCamera(cell, arm)
    return Hardware(arm=arm, camera=camera, begin=camera.begin, close=arm.close)
