"""The story of an episode of a robosuite task for those who write policies: what the hands did, with which object.

Pure: it reads the recorded arrays only. It does not say whether the success predicate held, and leaves out the reward,
which knows it.
"""

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.ports import MAX_ROWS, Story
from ...core.recording import Recording
from ...core.values import JSON
from ..story_rows import latest_and_spread
from .evaluator import CLOSED_M, LIFTED_M, NEAR_M, OPEN_M, SETTLED_ROWS

Rows = NDArray[np.float64]

AWAY, AT, HOLDS, CARRIES, EMPTY = "away", "at", "holds", "carries", "closed on nothing"
STILL_M: Final = 1e-4       # a finger that moves less in a step is stopped by what it holds
LASTING: Final = 3          # rows for which a phase lasts at least: fingers pass through others as they close
NOTED_ANGLE: Final = 0.01   # rad: a hinge or a handle that moved
PARTS: Final = {"hinge_angle": "hinge", "handle_angle": "handle"}


def episode_story(recording: Recording) -> Story:
    """What happened: a row for each change of a phase, and below how far the objects came."""
    course = _Course(recording)
    last = recording.steps
    changes = [row for row in range(1, last) if course.phases[row] != course.phases[row - 1]]
    rows = sorted({0, *latest_and_spread(changes, MAX_ROWS - 2), last})
    return Story(
        head=course.head(),
        rows=tuple(course.line(row) for row in rows),
        notes=tuple(course.notes()),
        conditions=course.conditions(),
    )


