"""The room of a generated kitchen: its walls, and the rows of units along them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from ..scene import Point

# The objects of generated kitchens: kinds with their flags and size ranges.


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object: the smallest and the largest (across, up, along) in metres, and AI2-THOR's flags."""

    small: tuple[float, float, float]
    large: tuple[float, float, float]
    flags: frozenset[str]


def _kind(small: tuple[float, float, float], large: tuple[float, float, float], flags: str) -> Kind:
    return Kind(small, large, frozenset(flags.split()))


_ITEMS: Final[Mapping[str, Kind]] = {
    "Apple": _kind((0.08, 0.09, 0.08), (0.12, 0.13, 0.12), "sliceable pickupable"),
    "Bread": _kind((0.12, 0.10, 0.23), (0.20, 0.16, 0.33), "sliceable pickupable"),
    "Bowl": _kind((0.16, 0.06, 0.16), (0.24, 0.12, 0.24), "receptacle breakable dirtyable pickupable"),
    "ButterKnife": _kind((0.02, 0.02, 0.25), (0.02, 0.02, 0.28), "pickupable"),
    "Cup": _kind((0.07, 0.10, 0.07), (0.13, 0.20, 0.13), "receptacle breakable dirtyable pickupable"),
    "DishSponge": _kind((0.07, 0.03, 0.12), (0.08, 0.03, 0.14), "pickupable"),
    "Egg": _kind((0.04, 0.06, 0.04), (0.06, 0.08, 0.06), "breakable sliceable pickupable"),
    "Fork": _kind((0.03, 0.02, 0.22), (0.03, 0.02, 0.25), "pickupable"),
    "Knife": _kind((0.02, 0.04, 0.30), (0.02, 0.05, 0.33), "pickupable"),
    "Lettuce": _kind((0.13, 0.12, 0.20), (0.18, 0.17, 0.26), "sliceable pickupable"),
    "Mug": _kind((0.10, 0.09, 0.09), (0.12, 0.11, 0.10), "receptacle breakable dirtyable pickupable"),
    "Pan": _kind((0.25, 0.05, 0.36), (0.31, 0.08, 0.45), "receptacle dirtyable pickupable"),
    "PepperShaker": _kind((0.06, 0.11, 0.06), (0.07, 0.18, 0.07), "pickupable"),
    "Plate": _kind((0.20, 0.02, 0.20), (0.28, 0.03, 0.28), "receptacle breakable dirtyable pickupable"),
    "Pot": _kind((0.25, 0.12, 0.24), (0.34, 0.20, 0.34), "receptacle dirtyable pickupable"),
    "Potato": _kind((0.06, 0.06, 0.09), (0.10, 0.10, 0.14), "cookable sliceable pickupable"),
    "SaltShaker": _kind((0.06, 0.11, 0.06), (0.07, 0.18, 0.07), "pickupable"),
    "SoapBottle": _kind((0.08, 0.18, 0.06), (0.13, 0.28, 0.11), "pickupable"),
    "Spatula": _kind((0.06, 0.02, 0.28), (0.06, 0.02, 0.30), "pickupable"),
    "Spoon": _kind((0.04, 0.02, 0.20), (0.04, 0.02, 0.22), "pickupable"),
    "Tomato": _kind((0.09, 0.08, 0.09), (0.13, 0.12, 0.13), "sliceable pickupable"),
}
STAPLES: Final = tuple(_ITEMS)      # one of each in every kitchen

_EXTRAS: Final[Mapping[str, Kind]] = {
    "Kettle": _kind((0.18, 0.18, 0.18), (0.22, 0.21, 0.22), "openable pickupable"),
    "Vase": _kind((0.14, 0.15, 0.14), (0.19, 0.28, 0.19), "breakable pickupable"),
    "Ladle": _kind((0.07, 0.05, 0.26), (0.09, 0.06, 0.30), "pickupable"),
    "PaperTowelRoll": _kind((0.08, 0.21, 0.07), (0.09, 0.24, 0.08), "pickupable"),
    "WineBottle": _kind((0.08, 0.30, 0.08), (0.09, 0.34, 0.09), "breakable pickupable"),
    "Bottle": _kind((0.09, 0.22, 0.09), (0.11, 0.27, 0.11), "breakable pickupable"),
    "HousePlant": _kind((0.25, 0.40, 0.25), (0.38, 0.60, 0.38), "moveable"),
    "Statue": _kind((0.18, 0.15, 0.14), (0.26, 0.28, 0.20), "breakable pickupable"),
    "CellPhone": _kind((0.07, 0.01, 0.14), (0.08, 0.01, 0.17), "toggleable breakable pickupable"),
    "CreditCard": _kind((0.05, 0.01, 0.09), (0.05, 0.01, 0.09), "pickupable"),
    "Book": _kind((0.19, 0.03, 0.25), (0.24, 0.05, 0.32), "openable pickupable"),
}
EXTRAS: Final = tuple(_EXTRAS)      # some of them

