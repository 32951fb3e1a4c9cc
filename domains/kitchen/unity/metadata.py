"""Converts AI2-THOR's event metadata to the domain's types."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..embedded.preconditions import ABILITIES, Condition, Item
from ..observation import Pose, Row

Metadata = Mapping[str, Any]

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
