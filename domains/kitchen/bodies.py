"""What is solid in one state of a kitchen, what can be seen in it: boxes for collisions and for sight."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .contents import Contents
from .doors import Corners
from .rules import HOLLOW, TRANSPARENT
from .scene import Box
from .sight import Floats, Surroundings, sample_points


@dataclass(frozen=True, slots=True)
class Bodies:
    """Solid boxes."""

    low: Floats                 # (n, 3) corners
    high: Floats
    owners: NDArray[np.intp]    # (n,) the object that each belongs to, -1 for the building
    names: tuple[str, ...]

    def others(self, items: set[int]) -> tuple[Floats, Floats]:
        """Corners of the bodies of all other objects."""
        kept = ~np.isin(self.owners, sorted(items))
        return self.low[kept], self.high[kept]

    def first_hit(self, low: Floats, high: Floats, low0: Floats, high0: Floats) -> str:
        """The name of a body that a box meets and another box, where it was before, did not meet; or empty."""
        hits = ((self.low < high) & (self.high > low)).all(axis=1)
        hits &= ~((self.low < high0) & (self.high > low0)).all(axis=1)
        at = np.flatnonzero(hits)
        return self.names[int(at[0])] if len(at) else ""

    def nearest(self, x: float, z: float, *, within_m: float) -> str | None:
        """The name of the body nearest to a place on the floor, where one is so near."""
        point = np.array([x, z])
        gaps = np.maximum(np.maximum(self.low[:, [0, 2]] - point, point - self.high[:, [0, 2]]), 0.0)
        away = np.hypot(gaps[:, 0], gaps[:, 1])
        at = int(np.argmin(away)) if len(away) else 0
        return self.names[at] if len(away) and away[at] < within_m else None


def bodies_of(contents: Contents) -> Bodies:
    """Solid boxes: objects that are not full of air, carried or shut away, open doors, the building."""
    things, carried = contents.things, contents.carried()
    solid = [
        k for k, thing in enumerate(things)
        if k not in carried and thing.object_type not in HOLLOW
        and not (k in contents.open and k in contents.doors) and not contents.shut_away(k)
    ]
    half = contents.sizes / 2
    boxes = [(contents.centres[k] - half[k], contents.centres[k] + half[k]) for k in solid]
    names = [things[k].name for k in solid]
    for k in sorted(contents.open & contents.doors.keys()):
        for panel in contents.doors[k].panels:
            solid.append(k)
            boxes.append(panel)
            names.append(things[k].name)
    for box in contents.kitchen.structure:
        solid.append(-1)
        boxes.append(_corners(box))
        names.append(box.name)
    corners = np.array(boxes).reshape(-1, 2, 3)
    return Bodies(corners[:, 0], corners[:, 1], np.array(solid, dtype=np.intp), tuple(names))


def surroundings_of(contents: Contents) -> Surroundings:
    """What can be seen or stands in the way of seeing."""
    things, n = contents.things, len(contents.things)
    carried = contents.carried()
    shown = np.array([k not in carried and not contents.shut_away(k) for k in range(n)])
    occluders = [k for k in range(n) if shown[k] and things[k].object_type not in HOLLOW]
    low, high = ((contents.centres + sign * contents.sizes / 2)[occluders] for sign in (-1, 1))
    kin = [contents.containing(k) | {k} for k in range(n)]
    clear = np.array([[j in kin[k] or k in kin[j] for j in occluders] for k in range(n)])
    owners = [k for k in sorted(contents.open) if k in contents.doors for _ in contents.doors[k].panels]
    walls = [_corners(box) for box in contents.kitchen.structure]
    extra = [*contents.panels(), *walls]
    if extra:
        low = np.concatenate([low, [box[0] for box in extra]])
        high = np.concatenate([high, [box[1] for box in extra]])
        own = np.array([[j == k or j in kin[k] for j in owners] for k in range(n)]).reshape(n, -1)
        clear = np.concatenate([clear, own, np.zeros((n, len(walls)), dtype=np.bool_)], axis=1)
    glass = np.array([things[k].object_type in TRANSPARENT for k in occluders] + [False] * len(extra))
    floor = next((k for k, thing in enumerate(things) if thing.object_type == "Floor"), None)
    return Surroundings(
        points=sample_points(contents.centres, contents.sizes), can_be_seen=shown, low=low, high=high,
        clear=clear.astype(np.bool_), glass=glass.astype(np.bool_), floor=floor,
    )


def _corners(box: Box) -> Corners:
    centre, half = np.asarray(box.centre), np.asarray(box.size) / 2
    return centre - half, centre + half
