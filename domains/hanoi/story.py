"""The story of a Hanoi episode for those who write policies: moves, phases, what is held, and what went wrong.

Pure: it reads the recorded arrays only, so it serves every Hanoi environment. It does not say whether the success
predicate held, and names no draw that a policy cannot observe.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from ...core.ports import MAX_ROWS, Story
from ...core.recording import Array as Recorded
from ...core.recording import Recording
from ...core.values import JSON
from ..story_rows import latest_and_spread
from . import task
from .narration import Moment
from .narration import Story as Narration
from .task import Array

READ_ROWS: Final = 1_500    # of a longer episode every second, third … row is read
BEFORE_END: Final = (20, 5)  # steps before the end that have a row where a broken rule ended the episode
END_STEPS: Final = 20       # the steps before such an end whose motion is noted
NOTED_SCORE: Final = 0.3    # an illegal score from which its largest value is noted
NOTED_M: Final = 0.005      # how far a container was moved at least to be noted
LIFTED_M: Final = 0.005     # how far a cube rose at least to count as lifted
HEAD: Final = ("step", "phase", "hand x y z", "fingers", "nearest cube", "cubes in A B C", "what changed")


def episode_story(recording: Recording) -> Story:
    """What happened: a row for each change of phase, the latest ones and some of the earlier ones, and for the end."""
    stride = 1 + recording.steps // READ_ROWS
    timeline = _Timeline(recording, stride)
    changes = [row for row in range(1, timeline.rows) if timeline.changed(row)]
    last = timeline.rows - 1
    end = [max(1, last - before // stride) for before in BEFORE_END] if recording.info.get("broken_rule") else []
    rows = sorted({0, *latest_and_spread(changes, MAX_ROWS - 2 - len(end)), *end, last})
    return Story(
        head=HEAD,
        rows=tuple(timeline.line(since, row) for since, row in pairwise([-1, *rows])),
        notes=tuple(_notes(recording, timeline)),
        conditions=_conditions(recording),
    )


class _Timeline:
    """The rows of a recording that are read, with their moments."""

    def __init__(self, recording: Recording, stride: int) -> None:
        last = recording.steps
        self.steps = np.unique(np.append(np.arange(0, last + 1, stride), last))
        states = {name: np.asarray(rows)[self.steps] for name, rows in recording.states.items()}
        period = np.array(float(recording.constants["control_period_s"]) * stride)
        self._narration = Narration(replace(
            recording, states=states, actions={}, constants={**recording.constants, "control_period_s": period},
        ))
        self.rows = len(self.steps)
        self.names = self._narration.names
        self._half = np.asarray(recording.constants["cube_size"], dtype=np.float64)
        self._hand = np.asarray(states["eef_pos"], dtype=np.float64)
        self._cubes = np.asarray(states["cube_pos"], dtype=np.float64)
        self._opening = np.asarray(states["gripper_qpos"], dtype=np.float64)[:, 0]
        boxes, turns = (np.asarray(states[f"container_{kind}"], dtype=np.float64) for kind in ("pos", "quat"))
        self._gate = task.in_gate(self._cubes, boxes, turns)

    def moment(self, row: int) -> Moment:
        """The moment of a row."""
        return self._narration.moments[row]

    def changed(self, row: int) -> bool:
        """Whether the phase, the cube in the hand, the number of moves, or the place of another cube has changed."""
        now, before = self.moment(row), self.moment(row - 1)
        if (now.moves, now.phase, now.cube) != (before.moves, before.phase, before.cube):
            return True
        elsewhere = (self._gate[row] != self._gate[row - 1]).any(axis=-1)
        return any(place and cube != now.cube for cube, place in enumerate(elsewhere))

    def line(self, since: int, row: int) -> tuple[str, ...]:
        """One row of the story; `since` is the row of the line before, -1 for none."""
        moment, hand = self.moment(row), self._hand[row]
        away = np.linalg.norm(self._cubes[row] - hand, axis=-1)
        nearest = int(away.argmin())
        return (
            str(int(self.steps[row])),
            moment.phase if moment.cube is None else f"{moment.phase} {self.names[moment.cube]}",
            " ".join(f"{value:.3f}" for value in hand),
            f"q {self._opening[row]:.3f}",
            f"{self.names[nearest]} {100 * away[nearest]:.1f} cm",
            self._places(row),
            self._change(max(since, 0), row),
        )

    def outside(self) -> list[str]:
        """The cubes that at the end are over no container's gate and not in the hand, with their positions."""
        last = self.rows - 1
        held = None if self.moment(last).phase == "grasp" else self.moment(last).cube
        return [
            f"{name} at {_list_words(self._cubes[last, cube])}" for cube, name in enumerate(self.names)
            if cube != held and not self._gate[last, cube].any()
        ]

    def _places(self, row: int) -> str:
        """How many cubes are over each container's gate, those that are carried included."""
        inside = self._gate[row].sum(axis=0)
        return " ".join(str(int(count)) for count in inside)

    def _change(self, since: int, row: int) -> str:
        """The cubes that another container holds than at the line before, and the moves since then."""
        parts = []
        moved = self.moment(row).moves - self.moment(since).moves
        if moved:
            parts.append(f"{moved} moves ended" if moved > 1 else "1 move ended")
        for cube, name in enumerate(self.names):
            before, now = self._place(since, cube), self._place(row, cube)
            if before != now:
                parts.append(f"{name} {before} to {now}")
        return ", ".join(parts)

    def _place(self, row: int, cube: int) -> str:
        inside = np.flatnonzero(self._gate[row, cube])
        return task.CONTAINERS[int(inside[0])] if len(inside) else "outside"


