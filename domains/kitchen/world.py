"""The embedded kitchen simulator: the state of one kitchen and what AI2-THOR's actions do to it."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from .doors import Corners, blocked_by_panel, doors_of
from .placing import interior, place
from .rules import HOLLOW, SHUT_TO_RUN, TRANSPARENT, places_of
from .scene import GRID_M, HEADINGS, Cell, Kitchen, Stance, Thing
from .sight import Floats, Surroundings, View, agent_view, sample_points

LOOK_STEP_DEG: Final = 30
LOOK_UP_DEG, LOOK_DOWN_DEG = -30, 60
HAND_AHEAD_M, HAND_BELOW_M = 0.38, 0.16     # of the camera, turned with it
SKIN_M: Final = 0.01                        # how far a held item may graze things
_VIEWS_KEPT: Final = 20_000
_SURROUNDINGS_KEPT: Final = 32

NOT_HERE: Final = "objectId: {} is not the objectId on any object in the scene!"
NOT_VISIBLE: Final = "Target object not found within the specified visibility."

Key = tuple[object, ...]
K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Sighting:
    """Indices of the objects that are visible from a pose, in the kitchen's order, and which can be acted on."""

    visible: tuple[int, ...]
    interactable: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Bodies:
    """What is solid in one state of the kitchen."""

    low: Floats                 # (n, 3) corners
    high: Floats
    owners: NDArray[np.intp]    # (n,) the object that each belongs to, -1 for the building
    names: tuple[str, ...]

    def others(self, items: set[int]) -> tuple[Floats, Floats]:
        """Corners of the bodies of all other objects."""
        kept = ~np.isin(self.owners, sorted(items))
        return self.low[kept], self.high[kept]


