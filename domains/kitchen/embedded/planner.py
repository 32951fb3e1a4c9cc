"""Plans the whole task with full knowledge of a kitchen, to prove that the kitchen is solvable."""

from collections import deque
from collections.abc import Iterator

from ..scene import GRID_M, HEADINGS, Kitchen, Stance
from .sight import VISIBILITY_M
from .world import World

Step = tuple[str, str | None]       # an action and the id of its object


def plan(kitchen: Kitchen) -> list[Step] | None:
    """Steps that complete the task from the kitchen's start; None if no plan was found.

    Each stage takes the fewest steps from the end of the previous one; the whole plan need not be the shortest.
    """
    world = World(kitchen)
    steps: list[Step] = []
    for action, object_id in _stages(world):
        found = _reach(world, action, object_id)
        if found is None:
            return None
        steps += found
    return steps


def _stages(world: World) -> Iterator[tuple[str, str]]:
    """The actions and object ids of the task, in order."""
    apple, bread, microwave, fridge = (
        next(thing.object_id for thing in world.things if thing.object_type == kind)
        for kind in ("Apple", "Bread", "Microwave", "Fridge")
    )
    shut = [
        world.things[k].object_id for k in world.containing(world.index[apple])
        if "openable" in world.things[k].flags and k not in world.open
    ]
    yield from (("open_object", receptacle) for receptacle in shut)
    yield "pickup_object", apple
    yield from (("close_object", receptacle) for receptacle in shut)
    yield from ((action, microwave) for action in ("open_object", "put_object", "close_object", "toggle_on"))
    yield "pickup_object", bread
    yield from ((action, fridge) for action in ("open_object", "put_object"))


def _reach(world: World, action: str, object_id: str) -> list[Step] | None:
    """Walk to the nearest pose where the action works and do it there; this advances the world."""
    target = world.index[object_id]
    came: dict[Stance, tuple[Stance, str]] = {}
    start = world.stance
    known, fresh = {start}, deque([start])
    while fresh:
        stance = fresh.popleft()
        world.stance = stance
        if _may_work(world, target) and not world.act(action, object_id):
            return [*_way(came, start, stance), (action, object_id)]
        for name, after in _moves(world, stance):
            if after not in known:
                known.add(after)
                came[after] = (stance, name)
                fresh.append(after)
    world.stance = start
    return None


def _may_work(world: World, target: int) -> bool:
    """Whether an object is near and not behind the agent: a cheap test before the visibility check."""
    x, z = (value * GRID_M for value in world.stance.cell)
    centre, half = world.centres[target], world.sizes[target] / 2
    ahead_x, ahead_z = HEADINGS[world.stance.yaw]
    dx, dz = centre[0] - x, centre[2] - z
    far = max(abs(dx) - half[0], abs(dz) - half[2])
    return bool(far < VISIBILITY_M and dx * ahead_x + dz * ahead_z > -max(half[0], half[2]))


def _moves(world: World, stance: Stance) -> Iterator[tuple[str, Stance]]:
    """The poses one step away."""
    tries = (
        ("move_ahead", world.move_ahead), ("rotate_left", lambda: world.turn(-1)),
        ("rotate_right", lambda: world.turn(1)), ("look_up", lambda: world.look(-1)),
        ("look_down", lambda: world.look(1)),
    )
    for name, attempt in tries:
        world.stance = stance
        if not attempt():
            yield name, world.stance
    world.stance = stance


def _way(came: dict[Stance, tuple[Stance, str]], start: Stance, end: Stance) -> list[Step]:
    names: list[Step] = []
    while end != start:
        end, name = came[end]
        names.append((name, None))
    return names[::-1]