class _Course:
    """The hands, the objects and the phases of an episode, row by row."""

    def __init__(self, recording: Recording) -> None:
        states = {name: np.asarray(rows, dtype=np.float64) for name, rows in recording.states.items()}
        self._steps = recording.steps
        self._arms = sorted(name.removesuffix("_eef_pos") for name in states if name.endswith("_eef_pos"))
        self._hands = [states[f"{arm}_eef_pos"] for arm in self._arms]
        self._fingers = [states.get(f"{arm}_gripper_qpos") for arm in self._arms]
        self._places = {
            name.removesuffix("_pos"): rows for name, rows in states.items()
            if name.endswith("_pos") and not name.startswith("robot") and rows.shape[1:] == (3,)
        }
        self._angles = {text: states[name].reshape(len(states[name]), -1)[:, 0] for name, text in PARTS.items()
                        if name in states}
        self._wiped = states["marker_wiped"].mean(axis=1) if "marker_wiped" in states else None
        self._nearest = [self._nearest_of(hand) for hand in self._hands]
        rest = min(SETTLED_ROWS, recording.steps)      # objects are dropped onto the table at the start
        self._raised = {name: rows[:, 2] - rows[rest, 2] for name, rows in self._places.items()}
        each = [_lasting([self._phase(arm, row) for row in range(recording.steps + 1)])
                for arm in range(len(self._arms))]
        self.phases = list(zip(*each, strict=True))

    def _nearest_of(self, hand: Rows) -> tuple[list[str], Rows]:
        """The nearest object of each row, and its distance from the hand, m; "" without objects."""
        if not self._places:
            return [""] * len(hand), np.full(len(hand), np.inf)
        names = list(self._places)
        away = np.stack([np.linalg.norm(rows - hand, axis=1) for rows in self._places.values()])
        return [names[index] for index in away.argmin(axis=0)], away.min(axis=0)

    def _phase(self, arm: int, row: int) -> str:
        names, away = self._nearest[arm]
        fingers = self._fingers[arm]
        near = bool(away[row] < NEAR_M)
        if fingers is None:
            return f"{AT} {names[row]}" if near else AWAY
        opening, before = fingers[row, 0], fingers[max(row - 1, 0), 0]
        if opening <= CLOSED_M:
            return EMPTY
        if row and near and abs(opening - before) < STILL_M and opening < OPEN_M:
            return f"{CARRIES if self._raised[names[row]][row] > LIFTED_M else HOLDS} {names[row]}"
        return f"{AT} {names[row]}" if near else AWAY

    # ------------------------------------------------------------------------------------------ the table

    def head(self) -> tuple[str, ...]:
        """The names of the columns."""
        columns = ["step"]
        for arm in self._arms:
            of = "" if len(self._arms) == 1 else f" {arm}"
            columns += [f"phase{of}", f"hand{of} x y z"]
            if self._fingers[0] is not None:
                columns.append(f"fingers{of}")
        return (*columns, *(["heights gained"] if self._places else []), *self._angles,
                *(["wiped"] if self._wiped is not None else []))

    def line(self, row: int) -> tuple[str, ...]:
        """One row of the story."""
        cells = [str(row)]
        for arm, hand in enumerate(self._hands):
            names, away = self._nearest[arm]
            phase = self.phases[row][arm]
            far = f", {names[row]} {100 * away[row]:.0f} cm" if phase in (AWAY, EMPTY) and names[row] else ""
            cells += [phase + far, _list_words(hand[row])]
            fingers = self._fingers[arm]
            if fingers is not None:
                cells.append(f"q {fingers[row, 0]:.3f}")
        if self._places:
            gained = (f"{name} {round(100 * raised[row]) or 0}" for name, raised in self._raised.items())
            cells.append(" ".join(gained) + " cm")
        cells += [f"{angles[row] + 0.0:.2f} rad" for angles in self._angles.values()]
        if self._wiped is not None:
            cells.append(f"{100 * self._wiped[row]:.0f} %")
        return tuple(cells)

    # ------------------------------------------------------------------------------------------ below it

    def notes(self) -> Iterator[str]:
        """How far the objects came, what was let go in the air, and where the objects are in the end."""
        gripping = any(fingers is not None for fingers in self._fingers)
        if gripping and self._places:
            yield from self._grips()
        for text, angles in self._angles.items():
            step = int(np.abs(angles).argmax())
            moved = abs(float(angles[step])) > NOTED_ANGLE
            yield f"{text}: at most {angles[step]:.2f} rad, at step {step}" if moved else f"the {text} did not move"
        if self._wiped is not None:
            last = int(self._wiped.argmax())
            yield f"wiped in the end: {100 * self._wiped[-1]:.0f} %, none after step {last}"
        for one, other in combinations(self._places, 2):
            shift = self._places[one][-1] - self._places[other][-1]
            yield (f"in the end {one} is {100 * np.hypot(*shift[:2]):.1f} cm beside and {100 * shift[2]:+.1f} cm "
                   f"above {other}")

    def _grips(self) -> Iterator[str]:
        held: dict[str, int] = {}
        for row, phases in enumerate(self.phases):
            for phase in phases:
                if phase.startswith((HOLDS, CARRIES)):
                    held.setdefault(phase.partition(" ")[2], row)
        yield ", ".join(f"{name} was first held at step {row}" for name, row in held.items()) or "nothing was held"
        for name, raised in self._raised.items():
            step = int(raised.argmax())
            if raised[step] > LIFTED_M:
                yield f"{name} rose by at most {100 * raised[step]:.1f} cm, at step {step}"
        for row, (before, now) in enumerate(pairwise(self.phases), start=1):
            for was, phase in zip(before, now, strict=True):
                name = was.partition(" ")[2]
                if was.startswith(CARRIES) and not phase.startswith((CARRIES, HOLDS)):
                    yield f"step {row}: {name} left the fingers {100 * self._raised[name][row]:.1f} cm up"

    def conditions(self) -> dict[str, JSON]:
        """Where the objects lay at the start, as the policy's observation shows with noise."""
        return {f"{name} x y [m]": _list_words(rows[0, :2]) for name, rows in self._places.items()}


def _lasting(phases: list[str]) -> list[str]:
    """The phases without those that last a row or two: the one that follows begins earlier."""
    kept = list(phases)
    begins = [row for row in range(len(phases)) if row == 0 or phases[row] != phases[row - 1]]
    for row, after in reversed(list(pairwise([*begins, len(phases)]))):
        if row and after - row < LASTING and after < len(phases):
            kept[row:after] = [kept[after]] * (after - row)
    return kept


def _list_words(values: Any) -> str:
    return " ".join(f"{value:.3f}" for value in values)