class World:
    """One kitchen and its agent. Actions return an error message, empty for success, in AI2-THOR's words."""

    def __init__(self, kitchen: Kitchen) -> None:
        self.kitchen = kitchen
        self.things = kitchen.things
        self.index: Mapping[str, int] = {thing.object_id: k for k, thing in enumerate(self.things)}
        self.doors = doors_of(kitchen)
        self._parents0 = [self._first_parents(thing) for thing in self.things]
        self._centres0 = np.array([thing.centre for thing in self.things])
        self._sizes0 = np.array([thing.size for thing in self.things])
        self._states: dict[Key, int] = {}
        self._numbers = count()
        self._surroundings: OrderedDict[int, Surroundings] = OrderedDict()
        self._bodies: OrderedDict[int, _Bodies] = OrderedDict()
        self._views: OrderedDict[tuple[int, Stance], Sighting] = OrderedDict()
        self.reset(kitchen.start)

    def _first_parents(self, thing: Thing) -> tuple[int, ...]:
        """Where an object is at the start. A fridge that touches a cabinet is recorded as in it: it is not."""
        parents = [self.index[name] for name in thing.parents if name in self.index]
        fixed = "pickupable" not in thing.flags
        return tuple(k for k in parents if not (fixed and "openable" in self.things[k].flags))

    def reset(self, stance: Stance) -> None:
        """Everything as at the start, with the agent at `stance`."""
        self.stance = stance
        self.held: int | None = None
        self.open = {k for k, thing in enumerate(self.things) if "isOpen" in thing.flags}
        self.on = {k for k, thing in enumerate(self.things) if "isToggled" in thing.flags}
        self.parents = list(self._parents0)
        self.centres, self.sizes = self._centres0.copy(), self._sizes0.copy()
        self._moved: dict[int, Key] = {}
        self._changed()

    def _changed(self) -> None:
        """Number the present state of the objects; equal states have equal numbers."""
        self._containing: dict[int, set[int]] = {}
        moved = tuple(sorted(self._moved.items()))
        key = (self.held, frozenset(self.open), frozenset(self.on), moved)
        if len(self._states) > 4 * _VIEWS_KEPT:
            self._states.clear()
        if key not in self._states:
            self._states[key] = next(self._numbers)     # never used twice: caches are kept by it
        self.state = self._states[key]

    # ------------------------------------------------------------------------------------------ seeing

    def view(self) -> View:
        """The agent's camera."""
        return agent_view(self.stance, self.kitchen.agent_y_m)

    def sighting(self) -> Sighting:
        """What the agent sees now."""
        key = (self.state, self.stance)
        found = self._views.get(key)
        if found is None:
            visible, interactable = self.surroundings().seen(self.view())
            if self.held is not None:
                visible[self.held] = interactable[self.held] = True     # the hand is always in the viewport
            found = Sighting(
                tuple(int(k) for k in np.flatnonzero(visible)),
                frozenset(int(k) for k in np.flatnonzero(interactable)),
            )
            _keep(self._views, key, found, _VIEWS_KEPT)
        return found

    def surroundings(self) -> Surroundings:
        """What can be seen or stands in the way now."""
        found = self._surroundings.get(self.state)
        if found is None:
            found = self._make_surroundings()
            _keep(self._surroundings, self.state, found, _SURROUNDINGS_KEPT)
        return found

    def _make_surroundings(self) -> Surroundings:
        things, n = self.things, len(self.things)
        carried = self.carried()
        shown = np.array([k not in carried and not self._shut_away(k) for k in range(n)])
        occluders = [k for k in range(n) if shown[k] and things[k].object_type not in HOLLOW]
        low, high = ((self.centres + sign * self.sizes / 2)[occluders] for sign in (-1, 1))
        kin = [self.containing(k) | {k} for k in range(n)]
        clear = np.array([[j in kin[k] or k in kin[j] for j in occluders] for k in range(n)])
        owners = [k for k in sorted(self.open) if k in self.doors for _ in self.doors[k].panels]
        panels = self.panels()
        walls = [_corners(box.centre, box.size) for box in self.kitchen.structure]
        extra = [*panels, *walls]
        if extra:
            low = np.concatenate([low, [box[0] for box in extra]])
            high = np.concatenate([high, [box[1] for box in extra]])
            own = np.array([[j == k or j in kin[k] for j in owners] for k in range(n)]).reshape(n, -1)
            clear = np.concatenate([clear, own, np.zeros((n, len(walls)), dtype=np.bool_)], axis=1)
        glass = np.array([things[k].object_type in TRANSPARENT for k in occluders] + [False] * len(extra))
        floor = next((k for k, thing in enumerate(things) if thing.object_type == "Floor"), None)
        return Surroundings(
            points=sample_points(self.centres, self.sizes), can_be_seen=shown, low=low, high=high,
            clear=clear.astype(np.bool_), glass=glass.astype(np.bool_), floor=floor,
        )

    # ------------------------------------------------------------------------------------- containment

    def containing(self, item: int) -> set[int]:
        """Every receptacle that an object is in, directly or not."""
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
        """Whether an object is in or on a receptacle, directly or not."""
        return receptacle in self.containing(item)

    def carried(self) -> set[int]:
        """The held object and what is in it."""
        if self.held is None:
            return set()
        return {self.held} | {k for k in range(len(self.things)) if self.is_in(k, self.held)}

    def _shut_away(self, item: int) -> bool:
        return any("openable" in self.things[k].flags and k not in self.open for k in self.containing(item))

    def panels(self) -> list[Corners]:
        """The doors and drawers that stand open in the room."""
        return [panel for k in sorted(self.open) if k in self.doors for panel in self.doors[k].panels]

    def position(self, item: int) -> Floats:
        """Where an object's origin is now; in the hand it is where the hand is."""
        if item == self.held:
            return self.hand(self.stance)
        moved: Floats = np.asarray(self.things[item].position) + self.centres[item] - self._centres0[item]
        return moved

    # ------------------------------------------------------------------------------------------ moving

    def move_ahead(self) -> str:
        """One cell forward, whole or not at all."""
        x, z = self.stance.cell
        dx, dz = HEADINGS[self.stance.yaw]
        target = (x + dx, z + dz)
        stopped = self._blocked(target)
        moved = replace(self.stance, cell=target)
        if not stopped and self.held is not None:
            stopped = self._held_hits(self.hand(self.stance), self.hand(moved), self.stance.yaw)
        if stopped:
            return f"{stopped} is blocking Agent 0 from moving by ({dx * GRID_M:.4f}, 0.0000, {dz * GRID_M:.4f})."
        self.stance = moved
        return ""

    def _blocked(self, target: Cell) -> str:
        """What keeps the agent from a neighbouring cell; empty where nothing does."""
        if target not in self.kitchen.cells:
            return self._nearest_name(target)
        for k in sorted(self.open):
            door = self.doors.get(k)
            if door and blocked_by_panel(door.panels, self.stance.cell, target, floor_m=self.kitchen.floor_m):
                return self.things[k].name
        return ""

    def _nearest_name(self, cell: Cell) -> str:
        """The object whose box reaches nearest to where the agent would stand, or the building."""
        bodies = self._bodies_now()
        point = np.array([cell[0] * GRID_M, cell[1] * GRID_M])
        gaps = np.maximum(np.maximum(bodies.low[:, [0, 2]] - point, point - bodies.high[:, [0, 2]]), 0.0)
        away = np.hypot(gaps[:, 0], gaps[:, 1])
        nearest = int(np.argmin(away)) if len(away) else 0
        return bodies.names[nearest] if len(away) and away[nearest] < GRID_M else "Structure_0"

    def turn(self, quarters: int) -> str:
        """Turn by quarter turns, +1 to the right."""
        turned = replace(self.stance, yaw=(self.stance.yaw + quarters) % 4)
        if self.held is not None and self._turning_hits(quarters):
            way = "right" if quarters > 0 else "left"
            return f"a held item: {self.things[self.held].name} will collide with something if agent rotates {way}"
        self.stance = turned
        return ""

    def look(self, steps: int) -> str:
        """Tilt the camera by steps of 30°, +1 down."""
        horizon = self.stance.horizon_deg + steps * LOOK_STEP_DEG
        if horizon > LOOK_DOWN_DEG:
            return f"can't look down beyond {LOOK_DOWN_DEG} degrees below the forward horizon"
        if horizon < LOOK_UP_DEG:
            return f"can't look up beyond {-LOOK_UP_DEG} degrees above the forward horizon"
        self.stance = replace(self.stance, horizon_deg=horizon)
        return ""

    # ---------------------------------------------------------------------------------------- the hand

    def hand(self, stance: Stance, *, yaw_deg: float | None = None) -> Floats:
        """Where a held item's centre is."""
        view = agent_view(stance, self.kitchen.agent_y_m)
        forward, up = view.forward, view.up
        if yaw_deg is not None:
            angle = np.radians(yaw_deg)
            flat = np.hypot(forward[0], forward[2])
            forward = np.array([np.sin(angle) * flat, forward[1], np.cos(angle) * flat])
            lean = np.hypot(up[0], up[2]) * (1.0 if stance.horizon_deg >= 0 else -1.0)
            up = np.array([np.sin(angle) * lean, up[1], np.cos(angle) * lean])
        return np.asarray(view.eye + HAND_AHEAD_M * forward - HAND_BELOW_M * up)

    def held_size(self, yaw: int) -> Floats:
        """The held item's box when the agent faces `yaw`."""
        return self._turned_size(self.held if self.held is not None else 0, yaw)

    def _turned_size(self, item: int, yaw: int) -> Floats:
        across, up, along = self.things[item].extent
        return np.array([across, up, along] if yaw % 2 == 0 else [along, up, across])

    def _held_hits(self, start: Floats, end: Floats, yaw: int) -> str:
        """What a held item meets on a straight way; what it touches already does not count."""
        half = self.held_size(yaw) / 2 - SKIN_M
        low, high = np.minimum(start, end) - half, np.maximum(start, end) + half
        return self._first_hit(low, high, start - half, start + half)

    def _turning_hits(self, quarters: int) -> str:
        begin = 90.0 * self.stance.yaw
        start = self.hand(self.stance)
        half0 = self.held_size(self.stance.yaw) / 2 - SKIN_M
        across, up, along = self.things[self.held or 0].extent
        for degrees in (30.0, 60.0, 90.0):
            yaw = begin + quarters * degrees
            c, s = abs(np.cos(np.radians(yaw))), abs(np.sin(np.radians(yaw)))
            half = np.array([across * c + along * s, up, across * s + along * c]) / 2 - SKIN_M
            centre = self.hand(self.stance, yaw_deg=yaw)
            hit = self._first_hit(centre - half, centre + half, start - half0, start + half0)
            if hit:
                return hit
        return ""

    def _first_hit(self, low: Floats, high: Floats, low0: Floats, high0: Floats) -> str:
        bodies = self._bodies_now()
        hits = ((bodies.low < high) & (bodies.high > low)).all(axis=1)
        hits &= ~((bodies.low < high0) & (bodies.high > low0)).all(axis=1)
        at = np.flatnonzero(hits)
        return bodies.names[int(at[0])] if len(at) else ""

    def _bodies_now(self) -> _Bodies:
        found = self._bodies.get(self.state)
        if found is None:
            found = self._make_bodies()
            _keep(self._bodies, self.state, found, _SURROUNDINGS_KEPT)
        return found

    def _make_bodies(self) -> _Bodies:
        """Solid boxes: objects that are not full of air, carried or shut away, open doors, the building."""
        carried = self.carried()
        solid = [
            k for k, thing in enumerate(self.things)
            if k not in carried and thing.object_type not in HOLLOW
            and not (k in self.open and k in self.doors) and not self._shut_away(k)
        ]
        boxes = [(self.centres[k] - self.sizes[k] / 2, self.centres[k] + self.sizes[k] / 2) for k in solid]
        names = [self.things[k].name for k in solid]
        for k in sorted(self.open & self.doors.keys()):
            for panel in self.doors[k].panels:
                solid.append(k)
                boxes.append(panel)
                names.append(self.things[k].name)
        for box in self.kitchen.structure:
            solid.append(-1)
            boxes.append(_corners(box.centre, box.size))
            names.append(box.name)
        corners = np.array(boxes).reshape(-1, 2, 3)
        return _Bodies(corners[:, 0], corners[:, 1], np.array(solid, dtype=np.intp), tuple(names))

    # ------------------------------------------------------------------------------------ interactions

    def objection(self, action: str, item: int, sighting: Sighting) -> str:
        """Why an object action cannot be tried on an object, as far as no movement is needed to tell; or empty."""
        if item not in sighting.interactable:
            if item in sighting.visible:
                return f"{self.things[item].object_id} is visible but not interactable"
            return NOT_VISIBLE
        return _OBJECTIONS[action](self, item)

    def act(self, action: str, object_id: str) -> str:
        """An object action on an object by its id."""
        item = self.index.get(object_id)
        if item is None:
            return NOT_HERE.format(object_id)
        message = self.objection(action, item, self.sighting()) or _DEEDS[action](self, item)
        if not message:
            self._changed()
        return message

    def _object_to_pickup(self, item: int) -> str:
        if self.held is not None:
            return "Agent hand has something in it already! Can't pick up anything else"
        if "pickupable" not in self.things[item].flags:
            return f"{self.things[item].object_id} must have the property CanPickup to be picked up."
        return ""

    def _pickup(self, item: int) -> str:
        taken = {item} | {k for k in range(len(self.things)) if self.is_in(k, item)}
        low, high = self._bodies_now().others(taken | self.containing(item))
        half = self._turned_size(item, self.stance.yaw) / 2 - SKIN_M
        at = self.hand(self.stance)
        if ((low < at + half) & (high > at - half)).all(axis=1).any():
            return "Picking up object would cause it to collide and clip into something!"
        self.held = item
        self.parents[item] = ()
        self._moved[item] = ("held",)
        return ""

    def _object_to_put(self, item: int) -> str:
        if self.held is None:
            return "Can't place an object if Agent isn't holding anything"
        thing, held = self.things[item], self.things[self.held]
        if "receptacle" not in thing.flags or item in self.carried():
            return "This target object is NOT a receptacle!"
        if "openable" in thing.flags and item not in self.open:
            return "Target openable Receptacle is CLOSED, can't place if target is not open!"
        if thing.object_type not in places_of(held.object_type):
            return f"{held.object_id} cannot be placed in {thing.object_id}"
        return ""

    def _put(self, item: int) -> str:
        held = self.held
        assert held is not None
        low, high = self._bodies_now().others(self.containing(item) | {item})
        turns = (self.stance.yaw, self.stance.yaw + 1)
        lying = place(
            self.things[item], interior(self.things[item], self.centres[item], self.sizes[item]), self.kitchen,
            view=self.view(), sizes=[self._turned_size(held, yaw) for yaw in turns],
            solid_low=low, solid_high=high,
        )
        if lying is None:
            return "No valid positions to place object found"
        self.held = None
        self.lay(held, *lying, receptacle=item)
        return ""

    def lay(self, item: int, centre: Floats, size: Floats, *, receptacle: int | None) -> None:
        """Lay an object down somewhere, with all that is in it: centre and size of its box, in metres."""
        shift = centre - self.centres[item]
        for k in {item} | {k for k in range(len(self.things)) if self.is_in(k, item)}:
            self.centres[k] = self.centres[k] + shift
            self._moved[k] = (*np.round([*self.centres[k], *size], 4).tolist(), receptacle if k == item else None)
        self.sizes[item] = size
        self.parents[item] = () if receptacle is None else (receptacle,)
        self._changed()

    def _object_to_open(self, item: int) -> str:
        thing = self.things[item]
        if "openable" not in thing.flags:
            return f"{thing.object_id} is not an Openable object"
        if item in self.open:
            return f"{thing.object_id} is already open"
        if thing.object_type in SHUT_TO_RUN and item in self.on:
            return "Target must be OFF to open!"
        return ""

    def _object_to_close(self, item: int) -> str:
        thing = self.things[item]
        if "openable" not in thing.flags:
            return f"{thing.object_id} is not an Openable object"
        return "" if item in self.open else f"{thing.object_id} is already closed"

    def _swing(self, item: int) -> str:
        """Open or close, unless the moving door meets the agent or what it holds."""
        door = self.doors.get(item)
        if door is not None:
            x, z = (value * GRID_M for value in self.stance.cell)
            hit = door.stopped_by_agent(x, z, floor_m=self.kitchen.floor_m)
            if self.held is not None and not hit:
                centre, half = self.hand(self.stance), self.held_size(self.stance.yaw) / 2 - SKIN_M
                hit = door.stopped_by(centre - half, centre + half)
            if hit:
                return "Object failed to open/close successfully."
        self.open ^= {item}
        return ""

    def _object_to_toggle_on(self, item: int) -> str:
        thing = self.things[item]
        if "toggleable" not in thing.flags:
            return f"{thing.object_id} is not a toggleable object"
        if item in self.on:
            return f"{thing.object_id} is already toggled on"
        if thing.object_type in SHUT_TO_RUN and item in self.open:
            return "Target must be closed to Toggle On!"
        return ""

    def _object_to_toggle_off(self, item: int) -> str:
        thing = self.things[item]
        if "toggleable" not in thing.flags:
            return f"{thing.object_id} is not a toggleable object"
        return "" if item in self.on else f"{thing.object_id} is already toggled off"

    def _toggle(self, item: int) -> str:
        self.on ^= {item}
        return ""


def _corners(centre: tuple[float, ...], size: tuple[float, ...]) -> Corners:
    return np.asarray(centre) - np.asarray(size) / 2, np.asarray(centre) + np.asarray(size) / 2


def _keep(cache: OrderedDict[K, V], key: K, value: V, limit: int) -> None:
    cache[key] = value
    if len(cache) > limit:
        cache.popitem(last=False)


_OBJECTIONS: Final[Mapping[str, Callable[[World, int], str]]] = {
    "open_object": World._object_to_open,
    "close_object": World._object_to_close,
    "pickup_object": World._object_to_pickup,
    "put_object": World._object_to_put,
    "toggle_on": World._object_to_toggle_on,
    "toggle_off": World._object_to_toggle_off,
}
_DEEDS: Final[Mapping[str, Callable[[World, int], str]]] = {
    "open_object": World._swing,
    "close_object": World._swing,
    "pickup_object": World._pickup,
    "put_object": World._put,
    "toggle_on": World._toggle,
    "toggle_off": World._toggle,
}
