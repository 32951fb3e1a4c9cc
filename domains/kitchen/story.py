"""The story of a kitchen episode for those who write policies: pose, action, error, what is held, what changed.

Pure: it reads the recorded arrays only. It says neither whether the success predicate held nor which kitchen it was.
"""

from collections import Counter
from itertools import pairwise
from typing import Any, Final

import numpy as np

from ...core.ports import MAX_ROWS, Story
from ...core.recording import Array, Recording
from ...core.values import JSON
from .embedded.sight import VISIBILITY_M
from .observation import ACTIONS, PREDICATES, Fragment, Pose
from .rules import TARGETS, ErrorCategory
from .scene import GRID_M

# The recording of a kitchen episode: predicates, visibility and poses over time, actions and their outcomes.


TARGET_WORDS: Final = tuple(kind.lower() for kind in TARGETS)


class Trace:
    """Collects one episode: `begin` with the state after reset, then `add` once per step."""

    def __init__(self, *, max_steps: int) -> None:
        self._max_steps = max_steps
        self._rows: list[tuple[Fragment, tuple[bool, ...]]] = []
        self._actions: list[tuple[int, bool, int, int, bool]] = []
        self._objects: list[str] = []

    def begin(self, fragment: Fragment, seen: tuple[bool, ...]) -> None:
        """Discard the last episode and record the state after reset."""
        self._rows, self._actions, self._objects = [(fragment, seen)], [], []

    def add(
        self, fragment: Fragment, seen: tuple[bool, ...], *, action: str, target: int, object_id: str, valid: bool,
        category: ErrorCategory,
    ) -> None:
        """Record one step: the action, its object id (empty if none exists), the outcome, the state after it."""
        self._rows.append((fragment, seen))
        success = category is ErrorCategory.NONE
        self._objects.append(object_id)
        self._actions.append((ACTIONS.index(action), success, int(category), target, valid))

    def recording(self, *, scene: str) -> Recording:
        """The episode so far (paper: the trajectory τ_e)."""
        fragments = [row[0] for row in self._rows]
        predicates = np.array([fragment.predicates for fragment in fragments], dtype=np.bool_)
        states: dict[str, Array] = {name: predicates[:, k].copy() for k, name in enumerate(PREDICATES)}
        seen = np.array([row[1] for row in self._rows], dtype=np.bool_)
        visible = np.array([fragment.target_visible for fragment in fragments], dtype=np.bool_)
        distance = np.array([fragment.target_distance_m for fragment in fragments], dtype=np.float32)
        for k, word in enumerate(TARGET_WORDS):
            states[f"{word}_seen"] = seen[:, k].copy()
            states[f"{word}_visible"] = visible[:, k].copy()
            states[f"{word}_distance_m"] = distance[:, k].copy()
        poses = [fragment.pose for fragment in fragments]
        states["agent_xz_m"] = np.array([(pose.x_m, pose.z_m) for pose in poses], dtype=np.float32)
        states["agent_yaw_deg"] = np.array([pose.yaw_deg for pose in poses], dtype=np.int16)
        states["camera_horizon_deg"] = np.array([pose.horizon_deg for pose in poses], dtype=np.int16)
        states["visible_count"] = np.array([fragment.visible_count for fragment in fragments], dtype=np.int16)
        columns = np.array(self._actions, dtype=np.int64).reshape(-1, 5)
        return Recording(
            states=states,
            actions={
                "action": columns[:, 0].astype(np.int8),
                "action_success": columns[:, 1].astype(np.bool_),
                "error_category": columns[:, 2].astype(np.int8),
                "action_target": columns[:, 3].astype(np.int8),
                "action_valid": columns[:, 4].astype(np.bool_),
                "action_object": np.array(self._objects, dtype=np.str_),
            },
            constants={
                "action_names": np.array(ACTIONS),
                "error_names": np.array([category.name.lower() for category in ErrorCategory]),
                "target_names": np.array(("none", *TARGET_WORDS, "other")),
                "max_steps": np.array(self._max_steps),
                "visibility_m": np.array(VISIBILITY_M),
                "agent_y_m": np.array(poses[0].y_m),
            },
            info={"scene": scene, "start": _start(poses[0])},
        )


def _start(pose: Pose) -> dict[str, JSON]:
    return {
        "cell": [round(pose.x_m / GRID_M), round(pose.z_m / GRID_M)], "yaw_deg": pose.yaw_deg,
        "horizon_deg": pose.horizon_deg,
    }


SHOWN: Final = tuple(name for name in PREDICATES if name != "success")
HEAD: Final = ("step", "x z yaw camera", "action", "error", "held", "what changed")
UNREMARKABLE: Final = 3     # the rank of a step that appears only in the notes
STILL: Final = 20       # steps without a new thing seen or done that are worth a note


def episode_story(recording: Recording) -> Story:
    """What happened: a row for each step that changed something, then for what was first seen, then for errors."""
    timeline = _Timeline(recording)
    ranked = sorted(range(1, recording.steps + 1), key=lambda row: (timeline.rank(row), row))
    worth = [row for row in ranked if timeline.rank(row) < UNREMARKABLE]
    rows = sorted({0, recording.steps, *worth[: MAX_ROWS - 2]})
    return Story(
        head=HEAD, rows=tuple(timeline.line(row) for row in rows), notes=tuple(timeline.notes()),
        conditions=timeline.conditions(),
    )


