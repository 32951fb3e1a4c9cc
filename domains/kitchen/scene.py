"""A kitchen at the start of an episode: its objects, the cells where the agent can stand, its walls."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

GRID_M: Final = 0.25            # spacing of the lattice that the agent's x and z lie on
CAMERA_RISE_M: Final = 0.675    # of the camera above the agent's position
AGENT_RISE_M: Final = 0.9       # of the agent's position above the floor
AGENT_RADIUS_M: Final = 0.2
AGENT_HEIGHT_M: Final = 1.75
HEADINGS: Final = ((0, 1), (1, 0), (0, -1), (-1, 0))   # yaw 0, 90, 180, 270: lattice steps in x and z

Point = tuple[float, float, float]
Cell = tuple[int, int]          # x and z in units of GRID_M


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One object of a kitchen, with AI2-THOR 5.0.0's names and flags. Metres, y up."""

    object_id: str
    name: str
    object_type: str
    position: Point                     # the object's origin
    yaw_deg: float                      # its front is at yaw: 0 is +z, 90 is +x
    centre: Point                       # of its axis-aligned box
    size: Point                         # of its axis-aligned box
    extent: Point                       # of the box in its own frame: across, up, along
    flags: frozenset[str] = frozenset()
    parents: tuple[str, ...] = ()       # ids of the receptacles that it is in or on
    shelves: tuple[float, ...] = ()     # heights of shelves above the box's bottom, if known


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A part of the building: an axis-aligned box that is not an object."""

    name: str
    centre: Point
    size: Point


@dataclass(frozen=True, slots=True, kw_only=True)
class Stance:
    """The agent's cell and direction. Yaw counts quarter turns clockwise from +z; horizon is down-positive."""

    cell: Cell
    yaw: int
    horizon_deg: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kitchen:
    """A kitchen in its start state."""

    name: str
    start: Stance
    agent_y_m: float
    things: tuple[Thing, ...]
    cells: frozenset[Cell]              # where the agent can stand while all doors are closed
    structure: tuple[Box, ...] = field(default=())
    solid_walls: bool = False           # of fridges and microwaves: things are put in through the front alone

    @property
    def floor_m(self) -> float:
        """Height of the floor."""
        return self.agent_y_m - AGENT_RISE_M


def reachable(cells: frozenset[Cell], start: Cell) -> frozenset[Cell]:
    """The cells reachable from `start` in single steps, `start` included."""
    found, fresh = {start}, [start]
    while fresh:
        x, z = fresh.pop()
        for dx, dz in HEADINGS:
            cell = (x + dx, z + dz)
            if cell in cells and cell not in found:
                found.add(cell)
                fresh.append(cell)
    return frozenset(found)


def object_id(kind: str, position: Iterable[float]) -> str:
    """An object id in AI2-THOR's form, from the initial position. An exact zero has no sign."""
    return "|".join([kind, *(f"{value:+06.2f}" if value else "00.00" for value in position)])
