"""The boxes of one state of a kitchen: solid ones for collisions, visible ones for visibility checks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..scene import Box
from .contents import Contents
from .doors import Corners
from .sight import Floats, Surroundings, sample_points


@dataclass(frozen=True, slots=True)
class Bodies:
    """Solid boxes."""

    low: Floats                 # (n, 3) corners
    high: Floats
    owners: NDArray[np.intp]    # (n,) the object of each box, -1 for the building
    names: tuple[str, ...]

    def others(self, items: set[int]) -> tuple[Floats, Floats]:
        """Corners of the bodies of all other objects."""
        kept = np.ones(len(self.owners), dtype=np.bool_)
        for item in items:
            kept &= self.owners != item
        return self.low[kept], self.high[kept]

    def first_hit(self, low: Floats, high: Floats, low0: Floats, high0: Floats) -> str:
        """The name of a body that a box hits and its previous box (low0, high0) did not; empty if there is none."""
        hits = ((self.low < high) & (self.high > low)).all(axis=1)
        hits &= ~((self.low < high0) & (self.high > low0)).all(axis=1)
        at = np.flatnonzero(hits)
        return self.names[int(at[0])] if len(at) else ""

    def nearest(self, x: float, z: float, *, within_m: float) -> str | None:
        """The name of the body nearest to a point on the floor; None if none is within `within_m`."""
        point = np.array([x, z])
        gaps = np.maximum(np.maximum(self.low[:, [0, 2]] - point, point - self.high[:, [0, 2]]), 0.0)
        away = np.hypot(gaps[:, 0], gaps[:, 1])
        at = int(np.argmin(away)) if len(away) else 0
        return self.names[at] if len(away) and away[at] < within_m else None


def bodies_of(contents: Contents) -> Bodies:
    """Solid boxes: objects that are not hollow, carried or in something closed; open doors; the building."""
    doors = sorted(contents.open & contents.doors.keys())
    solid = contents.at_large() & ~contents.hollow
    solid[doors] = False
    at = np.flatnonzero(solid)
    owners = [k for k in doors for _ in contents.doors[k].panels]
    extra = _extra_boxes(contents)
    half = contents.sizes / 2
    return Bodies(
        low=np.concatenate([(contents.centres - half)[at], extra[:, 0]]),
        high=np.concatenate([(contents.centres + half)[at], extra[:, 1]]),
        owners=np.array([*at, *owners, *(-1 for _ in contents.kitchen.structure)], dtype=np.intp),
        names=(
            *(contents.things[k].name for k in (*at, *owners)), *(box.name for box in contents.kitchen.structure),
        ),
    )


def surroundings_of(contents: Contents) -> Surroundings:
    """The objects that can be seen and the boxes that occlude them."""
    n, walls = len(contents.things), len(contents.kitchen.structure)
    shown = contents.at_large()
    occluders = np.flatnonzero(shown & ~contents.hollow)
    owners = [k for k in sorted(contents.open & contents.doors.keys()) for _ in contents.doors[k].panels]
    within = contents.inside() | np.eye(n, dtype=np.bool_)
    extra = _extra_boxes(contents)
    half = contents.sizes / 2
    return Surroundings(
        points=sample_points(contents.centres, contents.sizes), can_be_seen=shown,
        low=np.concatenate([(contents.centres - half)[occluders], extra[:, 0]]),
        high=np.concatenate([(contents.centres + half)[occluders], extra[:, 1]]),
        clear=np.concatenate(
            [(within | within.T)[:, occluders], within[:, owners], np.zeros((n, walls), dtype=np.bool_)], axis=1
        ),
        glass=np.concatenate([contents.glass[occluders], np.zeros(len(extra), dtype=np.bool_)]),
        floor=next((k for k, thing in enumerate(contents.things) if thing.object_type == "Floor"), None),
    )


def _extra_boxes(contents: Contents) -> Floats:
    """Open doors and the building: (n, 2, 3) low and high corners."""
    boxes = [*contents.panels(), *(_corners(box) for box in contents.kitchen.structure)]
    return np.array(boxes).reshape(-1, 2, 3)


def _corners(box: Box) -> Corners:
    centre, half = np.asarray(box.centre), np.asarray(box.size) / 2
    return centre - half, centre + half
