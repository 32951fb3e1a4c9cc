"""Opens the arm and the camera that a cell's file names."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ...core.errors import UsageError
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
    """The arm and the camera of a cell. Raises UsageError for one that is not installed or cannot be reached."""
    if cell.arm.kind == "twin":
        return _twin(cell)
    camera: Any = _made(cell.camera.kind, cell, "camera.kind")
    if cell.arm.kind == "franka":
        from .franka import FrankaArm

        arm: Any = FrankaArm(cell)
    else:
        arm = _made(cell.arm.kind, cell, "arm.kind")
    return Hardware(arm=arm, camera=camera, begin=lambda _: None, close=arm.close)


def _twin(cell: Cell) -> Hardware:
    from .twin import TwinArm, TwinCamera

    arm = TwinArm(cell)
    camera = TwinCamera(cell, arm)
    return Hardware(arm=arm, camera=camera, begin=camera.begin, close=arm.close)


def _made(name: str, cell: Cell, key: str) -> object:
    """What the laboratory's own factory makes for this cell."""
    module, _, attribute = name.partition(":")
    try:
        factory = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{key} = {name!r} cannot be imported: {error}") from error
    return factory(cell)
