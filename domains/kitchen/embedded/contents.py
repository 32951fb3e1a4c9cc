"""The current state of the objects of one kitchen: position, container, open, on, held."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..rules import HOLLOW, TRANSPARENT
from ..scene import Box, Kitchen, Thing
from .doors import Corners, doors_of
from .sight import Flags, Floats, Surroundings, sample_points

_STATES_KEPT: Final = 80_000

Key = tuple[object, ...]


class Contents:
    """The state of a kitchen's objects, identified by index. Every state has a number."""

    def __init__(self, kitchen: Kitchen) -> None:
        self.kitchen = kitchen
        self.things = kitchen.things
        self.index: Mapping[str, int] = {thing.object_id: k for k, thing in enumerate(self.things)}
        self.doors = doors_of(kitchen)
        self._parents0 = [self._first_parents(thing) for thing in self.things]
        self._centres0 = np.array([thing.centre for thing in self.things])
        self._origins0 = np.array([thing.position for thing in self.things])
        self._sizes0 = np.array([thing.size for thing in self.things])
        self._openable = np.array(["openable" in thing.flags for thing in self.things])
        self.hollow = np.array([thing.object_type in HOLLOW for thing in self.things])
        self.glass = np.array([thing.object_type in TRANSPARENT for thing in self.things])
        self._inside0 = np.zeros((len(self.things),) * 2, dtype=np.bool_)
        self._states: dict[Key, int] = {}
        self._numbers = count()
        self.restore()
        for k in range(len(self.things)):
            self._inside0[k, [*self.containing(k)]] = True
        self.changed()

    def _first_parents(self, thing: Thing) -> tuple[int, ...]:
        """The parents of an object at the start. Recordings wrongly place a fridge that touches a cabinet inside it."""
        parents = [self.index[name] for name in thing.parents if name in self.index]
        fixed = "pickupable" not in thing.flags
        return tuple(k for k in parents if not (fixed and "openable" in self.things[k].flags))

    def restore(self) -> None:
        """Restore the start state."""
        self.held: int | None = None
        self.open = {k for k, thing in enumerate(self.things) if "isOpen" in thing.flags}
        self.on = {k for k, thing in enumerate(self.things) if "isToggled" in thing.flags}
        self.parents = list(self._parents0)
        self.centres, self.sizes = self._centres0.copy(), self._sizes0.copy()
        self._moved: dict[int, Key] = {}
        self.changed()

    def changed(self) -> None:
        """Number the current state; equal states have equal numbers."""
        self._containing: dict[int, set[int]] = {}
        self._inside: Flags | None = None
        self._carried: frozenset[int] | None = None
        moved = tuple(sorted(self._moved.items()))
        key = (self.held, frozenset(self.open), frozenset(self.on), moved)
        if len(self._states) > _STATES_KEPT:
            self._states.clear()
        if key not in self._states:
            self._states[key] = next(self._numbers)     # never reused: it is a cache key
        self.state = self._states[key]

    def take(self, item: int) -> None:
        """Move an object into the hand."""
        self.held = item
        self.parents[item] = ()
        self._moved[item] = ("held",)
        self.changed()

    def lay(self, item: int, centre: Floats, size: Floats, *, receptacle: int | None) -> None:
        """Put an object, with its contents, at a place: centre and size of its box, in metres."""
        shift = centre - self.centres[item]
        for k in {item} | {k for k in range(len(self.things)) if self.is_in(k, item)}:
            self.centres[k] = self.centres[k] + shift
            self._moved[k] = (*np.round([*self.centres[k], *size], 4).tolist(), receptacle if k == item else None)
        self.sizes[item] = size
        self.parents[item] = () if receptacle is None else (receptacle,)
        self.changed()

    def containing(self, item: int) -> set[int]:
        """All receptacles that an object is in, directly or indirectly."""
        found = self._containing.get(item)
        if found is None:
            found = set()
            fresh = list(self.parents[item])
            while fresh:
                receptacle = fresh.pop()
                if receptacle not in found:
                    found.add(receptacle)
                    fresh += self.parents[receptacle]
            self._containing[item] = found
        return found

    def is_in(self, item: int, receptacle: int) -> bool:
        """Whether an object is in or on a receptacle, directly or indirectly."""
        return receptacle in self.containing(item)

    def inside(self) -> Flags:
        """(n, n): whether an object (row) is in or on another (column), directly or indirectly."""
        if self._inside is None:
            moved = [*self._moved]
            inside: Flags = self._inside0.copy()
            rows = np.flatnonzero(inside[:, moved].any(axis=1)).tolist() + moved
            inside[rows] = False
            for k in rows:
                inside[k, [*self.containing(k)]] = True
            self._inside = inside
        return self._inside

    def carried(self) -> frozenset[int]:
        """The held object and its contents."""
        if self._carried is None:
            held = self.held
            inside = () if held is None else (held, *np.flatnonzero(self.inside()[:, held]).tolist())
            self._carried = frozenset(inside)
        return self._carried

    def shut_away(self, item: int) -> bool:
        """Whether an object is in something closed."""
        return bool((self.inside()[item] & self._is_closed()).any())

    def at_large(self) -> Flags:
        """(n,): which objects are neither carried nor in something closed."""
        free = ~(self.inside() & self._is_closed()).any(axis=1)
        free[[*self.carried()]] = False
        return np.asarray(free)

    def _is_closed(self) -> Flags:
        closed: Flags = self._openable.copy()
        closed[[*self.open]] = False
        return closed

    def panels(self) -> list[Corners]:
        """The boxes of the open doors and drawers."""
        return [panel for k in sorted(self.open) if k in self.doors for panel in self.doors[k].panels]

    def origins(self) -> Floats:
        """The current origins of the objects (n, 3), as if nothing were held."""
        moved: Floats = self._origins0 + (self.centres - self._centres0)
        return moved


# The boxes of one state of a kitchen: solid ones for collisions, visible ones for visibility checks.


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
