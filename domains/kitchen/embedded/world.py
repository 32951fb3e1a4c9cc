"""One kitchen of the embedded simulator, its agent, and the effect of AI2-THOR's actions on them."""

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np

from ..rules import ENCLOSING, INSIDE
from ..scene import GRID_M, HEADINGS, Cell, Kitchen, Stance, Thing
from .boxes import Bodies, bodies_of, surroundings_of
from .contents import Contents
from .doors import Corners, blocked_by_panel
from .hand import SKIN_M, hand_at, turned_size
from .loops import first_free
from .preconditions import BEHIND_GLASS, NOT_HERE, NOT_VISIBLE, Condition, objection
from .sight import PAPERS_LENS, Floats, Lens, Surroundings, View, agent_view

# The position of a held item that is put in or on a receptacle, from AI2-THOR's grid of candidate points.


POINTS_A_SIDE: Final = 9
GAP_M: Final = 0.005            # between a shelf and an item put on it
OVER_A_CELL_M: Final = 0.15     # the box of an L-shaped counter covers floor cells: no item there
WALL_M: Final = 0.05            # thickness of a fridge's or microwave's walls
FRIDGE_DOOR_M: Final = 0.10
FRIDGE_SHELVES: Final = (0.16, 0.31, 0.45, 0.60, 0.74, 0.86)    # of its height, if no shelves are known
SHELF_SPACING_M: Final = 0.2


