"""The execution of Γ_R: from a phase, a target and a grip to waypoints, by a motion planner (paper, appendix A).

A phase runs with the target with which it began, until the hand rests there, meets something, or another phase is
commanded. Every way is straight, from rest to rest, and time-optimal within the limits of speed, acceleration and jerk
(Ruckig). Transfers rise over what stands on their way. Targets are corrected for the cell before they are planned.
"""

from dataclasses import replace

import numpy as np

from . import guard as guarding
from .cell_file import SAME_M, SAME_RAD, Cell
from .guard import COMMANDED, Stop
from .lens import matrix_of, rotation_of, rotation_vector
from .phases import (
    CONTACT,
    DONE,
    STANDING,
    UNDER_WAY,
    Phase,
    PhaseCommand,
    corners,
    corrected,
    outside,
    read_command,
)
from .planner import Leg, braked, planned
from .ports import ArmState, Array, Waypoint

LEAD_PER_S = 4.0                        # share of the error at rest by which the waypoint leads, per second
LEVEL_RAD_S = 0.15                      # how fast a tool that begins tilted is set upright
SLOW_M_S, STILL_M_S = 0.01, 0.005       # of a hand and of fingers at rest
STILL_PERIODS, LEAST_PERIODS = 3, 6     # that fingers must rest, and that a phase of the fingers takes
TOUCHED_PERIODS = 2                     # with a force against the motion, until that is a contact
FREE_M = 0.0005                         # fingers that closed by less did not close
MOST_S = 600.0                          # of one phase; Ruckig computes none of hours
INTERRUPTIONS = 20                      # in a row, without a phase that was completed


