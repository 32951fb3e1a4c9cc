"""Turns the rows of a generated room into objects: appliances, counters, drawers, cabinets, tables and clutter."""

from random import Random

import numpy as np

from ..scene import Cell, Point, Thing, object_id
from .room import CATALOGUE, COUNTER_M, DEPTH_M, EXTRAS, STAPLES, Room, Unit, Wall

# Places objects into a generated kitchen one by one and tracks their positions.


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
            yaw_deg=90.0 * yaw, centre=_in_centimetres(centre), size=_in_centimetres(size),
            extent=_in_centimetres(extent or (across, up, along)), flags=CATALOGUE[kind].flags, parents=parents,
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


def _in_centimetres(values: Point) -> Point:
    x, y, z = (round(value, 4) for value in values)
    return x, y, z


TOP_M = 0.02           # thickness of a counter's top
UPPER_BOTTOM_M, UPPER_HEIGHT_M, UPPER_DEPTH_M = 1.5, 0.7, 0.33
BASE_M = 0.1            # height of the plinth under cabinets


def furnish(room: Room, builder: Builder) -> None:
    """Add everything fixed or large: floor, units, counters, wall cabinets, window, table, chairs."""
    _floor(room, builder)
    for unit in room.units:
        if unit.what == "fridge":
            _fridge(unit, builder)
    counters = _counters(room, builder)
    above_stove = builder.rng.random() < 0.4
    for unit in room.units:
        if unit.what == "stove":
            _stove(unit, builder, microwave_above=above_stove)
        elif unit.what == "sink":
            _sink(unit, builder, counters)
        elif unit.what in ("drawers", "cabinet"):
            _storage(unit, builder)
    _on_free_walls(room, builder)
    _table_and_seats(room, builder)
    if not above_stove:
        _appliance("Microwave", room, builder, counters)
    for kind in ("CoffeeMachine", "Toaster"):
        _appliance(kind, room, builder, counters)


def _floor(room: Room, builder: Builder) -> None:
    x0, z0, x1, z1 = room.bounds
    builder.add(
        "Floor", ((x0 + x1) / 2, -0.05, (z0 + z1) / 2), (x1 - x0, 0.1, z1 - z0), origin=(0.0, 0.0, 0.0),
    )


def _fridge(unit: Unit, builder: Builder) -> None:
    _, up, along = builder.extent("Fridge")
    shelves = [round(up * share + builder.rng.uniform(-0.03, 0.03), 3) for share in (0.2, 0.36, 0.5, 0.64, 0.8)]
    builder.on_wall(
        "Fridge", unit.wall, unit.begin, 0.03, 0.0, (unit.width, up, along),
        parents=(builder.things[0].object_id,), shelves=tuple(shelves),
    )


def _counters(room: Room, builder: Builder) -> list[Thing]:
    """Add one top per stretch, interrupted at the stove."""
    tops = []
    for wall, begin, end in room.counters:
        stoves = sorted(
            (unit.begin, unit.begin + unit.width) for unit in room.units if unit.what == "stove" and unit.wall is wall
        )
        at = begin
        for left, right in [*stoves, (end, end)]:
            if left - at > 0.15:
                tops.append(builder.on_wall(
                    "CounterTop", wall, at, 0.0, COUNTER_M - TOP_M, (left - at, TOP_M, DEPTH_M + 0.02),
                ))
            at = right
    return tops


def _stove(unit: Unit, builder: Builder, *, microwave_above: bool) -> None:
    wall, rng = unit.wall, builder.rng
    height = COUNTER_M - 0.02
    builder.on_wall("Cabinet", wall, unit.begin, 0.02, 0.0, (unit.width, height - 0.1, DEPTH_M - 0.02),
                    origin_share=(0.0, 0.5, 1.0))     # the oven
    across, up, along = builder.extent("StoveBurner")
    for column in (0.25, 0.75):
        for row in (0.28, 0.72):
            builder.on_wall(
                "StoveBurner", wall, unit.begin + unit.width * column - across / 2, DEPTH_M * row - along / 2, height,
                (across, up, along),
            )
    knob = builder.extent("StoveKnob")
    for column in (0.15, 0.38, 0.62, 0.85):
        builder.on_wall(
            "StoveKnob", wall, unit.begin + unit.width * column - knob[0] / 2, DEPTH_M, height - 0.09, knob,
        )
    if microwave_above:
        size = builder.extent("Microwave")
        along_wall = unit.begin + (unit.width - size[0]) / 2
        builder.on_wall("Microwave", wall, max(0.0, along_wall), 0.02, round(rng.uniform(1.36, 1.62), 3), size)