_FIXTURES: Final[Mapping[str, Kind]] = {
    "Fridge": _kind((0.78, 1.55, 0.64), (1.12, 2.05, 0.82), "receptacle isColdSource openable"),
    "Microwave": _kind((0.61, 0.33, 0.34), (0.70, 0.40, 0.42), "receptacle toggleable isHeatSource openable moveable"),
    "CoffeeMachine": _kind((0.30, 0.40, 0.38), (0.44, 0.45, 0.44), "receptacle toggleable isHeatSource moveable"),
    "Toaster": _kind((0.20, 0.18, 0.34), (0.26, 0.24, 0.40), "receptacle toggleable isHeatSource moveable"),
    "GarbageCan": _kind((0.38, 0.45, 0.30), (0.50, 0.62, 0.40), "receptacle moveable"),
    "Chair": _kind((0.44, 0.90, 0.46), (0.47, 1.05, 0.53), "receptacle moveable"),
    "Stool": _kind((0.34, 0.60, 0.34), (0.40, 0.75, 0.40), "receptacle moveable"),
    "DiningTable": _kind((0.80, 0.72, 0.75), (1.40, 0.80, 0.95), "receptacle moveable"),
    "Cabinet": _kind((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "receptacle openable"),
    "Drawer": _kind((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "receptacle openable"),
    "CounterTop": _kind((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "receptacle"),
    "Floor": _kind((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "receptacle"),
    "Sink": _kind((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), ""),
    "SinkBasin": _kind((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "receptacle"),
    "Faucet": _kind((0.06, 0.24, 0.18), (0.12, 0.34, 0.24), "toggleable"),
    "StoveBurner": _kind((0.20, 0.02, 0.20), (0.24, 0.03, 0.24), "receptacle isHeatSource"),
    "StoveKnob": _kind((0.05, 0.05, 0.04), (0.07, 0.07, 0.06), "toggleable"),
    "Window": _kind((0.90, 0.90, 0.08), (1.30, 1.20, 0.10), "breakable"),
    "LightSwitch": _kind((0.10, 0.13, 0.02), (0.13, 0.15, 0.03), "toggleable isToggled"),
}

CATALOGUE: Final[Mapping[str, Kind]] = {**_ITEMS, **_EXTRAS, **_FIXTURES}


COUNTER_M: Final = 0.92         # height of a counter's upper face
DEPTH_M: Final = 0.62           # of counters
WALL_M: Final = 0.12
CEILING_M: Final = 2.6


@dataclass(frozen=True, slots=True)
class Wall:
    """One wall of a rectangular room, seen from inside: positions run along it, outward is into the room."""

    yaw: int            # quarter turns: the direction that objects on it face
    x0: float
    z0: float
    x1: float
    z1: float

    @property
    def length(self) -> float:
        """Metres."""
        return self.x1 - self.x0 if self.yaw % 2 == 0 else self.z1 - self.z0

    def box(self, along: float, out: float, bottom: float, extent: Point) -> tuple[Point, Point]:
        """Centre and size of a box at `along` from the wall's beginning, `out` from the wall.

        `extent` is (across, up, depth).
        """
        across, up, depth = extent
        middle, away, y = along + across / 2, out + depth / 2, bottom + up / 2
        if self.yaw % 2 == 0:
            z = self.z0 + away if self.yaw == 0 else self.z1 - away
            return (self.x0 + middle, y, z), (across, up, depth)
        x = self.x0 + away if self.yaw == 1 else self.x1 - away
        return (x, y, self.z0 + middle), (depth, up, across)


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a row: its kind and its place along the wall, in metres."""

    what: str           # "fridge", "stove", "sink", "drawers", "cabinet"
    wall: Wall
    begin: float
    width: float


@dataclass(slots=True)
class Room:
    """A rectangle with rows of units along some walls."""

    walls: tuple[Wall, ...]
    units: list[Unit] = field(default_factory=list)
    counters: list[tuple[Wall, float, float]] = field(default_factory=list)     # wall, begin, end

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """x0, z0, x1, z1."""
        wall = self.walls[0]
        return wall.x0, wall.z0, wall.x1, wall.z1

    def free_walls(self) -> list[Wall]:
        """Walls without units."""
        return [wall for wall in self.walls if all(unit.wall is not wall for unit in self.units)]


_SHAPES: Final = (("one", 2), ("corner", 5), ("u", 3), ("facing", 3))


def draw_room(rng: Random) -> Room:
    """A room of 3 to 6 metres per side with one, two or three rows of units, and walls off round coordinates."""
    shape = rng.choices([name for name, _ in _SHAPES], [weight for _, weight in _SHAPES])[0]
    wide, deep = rng.uniform(3.2, 5.4), rng.uniform(3.2, 5.2)
    if shape == "facing":
        deep = rng.uniform(3.0, 4.0)
    if shape == "one":
        wide = rng.uniform(4.6, 5.8)
    x0, z0 = -round(rng.uniform(0.3, 0.7) * wide, 2), -round(rng.uniform(0.3, 0.7) * deep, 2)
    walls = tuple(Wall(yaw, x0, z0, round(x0 + wide, 2), round(z0 + deep, 2)) for yaw in range(4))
    room = Room(walls)
    for wall, begin, end in _rows(walls, shape, rng):
        room.units += [Unit("empty", wall, begin, end - begin)]
    room.units, room.counters = _with_furniture(room.units, rng)
    return room


def _rows(walls: Sequence[Wall], shape: str, rng: Random) -> list[tuple[Wall, float, float]]:
    """The places for units: stretches of walls, with corners assigned to the first of two rows.

    Walls face yaw 0 (low z), 1 (low x), 2 (high z), 3 (high x); positions along them run with x or z.
    """
    south, west, north, east = walls
    turn = rng.random() < 0.5
    side, other = (west, east) if turn else (east, west)
    margin = DEPTH_M + 0.01
    if shape == "one":
        return [(south, 0.0, south.length)]
    if shape == "facing":
        return [(south, 0.0, south.length), (north, 0.0, north.length * rng.uniform(0.6, 0.9))]
    rows = [(south, 0.0, south.length), (side, margin, margin + (side.length - margin) * rng.uniform(0.6, 0.85))]
    if shape == "u":
        rows.append((other, margin, margin + (other.length - margin) * rng.uniform(0.5, 0.8)))
    return rows


def _with_furniture(rows: Sequence[Unit], rng: Random) -> tuple[list[Unit], list[tuple[Wall, float, float]]]:
    """Fridge at an end of a row, stove and sink away from corners, drawers and cabinets in between."""
    units: list[Unit] = []
    stretches = [(row.wall, row.begin, round(row.begin + row.width, 2)) for row in rows]
    fridge_width = round(rng.uniform(CATALOGUE["Fridge"].small[0], CATALOGUE["Fridge"].large[0]), 2)
    chosen = rng.randrange(1, len(stretches)) if len(stretches) > 1 else 0
    wall, begin, end = stretches[chosen]
    # The far end of a row is never a corner; the near end of the second row is.
    units.append(Unit("fridge", wall, round(end - fridge_width, 2), fridge_width))
    stretches[chosen] = (wall, begin, round(end - fridge_width - 0.01, 2))
    required = ["sink", "stove"]
    rng.shuffle(required)
    longest = sorted(stretches, key=lambda each: each[1] - each[2])
    for number, (wall, begin, end) in enumerate(longest):
        mine = required if len(longest) == 1 else required[number : number + 1] if number < 2 else []
        units += _with_contents(wall, begin, end, mine, rng)
    return units, stretches


def _with_contents(wall: Wall, begin: float, end: float, required: Sequence[str], rng: Random) -> list[Unit]:
    """Units in a row from `begin` to `end`; the required ones are at drawn places, clear of the ends."""
    widths = {"sink": rng.uniform(0.75, 0.95), "stove": rng.uniform(0.62, 0.76)}
    slack = end - begin - sum(widths[unit] for unit in required)
    # A sink or stove in the first 0.7 m could be in a corner that the other row blocks for the agent.
    lead = min(0.7, max(0.0, slack / 2))
    cuts = sorted(rng.uniform(lead, max(lead, slack - lead)) for _ in required)
    units: list[Unit] = []
    at, used = begin, 0.0
    for unit, cut in zip(required, cuts, strict=True):
        stop = begin + used + cut
        units += _storage(wall, at, stop, rng)
        units.append(Unit(unit, wall, round(stop, 2), round(widths[unit], 2)))
        at, used = stop + widths[unit], used + widths[unit]
    return units + _storage(wall, at, end, rng)


def _storage(wall: Wall, begin: float, end: float, rng: Random) -> list[Unit]:
    """Drawers and cabinets of 0.4 to 0.8 m in a row."""
    units = []
    at = begin
    while end - at > 0.35:
        width = min(rng.uniform(0.4, 0.8), end - at)
        if 0.0 < end - at - width < 0.35:
            width = end - at if end - at < 0.8 else width - 0.3
        what = "drawers" if width < 0.55 and rng.random() < 0.6 else "cabinet"
        units.append(Unit(what, wall, round(at, 2), round(width - 0.01, 2)))
        at += width
    return units
