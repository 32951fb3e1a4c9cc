"""Places objects into a generated kitchen one by one and tracks their positions."""

from random import Random

import numpy as np

from ..scene import Cell, Point, Thing, object_id
from .catalogue import CATALOGUE
from .room import Wall

CLEARANCE_M = 0.015     # between things on a surface


class Builder:
    """The objects of a kitchen under construction."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.things: list[Thing] = []
        self._ids: set[str] = set()

    def extent(self, kind: str) -> Point:
        """A size for this kind of object, drawn within its range."""
        small, large = CATALOGUE[kind].small, CATALOGUE[kind].large
        share = self.rng.random()
        across, up, along = (
            round(a + (b - a) * min(1.0, max(0.0, share + self.rng.uniform(-0.2, 0.2))), 3)
            for a, b in zip(small, large, strict=True)
        )
        return across, up, along

    def add(
        self, kind: str, centre: Point, size: Point, *, yaw: int = 0, origin: Point | None = None,
        extent: Point | None = None, parents: tuple[str, ...] = (), shelves: tuple[float, ...] = (),
        own_id: str = "",
    ) -> Thing:
        """Add an object with this axis-aligned box. `origin`, by default the bottom, sets its id and position."""
        x, y, z = (round(value, 4) for value in (origin or (centre[0], centre[1] - size[1] / 2, centre[2])))
        name = own_id or object_id(kind, (x, y, z))
        while name in self._ids:
            y = round(y + 0.01, 4)
            name = object_id(kind, (x, y, z))
        self._ids.add(name)
        across, up, along = size if yaw % 2 == 0 else (size[2], size[1], size[0])
        thing = Thing(
            object_id=name, name=f"{kind}_{self.rng.getrandbits(32):08x}", object_type=kind, position=(x, y, z),
            yaw_deg=90.0 * yaw, centre=_rounded(centre), size=_rounded(size),
            extent=_rounded(extent or (across, up, along)), flags=CATALOGUE[kind].flags, parents=parents,
            shelves=shelves,
        )
        self.things.append(thing)
        return thing

    def on_wall(
        self, kind: str, wall: Wall, along: float, out: float, bottom: float, extent: Point,
        *, origin_share: Point = (0.5, 0.0, 0.5), parents: tuple[str, ...] = (), own_id: str = "",
        shelves: tuple[float, ...] = (),
    ) -> Thing:
        """Add an object that faces away from a wall. `origin_share` is the relative place of its origin in its box."""
        centre, size = wall.box(along, out, bottom, extent)
        point, _ = wall.box(
            along + extent[0] * origin_share[0], out + extent[2] * origin_share[2],
            bottom + extent[1] * origin_share[1], (0.0, 0.0, 0.0),
        )
        return self.add(
            kind, centre, size, yaw=wall.yaw, origin=point, extent=extent, parents=parents, own_id=own_id,
            shelves=shelves,
        )

    def lay(self, kind: str, receptacle: Thing, *, top: float, margin: float = 0.04, tries: int = 60,
            avoid: tuple[str, ...] = ()) -> Thing | None:
        """Lay an object onto a receptacle at height `top`, clear of all other objects; None if no place was found."""
        low = [receptacle.centre[k] - receptacle.size[k] / 2 + margin for k in (0, 2)]
        high = [receptacle.centre[k] + receptacle.size[k] / 2 - margin for k in (0, 2)]
        for _ in range(tries):
            across, up, along = extent = self.extent(kind)
            yaw = self.rng.randrange(4)
            size = extent if yaw % 2 == 0 else (along, up, across)
            room = [high[0] - low[0] - size[0], high[1] - low[1] - size[2]]
            if min(room) < 0.0:
                continue
            x = low[0] + size[0] / 2 + self.rng.random() * room[0]
            z = low[1] + size[2] / 2 + self.rng.random() * room[1]
            centre = (x, top + size[1] / 2 + 0.002, z)
            if self.is_free(centre, size, without=(receptacle.object_id, *avoid)):
                return self.add(kind, centre, size, yaw=yaw, extent=extent, parents=(receptacle.object_id,))
        return None

    def is_free(self, centre: Point, size: Point, *, without: tuple[str, ...] = (), gap: float = CLEARANCE_M) -> bool:
        """Whether a box touches none of the objects placed so far."""
        return not any(
            all(abs(thing.centre[k] - centre[k]) < (thing.size[k] + size[k]) / 2 + (gap if k != 1 else 0.0) - 1e-9
                for k in range(3))
            for thing in self.things
            if thing.object_type != "Floor" and thing.object_id not in without
        )

    def cells(self, bounds: tuple[float, float, float, float], *, grid_m: float, radius_m: float,
              below_m: float) -> frozenset[Cell]:
        """The lattice cells where a body of `radius_m` touches neither walls nor objects that begin below `below_m`."""
        x0, z0, x1, z1 = bounds
        solid = [t for t in self.things if t.object_type != "Floor" and t.centre[1] - t.size[1] / 2 < below_m]
        centres = np.array([[t.centre[0], t.centre[2]] for t in solid])
        halves = np.array([[t.size[0], t.size[2]] for t in solid]) / 2
        found = set()
        for x in range(int(np.ceil((x0 + radius_m) / grid_m)), int(np.floor((x1 - radius_m) / grid_m)) + 1):
            for z in range(int(np.ceil((z0 + radius_m) / grid_m)), int(np.floor((z1 - radius_m) / grid_m)) + 1):
                gaps = np.maximum(np.abs(np.array([x, z]) * grid_m - centres) - halves, 0.0)
                if np.hypot(gaps[:, 0], gaps[:, 1]).min() > radius_m:
                    found.add((x, z))
        return frozenset(found)


def _rounded(values: Point) -> Point:
    x, y, z = (round(value, 4) for value in values)
    return x, y, z
