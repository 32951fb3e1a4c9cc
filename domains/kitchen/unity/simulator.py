"""Converts AI2-THOR's event metadata to the domain's types."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from ....core.errors import RolloutError
from ..embedded.preconditions import ABILITIES, BEHIND_GLASS, NOT_VISIBLE, Condition, Item, objection
from ..embedded.simulator import drawn_stance, standing_room, the_targets
from ..observation import Fragment, Pose, Row, compose
from ..scene import GRID_M, Cell, Stance
from .client import Client, Deadlines, Metadata

_ACTIONS: Final = {
    "move_ahead": "MoveAhead", "rotate_left": "RotateLeft", "rotate_right": "RotateRight", "look_up": "LookUp",
    "look_down": "LookDown", "open_object": "OpenObject", "close_object": "CloseObject",
    "pickup_object": "PickupObject", "put_object": "PutObject", "toggle_on": "ToggleObjectOn",
    "toggle_off": "ToggleObjectOff",
}       # paper, appendix, the action space exposed to policies
_MESSAGE_CHARS: Final = 1000
PATIENT: Final = Deadlines()


class Unity:
    """Implements `simulator.Simulator`. The constructor starts the build."""

    def __init__(
        self, program: Path, scenes: Sequence[str], *, deadlines: Deadlines = PATIENT, wsgi: bool = False,
    ) -> None:
        """Raises RolloutError, also if the build lacks the first of the scenes."""
        self.client = Client(program, scenes[0], deadlines=deadlines, wsgi=wsgi)
        self._fresh: str | None = scenes[0]     # loaded and unchanged since
        self._cells: dict[str, tuple[Cell, ...]] = {}

    def begin(self, scene: str, *, seed: int | None) -> None:
        """Load the start state of `scene`, with the agent at the scene's start or at a pose drawn from a seed."""
        metadata = self.client.metadata if self._fresh == scene else self.client.reset(scene)
        self._fresh = None
        objects = metadata["objects"]
        targets = the_targets(scene, [row["objectType"] for row in objects])
        self.target_ids = tuple(objects[k]["objectId"] for k in targets)
        self._ids = frozenset(row["objectId"] for row in objects)
        if seed is not None:
            metadata = self._teleport(scene, metadata, seed)
        self._look(metadata)

    def _teleport(self, scene: str, metadata: Metadata, seed: int) -> Metadata:
        pose = pose_of(metadata)
        start = Stance(cell=_cell(pose.x_m, pose.z_m), yaw=pose.yaw_deg // 90, horizon_deg=pose.horizon_deg)
        if scene not in self._cells:
            places = self.client.step("GetReachablePositions")["actionReturn"]
            cells = frozenset(_cell(place["x"], place["z"]) for place in places or ())
            self._cells[scene] = standing_room(cells, start)
        stance = drawn_stance(self._cells[scene], seed)
        x, z = (value * GRID_M for value in stance.cell)
        metadata = self.client.step(
            "Teleport", position={"x": x, "y": pose.y_m, "z": z}, rotation={"x": 0.0, "y": 90.0 * stance.yaw, "z": 0.0},
            horizon=stance.horizon_deg, standing=True,
        )
        if not metadata["lastActionSuccess"]:
            raise RolloutError(f"{scene}: the agent cannot start at ({x}, {z}): {metadata['errorMessage']}")
        return metadata

    def _look(self, metadata: Metadata) -> None:
        held = held_of(metadata)
        self._held, self._rows = held, {row.item.object_id: row for row in rows_of(metadata)}
        objects = {row["objectId"]: row for row in metadata["objects"]}
        parents = parents_of(metadata["objects"])
        apple, bread, microwave, fridge = self.target_ids
        held_id = None if held is None else held.object_id
        self._moment = compose(
            pose_of(metadata), [*self._rows.values()], held=held,
            predicates=(
                held_id == apple, held_id == bread, objects[microwave]["isOpen"], objects[fridge]["isOpen"],
                microwave in all_parents(apple, parents), fridge in all_parents(bread, parents),
                objects[microwave]["isToggled"],
            ),
            target_ids=self.target_ids,
            target_distance_m=tuple(round(float(objects[one]["distance"]), 4) for one in self.target_ids),
        )

    def moment(self) -> Fragment:
        """The observation of the current state."""
        return self._moment

    def move(self, name: str) -> str:
        """Do a move; returns the error message, empty for success."""
        return self._do(name)

    def act(self, name: str, object_id: str) -> str:
        """Do an object action; returns the error message. An action that is not valid fails without a request."""
        row = self._rows.get(object_id)
        if row is None:
            return NOT_VISIBLE
        if not row.interactable:
            return BEHIND_GLASS.format(object_id)
        return objection(name, row.item, row.now, self._held) or self._do(name, objectId=object_id)

    def _do(self, name: str, **arguments: object) -> str:
        metadata = self.client.step(_ACTIONS[name], **arguments)
        self._look(metadata)
        if metadata["lastActionSuccess"]:
            return ""
        return str(metadata["errorMessage"] or f"{_ACTIONS[name]} failed.")[:_MESSAGE_CHARS]

    def knows(self, object_id: str) -> bool:
        """Whether the current kitchen has this object."""
        return object_id in self._ids

    def close(self) -> None:
        """End the player."""
        self.client.close()


def _cell(x_m: float, z_m: float) -> Cell:
    return round(x_m / GRID_M), round(z_m / GRID_M)


def pose_of(metadata: Metadata) -> Pose:
    """The agent's pose, on its lattice."""
    agent = metadata["agent"]
    position = agent["position"]
    horizon = round(agent["cameraHorizon"]) % 360
    return Pose(
        x_m=_metres(position["x"]), y_m=_metres(position["y"]), z_m=_metres(position["z"]),
        yaw_deg=90 * (round(agent["rotation"]["y"] / 90.0) % 4), horizon_deg=horizon - 360 * (horizon > 180),
    )


def _metres(value: float) -> float:
    return round(float(value), 4) + 0.0     # avoids a negative zero


def item_of(row: Metadata) -> Item:
    """One object's id, type and abilities."""
    return Item(row["objectId"], row["objectType"], frozenset(name for name in ABILITIES if row[name]))


def held_of(metadata: Metadata) -> Item | None:
    """The held item, or None."""
    return next((item_of(row) for row in metadata["objects"] if row["isPickedUp"]), None)


def rows_of(metadata: Metadata) -> list[Row]:
    """The visible objects, in the order of the metadata."""
    held = held_of(metadata)
    parents = parents_of(metadata["objects"])
    return [
        Row(
            item_of(row), row["name"],
            Condition(
                row["isOpen"], row["isToggled"],
                held is not None and held.object_id in {row["objectId"], *all_parents(row["objectId"], parents)},
            ),
            row["isInteractable"], _metres(row["distance"]), parents[row["objectId"]],
        )
        for row in metadata["objects"] if row["visible"]
    ]


def parents_of(objects: Iterable[Metadata]) -> dict[str, tuple[str, ...]]:
    """The recorded receptacles that each object is in or on: one, several or none."""
    return {row["objectId"]: tuple(row["parentReceptacles"] or ()) for row in objects}


def all_parents(object_id: str, parents: Mapping[str, tuple[str, ...]]) -> set[str]:
    """All receptacles that an object is in or on, directly or indirectly."""
    found: set[str] = set()
    fresh = [*parents.get(object_id, ())]
    while fresh:
        one = fresh.pop()
        if one not in found:
            found.add(one)
            fresh += parents.get(one, ())
    return found