class Phases:
    """Carries out the phases of one trial after another: one call of `following` per control period."""

    def __init__(self, cell: Cell, period_s: float) -> None:
        self._limits, self._part, self._half_edges = cell.limits, cell.phases, cell.objects.half_edges_m
        self._period_s = period_s
        self.status: int | None = DONE

    def begin(self, state: ArmState) -> None:
        """A trial that starts in this state, in which the hand waits."""
        self._guard = guarding.begin(state)
        self._place, self._yaw = state.eef_pos.copy(), _yaw_of(state)       # where the plan has the hand
        self._lead = np.zeros(3)        # how far the waypoint is ahead of it, against a hand that hangs
        self._tilt = rotation_vector(self._guard.rotation @ _upright(self._yaw).T)
        self._command: PhaseCommand | None = None
        self._leg: Leg | None = None
        self._legs: list[Leg] = []      # that follow it
        self._direction = np.zeros(3)
        self._open_m = float(state.gripper_qpos[0])     # of the fingers when they got the command to close
        self._time_s, self._waited, self._interrupted, self._still = 0.0, 0, 0, 0
        self._touched, self._met, self._closing = 0, False, False
        self.status = DONE

    @property
    def position(self) -> Array:
        """The last waypoint (3,)."""
        return self._guard.position

    def following(self, action: Array, state: ArmState, before: ArmState, cubes: Array) -> Waypoint | Stop:
        """The next waypoint for an action (7,), or why the arm stops; cubes (n, 3) are as the camera sees them."""
        command = read_command(action)
        if isinstance(command, Stop):
            return command
        self._guard = guarding.after_period(self._guard, state, before, self._limits)
        stop = guarding.violation(self._guard, state, self._limits)
        if stop is None and self._leg is None and self._begins(command):
            stop = self._start(command, state, cubes)
        elif self._command is not None and command.phase is not self._command.phase and self._leg is not None:
            self._brake(at_once=False)
        if stop is None:
            self._grip(command.grip, state)
            self._advance(state)
            stop = self._settle(state, before)
        return stop or self._waypoint(command.grip)

    def _begins(self, command: PhaseCommand) -> bool:
        active = self._command
        if active is None or command.phase is not active.phase:
            return True
        if command.phase in STANDING or self.status == UNDER_WAY:
            return False
        return bool(np.linalg.norm(command.place - active.place) > SAME_M or abs(command.yaw - active.yaw) > SAME_RAD)

    def _start(self, command: PhaseCommand, state: ArmState, cubes: Array) -> Stop | None:
        self._interrupted += self._command is not None and self.status == UNDER_WAY
        self._command, self.status, self._waited, self._still = command, UNDER_WAY, 0, 0
        self._touched, self._met = 0, False
        if self._interrupted > INTERRUPTIONS:
            return Stop(why="phase", detail=f"{self._interrupted} phases in a row were interrupted before their ends")
        if command.phase in STANDING:
            return None
        stop = outside(command, self._limits, self._part)
        if stop is not None:
            return stop
        low, high = guarding.room(self._limits)
        goal = np.clip(corrected(command, state.eef_pos, cubes, self._part), low, high)
        ends = corners(
            command.phase, self._place, goal, state.eef_pos, cubes, self._half_edges, self._part.clearance_m,
        )
        highest = max(end[2] for end in ends)
        if highest > high[2]:
            detail = f"{command.phase.label} needs a height of {highest:.3f} m, and the arm goes up to {high[2]:.3f} m"
            return Stop(why="target", detail=detail)
        takes_s = self._least_s(command, ends)
        if takes_s > MOST_S:
            detail = f"{command.phase.label} would take {takes_s:.0f} s at a speed of {command.speed:g}"
            return Stop(why="target", detail=detail)
        self._legs = self._planned(command, ends)
        self._next_leg()
        return None

    def _least_s(self, command: PhaseCommand, ends: list[Array]) -> float:
        """A time that the ways to these ends take at least."""
        way = np.linalg.norm(np.diff([self._place, *ends], axis=0), axis=1).sum() / self._limits.speed_m_s
        turn = abs(command.yaw - self._yaw) / self._limits.turn_rad_s
        return float(max(way, turn)) / (COMMANDED * command.speed)

    def _planned(self, command: PhaseCommand, ends: list[Array]) -> list[Leg]:
        """The legs to these ends, one after another. A transfer rises first, and turns on its way across."""
        legs, start, yaw = [], self._place, self._yaw
        for number, end in enumerate(ends):
            turned = yaw if number == 0 and len(ends) > 1 else command.yaw
            legs.append(planned(start, end, yaw, turned, command.speed, self._limits, self._part))
            start, yaw = end, turned
        return legs

    def _next_leg(self) -> None:
        self._leg, self._time_s = self._legs.pop(0), 0.0
        self._direction = self._leg.direction

    def _brake(self, *, at_once: bool) -> None:
        """Come to rest on the present leg; the phase is over, but for a contact."""
        assert self._leg is not None
        if at_once or not self._met:        # a stop at a contact goes on: its deceleration has no limit of jerk
            self._leg = braked(self._leg, self._time_s, self._limits, self._part, at_once=at_once)
            self._time_s, self._legs = 0.0, []
        if not at_once:
            self._command, self._interrupted = None, self._interrupted + 1

    def _grip(self, grip: float, state: ArmState) -> None:
        if grip > 0.0 and not self._closing:
            self._open_m = float(state.gripper_qpos[0])
        self._closing = self._closing if grip == 0.0 else grip > 0.0

    def _advance(self, state: ArmState) -> None:
        """One period along the leg."""
        against = -float(state.force_n @ self._direction) > self._part.touch_n
        self._touched = self._touched + 1 if against else 0
        met, self._met = self._met, self._met or self._touched >= TOUCHED_PERIODS
        if self._leg is None:
            return
        if self._met and not met and self._command is not None:
            self._brake(at_once=True)
        self._time_s += self._period_s
        self._place, self._yaw = self._leg.at(self._time_s)
        if self._time_s >= self._leg.trajectory.duration:
            self._leg = None
            if self._legs:
                self._next_leg()

    def _settle(self, state: ArmState, before: ArmState) -> Stop | None:
        """Whether the phase is over, once its way is; or why it never will be."""
        self._interrupted = 0 if self.status else self._interrupted
        command = self._command
        if self._leg is not None or command is None:
            return None
        error = self._place - state.eef_pos
        far = float(np.linalg.norm(error))
        self._lead += LEAD_PER_S * self._period_s * error * min(1.0, self._limits.leash_m / max(far, 1e-9))
        self._lead *= min(1.0, self._limits.leash_m / max(float(np.linalg.norm(self._lead)), 1e-9))
        if self.status != UNDER_WAY:
            return None
        self._waited += 1
        slow = bool(np.linalg.norm(state.eef_pos - before.eef_pos) < SLOW_M_S * self._period_s)
        if command.phase in STANDING:
            self._still = self._still + 1 if np.abs(state.gripper_qvel).max() < STILL_M_S else 0
            if self._still >= STILL_PERIODS and self._waited >= LEAST_PERIODS and not self._stuck(state):
                self.status = DONE
        elif self._met and slow:
            self._lead += self._place - state.eef_pos       # it rests here: the waypoint stays what it was
            self._place, self.status = state.eef_pos.copy(), CONTACT
        elif far < self._part.arrived_m and slow and abs(self._yaw - _yaw_of(state)) < self._part.arrived_rad:
            self.status = DONE
        return self._late(command, state, far) if self._waited * self._period_s > self._part.settle_s else None

    def _stuck(self, state: ArmState) -> bool:
        """Whether fingers with the command to close are as open as before."""
        command = self._command
        closing = command is not None and command.phase is Phase.GRASP
        return closing and bool(state.gripper_qpos[0] > self._open_m - FREE_M)

    def _late(self, command: PhaseCommand, state: ArmState, far: float) -> Stop | None:
        if self.status != UNDER_WAY:
            return None
        name, limit_s = command.phase.label, self._part.settle_s
        if command.phase in STANDING:
            apart = f"they are {1000 * np.ptp(state.gripper_qpos):.0f} mm apart"
            what = "close" if self._stuck(state) else "come to rest"
            return Stop(why="grip", detail=f"the fingers did not {what} within {limit_s:g} s of {name}: {apart}")
        detail = f"the hand was {1000 * far:.0f} mm from the target of {name} {limit_s:g} s after its planned end"
        return Stop(why="phase", detail=detail)

    def _waypoint(self, grip: float) -> Waypoint:
        self._tilt *= max(0.0, 1.0 - LEVEL_RAD_S * self._period_s / max(float(np.linalg.norm(self._tilt)), 1e-9))
        place = np.clip(self._place + self._lead, self._limits.low_m, self._limits.high_m)
        self._guard = replace(self._guard, position=place, rotation=rotation_of(self._tilt) @ _upright(self._yaw))
        return Waypoint(position=place, rotation=self._guard.rotation, grip=grip)


def _upright(yaw: float) -> Array:
    """The rotation of a hand that points straight down."""
    return np.asarray(rotation_of(np.array([0.0, 0.0, yaw])) @ np.diag([1.0, -1.0, -1.0]))


def _yaw_of(state: ArmState) -> float:
    rotation = matrix_of(state.eef_quat)
    return float(np.arctan2(rotation[1, 0], rotation[0, 0]))
