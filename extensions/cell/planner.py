"""The motion planner of Γ_R: from one phase to a leg with bounded speed and acceleration, and how it brakes."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from ruckig import ControlInterface, InputParameter, Ruckig, Trajectory

from .cell_file import LimitsPart, PhasesPart
from .guard import COMMANDED
from .ports import Array

BRAKE_PER_M = 110.0                     # m/s² per metre from a target to the border of the box behind it
LEAST_BRAKE_M_S2 = 0.05                 # where a cell leaves no margin


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """A straight way; its trajectory is of the metres along it and of the yaw turned."""

    start: Array            # (3,)
    direction: Array        # (3,), of length 1; zeros for a turn in place
    yaw: float
    trajectory: Any         # of Ruckig

    def at(self, time_s: float) -> tuple[Array, float]:
        """The place (3,) and the yaw at a time."""
        (along, turned), _, _ = self.trajectory.at_time(time_s)
        return self.start + along * self.direction, self.yaw + turned


def planned(
    start: Array, goal: Array, yaw: float, goal_yaw: float, speed: float, limits: LimitsPart, part: PhasesPart,
) -> Leg:
    """The fastest way from rest to rest. It brakes gently, so that the hand does not swing, and more so at a border."""
    way = goal - start
    length = float(np.linalg.norm(way))
    direction = way / length if length > 0.0 else way
    given = _bounded(limits, part, speed)
    given.target_position = [length, goal_yaw - yaw]
    given.min_acceleration = [-_braking(goal, direction, limits), -limits.turn_rad_s2]
    return Leg(start=start, direction=direction, yaw=yaw, trajectory=_fastest(given))


def braked(leg: Leg, time_s: float, limits: LimitsPart, part: PhasesPart, *, at_once: bool) -> Leg:
    """The leg that comes to rest from here, on the same line; `at_once` without a limit of jerk."""
    given = _bounded(limits, part, 1.0)
    given.control_interface = ControlInterface.Velocity
    given.current_position, given.current_velocity, given.current_acceleration = leg.trajectory.at_time(time_s)
    given.target_velocity = [0.0, 0.0]
    if at_once:
        given.current_acceleration, given.max_jerk = [0.0, 0.0], [np.inf, np.inf]
    return replace(leg, trajectory=_fastest(given))


def _braking(goal: Array, direction: Array, limits: LimitsPart) -> float:
    """With at most 2 m / (T (T + period)) a hand that will rest m before a border is never T before crossing it."""
    left = np.where(direction > 0.0, limits.high_m - goal, goal - limits.low_m)
    share = np.maximum(np.abs(direction), 1e-9)
    return float(np.clip(BRAKE_PER_M * (left / share).min(), LEAST_BRAKE_M_S2, limits.braking_m_s2))


def _bounded(limits: LimitsPart, part: PhasesPart, speed: float) -> Any:
    given = InputParameter(2)
    given.max_velocity = [COMMANDED * limits.speed_m_s * speed, COMMANDED * limits.turn_rad_s * speed]
    given.max_acceleration = [limits.acceleration_m_s2, limits.turn_rad_s2]
    given.min_acceleration = [-limits.acceleration_m_s2, -limits.turn_rad_s2]
    given.max_jerk = [part.jerk_m_s3, part.turn_jerk_rad_s3]
    return given


def _fastest(given: Any) -> Any:
    trajectory = Trajectory(2)
    Ruckig(2).calculate(given, trajectory)
    return trajectory
