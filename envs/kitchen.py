"""The household task as a Gymnasium environment."""

from typing import Any, cast

from ..core.ports import Playback
from ..core.values import JSON
from . import kitchen_arrays
from .episodes import HEIGHT, WIDTH, DomainEnv


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
        self.action_space = kitchen_arrays.action_space()
        self.observation_space = kitchen_arrays.observation_space(cast(int, self.options["horizon"]))
        self._rows: kitchen_arrays.Objects = ()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode: see `DomainEnv` for seeds. Raises UsageError for an option other than "index"."""
        about = self._begin(seed, options)
        arrays, seen = self._observed()
        return arrays, {**about, "is_success": False, "observation": seen}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """One action. Raises ValueError for one that does not exist, and ResetNeeded after the end of the episode."""
        ended = self._advance(kitchen_arrays.named_action(action, self._rows))
        arrays, seen = self._observed()
        info: dict[str, Any] = {"is_success": self.environment.success(), "observation": seen}
        if ended is not None:
            info["ended_by"] = ended
        truncated = ended == "horizon"
        return arrays, float(ended == "success"), ended is not None and not truncated, truncated, info

    def _observed(self) -> tuple[dict[str, Any], dict[str, Any]]:
        seen = cast("dict[str, Any]", self.environment.observe())
        self._rows = kitchen_arrays.rows_of(seen)
        return kitchen_arrays.as_arrays(seen, self._rows), seen

    def _picture(self, playback: Playback) -> Any:
        # A playback of the kitchen replays the whole episode when it is opened, so each picture needs its own.
        picture = super()._picture(playback)
        self._end_pictures()
        return picture