def _sink(unit: Unit, builder: Builder, counters: list[Thing]) -> None:
    wall, rng = unit.wall, builder.rng
    _storage(Unit("cabinet", wall, unit.begin, unit.width), builder, height=0.62, uppers=False)
    inset, depth = 0.1, 0.4
    basin_width = unit.width - 2 * inset
    sink = builder.on_wall(
        "Sink", wall, unit.begin + inset / 2, 0.1, COUNTER_M - 0.19, (unit.width - inset, 0.17, depth + 0.08),
    )
    builder.on_wall(
        "SinkBasin", wall, unit.begin + inset, 0.14, COUNTER_M - 0.16, (basin_width, 0.13, depth),
        own_id=f"{sink.object_id}|SinkBasin", parents=(),
    )
    faucet = builder.extent("Faucet")
    builder.on_wall(
        "Faucet", wall, unit.begin + unit.width / 2 - faucet[0] / 2, 0.01, COUNTER_M, (faucet[0], faucet[1], 0.12),
    )
    if rng.random() < 0.8:
        across, up, _ = builder.extent("Window")
        along = unit.begin + unit.width / 2 - across / 2
        builder.on_wall("Window", wall, max(0.0, min(along, wall.length - across)), -0.1, 1.25, (across, up, 0.1))


def _storage(unit: Unit, builder: Builder, *, height: float = COUNTER_M - TOP_M, uppers: bool = True) -> None:
    """Add drawers or a cabinet under the counter; often a cabinet on the wall above it."""
    wall, rng = unit.wall, builder.rng
    front = DEPTH_M - 0.02
    if unit.what == "drawers":
        count = rng.choice((3, 4))
        each = (height - BASE_M) / count
        for k in range(count):
            builder.on_wall(
                "Drawer", wall, unit.begin + 0.01, front - 0.4, BASE_M + k * each + 0.01,
                (unit.width - 0.02, each - 0.02, 0.4), origin_share=(0.5, 0.5, 1.0),
            )
    else:
        hinge = rng.choice((0.0, 1.0))
        builder.on_wall(
            "Cabinet", wall, unit.begin, front - 0.45, BASE_M, (unit.width, height - BASE_M - 0.02, 0.45),
            origin_share=(hinge, 0.5, 1.0),
        )
    if uppers and rng.random() < 0.55:
        extent = (unit.width, UPPER_HEIGHT_M, UPPER_DEPTH_M)
        centre, size = wall.box(unit.begin, 0.0, UPPER_BOTTOM_M, extent)
        if builder.is_free(centre, size, gap=0.0):
            builder.on_wall(
                "Cabinet", wall, unit.begin, 0.0, UPPER_BOTTOM_M, extent,
                origin_share=(rng.choice((0.0, 1.0)), 0.5, 1.0),
            )


def _on_free_walls(room: Room, builder: Builder) -> None:
    wall: Wall = builder.rng.choice(room.free_walls() or list(room.walls))
    switch = builder.extent("LightSwitch")
    builder.on_wall("LightSwitch", wall, builder.rng.uniform(0.4, wall.length - 0.4), 0.0, 1.25, switch)
    extent = builder.extent("GarbageCan")
    for _ in range(40):
        place = builder.rng.choice(room.free_walls() or list(room.walls))
        along = builder.rng.uniform(0.05, place.length - extent[0] - 0.05)
        centre, size = place.box(along, 0.02, 0.0, extent)
        if builder.is_free(centre, size, gap=0.1):
            builder.on_wall("GarbageCan", place, along, 0.02, 0.0, extent, parents=(builder.things[0].object_id,))
            return


def _table_and_seats(room: Room, builder: Builder) -> None:
    """Add a dining table or an island with seats, if the room is large enough."""
    rng = builder.rng
    x0, z0, x1, z1 = room.bounds
    floor = (builder.things[0].object_id,)
    for _ in range(30):
        across, up, along = builder.extent("DiningTable")
        if rng.random() < 0.5:
            across, along = along, across
        island = rng.random() < 0.3
        margin_x, margin_z = across / 2 + 0.5, along / 2 + 0.5
        if x1 - x0 < 2 * margin_x or z1 - z0 < 2 * margin_z:
            continue
        x, z = rng.uniform(x0 + margin_x, x1 - margin_x), rng.uniform(z0 + margin_z, z1 - margin_z)
        if not builder.is_free((x, 0.5, z), (across, 1.0, along), gap=0.95):
            continue
        if island:
            builder.add("CounterTop", (x, COUNTER_M - TOP_M / 2, z), (across, TOP_M, along))
            builder.add("Cabinet", (x, 0.45, z), (across - 0.1, 0.8, along - 0.1), yaw=rng.randrange(4))
        else:
            builder.add("DiningTable", (x, up / 2, z), (across, up, along), parents=floor)
        _seats(x, z, across, along, "Stool" if island else "Chair", builder, floor)
        return
    if rng.random() < 0.5:
        _seats((x0 + x1) / 2, (z0 + z1) / 2, 0.2, 0.2, "Stool", builder, floor)


