"""The kitchen's observations as arrays of fixed shapes, and its actions as pairs of numbers. Pure."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, cast

import numpy as np
from gymnasium import spaces

from ..domains.kitchen.observation import ACTIONS, MOVES, OBJECT_ACTIONS, PREDICATES
from ..domains.kitchen.procedural.catalogue import CATALOGUE
from ..domains.kitchen.rules import TARGETS, ErrorCategory

ROWS: Final = 64            # objects in an observation: the nearest ones
OTHER: Final = 1            # the type of an object that the catalogue does not name; 0 is no object
TYPES: Final = ("", "another type", *sorted(CATALOGUE))
FLAGS: Final = (
    "pickupable", "openable", "isOpen", "receptacle", "toggleable", "isToggled", "isPickedUp",
)
COLUMNS: Final = ("type", "distance", "x", "y", "z", *FLAGS)
LARGEST_M: Final = 1e3
_flags: Final = itemgetter(*FLAGS)
_TYPE: Final = {name: number for number, name in enumerate(TYPES) if name}
_ERRORS: Final = {category.word: int(category) for category in ErrorCategory}

Objects = Sequence[Mapping[str, Any]]


def action_space() -> spaces.MultiDiscrete:
    """(action, object): the place of the action's name in ACTIONS; 0 for no object, else the object's row from 1."""
    return spaces.MultiDiscrete([len(ACTIONS), ROWS + 1])


def observation_space(horizon: int) -> spaces.Dict:
    """The space of `as_arrays`."""
    return spaces.Dict({
        "pose": spaces.Box(
            np.array([-LARGEST_M, -LARGEST_M, -LARGEST_M, 0.0, -90.0]),
            np.array([LARGEST_M, LARGEST_M, LARGEST_M, 360.0, 90.0]), dtype=np.float64,
        ),
        "held": spaces.Discrete(len(TYPES)),
        "objects": spaces.Box(-LARGEST_M, LARGEST_M, (ROWS, len(COLUMNS)), np.float64),
        "valid": spaces.MultiBinary((len(OBJECT_ACTIONS), ROWS)),
        "targets": spaces.Box(-LARGEST_M, LARGEST_M, (len(TARGETS), 5), np.float64),
        "progress": spaces.MultiBinary(len(PREDICATES)),
        "last_error": spaces.Discrete(len(ErrorCategory)),
        "steps_left": spaces.Box(0.0, float(horizon), (1,), np.float64),
    })


def rows_of(observation: Mapping[str, Any]) -> Objects:
    """The visible objects in the order of their rows: the nearest first, at most ROWS."""
    visible = cast(Objects, observation["visible_objects"])
    return sorted(visible, key=lambda each: (each["distance"], each["objectId"]))[:ROWS]


def as_arrays(observation: Mapping[str, Any], rows: Objects) -> dict[str, Any]:
    """The observation of the domain, a dict of JSON values, as arrays. `rows` are those of `rows_of`."""
    place, agent = {each["objectId"]: row for row, each in enumerate(rows)}, observation["agent"]
    at, valid = agent["position"], np.zeros((len(OBJECT_ACTIONS), ROWS), dtype=np.int8)
    for number, action in enumerate(OBJECT_ACTIONS):
        for object_id in observation["action_space"][action]:
            if object_id in place:
                valid[number, place[object_id]] = 1
    objects = np.zeros((ROWS, len(COLUMNS)))
    if rows:
        objects[: len(rows)] = [
            (type_number(each["objectType"]), each["distance"], *origin(each["objectId"]), *_flags(each))
            for each in rows
        ]
    return {
        "pose": np.array([
            at["x"], at["y"], at["z"], agent["rotation"]["y"] % 360.0, agent["cameraHorizon"],
        ], dtype=np.float64),
        "held": type_number(observation["inventory"]["holding"]),
        "objects": objects,
        "valid": valid,
        "targets": np.array([_target(observation["targets"], kind.lower()) for kind in TARGETS]),
        "progress": np.array([observation["task_progress"][name] for name in PREDICATES], dtype=np.int8),
        "last_error": _ERRORS[observation["last_action_result"]["error_category"]],
        "steps_left": np.array([float(observation["max_steps"] - observation["step_count"])]),
    }


def named_action(action: Any, rows: Objects) -> list[Any]:
    """The domain's action [name, object id or None] for a pair of numbers; a pair with a name is returned as a list.

    Moves and "done" ignore the object. Raises ValueError with one sentence.
    """
    if isinstance(action, (list, tuple)) and len(action) == 2 and isinstance(action[0], str):
        return [*action]
    numbers = np.asarray(action)
    if numbers.shape != (2,) or numbers.dtype.kind not in "iu":
        raise ValueError(f"an action is two whole numbers, or a name and an object id, not {action!r}")
    number, row = int(numbers[0]), int(numbers[1])
    if not (0 <= number < len(ACTIONS) and 0 <= row <= ROWS):
        raise ValueError(
            f"an action is a number from 0 to {len(ACTIONS) - 1} and a row from 0 to {ROWS}, not {action!r}"
        )
    name = ACTIONS[number]
    if name in MOVES or name == "done" or not 1 <= row <= len(rows):
        return [name, None]
    return [name, rows[row - 1]["objectId"]]


def type_number(object_type: str | None) -> int:
    """The place of a type in TYPES; 0 for None."""
    return 0 if object_type is None else _TYPE.get(object_type, OTHER)


@lru_cache(maxsize=4096)
def origin(object_id: str | None) -> tuple[float, float, float]:
    """Where an object was at the start of the scene (x, y, z in metres), which its id says; zeros without one."""
    try:
        x, y, z = (float(part) for part in (object_id or "").split("|")[1:4])
    except ValueError:
        return 0.0, 0.0, 0.0
    return x, y, z


def _target(targets: Mapping[str, Any], word: str) -> tuple[float, ...]:
    object_id = targets[f"{word}_object_id"]
    return float(object_id is not None), float(targets[f"{word}_visible"]), *origin(object_id)