class _Timeline:
    """The recorded arrays in words."""

    def __init__(self, recording: Recording) -> None:
        self._steps = recording.steps
        self._states: dict[str, Any] = {name: np.asarray(rows) for name, rows in recording.states.items()}
        self._actions: dict[str, Any] = {name: np.asarray(rows) for name, rows in recording.actions.items()}
        self._words = {
            name: [str(word) for word in np.asarray(recording.constants[f"{name}_names"])]
            for name in ("action", "error", "target")
        }
        self._changes = [self._change(row) for row in range(self._steps + 1)]
        self._seen = [self._first_seen(row) for row in range(self._steps + 1)]
        self._errors: Counter[str] = Counter()
        self._new_error = [self._is_new_error(row) for row in range(self._steps + 1)]

    def rank(self, row: int) -> int:
        """How much a row is worth telling, 0 first."""
        return 0 if self._changes[row] else 1 if self._seen[row] else 2 if self._new_error[row] else UNREMARKABLE

    def line(self, row: int) -> tuple[str, ...]:
        """The row: the action that led to it, and the state after it."""
        x, z = self._states["agent_xz_m"][row]
        pose = f"{x:.2f} {z:.2f} {self._states['agent_yaw_deg'][row]} {self._states['camera_horizon_deg'][row]}"
        seen = [f"sees {', '.join(self._seen[row])}"] if self._seen[row] else []
        error = self._error(row)
        return (str(row), pose, self._action(row), error, self._in_hand(row), ", ".join([*self._changes[row], *seen]))

    def notes(self) -> list[str]:
        """The failed actions by their errors, what was never seen, and the longest time in which nothing happened."""
        failed = Counter(
            f"{self._action_name(row)} {self._error(row)}" for row in range(1, self._steps + 1) if self._error(row)
        )
        words = [f"{count} x {name}" for name, count in sorted(failed.items(), key=lambda item: (-item[1], item[0]))]
        notes = [f"failed actions: {', '.join(words[:5])}{', …' if len(words) > 5 else ''}"] if words else []
        unseen = [word for word in TARGET_WORDS if not self._states[f"{word}_seen"][-1]]
        notes += [f"never seen: {', '.join(unseen)}"] if unseen else []
        return [*notes, *self._still()]

    def conditions(self) -> dict[str, JSON]:
        """The pose at the start, which the policy observes."""
        x, z = (float(value) for value in self._states["agent_xz_m"][0])
        return {
            "start x z [m]": f"{x:.2f} {z:.2f}",
            "start yaw [deg]": int(self._states["agent_yaw_deg"][0]),
            "start camera [deg]": int(self._states["camera_horizon_deg"][0]),
        }

    def _change(self, row: int) -> list[str]:
        """The predicates that changed in the step to this row."""
        if row == 0:
            return []
        changed = [name for name in SHOWN if self._states[name][row] != self._states[name][row - 1]]
        begun = [name for name in changed if self._states[name][row]]
        return [*begun, *(f"not {name}" for name in changed if name not in begun)]

    def _first_seen(self, row: int) -> list[str]:
        return [
            word for word in TARGET_WORDS
            if self._states[f"{word}_seen"][row] and (row == 0 or not self._states[f"{word}_seen"][row - 1])
        ]

    def _is_new_error(self, row: int) -> bool:
        """Whether this action fails in this way for the first time."""
        error = self._error(row)
        key = f"{self._action_name(row)} {error}" if error else ""
        self._errors[key] += 1
        return bool(error) and self._errors[key] == 1

    def _in_hand(self, row: int) -> str:
        held = [word for word in ("apple", "bread") if self._states[f"{word}_picked"][row]]
        return " ".join(held) or "-"

    def _action_name(self, row: int) -> str:
        return self._words["action"][int(self._actions["action"][row - 1])] if row else "start"

    def _action(self, row: int) -> str:
        target = self._words["target"][int(self._actions["action_target"][row - 1])] if row else "none"
        return self._action_name(row) if target == "none" else f"{self._action_name(row)} {target}"

    def _error(self, row: int) -> str:
        if row == 0 or self._actions["action_success"][row - 1]:
            return ""
        return self._words["error"][int(self._actions["error_category"][row - 1])]

    def _still(self) -> list[str]:
        """The longest time without a change of the task's state and without a new thing seen."""
        marks = [0, *(row for row in range(1, self._steps + 1) if self.rank(row) < 2), self._steps]
        length, begin = max((late - early, early) for early, late in pairwise(marks))
        if length < STILL:
            return []
        done = Counter(self._action_name(row) for row in range(begin + 1, begin + length + 1))
        most = ", ".join(f"{count} x {name}" for name, count in done.most_common(4))
        return [f"nothing changed and nothing new was seen from step {begin} to {begin + length}: {most}"]