def interior(thing: Thing, centre: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Low and high corner of the space in (or, above the box, on) a receptacle at `centre`."""
    half = size / 2
    low, high = centre - half, centre + half
    if thing.object_type not in INSIDE:
        low[1], high[1] = high[1], high[1] + 3.0
    elif thing.object_type in ENCLOSING:
        low[1], high[1] = low[1] + 0.02, high[1] - 0.02
        low[[0, 2]] += WALL_M
        high[[0, 2]] -= WALL_M
        if thing.object_type == "Fridge":
            axis, towards = _facing(thing)
            (high if towards > 0 else low)[axis] -= towards * (FRIDGE_DOOR_M - WALL_M)
    else:
        low[1] += min(0.02, half[1])
    return low, high


def _facing(thing: Thing) -> tuple[int, int]:
    """The axis (0: x, 2: z) and the sign of the direction that the front of a receptacle faces."""
    return ((2, 1), (0, 1), (2, -1), (0, -1))[round(thing.yaw_deg / 90.0) % 4]


def _stands_in_front(eye: Floats, thing: Thing) -> bool:
    """Whether `eye` is in front of the plane of a receptacle's front, neither beside it nor behind it."""
    axis, towards = _facing(thing)
    return bool(towards * (eye[axis] - thing.centre[axis]) > thing.size[axis] / 2)


def shelf_heights(thing: Thing, low: Floats, high: Floats) -> list[float]:
    """The heights (metres, world) of the surfaces inside a receptacle, lowest first."""
    if thing.object_type != "Fridge":
        return [float(low[1])]
    bottom = thing.centre[1] - thing.size[1] / 2
    known = [bottom + height for height in thing.shelves]
    kept: list[float] = []
    for height in sorted(known):
        if not kept or height - kept[-1] > 0.05:
            kept.append(height)
    for share in FRIDGE_SHELVES:
        height = bottom + share * thing.size[1]
        if all(abs(height - other) >= SHELF_SPACING_M for other in kept):
            kept.append(height)
    return sorted(height for height in kept if low[1] <= height < high[1] - 0.05)


def candidate_points(thing: Thing, low: Floats, high: Floats, kitchen: Kitchen) -> Floats:
    """The 9 × 9 points of every shelf, (n, 3)."""
    xs, zs = (np.linspace(low[k], high[k], POINTS_A_SIDE + 2)[1:-1] for k in (0, 2))
    points = np.array([(x, y, z) for y in shelf_heights(thing, low, high) for x in xs for z in zs])
    if thing.object_type not in INSIDE:
        points = points[[not _over_a_cell(x, z, kitchen) for x, _, z in points]]
    return points


def _over_a_cell(x: float, z: float, kitchen: Kitchen) -> bool:
    """Whether a point is near a cell where the agent can stand."""
    cell = round(x / GRID_M), round(z / GRID_M)
    return cell in kitchen.cells and math.hypot(x - cell[0] * GRID_M, z - cell[1] * GRID_M) < OVER_A_CELL_M


def place(
    thing: Thing, box: tuple[Floats, Floats], points: Floats, *, view: View, sizes: Sequence[Floats],
    solid_low: Floats, solid_high: Floats,
) -> tuple[Floats, Floats] | None:
    """The position of an item that is put down: the centre and size of its box, or None if it does not fit.

    `box` is the receptacle's interior with its candidate `points`, `sizes` are the item's box sizes in its
    orientations, and the solid boxes (n, 3) are obstacles. Points nearer to the camera come first.
    """
    low, high = box
    points = points[view.sees(points)] if len(points) else points
    if not len(points):
        return None
    points = points[np.argsort(np.hypot(*(points - view.eye)[:, [0, 2]].T), kind="stable")]
    shell = (low, high) if thing.object_type in ENCLOSING else (np.full(3, -np.inf), np.full(3, np.inf))
    for size in sizes:
        centres = points + np.array([0.0, size[1] / 2 + GAP_M, 0.0])
        at = first_free(centres, size / 2, solid_low, solid_high, *shell)
        if at >= 0:
            return centres[at], size
    return None


NO_PLACE: Final = "No valid positions to place object found"
LOOK_STEP_DEG: Final = 30
LOOK_UP_DEG, LOOK_DOWN_DEG = -30, 60
_TURN_SAMPLES_DEG: Final = (30.0, 60.0, 90.0)   # angles at which a turning held item is checked
_VIEWS_KEPT: Final = 20_000
_STATES_KEPT: Final = 128
_SPOTS_KEPT: Final = 512

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Sighting:
    """Indices of the objects that are visible from a pose, in the kitchen's order, and those that are interactable."""

    visible: tuple[int, ...]
    interactable: frozenset[int]


class World(Contents):
    """One kitchen and its agent. Actions return an error message, empty for success, in AI2-THOR's words."""

    def __init__(self, kitchen: Kitchen, lens: Lens = PAPERS_LENS) -> None:
        self.lens = lens
        self._surroundings: OrderedDict[int, Surroundings] = OrderedDict()
        self._bodies: OrderedDict[int, Bodies] = OrderedDict()
        self._views: OrderedDict[tuple[int, Stance], Sighting] = OrderedDict()
        self._ways: OrderedDict[tuple[int, Stance, str, int], tuple[str, Stance]] = OrderedDict()
        self._spots: OrderedDict[tuple[int, bytes], Floats] = OrderedDict()
        self.stance = kitchen.start
        super().__init__(kitchen)

    def reset(self, stance: Stance) -> None:
        """Restore the start state, with the agent at `stance`."""
        self.stance = stance
        self.restore()

    # ------------------------------------------------------------------------------------------ seeing

    def view(self) -> View:
        """The agent's camera."""
        return agent_view(self.stance, self.kitchen.agent_y_m, self.lens)

    def sighting(self) -> Sighting:
        """The objects that the agent sees now."""
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
        """The visible objects and the occluders of the current state."""
        found = self._surroundings.get(self.state)
        if found is None:
            found = surroundings_of(self)
            _keep(self._surroundings, self.state, found, _STATES_KEPT)
        return found

    def bodies(self) -> Bodies:
        """The solid boxes of the current state."""
        found = self._bodies.get(self.state)
        if found is None:
            found = bodies_of(self)
            _keep(self._bodies, self.state, found, _STATES_KEPT)
        return found

    def positions(self) -> Floats:
        """The current origins of the objects (n, 3); for a held object the hand's position."""
        positions = self.origins()
        if self.held is not None:
            positions[self.held] = self.hand(self.stance)
        return positions

    def position(self, item: int) -> Floats:
        """The current origin of one object."""
        return np.asarray(self.positions()[item])

    # ------------------------------------------------------------------------------------------ moving

    def move_ahead(self) -> str:
        """Move one full cell forward, or not at all."""
        return self.move(0)

    def move(self, quarters: int) -> str:
        """Move one cell in the direction that is `quarters` quarter turns to the right of forward."""
        return self._moved_to("move", quarters, self._move)

    def turn(self, quarters: int) -> str:
        """Turn by quarter turns, +1 to the right."""
        return self._moved_to("turn", quarters, self._turn)

    def _moved_to(self, kind: str, quarters: int, attempt: Callable[[int], tuple[str, Stance]]) -> str:
        """Apply the result of an attempt. It is cached, since it depends only on the kitchen's state and the stance."""
        key = (self.state, self.stance, kind, quarters)
        found = self._ways.get(key)
        if found is None:
            found = attempt(quarters)
            _keep(self._ways, key, found, _VIEWS_KEPT)
        message, self.stance = found
        return message

    def _move(self, quarters: int) -> tuple[str, Stance]:
        x, z = self.stance.cell
        dx, dz = HEADINGS[(self.stance.yaw + quarters) % 4]
        target = (x + dx, z + dz)
        stopped = self._is_blocked(target)
        moved = replace(self.stance, cell=target)
        if not stopped and self.held is not None:
            stopped = self._held_hits(self.hand(self.stance), self.hand(moved), self.stance.yaw)
        if stopped:
            way = f"({dx * GRID_M:.4f}, 0.0000, {dz * GRID_M:.4f})"
            return f"{stopped} is blocking Agent 0 from moving by {way}.", self.stance
        return "", moved

    def _turn(self, quarters: int) -> tuple[str, Stance]:
        if self.held is not None and self._turning_hits(quarters):
            name, way = self.things[self.held].name, "right" if quarters > 0 else "left"
            return f"a held item: {name} will collide with something if agent rotates {way}", self.stance
        return "", replace(self.stance, yaw=(self.stance.yaw + quarters) % 4)

    def _is_blocked(self, target: Cell) -> str:
        """The name of the body that blocks a neighbouring cell; empty if none does."""
        if target not in self.kitchen.cells:
            return self._nearest_name(target)
        for k in sorted(self.open):
            door = self.doors.get(k)
            if door and blocked_by_panel(door.panels, self.stance.cell, target, floor_m=self.kitchen.floor_m):
                return self.things[k].name
        return ""

    def _nearest_name(self, cell: Cell) -> str:
        """The object or part of the building whose box is nearest to the agent's position in `cell`."""
        return self.bodies().nearest(cell[0] * GRID_M, cell[1] * GRID_M, within_m=GRID_M) or "Structure_0"

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
        """The centre of a held item."""
        return hand_at(stance, self.kitchen.agent_y_m, yaw_deg=yaw_deg)

    def held_size(self, yaw: int) -> Floats:
        """The held item's box when the agent faces `yaw`."""
        return self._turned_size(self.held if self.held is not None else 0, yaw)

    def _turned_size(self, item: int, yaw: int) -> Floats:
        return turned_size(self.things[item].extent, 90.0 * yaw)

    def _held_hits(self, start: Floats, end: Floats, yaw: int) -> str:
        """The name of the body that a held item hits on a straight path, except bodies that it already touches."""
        half = self.held_size(yaw) / 2 - SKIN_M
        low, high = np.minimum(start, end) - half, np.maximum(start, end) + half
        return self.bodies().first_hit(low, high, start - half, start + half)

    def _turning_hits(self, quarters: int) -> str:
        """The name of the body that a held item hits on a quarter turn."""
        start, begin = self.hand(self.stance), 90.0 * self.stance.yaw
        half0 = self.held_size(self.stance.yaw) / 2 - SKIN_M
        for degrees in _TURN_SAMPLES_DEG:
            yaw = begin + quarters * degrees
            half = turned_size(self.things[self.held or 0].extent, yaw) / 2 - SKIN_M
            centre = self.hand(self.stance, yaw_deg=yaw)
            hit = self.bodies().first_hit(centre - half, centre + half, start - half0, start + half0)
            if hit:
                return hit
        return ""

    # ------------------------------------------------------------------------------------ interactions

    def objection(self, action: str, item: int, sighting: Sighting) -> str:
        """The reason, checked without movement, why an object action is not allowed on an object; or empty."""
        if item not in sighting.interactable:
            return BEHIND_GLASS.format(self.things[item].object_id) if item in sighting.visible else NOT_VISIBLE
        now = Condition(item in self.open, item in self.on, self.held is not None and item in self.carried())
        return objection(action, self.things[item], now, None if self.held is None else self.things[self.held])

    def act(self, action: str, object_id: str) -> str:
        """Do an object action on the object with this id; returns the error message, empty for success."""
        item = self.index.get(object_id)
        if item is None:
            return NOT_HERE.format(object_id)
        return self.objection(action, item, self.sighting()) or _DEEDS[action](self, item)

    def _pickup(self, item: int) -> str:
        taken = {item} | {k for k in range(len(self.things)) if self.is_in(k, item)}
        low, high = self.bodies().others(taken | self.containing(item))
        half = self._turned_size(item, self.stance.yaw) / 2 - SKIN_M
        at = self.hand(self.stance)
        if ((low < at + half) & (high > at - half)).all(axis=1).any():
            return "Picking up object would cause it to collide and clip into something!"
        self.take(item)
        return ""

    def _put(self, item: int) -> str:
        held = self.held
        assert held is not None
        thing = self.things[item]
        if self.kitchen.solid_walls and thing.object_type in ENCLOSING and not _stands_in_front(self.view().eye, thing):
            return NO_PLACE
        low, high = self.bodies().others(self.containing(item) | {item})
        turns = (self.stance.yaw, self.stance.yaw + 1)
        box = interior(thing, self.centres[item], self.sizes[item])
        lying = place(
            thing, box, self._spots_in(item, box), view=self.view(),
            sizes=[self._turned_size(held, yaw) for yaw in turns], solid_low=low, solid_high=high,
        )
        if lying is None:
            return NO_PLACE
        self.held = None
        self.lay(held, *lying, receptacle=item)
        return ""

    def _spots_in(self, item: int, box: Corners) -> Floats:
        """The candidate points of a receptacle, computed once per position of the receptacle."""
        key = (item, box[0].tobytes())
        if key not in self._spots:
            _keep(self._spots, key, candidate_points(self.things[item], *box, self.kitchen), _SPOTS_KEPT)
        return self._spots[key]

    def _swing(self, item: int) -> str:
        """Open or close, unless the moving door hits the agent or the held item."""
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
        self.changed()
        return ""

    def _toggle(self, item: int) -> str:
        self.on ^= {item}
        self.changed()
        return ""


def _keep(cache: OrderedDict[K, V], key: K, value: V, limit: int) -> None:
    cache[key] = value
    if len(cache) > limit:
        cache.popitem(last=False)


_DEEDS: Final[Mapping[str, Callable[[World, int], str]]] = {
    "open_object": World._swing,
    "close_object": World._swing,
    "pickup_object": World._pickup,
    "put_object": World._put,
    "toggle_on": World._toggle,
    "toggle_off": World._toggle,
}
