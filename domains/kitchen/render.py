"""Pictures of a recorded kitchen episode: its actions are replayed in the embedded simulator and painted."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...core.errors import UsageError, no_such
from ...core.ports import Picture, Playback
from ...core.recording import Recording
from ...core.values import JSON
from . import procedural, recorded
from .embedded.sight import PAPERS_LENS
from .embedded.simulator import Embedded
from .floor_plan import BAD, DIM, GOOD, INK, Colour, DrawnItem, Painter, PlanFrame
from .observation import MOVES
from .options import solid_walls
from .scene import GRID_M, Kitchen, Stance

CAMERAS: Final = ("plan",)
MILESTONES: Final[Mapping[str, str]] = {
    "apple_picked": "Apple picked up", "apple_in_microwave": "Apple in Microwave", "microwave_on": "Microwave on",
    "bread_picked": "Bread picked up", "bread_in_fridge": "Bread in Fridge",
}
TRAIL: Final = 40       # steps of the agent's path that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class KitchenRenderer:
    """Implements `core.ports.Renderer`. `load` makes a kitchen by its name; None if that is not possible."""

    load: Callable[[str], Kitchen] | None
    solid_walls: bool = False
    cameras: tuple[str, ...] = CAMERAS

    def require(self) -> None:
        """Raises UsageError if there is no kitchen to draw."""
        if self.load is None:
            raise UsageError(
                "an episode of kitchen.backend=unity has no floor plan: use kitchen.backend=recorded or generated,"
                " or watch the player's window"
            )

    def playback(self, recording: Recording, *, camera: str, width: int, height: int) -> Playback:
        """Replay a recording for drawing. Raises UsageError if it does not match the kitchen of its name."""
        if camera not in self.cameras:
            raise no_such("camera", camera, self.cameras)
        self.require()
        assert self.load is not None
        moments = _replayed_views(recording, Embedded(self.load, solid_walls=self.solid_walls))
        return _Playback(recording, moments, self.load(str(recording.info["scene"])), width, height)


def renderer(options: Mapping[str, JSON]) -> KitchenRenderer:
    """The renderer for episodes under these completed options."""
    load = procedural.load if options["backend"] == "generated" else None
    if options["backend"] == "recorded":
        load = partial(recorded.load, Path(str(options["recordings"])))
    return KitchenRenderer(load=load, solid_walls=solid_walls(options))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moment:
    """The drawn state of one row that the recording itself does not contain."""

    stance: Stance
    items: tuple[DrawnItem, ...]
    doors: tuple[Any, ...]
    held: str | None
    action: str         # the action that led here; empty in the first row
    message: str        # the simulator's error message
    conditions: tuple[str, ...]     # of Microwave and Fridge


class _Playback:
    """The moments of one episode, replayed once."""

    def __init__(
        self, recording: Recording, moments: list[_Moment], kitchen: Kitchen, width: int, height: int
    ) -> None:
        self.step_s: float | None = None
        self._states = recording.states
        self._errors = [str(name) for name in recording.constants["error_names"]]
        self._categories = recording.actions["error_category"]
        self._scene = str(recording.info["scene"])
        self.moments = moments
        self._kitchen = kitchen
        self._painter = Painter(self._kitchen, width, height)
        lens = PAPERS_LENS
        self._half_view_rad = math.atan(math.tan(math.radians(lens.field_of_view_deg) / 2) * lens.aspect)
        self._reach_m = lens.within_m

    def picture(self, row: int) -> Picture:
        """The floor plan at this row, with the state of the task next to it."""
        moment = self.moments[row]
        ways = [each.stance.cell for each in self.moments[max(0, row - TRAIL) : row + 1]]
        image = self._painter.paint(PlanFrame(
            kitchen=self._kitchen, stance=moment.stance, items=moment.items, doors=moment.doors,
            trail=tuple((x * GRID_M, z * GRID_M) for x, z in ways), held=moment.held, words=self._words(row),
            reach_m=self._reach_m, half_view_rad=self._half_view_rad,
        ))
        return np.array(image)

    def caption(self, row: int) -> tuple[str, ...]:
        """The action with its outcome, and the milestones reached."""
        moment = self.moments[row]
        reached = [text for name, text in MILESTONES.items() if self._states[name][: row + 1].any()]
        done = "SUCCESS" if self._is_solved(row) else f"{len(reached)} of {len(MILESTONES)} milestones"
        return self._outcome(row, moment), f"{done}{': ' + reached[-1] if reached and done != 'SUCCESS' else ''}"

    def close(self) -> None:
        """Nothing to release."""

    def _is_solved(self, row: int) -> bool:
        """Whether the success predicate holds; False in pictures for language models, which never learn it."""
        return "success" in self._states and bool(self._states["success"][row])

    def _outcome(self, row: int, moment: _Moment) -> str:
        if row == 0:
            return f"{self._scene}: the start"
        error = self._errors[int(self._categories[row - 1])]
        return f"{moment.action}: {'done' if error == 'none' else error.replace('_', ' ')}"

    def _words(self, row: int) -> tuple[tuple[str, Colour], ...]:
        moment = self.moments[row]
        words: list[tuple[str, Colour]] = [(self._scene, INK), ("", INK)]
        for name, text in MILESTONES.items():
            now, ever = bool(self._states[name][row]), bool(self._states[name][: row + 1].any())
            words.append((f"{'[x]' if ever else '[ ]'} {text}", GOOD if now else INK if ever else DIM))
        words += [("", INK), (f"in the hand: {moment.held or 'nothing'}", INK)]
        words += [(text, INK) for text in moment.conditions]
        words.append((f"looks {_tilt(moment.stance.horizon_deg)}", INK))
        words += [("", INK), (moment.action, BAD if moment.message else INK)]
        if moment.message:
            words.append((_short_words(moment.message), BAD))
        if self._is_solved(row):
            words += [("", INK), ("SUCCESS", GOOD)]
        return tuple(words)


def _replayed_views(recording: Recording, simulator: Embedded) -> list[_Moment]:
    """The moments of an episode. Raises UsageError if the replay differs from the recording."""
    scene = str(recording.info["scene"])
    kept = np.column_stack([
        np.rint(np.asarray(recording.states["agent_xz_m"], dtype=np.float64) / GRID_M),
        np.asarray(recording.states["agent_yaw_deg"], dtype=np.float64) / 90.0,
        np.asarray(recording.states["camera_horizon_deg"], dtype=np.float64),
    ]).astype(np.int64)
    simulator.begin(scene, seed=None)
    x, z, yaw, horizon = kept[0].tolist()
    simulator.world.reset(Stance(cell=(x, z), yaw=yaw, horizon_deg=horizon))
    moments = [_moment(simulator, "", "")]
    if "action_object" not in recording.actions:
        raise UsageError("the episode cannot be drawn: its recording has no object ids of the actions")
    names = [str(name) for name in recording.constants["action_names"]]
    for code, object_id, valid in zip(
        recording.actions["action"], recording.actions["action_object"], recording.actions["action_valid"], strict=True
    ):
        name = names[int(code)]
        message = _repeated_views(simulator, name, str(object_id), valid=bool(valid))
        kind = str(object_id).partition("|")[0]
        moments.append(_moment(simulator, f"{name} {kind}".strip(), message))
    replayed = [(*moment.stance.cell, moment.stance.yaw, moment.stance.horizon_deg) for moment in moments]
    if not np.array_equal(replayed, kept):
        raise UsageError(f"the episode cannot be drawn: {scene} differs from the kitchen of the recording")
    return moments


def _repeated_views(simulator: Embedded, name: str, object_id: str, *, valid: bool) -> str:
    if name == "done":
        return ""
    if name in MOVES:
        return simulator.move(name) if valid else f"{name} takes no object id"
    return simulator.act(name, object_id) if object_id else f"{name} needs the id of an object that is there"


def _moment(simulator: Embedded, action: str, message: str) -> _Moment:
    world = simulator.world
    visible, carried = set(world.sighting().visible), world.carried()
    low, high = world.centres - world.sizes / 2, world.centres + world.sizes / 2
    return _Moment(
        stance=world.stance,
        items=tuple(
            DrawnItem(
                kind=thing.object_type, low=tuple(low[k].tolist()), high=tuple(high[k].tolist()), visible=k in visible,
                inside=any(j in world.doors for j in world.containing(k)), hidden=world.shut_away(k),
                on=k in world.on and thing.object_type == "Microwave",
            )
            for k, thing in enumerate(world.things) if k not in carried
        ),
        doors=tuple(world.panels()),
        held=None if world.held is None else world.things[world.held].object_type,
        action=action, message=message,
        conditions=tuple(
            f"{thing.object_type}: {'open' if k in world.open else 'closed'}"
            f"{', on' if k in world.on else ', off' if 'toggleable' in thing.flags else ''}"
            for k, thing in enumerate(world.things) if thing.object_type in ("Microwave", "Fridge")
        ),
    )


def _tilt(horizon_deg: int) -> str:
    if horizon_deg == 0:
        return "ahead"
    return f"{abs(horizon_deg)} degrees {'down' if horizon_deg > 0 else 'up'}"


def _short_words(message: str) -> str:
    """The message with object types instead of the long ids."""
    words = [word.partition("|")[0] if word.count("|") >= 2 else word for word in message.split()]
    return " ".join(words)[:160]
