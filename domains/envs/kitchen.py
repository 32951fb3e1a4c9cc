"""The household task as a Gymnasium environment."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, cast

import numpy as np
from gymnasium import spaces

from ...core.ports import Playback
from ...core.values import JSON
from ..kitchen.observation import ACTIONS, MOVES, OBJECT_ACTIONS, PREDICATES
from ..kitchen.procedural.room import CATALOGUE
from ..kitchen.rules import TARGETS, ErrorCategory
from .episodes import HEIGHT, WIDTH, DomainEnv

# The kitchen's observations as arrays of fixed shapes, and its actions as pairs of numbers. Pure.


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


class KitchenEnv(DomainEnv):
    """`memento/Kitchen-v0`: put the Apple in the Microwave, switch it on, and put the Bread in the Fridge.

    ## Observation
    A dict of arrays. `info["observation"]` holds the same as the dict of JSON values that a policy of the domain sees.
    | Key | Shape | Content |
    |-----|-------|---------|
    | pose       | 5     | x, y, z (m), yaw (deg, 0 to 360, clockwise from +z), camera horizon (deg, down is positive) |
    | held       | -     | the type of the object in the hand, a place in `kitchen_arrays.TYPES`; 0: none |
    | objects    | 64 12 | the visible objects, the nearest first; rows without an object are 0 |
    | valid      | 6 64  | whether an object action is valid now for the object of a row, in the order of the actions |
    | targets    | 4 5   | Apple, Bread, Microwave, Fridge: known, visible, x, y, z (m) where it was at the start |
    | progress   | 8     | whether each of the milestones below holds now |
    | last_error | -     | why the last action failed; 0: it did not |
    | steps_left | 1     | steps until the horizon |

    A row of `objects`: type, distance from the agent (m), x, y, z (m) where it was at the start of the scene, and the
    flags pickupable, openable, isOpen, receptacle, toggleable, isToggled, isPickedUp.

    The milestones: apple_picked, bread_picked, microwave_open, fridge_open, apple_in_microwave, bread_in_fridge,
    microwave_on, success.

    ## Action
    Two whole numbers. The first is the action: 0 move_ahead, 1 rotate_left, 2 rotate_right, 3 look_up, 4 look_down,
    5 open_object, 6 close_object, 7 pickup_object, 8 put_object (of the receptacle), 9 toggle_on, 10 toggle_off,
    11 done. The second is the object: its row in `objects` plus 1; 0 is none. Actions 0 to 4 and 11 ignore it.
    The domain's own actions, a name and an object id or None, are taken too.

    ## Reward
    1 at the step that completes the task, else 0.

    ## End
    Terminated by "success" and by "done", truncated at the horizon. The last step's info has "ended_by".

    Keyword arguments other than those listed are the options of the domain `kitchen`, such as `scenes`, `backend` and
    `horizon` (steps). Episode i plays scene i of the list, in a circle. Raises UsageError for an unknown option.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}      # noqa: RUF012 - Gymnasium declares it so

    def __init__(
        self, *, preset: str = "paper", render_mode: str | None = None, camera: str | None = None, width: int = WIDTH,
        height: int = HEIGHT, **options: JSON,
    ) -> None:
        super().__init__(
            "kitchen", options, preset=preset, render_mode=render_mode, camera=camera, width=width, height=height,
        )
        self.action_space = action_space()
        self.observation_space = observation_space(cast(int, self.options["horizon"]))
        self._rows: Objects = ()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode: see `DomainEnv` for seeds. Raises UsageError for an option other than "index"."""
        about = self._begin(seed, options)
        arrays, seen = self._observation()
        return arrays, {**about, "is_success": False, "observation": seen}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """One action. Raises ValueError for one that does not exist, and ResetNeeded after the end of the episode."""
        ended = self._advance(named_action(action, self._rows))
        arrays, seen = self._observation()
        info: dict[str, Any] = {"is_success": self.environment.success(), "observation": seen}
        if ended is not None:
            info["ended_by"] = ended
        truncated = ended == "horizon"
        return arrays, float(ended == "success"), ended is not None and not truncated, truncated, info

    def _observation(self) -> tuple[dict[str, Any], dict[str, Any]]:
        seen = cast("dict[str, Any]", self.environment.observe())
        self._rows = rows_of(seen)
        return as_arrays(seen, self._rows), seen

    def _picture(self, playback: Playback) -> Any:
        # A playback of the kitchen replays the whole episode when it is opened, so each picture needs its own.
        picture = super()._picture(playback)
        self._end_pictures()
        return picture
