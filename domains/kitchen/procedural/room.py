"""The room of a generated kitchen: its walls, and the rows of units along them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from ..scene import Point
from .catalogue import CATALOGUE

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
    room.units, room.counters = _furnished(room.units, rng)
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


def _furnished(rows: Sequence[Unit], rng: Random) -> tuple[list[Unit], list[tuple[Wall, float, float]]]:
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
        units += _filled(wall, begin, end, mine, rng)
    return units, stretches


def _filled(wall: Wall, begin: float, end: float, required: Sequence[str], rng: Random) -> list[Unit]:
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
