"""Γ_R's guard: from a policy's seven numbers to waypoints that keep every limit, or to a stop. Pure.

What is kept by construction, for any action: waypoints stay in the box, the hand's commanded speed and acceleration
stay below their limits, and so do those of its rotation. What is watched in the readings: force, speed, the box, the
tool's tilt, and whether the arm follows. A violation ends the trial; nothing but a new trial undoes a stop.
"""

from dataclasses import dataclass, replace

import numpy as np

from .cell_file import ExecutionPart, LimitsPart
from .lens import matrix_of, rotation_of, rotation_vector
from .ports import ArmState, Array, Waypoint

BOX_SLACK_M = 0.015         # of the measured hand outside of the box, since it swings a little
SPEED_SLACK = 2.0           # of the measured speed above the limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The arm was stopped. `why` is one of the words below, `detail` one clause with numbers.

    action, box, force, speed, tilt, astray, dead-man, time
    """

    why: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """What the guard remembers between two control periods."""

    position: Array         # (3,) of the last waypoint
    rotation: Array         # (3, 3)
    velocity: Array         # (3,) m/s between the last two waypoints
    turning: Array          # (3,) rad/s
    goal: Array             # (3,) where increments accumulate, for goal_update "desired"
    goal_rotation: Array    # (3, 3)
    begun_s: float
    forced: int = 0         # periods in a row with too much force
    walled: int = 0         # periods in a row in which the policy pushed against the box


def begin(state: ArmState) -> Guarded:
    """The guard of a trial that starts in this state."""
    rotation = matrix_of(state.eef_quat)
    return Guarded(
        position=state.eef_pos.copy(), rotation=rotation, velocity=np.zeros(3), turning=np.zeros(3),
        goal=state.eef_pos.copy(), goal_rotation=rotation, begun_s=state.time_s,
    )


def here(state: ArmState) -> Waypoint:
    """The waypoint that holds the arm where it is."""
    return Waypoint(position=state.eef_pos.copy(), rotation=matrix_of(state.eef_quat), grip=0.0)


def advance(
    guard: Guarded, action: Array, state: ArmState, before: ArmState, *, limits: LimitsPart, execution: ExecutionPart,
    period_s: float,
) -> tuple[Guarded, Waypoint | Stop]:
    """The next waypoint for an action (7,), or why the arm stops. `before` are the readings one period earlier."""
    if action.shape != (7,) or not np.isfinite(action).all():
        return guard, Stop(why="action", detail="the action is not seven finite numbers")
    guard = replace(guard, forced=guard.forced + 1 if np.linalg.norm(state.force_n) > limits.force_n else 0)
    violation = _violation(guard, state, before, limits)
    if violation is not None:
        return guard, violation
    action = np.clip(action, -1.0, 1.0)
    goal, goal_rotation = _goals(guard, action, state, execution)
    if execution.goal_update == "achieved":
        pull, turn = goal - state.eef_pos, rotation_vector(goal_rotation @ matrix_of(state.eef_quat).T)
    else:
        pull, turn = goal - guard.position, rotation_vector(goal_rotation @ guard.rotation.T)
    wanted = _leashed(guard, _shortened(execution.rate_per_s * pull, limits.speed_m_s), state, limits)
    velocity, blocked = _admissible(guard, wanted, limits, period_s)
    turning = _approached(
        guard.turning, _shortened(execution.rate_per_s * turn, limits.turn_rad_s), limits.turn_rad_s2 * period_s
    )
    position = np.clip(guard.position + period_s * velocity, limits.low_m, limits.high_m)
    rotation = rotation_of(period_s * turning) @ guard.rotation
    tilt = tilt_rad(rotation)
    if tilt > max(limits.tilt_rad, tilt_rad(guard.rotation)):
        return guard, Stop(why="tilt", detail=f"the tool was to tilt by {tilt:.2f} rad")
    following = replace(
        guard, position=position, rotation=rotation, velocity=velocity, turning=turning, goal=goal,
        goal_rotation=goal_rotation, walled=guard.walled + 1 if blocked else 0,
    )
    if following.walled >= limits.wall_steps:
        where = ", ".join(f"{value:.3f}" for value in position)
        return guard, Stop(why="box", detail=f"the policy pushed against the workspace's border at {where}")
    return following, Waypoint(position=position, rotation=rotation, grip=float(action[6]))


def tilt_rad(rotation: Array) -> float:
    """The angle of the tool's axis from straight down."""
    return float(np.arccos(np.clip(-rotation[2, 2], -1.0, 1.0)))


