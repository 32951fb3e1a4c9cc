"""Describes a recorded episode step by step: the current move, its phase, and the state of the tower.

Pure: it reads the recorded arrays only, so it works for every Hanoi environment. It serves captions, not scores.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...core.recording import Recording
from . import task
from .task import Array

GRASPED_M: Final = 0.035        # hand and cube closer than this: the cube can be between the fingers
LOST_M: Final = 0.06            # farther apart than this: the cube is no longer in the hand
SLACK_M: Final = 0.008          # fingers that are open wider than the cube by this release it
RAISED_M: Final = 0.01          # above its resting place: the cube is in the air
UNDER_WAY_M: Final = 0.04       # to the side of its resting place: the cube is carried
STILL_M_S: Final = 0.05         # slower than this to the side, over another container: it is placed


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One row of an episode."""

    moves: int              # completed so far
    phase: str              # "reach", "grasp", "lift", "carry", "place"
    cube: int | None        # the one in the hand, small to large
    source: int | None      # the container that it was taken from; None for the table
    on_target: int          # cubes in their right place on C, counted from the largest


class Story:
    """A recorded episode as moments."""

    def __init__(self, recording: Recording) -> None:
        states = recording.states
        self._half = np.asarray(recording.constants["cube_size"], dtype=np.float64)
        self.names = task.cube_names(len(self._half))
        self._period_s = float(recording.constants["control_period_s"])
        self._cubes, boxes, turns, self._hand = (
            np.asarray(states[name], dtype=np.float64)
            for name in ("cube_pos", "container_pos", "container_quat", "eef_pos")
        )
        fingers = np.asarray(states["gripper_qpos"], dtype=np.float64)
        self._opening = fingers[:, 0] - fingers[:, 1]
        moved = np.diff(self._cubes[..., :2], axis=0, prepend=self._cubes[:1, :, :2])
        self._side_m_s = np.linalg.norm(moved, axis=-1) / self._period_s
        self._gate = task.in_gate(self._cubes, boxes, turns)
        # None in pictures for language models, which never learn whether the success predicate held.
        self._success = np.asarray(states["success"], dtype=np.bool_) if "success" in states else None
        self._ended_by = recording.info.get("ended_by")
        self._standing = self._stands()
        self.moments = self._moments()

    @property
    def least_moves(self) -> int:
        """2^n - 1, the length of the shortest solution."""
        return int(2 ** len(self._half) - 1)

    def lines(self, row: int) -> tuple[str, str]:
        """The moment in words: the move, and the state of the tower."""
        moment = self.moments[row]
        if self._is_solved(row):       # success counts before the last cube is released
            move = f"done in {moment.moves + (moment.cube is not None)} moves, of at least {self.least_moves}"
        else:
            move = f"move {moment.moves + 1} of at least {self.least_moves}: {self._doing(moment)}"
        state = "" if self._success is None else f"{self._state(row)}, "
        return move, f"{state}{moment.on_target} of {len(self._half)} on C"

    def _doing(self, moment: Moment) -> str:
        if moment.cube is None:
            return moment.phase
        source = "the table" if moment.source is None else task.CONTAINERS[moment.source]
        return f"{moment.phase} {self.names[moment.cube]}, from {source}"

    def _is_solved(self, row: int) -> bool:
        return self._success is not None and bool(self._success[: row + 1].any())

    def _state(self, row: int) -> str:
        if self._is_solved(row):
            return "SOLVED"
        last = row == len(self.moments) - 1 and isinstance(self._ended_by, str)
        return f"not solved: {self._ended_by}" if last else "not solved yet"

    def _stands(self) -> Array:
        """(T + 1,) the number of cubes in their right place on C, counted from the largest."""
        count = np.zeros(len(self._cubes))
        right = np.ones(len(self._cubes), dtype=np.bool_)
        for cube in reversed(range(len(self._half))):
            right &= self._gate[:, cube, task.TARGET]
            if cube + 1 < len(self._half):
                lower, upper = self._cubes[:, cube + 1], self._cubes[:, cube]
                right &= task.stacked(lower, upper, self._half[cube + 1], self._half[cube])
            else:
                right &= np.abs(self._cubes[:, cube, 2] - task.TABLE_HEIGHT_M - self._half[cube]) < RAISED_M
            count += right
        return count

    def _moments(self) -> list[Moment]:
        """The moments of all rows. A cube is in the hand from when it rises until the fingers open."""
        resting = self._cubes[0].copy()
        places = [self._container(0, cube) for cube in range(len(self._half))]
        moves, held = 0, None
        moments = []
        for row in range(len(self._cubes)):
            near = np.linalg.norm(self._cubes[row] - self._hand[row], axis=-1)
            if held is not None and self._lets_go(row, held, float(near[held])):
                resting[held] = self._cubes[row, held]
                moves += self._container(row, held) != places[held]
                places[held] = self._container(row, held)
                held = None
            phase, cube = "reach", held
            if held is None:
                nearest = int(near.argmin())
                if near[nearest] < GRASPED_M and not self._open_for(row, nearest):
                    phase, cube = "grasp", nearest
                    if self._cubes[row, nearest, 2] > resting[nearest, 2] + RAISED_M:
                        held = nearest
                else:       # a cube that fell or was pushed has a new resting place
                    resting[nearest] = self._cubes[row, nearest]
            if held is not None:
                phase, cube = self._phase(row, held, resting[held], places[held]), held
            moments.append(Moment(
                moves=moves, phase=phase, cube=cube, source=None if cube is None else places[cube],
                on_target=int(self._standing[row]),
            ))
        return moments

    def _phase(self, row: int, cube: int, rested: Array, source: int | None) -> str:
        if float(np.hypot(*(self._cubes[row, cube, :2] - rested[:2]))) < UNDER_WAY_M:
            return "lift"
        above = self._container(row, cube)
        return "place" if above not in (None, source) and self._side_m_s[row, cube] < STILL_M_S else "carry"

    def _open_for(self, row: int, cube: int) -> bool:
        return bool(self._opening[row] > 2.0 * self._half[cube] + SLACK_M)

    def _lets_go(self, row: int, cube: int, away_m: float) -> bool:
        return away_m > LOST_M or self._open_for(row, cube)

    def _container(self, row: int, cube: int) -> int | None:
        inside = np.flatnonzero(self._gate[row, cube])
        return int(inside[0]) if len(inside) else None
