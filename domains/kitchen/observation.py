"""The observation of a policy (paper, appendix, observation space): a dict of JSON values per step."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ...core.values import JSON
from .embedded.preconditions import Condition, Item, objection
from .rules import TARGETS

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


_TO_JSON: Final = json.JSONEncoder(allow_nan=False)
_SUMMARIES_KEPT: Final = 16_384
_DISTANCE: Final = '"distance": null'


@dataclass(frozen=True, slots=True, kw_only=True)
class Pose:
    """The agent's position and direction: metres, degrees; yaw is clockwise from +z, horizon down-positive."""

    x_m: float
    y_m: float
    z_m: float
    yaw_deg: int
    horizon_deg: int


@dataclass(frozen=True, slots=True)
class Row:
    """One visible object. `parents` are the ids of its receptacles."""

    item: Item
    name: str
    now: Condition
    interactable: bool
    distance_m: float
    parents: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """The observation of one state of the kitchen, and its numbers for the recording.

    `before` and `after` are its fields before and after `targets` as JSON text without braces: they are cached,
    since agents return to poses, and are sent as text.
    """

    pose: Pose
    before: bytes                           # agent, inventory
    after: bytes                            # visible_objects, task_progress, available_actions, action_space
    allowed: Mapping[str, frozenset[str]]   # by object action, the valid ids
    target_visible: tuple[bool, ...]
    target_distance_m: tuple[float, ...]
    predicates: tuple[bool, ...]
    visible_count: int


def compose(
    pose: Pose, rows: Sequence[Row], *, held: Item | None, predicates: tuple[bool, ...],
    target_ids: Sequence[str], target_distance_m: tuple[float, ...],
) -> Fragment:
    """The fragment of a state, from the visible rows, the held item and the seven predicates (success is added)."""
    predicates = (*predicates, all(predicates[4:]))
    summaries = [_summary(row.item, row.name, row.now, row.parents, held) for row in rows]
    allowed: dict[str, list[str]] = {action: [] for action in OBJECT_ACTIONS}
    for row, one in zip(rows, summaries, strict=True):
        if row.interactable:
            for action in one.allowed:
                allowed[action].append(row.item.object_id)
    visible = {row.item.object_id for row in rows}
    visible_objects = ", ".join(
        [f"{one.head}{row.distance_m!r}{one.tail}" for row, one in zip(rows, summaries, strict=True)]
    )
    further: dict[str, JSON] = {
        "task_progress": dict(zip(PREDICATES, predicates, strict=True)), "available_actions": [*ACTIONS],
        "action_space": {action: [*ids] for action, ids in allowed.items()},
    }
    return Fragment(
        pose=pose, before=encoded(_before(pose, held)),
        after=b'"visible_objects": [' + visible_objects.encode() + b"], " + encoded(further),
        allowed={action: frozenset(ids) for action, ids in allowed.items()},
        target_visible=tuple(one in visible for one in target_ids), target_distance_m=target_distance_m,
        predicates=predicates, visible_count=len(rows),
    )


def _before(pose: Pose, held: Item | None) -> dict[str, JSON]:
    return {
        "agent": {
            "position": {"x": pose.x_m, "y": pose.y_m, "z": pose.z_m},
            "rotation": {"x": 0.0, "y": float(pose.yaw_deg), "z": 0.0},
            "cameraHorizon": float(pose.horizon_deg),
        },
        "inventory": {
            "holding": None if held is None else held.object_type,
            "holding_object_id": None if held is None else held.object_id,
        },
    }


@dataclass(frozen=True, slots=True)
class _Summary:
    """The summary of an object as JSON text before and after its distance, and the allowed actions."""

    head: str
    tail: str
    allowed: tuple[str, ...]


@lru_cache(maxsize=_SUMMARIES_KEPT)
def _summary(item: Item, name: str, now: Condition, parents: tuple[str, ...], held: Item | None) -> _Summary:
    flags = item.flags
    summary: dict[str, JSON] = {
        "objectType": item.object_type,
        "objectId": item.object_id,
        "name": name,
        "visible": True,
        "distance": None,
        "pickupable": "pickupable" in flags,
        "openable": "openable" in flags,
        "isOpen": now.is_open,
        "receptacle": "receptacle" in flags,
        "toggleable": "toggleable" in flags,
        "isToggled": now.is_on,
        "isPickedUp": held is not None and item.object_id == held.object_id,
        "parentReceptacles": [*parents] or None,
    }
    head, mark, tail = _TO_JSON.encode(summary).partition(_DISTANCE)
    allowed = tuple(action for action in OBJECT_ACTIONS if not objection(action, item, now, held))
    return _Summary(head + mark.removesuffix("null"), tail, allowed)


def target_fields(
    ids: Sequence[str], seen: tuple[bool, ...], visible: tuple[bool, ...], *, reveal_unseen: bool,
) -> dict[str, JSON]:
    """The `targets` field: ids only of objects seen in this episode, unless `reveal_unseen`."""
    fields: dict[str, JSON] = {}
    for kind, one, was_seen, is_visible in zip(TARGETS, ids, seen, visible, strict=True):
        word = kind.lower()
        fields[f"{word}_exists_in_scene"] = True
        fields[f"{word}_object_id"] = one if was_seen or reveal_unseen else None
        fields[f"{word}_visible"] = is_visible
    return fields


def encoded(fields: Mapping[str, JSON]) -> bytes:
    """The members of a JSON object, without its braces."""
    return _TO_JSON.encode(fields).encode()[1:-1]
