"""Γ_R's commands, as in the paper: a phase, a target and a grip, checked and corrected for the cell (appendix A)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ...domains.hanoi import task
from . import guard as guarding
from .cell_file import FINGERTIP_M, LEAST_SPEED, LimitsPart, PhasesPart
from .guard import Stop
from .ports import Array


class Phase(IntEnum):
    """α, the manipulation phase: the first number of an action."""

    WAIT = 0                # the hand stays where it is, as in GRASP and RELEASE
    PICK_HOVER = 1          # a transfer: up, across and down
    PICK_DESCEND = 2        # a straight way, as in LIFT, PLACE_DESCEND and RETREAT
    GRASP = 3
    LIFT = 4
    PLACE_HOVER = 5         # a transfer
    PLACE_DESCEND = 6
    RELEASE = 7
    RETREAT = 8

    @property
    def label(self) -> str:
        """Its name in messages."""
        return self.name.lower()


STANDING = (Phase.WAIT, Phase.GRASP, Phase.RELEASE)
TRANSFERS = (Phase.PICK_HOVER, Phase.PLACE_HOVER)
PICKS = (Phase.PICK_HOVER, Phase.PICK_DESCEND)
PLACES = (Phase.PLACE_HOVER, Phase.PLACE_DESCEND)

UNDER_WAY, DONE, CONTACT = 0, 1, 2      # how it stands with the phase: the field `phase_status` of the observation

BESIDE_M = 0.03                         # a cube whose middle is so near to a place in the plane is under it
HELD_M = 0.03                           # a cube whose middle is so near to the point between the fingertips is held
CORRIDOR_M = 0.10                       # half the width of the hand: what stands nearer to a transfer is in its way


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseCommand:
    """One action: the phase, the target of the point between the fingertips, the share of the speed, and the grip."""

    phase: Phase
    place: Array            # (3,)
    yaw: float              # of the hand about the vertical; 0 has the fingers move along y
    speed: float
    grip: float


def read_command(action: Array) -> PhaseCommand | Stop:
    """The command of an action (7,), or why there is none."""
    if action.shape != (7,) or not np.isfinite(action).all():
        return Stop(why="action", detail="the action is not seven finite numbers")
    number, speed, grip = float(action[0]), float(action[5]), float(np.clip(action[6], -1.0, 1.0))
    if number not in tuple(Phase):
        return Stop(why="action", detail=f"there is no phase {number:g}: they are whole numbers from 0 to {max(Phase)}")
    phase = Phase(int(number))
    if phase not in STANDING and not LEAST_SPEED <= speed <= 1.0:
        return Stop(why="action", detail=f"the speed of {phase.label} is {speed:g}, not from {LEAST_SPEED} to 1")
    if phase is Phase.GRASP and grip <= 0.0:
        return Stop(why="grip", detail=f"grasp came with the grip {grip:g}, with which fingers never close")
    if phase is Phase.RELEASE and grip >= 0.0:
        return Stop(why="grip", detail=f"release came with the grip {grip:g}, with which fingers never open")
    return PhaseCommand(phase=phase, place=action[1:4].copy(), yaw=float(action[4]), speed=speed, grip=grip)


def outside(command: PhaseCommand, limits: LimitsPart, part: PhasesPart) -> Stop | None:
    """Why the target of a command is refused, if it is."""
    low, high = guarding.room(limits)
    if (command.place < low).any() or (command.place > high).any():
        where, least, most = (", ".join(f"{value:.3f}" for value in each) for each in (command.place, low, high))
        return Stop(
            why="target", detail=f"the target of {command.phase.label}, {where}, is not between {least} and {most}",
        )
    if abs(command.yaw) > part.yaw_rad:
        detail = f"the yaw of {command.phase.label} is {command.yaw:.2f} rad; it must be within ±{part.yaw_rad:g} rad"
        return Stop(why="target", detail=detail)
    return None


def corrected(command: PhaseCommand, eef: Array, cubes: Array, part: PhasesPart) -> Array:
    """The target with the cell's corrections. Which move is made, and whether it is made again, is the policy's."""
    place = command.place.copy()
    if command.phase in PICKS:
        place[:2] += part.pick_shift_m
    if command.phase in PLACES and _onto_cube(command.place, eef, cubes):
        place[:2] += part.stack_shift_m
    if command.phase is Phase.PLACE_DESCEND:
        place[2] -= part.place_lower_m
    return place


def _onto_cube(place: Array, eef: Array, cubes: Array) -> bool:
    """Whether a seen cube (n, 3) that is not in the hand is under a place."""
    beside = np.linalg.norm(cubes[:, :2] - place[:2], axis=1) < BESIDE_M
    return bool((beside & (cubes[:, 2] < place[2]) & ~_held(eef, cubes)).any())


def _held(eef: Array, cubes: Array) -> Array:
    return np.asarray(np.linalg.norm(cubes - eef, axis=1) < HELD_M)


def corners(
    phase: Phase, start: Array, goal: Array, eef: Array, cubes: Array, half_edges: Sequence[float], clearance_m: float,
) -> list[Array]:
    """The ends of the straight ways to a goal: a transfer rises over every seen cube (n, 3) near to its way."""
    way = goal[:2] - start[:2]
    if phase not in TRANSFERS or np.hypot(*way) < BESIDE_M:
        return [goal]
    half, held = np.array(half_edges), _held(eef, cubes)
    share = np.clip((cubes[:, :2] - start[:2]) @ way / (way @ way), 0.0, 1.0)
    near = np.linalg.norm(start[:2] + share[:, None] * way - cubes[:, :2], axis=1) < CORRIDOR_M
    tops = (cubes[:, 2] + half)[near & ~held]
    hanging = max([FINGERTIP_M, *(eef[2] - cubes[:, 2] + half)[held]])
    height = max(start[2], goal[2], tops.max(initial=task.TABLE_HEIGHT_M) + hanging + clearance_m)
    return [np.append(start[:2], height), np.append(goal[:2], height), goal]
