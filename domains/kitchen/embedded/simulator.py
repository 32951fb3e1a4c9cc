"""The embedded simulator as a back end: generated and recorded kitchens."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final

import numpy as np

from ....core.errors import MementoError
from ..observation import Fragment, Pose, Row, compose
from ..rules import TARGETS
from ..scene import GRID_M, Cell, Kitchen, Stance, reachable
from .preconditions import ABILITIES, Condition, Item
from .world import World

FRAGMENTS_KEPT: Final = 3_000


_MOVES: Mapping[str, Callable[[World], str]] = {
    "move_ahead": World.move_ahead,
    "rotate_left": lambda world: world.turn(-1),
    "rotate_right": lambda world: world.turn(1),
    "look_up": lambda world: world.look(-1),
    "look_down": lambda world: world.look(1),
}


class Embedded:
    """Implements `kitchen.simulator.Simulator`. Each kitchen is made once, at its first use."""

    def __init__(self, load: Callable[[str], Kitchen], *, solid_walls: bool = False) -> None:
        """`load` makes a kitchen by its name."""
        self._load = load
        self._solid_walls = solid_walls
        self._observers: dict[str, Observer] = {}

    def begin(self, scene: str, *, seed: int | None) -> None:
        """Load the start state of `scene`, with the agent at the scene's start or at a pose drawn from a seed."""
        if scene not in self._observers:
            self._observers[scene] = Observer(World(replace(self._load(scene), solid_walls=self._solid_walls)))
        self._observer = self._observers[scene]
        self.world = self._observer.world
        start = self.world.kitchen.start
        self.world.reset(start if seed is None else drawn_stance(self._observer.cells, seed))
        self.target_ids = self._observer.target_ids

    def moment(self) -> Fragment:
        """The observation of the current state."""
        return self._observer.fragment()

    def move(self, name: str) -> str:
        """Do a move; returns the error message, empty for success."""
        return _MOVES[name](self.world)

    def act(self, name: str, object_id: str) -> str:
        """Do an object action; returns the error message, empty for success."""
        return self.world.act(name, object_id)

    def knows(self, object_id: str) -> bool:
        """Whether the current kitchen has this object."""
        return object_id in self.world.index

    def close(self) -> None:
        """Nothing to release."""


class Observer:
    """Observes one world. Fragments are cached, since agents return to poses."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.targets = the_targets(world.kitchen.name, [thing.object_type for thing in world.things])
        self.target_ids = tuple(world.things[k].object_id for k in self.targets)
        self._items = [Item(thing.object_id, thing.object_type, thing.flags & ABILITIES) for thing in world.things]
        self.cells = standing_room(world.kitchen.cells, world.kitchen.start)
        self._fragments: OrderedDict[tuple[int, Stance], Fragment] = OrderedDict()

    def fragment(self) -> Fragment:
        """The observation of the current state."""
        key = (self.world.state, self.world.stance)
        found = self._fragments.get(key)
        if found is None:
            found = self._fragments[key] = self._make()
            if len(self._fragments) > FRAGMENTS_KEPT:
                self._fragments.popitem(last=False)
        return found

    def _make(self) -> Fragment:
        world = self.world
        sighting, carried = world.sighting(), world.carried()
        distances = self._distances()
        x, z = (value * GRID_M for value in world.stance.cell)
        pose = Pose(
            x_m=x, y_m=round(world.kitchen.agent_y_m, 4), z_m=z, yaw_deg=90 * world.stance.yaw,
            horizon_deg=world.stance.horizon_deg,
        )
        rows = [
            Row(
                self._items[k], world.things[k].name, Condition(k in world.open, k in world.on, k in carried),
                k in sighting.interactable, distances[k],
                tuple(world.things[parent].object_id for parent in world.parents[k]),
            )
            for k in sighting.visible
        ]
        return compose(
            pose, rows, held=None if world.held is None else self._items[world.held],
            predicates=self._predicates(), target_ids=self.target_ids,
            target_distance_m=tuple(distances[k] for k in self.targets),
        )

    def _predicates(self) -> tuple[bool, ...]:
        world = self.world
        apple, bread, microwave, fridge = self.targets
        return (
            world.held == apple, world.held == bread, microwave in world.open, fridge in world.open,
            world.is_in(apple, microwave), world.is_in(bread, fridge), microwave in world.on,
        )

    def _distances(self) -> list[float]:
        """Three-dimensional distances from the agent's position to all objects, in metres."""
        x, z = self.world.stance.cell
        away = self.world.positions() - np.array([x * GRID_M, self.world.kitchen.agent_y_m, z * GRID_M])
        distances: list[float] = np.round(np.sqrt((away * away).sum(axis=1)), 4).tolist()
        return distances


def the_targets(kitchen: str, kinds: Iterable[str]) -> tuple[int, ...]:
    """The indices of Apple, Bread, Microwave and Fridge among the objects of a kitchen, found by their types.

    Raises MementoError for a kitchen with none or several of one type.
    """
    places: dict[str, list[int]] = {kind: [] for kind in TARGETS}
    for k, kind in enumerate(kinds):
        if kind in places:
            places[kind].append(k)
    for kind, found in places.items():
        if len(found) != 1:
            raise MementoError(f"{kitchen} has {len(found)} objects of type {kind}; the task needs exactly one")
    return tuple(found[0] for found in places.values())


def drawn_stance(cells: Sequence[Cell], seed: int) -> Stance:
    """A pose on one of the cells, drawn from a seed, with a level camera."""
    rng = Random(seed)
    return Stance(cell=rng.choice(cells), yaw=rng.randrange(4), horizon_deg=0)


def standing_room(cells: frozenset[Cell], start: Stance) -> tuple[Cell, ...]:
    """The cells reachable from a start, sorted."""
    return tuple(sorted(reachable(cells, start.cell)))