def _notes(recording: Recording, timeline: _Timeline) -> list[str]:
    states = recording.states
    cubes = np.asarray(states["cube_pos"], dtype=np.float64)
    half = np.asarray(recording.constants["cube_size"], dtype=np.float64)
    names, last = timeline.names, timeline.moment(timeline.rows - 1)
    held = "nothing" if last.cube is None or last.phase == "grasp" else names[last.cube]
    least = 2 ** len(names) - 1
    notes = [
        f"cubes let go elsewhere than taken: {last.moves}, at least {least} needed; at the end {last.on_target} of"
        f" {len(names)} cubes stand right on C, counted from the largest; the hand holds {held}"
    ]
    lifted = cubes[..., 2] - cubes[0, :, 2]
    step, cube = np.unravel_index(int(lifted.argmax()), lifted.shape)
    high_m = float(lifted[step, cube])
    notes.append(
        f"highest lift: {names[cube]} by {100 * high_m:.1f} cm at step {step}" if high_m >= LIFTED_M
        else "no cube was lifted"
    )
    if recording.info.get("broken_rule") and recording.steps:
        notes.insert(0, _before_end(recording, cubes, names))
        outside = timeline.outside()
        if outside:
            notes.insert(1, f"outside of all containers at the end, not in the hand: {', '.join(outside)}")
    return [*notes, *_illegal(states["illegal_score"], cubes, half, names), *_containers(states["container_pos"])]


def _before_end(recording: Recording, cubes: Array, names: tuple[str, ...]) -> str:
    """How hand and cubes moved in the last steps before a broken rule ended the episode."""
    since = min(END_STEPS, recording.steps)
    moved = 100 * (cubes[-1] - cubes[-1 - since])
    hand = np.asarray(recording.states["eef_pos"], dtype=np.float64)
    own = 100 * (hand[-1] - hand[-1 - since])
    parts = [
        f"{name} {np.hypot(*shift[:2]):.1f} cm aside and {shift[2]:+.1f} cm up"
        for name, shift in zip(names, moved, strict=True) if np.linalg.norm(shift) > 100 * NOTED_M
    ]
    return (
        f"in its last {since} steps, until it broke the rule {recording.info['broken_rule']!r}: hand "
        f"{np.hypot(*own[:2]):.1f} cm aside and {own[2]:+.1f} cm up; {', '.join(parts) or 'no cube moved'}"
    )


def _illegal(scores: Recorded, cubes: Array, half: Array, names: tuple[str, ...]) -> list[str]:
    """The step at which a larger cube came nearest to standing on a smaller one."""
    step = int(np.asarray(scores).argmax())
    if float(scores[step]) < NOTED_SCORE:
        return []
    pairs = [(lower, upper) for lower in range(len(half)) for upper in range(lower + 1, len(half))]
    lower, upper = max(pairs, key=lambda pair: float(
        task.stack_score(cubes[step, pair[0]], cubes[step, pair[1]], half[pair[0]], half[pair[1]])))
    return [f"illegal score at most {float(scores[step]):.2f} ({task.ILLEGAL_AT} ends the episode): "
            f"{names[upper]} on {names[lower]} at step {step}"]


def _containers(positions: Recorded) -> list[str]:
    """The containers that were pushed, and how far."""
    places = np.asarray(positions, dtype=np.float64)
    away = np.linalg.norm(places - places[0], axis=-1)
    return [
        f"container {name} was pushed by up to {100 * away[:, index].max():.1f} cm, first at step "
        f"{int((away[:, index] > NOTED_M).argmax())}"
        for index, name in enumerate(task.CONTAINERS) if away[:, index].max() > NOTED_M
    ]


def _conditions(recording: Recording) -> dict[str, JSON]:
    """Where the containers and the tower stood at the start, as the policy's observation shows with noise."""
    boxes = np.asarray(recording.states["container_pos"][0], dtype=np.float64)
    w, _, _, z = np.asarray(recording.states["container_quat"][0], dtype=np.float64).T
    tower = np.asarray(recording.states["cube_pos"][0], dtype=np.float64)[-1]
    yaw = np.degrees(2.0 * np.arctan2(z, w))
    return {
        "tower x y [m]": _list_words(tower[:2]),
        "yaw of A B C [deg]": " ".join(f"{value + 0.0:.0f}" for value in yaw.round()),
        **{f"{name} x y [m]": _list_words(place[:2]) for name, place in zip(task.CONTAINERS, boxes, strict=True)},
    }


def _list_words(values: Array) -> str:
    return " ".join(f"{value:.3f}" for value in values)
