"""What a policy is given at each step (paper, appendix, observation space): a dict of JSON values."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...core.values import JSON
from .rules import TARGETS
from .scene import GRID_M, Stance
from .world import Sighting, World

TASK: Final = "apple_in_microwave_on_bread_in_fridge"
DESCRIPTION: Final = "Put the Apple in the Microwave, switch the Microwave on, and put the Bread in the Fridge."
MOVES: Final = ("move_ahead", "rotate_left", "rotate_right", "look_up", "look_down")
OBJECT_ACTIONS: Final = (
    "open_object", "close_object", "pickup_object", "put_object", "toggle_on", "toggle_off",
)
ACTIONS: Final = (*MOVES, *OBJECT_ACTIONS, "done")
PREDICATES: Final = (
    "apple_picked", "bread_picked", "microwave_open", "fridge_open", "apple_in_microwave", "bread_in_fridge",
    "microwave_on", "success",
)
_FRAGMENTS_KEPT: Final = 3_000


@dataclass(frozen=True, slots=True)
class Fragment:
    """What an observation says of one pose in one state of the kitchen; and its numbers for the recording."""

    agent: dict[str, JSON]
    inventory: dict[str, JSON]
    visible_objects: list[JSON]
    progress: dict[str, JSON]
    action_space: dict[str, JSON]
    target_visible: tuple[bool, ...]
    target_distance_m: tuple[float, ...]
    predicates: tuple[bool, ...]


class Observer:
    """Looks at one world. Fragments are kept, since agents come back to poses; whoever gets one must not change it."""

    def __init__(self, world: World) -> None:
        """Raises ValueError for a kitchen that lacks one of the task's objects or has several."""
        self.world = world
        found = {
            kind: [k for k, thing in enumerate(world.things) if thing.object_type == kind] for kind in TARGETS
        }
        for kind, items in found.items():
            if len(items) != 1:
                raise ValueError(f"{world.kitchen.name} has {len(items)} objects of type {kind}; the task asks for one")
        self.targets: tuple[int, ...] = tuple(found[kind][0] for kind in TARGETS)
        self._fragments: OrderedDict[tuple[int, Stance], Fragment] = OrderedDict()

    def fragment(self) -> Fragment:
        """What there is to say of the present moment."""
        key = (self.world.state, self.world.stance)
        found = self._fragments.get(key)
        if found is None:
            found = self._fragments[key] = self._make()
            if len(self._fragments) > _FRAGMENTS_KEPT:
                self._fragments.popitem(last=False)
        return found

    def target_code(self, object_id: str | None) -> int:
        """1 to 4 for the task's objects, 5 for another object of the kitchen, 0 for none."""
        item = self.world.index.get(object_id) if object_id is not None else None
        if item is None:
            return 0
        return self.targets.index(item) + 1 if item in self.targets else len(TARGETS) + 1

    def _make(self) -> Fragment:
        world = self.world
        sighting = world.sighting()
        predicates = self._predicates()
        return Fragment(
            agent=_agent(world),
            inventory={
                "holding": None if world.held is None else world.things[world.held].object_type,
                "holding_object_id": None if world.held is None else world.things[world.held].object_id,
            },
            visible_objects=[self._summary(k) for k in sighting.visible],
            progress=dict(zip(PREDICATES, predicates, strict=True)),
            action_space=self._action_space(sighting),
            target_visible=tuple(k in sighting.visible for k in self.targets),
            target_distance_m=tuple(self._distance(k) for k in self.targets),
            predicates=predicates,
        )

    def _predicates(self) -> tuple[bool, ...]:
        world = self.world
        apple, bread, microwave, fridge = self.targets
        values = [
            world.held == apple, world.held == bread, microwave in world.open, fridge in world.open,
            world.is_in(apple, microwave), world.is_in(bread, fridge), microwave in world.on,
        ]
        return (*values, all(values[4:]))

    def _distance(self, item: int) -> float:
        """Metres from the agent's position to an object's, in space."""
        x, z = self.world.stance.cell
        agent = np.array([x * GRID_M, self.world.kitchen.agent_y_m, z * GRID_M])
        return round(float(np.linalg.norm(self.world.position(item) - agent)), 4)

    def _summary(self, item: int) -> dict[str, JSON]:
        world, thing = self.world, self.world.things[item]
        parents: list[JSON] = [world.things[k].object_id for k in world.parents[item]]
        return {
            "objectType": thing.object_type,
            "objectId": thing.object_id,
            "name": thing.name,
            "visible": True,
            "distance": self._distance(item),
            "pickupable": "pickupable" in thing.flags,
            "openable": "openable" in thing.flags,
            "isOpen": item in world.open,
            "receptacle": "receptacle" in thing.flags,
            "toggleable": "toggleable" in thing.flags,
            "isToggled": item in world.on,
            "isPickedUp": item == world.held,
            "parentReceptacles": parents or None,
        }

    def _action_space(self, sighting: Sighting) -> dict[str, JSON]:
        """For every object action the ids that its preconditions allow. Whether a thing then fits is not known."""
        world = self.world
        return {
            action: [
                world.things[k].object_id for k in sighting.visible if not world.objection(action, k, sighting)
            ]
            for action in OBJECT_ACTIONS
        }


def _agent(world: World) -> dict[str, JSON]:
    stance = world.stance
    x, z = (value * GRID_M for value in stance.cell)
    return {
        "position": {"x": x, "y": round(world.kitchen.agent_y_m, 4), "z": z},
        "rotation": {"x": 0.0, "y": 90.0 * stance.yaw, "z": 0.0},
        "cameraHorizon": float(stance.horizon_deg),
    }


def target_fields(
    ids: Mapping[str, str], seen: tuple[bool, ...], visible: tuple[bool, ...], *, reveal_unseen: bool,
) -> dict[str, JSON]:
    """The `targets` field: ids only of what was seen in this episode, unless all are revealed."""
    fields: dict[str, JSON] = {}
    for kind, was_seen, is_visible in zip(TARGETS, seen, visible, strict=True):
        word = kind.lower()
        fields[f"{word}_exists_in_scene"] = True
        fields[f"{word}_object_id"] = ids[kind] if was_seen or reveal_unseen else None
        fields[f"{word}_visible"] = is_visible
    return fields
