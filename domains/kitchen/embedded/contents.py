"""The current state of the objects of one kitchen: position, container, open, on, held."""

from collections.abc import Mapping
from itertools import count
from typing import Final

import numpy as np

from ..rules import HOLLOW, TRANSPARENT
from ..scene import Kitchen, Thing
from .doors import Corners, doors_of
from .sight import Flags, Floats

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
