"""Generates kitchens from a seed, modelled on real ones: Kitchen1, Kitchen2 and so on, without a limit.

Kitchen1 to 3 are for training: the Apple starts on a counter, in the closed fridge, in the sink. A plan
proves every kitchen solvable when it is generated.

    furnish  turns the rows of a generated room into objects: appliances, counters, drawers, cabinets
    room     the room of a generated kitchen: its walls, and the rows of units along them
"""

from random import Random

from ....core.errors import MementoError
from ..embedded.planner import plan
from ..scene import AGENT_RADIUS_M, AGENT_RISE_M, GRID_M, Box, Kitchen, Stance, reachable
from .furnish import Builder, clutter, furnish
from .room import CEILING_M, WALL_M, Room, draw_room

AGENT_Y_M = AGENT_RISE_M + 0.001
_APPLE_STARTS = {1: "surface", 2: "fridge", 3: "basin"}
_ENOUGH_CELLS = 30
_TRIES = 400


def load(name: str) -> Kitchen:
    """The kitchen of this name, such as "Kitchen7". The same on every machine; it takes about half a second."""
    number = int(name.removeprefix("Kitchen"))
    for attempt in range(_TRIES):
        kitchen = draft(number, attempt)
        if kitchen is not None and plan(kitchen) is not None:
            return kitchen
    raise MementoError(f"none of {_TRIES} attempts at the kitchen {name!r} gave a solvable one")


def draft(number: int, attempt: int) -> Kitchen | None:
    """An attempt at Kitchen<number>; None if its room is too full or lacks an object of the task."""
    rng = Random(f"kitchen {number} attempt {attempt}")
    apple = _APPLE_STARTS.get(number) or rng.choices(("surface", "fridge", "basin"), (22, 5, 3))[0]
    room = draw_room(rng)
    builder = Builder(rng)
    furnish(room, builder)
    clutter(builder, apple=apple, rng=rng)
    kinds = [thing.object_type for thing in builder.things]
    if any(kinds.count(kind) != 1 for kind in ("Apple", "Bread", "Microwave", "Fridge")):
        return None
    if not 54 <= len(kinds) <= 90 or not _apple_starts(builder, apple):
        return None
    cells = builder.cells(room.bounds, grid_m=GRID_M, radius_m=AGENT_RADIUS_M, below_m=1.3)
    if not cells:
        return None
    largest = max((reachable(cells, cell) for cell in cells), key=len)
    if len(largest) < _ENOUGH_CELLS:
        return None
    start = Stance(cell=rng.choice(sorted(largest)), yaw=rng.randrange(4), horizon_deg=0)
    return Kitchen(
        name=f"Kitchen{number}", start=start, agent_y_m=AGENT_Y_M, things=tuple(builder.things), cells=largest,
        structure=_walls(room),
    )


def _apple_starts(builder: Builder, where: str) -> bool:
    apple = next(thing for thing in builder.things if thing.object_type == "Apple")
    parent = apple.parents[0].partition("|")[0]
    return {"fridge": parent == "Fridge", "basin": apple.parents[0].endswith("SinkBasin")}.get(
        where, parent in ("CounterTop", "DiningTable")
    )


def _walls(room: Room) -> tuple[Box, ...]:
    x0, z0, x1, z1 = room.bounds
    middle_x, middle_z, half = (x0 + x1) / 2, (z0 + z1) / 2, CEILING_M / 2
    long_x, long_z = x1 - x0 + 2 * WALL_M, z1 - z0 + 2 * WALL_M
    return (
        Box(name="Wall_south", centre=(middle_x, half, z0 - WALL_M / 2), size=(long_x, CEILING_M, WALL_M)),
        Box(name="Wall_north", centre=(middle_x, half, z1 + WALL_M / 2), size=(long_x, CEILING_M, WALL_M)),
        Box(name="Wall_west", centre=(x0 - WALL_M / 2, half, middle_z), size=(WALL_M, CEILING_M, long_z)),
        Box(name="Wall_east", centre=(x1 + WALL_M / 2, half, middle_z), size=(WALL_M, CEILING_M, long_z)),
    )