def _violation(guard: Guarded, state: ArmState, before: ArmState, limits: LimitsPart) -> Stop | None:
    low, high = np.array(limits.low_m) - BOX_SLACK_M, np.array(limits.high_m) + BOX_SLACK_M
    if (state.eef_pos < low).any() or (state.eef_pos > high).any():
        where = ", ".join(f"{value:.3f}" for value in state.eef_pos)
        return Stop(why="box", detail=f"the hand is outside of the workspace, at {where}")
    if guard.forced >= limits.force_steps:
        return Stop(why="force", detail=f"{np.linalg.norm(state.force_n):.0f} N on the hand")
    passed_s = state.time_s - before.time_s
    if passed_s > 0.0:
        speed = float(np.linalg.norm(state.eef_pos - before.eef_pos)) / passed_s
        if speed > SPEED_SLACK * limits.speed_m_s:
            return Stop(why="speed", detail=f"the hand moves at {speed:.2f} m/s")
    away = float(np.linalg.norm(state.eef_pos - guard.position))
    if away > limits.astray_m:
        return Stop(why="astray", detail=f"the hand is {1000 * away:.0f} mm from its waypoint")
    tilt = tilt_rad(matrix_of(state.eef_quat))
    if tilt > 1.25 * limits.tilt_rad:
        return Stop(why="tilt", detail=f"the tool is tilted by {tilt:.2f} rad")
    if state.time_s - guard.begun_s > limits.trial_s:
        return Stop(why="time", detail=f"the trial took longer than {limits.trial_s:g} s")
    return None


def _goals(guard: Guarded, action: Array, state: ArmState, execution: ExecutionPart) -> tuple[Array, Array]:
    """Where the policy's increments lead: from the hand's pose, or from the last goal."""
    move, turn = execution.move_per_unit_m * action[:3], rotation_of(execution.turn_per_unit_rad * action[3:6])
    if execution.goal_update == "achieved":
        return state.eef_pos + move, turn @ matrix_of(state.eef_quat)
    return guard.goal + move, turn @ guard.goal_rotation


def _leashed(guard: Guarded, wanted: Array, state: ArmState, limits: LimitsPart) -> Array:
    """The wanted velocity without what leads farther away from a hand that is held up."""
    ahead = guard.position - state.eef_pos
    length = float(np.linalg.norm(ahead))
    outward = float(wanted @ ahead) / max(length, 1e-9)
    if length > limits.leash_m and outward > 0.0:
        return np.asarray(wanted - outward * ahead / length)
    return wanted


def _admissible(guard: Guarded, wanted: Array, limits: LimitsPart, period_s: float) -> tuple[Array, bool]:
    """The velocity nearest to the wanted one from which the hand can still brake within the box; whether that is less.

    Each axis brakes with its own, gentler deceleration: a velocity is allowed only if the way that is left is enough.
    What is wanted gets the acceleration that braking on all axes leaves, so the whole stays below the limit.
    """
    brake = limits.braking_m_s2
    rest = limits.acceleration_m_s2 - np.sqrt(3.0) * brake
    velocity = _approached(guard.velocity, wanted, rest * period_s)
    up = _braking_speed(np.array(limits.high_m) - guard.position, brake, period_s)
    down = _braking_speed(guard.position - np.array(limits.low_m), brake, period_s)
    kept = np.clip(velocity, -down, up)
    pushing = (wanted > up + 1e-9) & (up < 1e-3) | (wanted < -down - 1e-9) & (down < 1e-3)
    return kept, bool(pushing.any())


def _braking_speed(way: Array, brake: float, period_s: float) -> Array:
    """The largest speed from which periods that each take off brake · period end within `way`, this period included.

    A speed v that is allowed leaves at least v - brake · period allowed in the next period, so the rule can be kept.
    """
    return np.asarray(np.maximum(np.sqrt(2.0 * brake * np.maximum(way, 0.0)) - 0.5 * brake * period_s, 0.0))


def _approached(now: Array, wanted: Array, most: float) -> Array:
    """The vector from `now` towards `wanted`, at most `most` away from `now`."""
    return np.asarray(now + _shortened(wanted - now, most))


def _shortened(vector: Array, most: float) -> Array:
    length = float(np.linalg.norm(vector))
    return vector if length <= most else vector * (most / length)