def _seats(
    x: float, z: float, across: float, along: float, kind: str, builder: Builder, floor: tuple[str, ...],
) -> None:
    for _ in range(builder.rng.choice((0, 1, 1, 2))):
        width, up, depth = builder.extent(kind)
        side = builder.rng.choice((-1, 1))
        at = (x + builder.rng.uniform(-0.2, 0.2) * across, up / 2, z + side * (along / 2 + depth / 2 + 0.04))
        if builder.is_free(at, (width, up, depth), gap=0.25):
            builder.add(kind, at, (width, up, depth), yaw=2 if side > 0 else 0, parents=floor)


def _appliance(kind: str, room: Room, builder: Builder, counters: list[Thing]) -> None:
    """Put an appliance at the back of a counter, facing the room."""
    rng = builder.rng
    for gap in (0.04, 0.01):
        for _ in range(60):
            extent = builder.extent(kind)
            wall, begin, end = rng.choice(room.counters)
            lead = 0.7 if end - begin > 2.2 else 0.05
            if end - begin < extent[0] + 2 * lead:
                continue
            along = rng.uniform(begin + lead, end - lead - extent[0])
            centre, size = wall.box(along, 0.03, COUNTER_M + 0.002, extent)
            under = [t for t in counters if _covers(t, centre, size)]
            if under and builder.is_free(centre, size, gap=gap):
                builder.on_wall(kind, wall, along, 0.03, COUNTER_M + 0.002, extent, parents=(under[0].object_id,))
                return


def _covers(top: Thing, centre: tuple[float, float, float], size: tuple[float, float, float]) -> bool:
    """Whether the whole bottom of a box is on a counter."""
    return all(abs(top.centre[k] - centre[k]) + size[k] / 2 <= top.size[k] / 2 + 0.005 for k in (0, 2))


def clutter(builder: Builder, *, apple: str, rng: Random) -> None:
    """Add all small objects. `apple` is the start place of the Apple: "surface", "fridge" or "sink"."""
    surfaces = [t for t in builder.things if t.object_type in ("CounterTop", "DiningTable")]
    fridge = next(t for t in builder.things if t.object_type == "Fridge")
    basin = next(t for t in builder.things if t.object_type == "SinkBasin")
    sink = basin.object_id.removesuffix("|SinkBasin")
    burners = [t for t in builder.things if t.object_type == "StoveBurner"]

    def lay(kind: str, where: str) -> None:
        if where == "fridge":
            height = fridge.centre[1] - fridge.size[1] / 2 + rng.choice(fridge.shelves[1:])
            if builder.lay(kind, fridge, top=height, margin=0.14):
                return
        if where == "basin":
            height = basin.centre[1] - basin.size[1] / 2 + 0.02
            if builder.lay(kind, basin, top=height, margin=0.02, avoid=(sink,)):
                return
        if where == "burner" and builder.lay(
            kind, burner := rng.choice(burners), top=burner.centre[1] + burner.size[1] / 2, margin=-0.15, tries=5,
        ):
            return
        for _ in range(8):
            top = rng.choices(surfaces, [t.size[0] * t.size[2] for t in surfaces])[0]
            if builder.lay(kind, top, top=top.centre[1] + top.size[1] / 2, tries=8):
                return

    lay("Apple", apple)
    lay("Bread", "surface")
    often = {
        "Egg": ("fridge", 0.55), "Lettuce": ("fridge", 0.3), "Tomato": ("fridge", 0.25), "DishSponge": ("basin", 0.4),
        "Fork": ("basin", 0.2), "Mug": ("basin", 0.2), "Pan": ("burner", 0.6), "Pot": ("burner", 0.4),
    }
    for kind in STAPLES:
        if kind in ("Apple", "Bread"):
            continue
        where, chance = often.get(kind, ("surface", 0.0))
        lay(kind, where if rng.random() < chance else "surface")
    for kind in rng.sample(EXTRAS, rng.randint(2, 6)):
        lay(kind, "surface")
