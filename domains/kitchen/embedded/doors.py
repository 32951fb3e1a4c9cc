"""Doors and drawers: their positions when open, and the obstacles to their movement.

Recorded kitchens contain boxes and fronts, not hinges. A cabinet's origin lies on its hinge. A microwave's
hinge is on the left, seen from the front. A fridge of 0.95 m or more has two leaves; a narrower one has its
hinge on the side where the open door covers fewer cells. Recorded agents open fridges from 0.23 m away, so
doors of fridges and microwaves need only little room; cabinets and drawers need all the room that they sweep.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..rules import HINGED, SLIDING
from ..scene import AGENT_HEIGHT_M, AGENT_RADIUS_M, GRID_M, Cell, Kitchen, Thing
from .sight import Floats

LEAF_M: Final = 0.06            # thickness of a door leaf
TWO_LEAVES_M: Final = 0.95      # a fridge at least so wide has two doors
ROOM_M: Final = 0.22            # in front of a fridge or microwave for the agent's centre
HELD_ROOM_M: Final = 0.08       # in front of a fridge or microwave for the held item
MICROWAVE_DOOR: Final = 0.72    # of the front; the rest are buttons
DRAWER_TRAVEL: Final = 0.75     # of its depth

Corners = tuple[Floats, Floats]     # low and high corner of an axis-aligned box


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """How one object opens. Boxes are (low, high) corners in metres."""

    panels: tuple[Corners, ...]         # solid in the room while it is open
    room: Corners                       # no held item here while it moves
    agent_room: Corners                 # no agent centre here while it moves

    def stopped_by_agent(self, x: float, z: float, *, floor_m: float) -> bool:
        """Whether the door would hit an agent at (x, z)."""
        low, high = self.agent_room
        return bool(low[1] < floor_m + AGENT_HEIGHT_M and low[0] < x < high[0] and low[2] < z < high[2])

    def stopped_by(self, low: Floats, high: Floats) -> bool:
        """Whether the door would hit the box with these corners."""
        return overlap(low, high, *self.room)


def overlap(low: Floats, high: Floats, other_low: Floats, other_high: Floats) -> bool:
    """Whether two boxes share more than their surface."""
    return bool(np.all((low < other_high - 1e-6) & (high > other_low + 1e-6)))


def plane_gap(box: Corners, x: float, z: float) -> float:
    """Horizontal distance in metres between a point and a box."""
    low, high = box
    return math.hypot(max(low[0] - x, 0.0, x - high[0]), max(low[2] - z, 0.0, z - high[2]))


def blocked_by_panel(panels: Iterable[Corners], start: Cell, end: Cell, *, floor_m: float) -> bool:
    """Whether an open door blocks the agent's step between two cells.

    An agent that already touches the door may move away from it.
    """
    (x0, z0), (x1, z1) = ([value * GRID_M for value in cell] for cell in (start, end))
    for box in panels:
        if box[0][1] > floor_m + AGENT_HEIGHT_M:
            continue
        now = plane_gap(box, x0, z0)
        nearest = min(plane_gap(box, x0 + t * (x1 - x0), z0 + t * (z1 - z0)) for t in (0.25, 0.5, 0.75, 1.0))
        if nearest < AGENT_RADIUS_M and nearest < now - 1e-6:
            return True
    return False


def doors_of(kitchen: Kitchen) -> dict[int, Door]:
    """The doors of a kitchen by the index of their object. Openable objects without a door (books) are left out."""
    return {
        index: _drawer(thing) if thing.object_type in SLIDING else _hinge_boxes(thing, kitchen)
        for index, thing in enumerate(kitchen.things)
        if "openable" in thing.flags and thing.object_type in HINGED | SLIDING
    }


@dataclass(frozen=True, slots=True)
class _Front:
    """The front face of an object in the plane: its middle, outward direction, direction to its right, width."""

    thing: Thing

    @property
    def out(self) -> tuple[int, int]:
        """Outward unit step (x, z) of the face, along a main axis."""
        return ((0, 1), (1, 0), (0, -1), (-1, 0))[round(self.thing.yaw_deg / 90.0) % 4]

    @property
    def side(self) -> tuple[int, int]:
        """Unit step to the left, seen from the front of the face."""
        x, z = self.out
        return z, -x

    @property
    def width(self) -> float:
        """Metres from side to side."""
        return self.thing.size[0] if self.out[0] == 0 else self.thing.size[2]

    @property
    def depth(self) -> float:
        """Metres from front to back."""
        return self.thing.size[2] if self.out[0] == 0 else self.thing.size[0]

    def box(self, left: tuple[float, float], out: tuple[float, float]) -> Corners:
        """A box in front of the face, as high as the object: ranges to the left and outward, metres."""
        (ox, oz), (sx, sz) = self.out, self.side
        x, y, z = self.thing.centre
        corners = np.array([
            (x + sx * a + ox * (self.depth / 2 + b), z + sz * a + oz * (self.depth / 2 + b))
            for a in left for b in out
        ])
        half = self.thing.size[1] / 2
        (x0, z0), (x1, z1) = corners.min(axis=0), corners.max(axis=0)
        return np.array([x0, y - half, z0]), np.array([x1, y + half, z1])


def _drawer(thing: Thing) -> Door:
    front = _Front(thing)
    half = front.width / 2
    out = front.box((-half, half), (0.0, DRAWER_TRAVEL * front.depth))
    return Door(panels=(out,), room=out, agent_room=_around(out))


def _hinge_boxes(thing: Thing, kitchen: Kitchen) -> Door:
    front = _Front(thing)
    half = front.width / 2
    if thing.object_type == "Cabinet":
        (x, _, z), (cx, _, cz) = thing.position, thing.centre
        at_left = (x - cx) * front.side[0] + (z - cz) * front.side[1] >= 0.0
        panel = _leaf(front, half if at_left else -half, front.width)
        sweep = front.box((-half, half), (0.0, 0.7 * front.width))
        return Door(panels=(panel,), room=sweep, agent_room=_around(sweep))
    if thing.object_type == "Microwave":
        panels: tuple[Corners, ...] = (_leaf(front, half, MICROWAVE_DOOR * front.width),)
    elif front.width >= TWO_LEAVES_M:
        panels = (_leaf(front, half, half), _leaf(front, -half, half))
    else:
        left, right = (_leaf(front, side * half, front.width) for side in (1, -1))
        panels = (left if _taken_places(left, kitchen) <= _taken_places(right, kitchen) else right,)
    room, agent_room = (front.box((-half, half), (-0.02, out)) for out in (HELD_ROOM_M, ROOM_M))
    return Door(panels=panels, room=room, agent_room=agent_room)


def _around(box: Corners) -> Corners:
    """The positions of the agent's centre for which its body touches a box."""
    margin = np.array([AGENT_RADIUS_M, 0.0, AGENT_RADIUS_M])
    return box[0] - margin, box[1] + margin


def _leaf(front: _Front, hinge: float, length: float) -> Corners:
    """A leaf perpendicular to the face, at `hinge` metres to the left of its middle."""
    inner = hinge - math.copysign(LEAF_M, hinge)
    return front.box((min(hinge, inner), max(hinge, inner)), (0.0, length))


def _taken_places(panel: Corners, kitchen: Kitchen) -> int:
    """The number of cells that an open leaf makes unusable."""
    return sum(plane_gap(panel, x * GRID_M, z * GRID_M) < AGENT_RADIUS_M for x, z in kitchen.cells)
