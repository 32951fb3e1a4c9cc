"""Γ_R's guard: from a policy's seven numbers to waypoints that keep every limit, or to a stop. Pure.

What is kept by construction, for any action: waypoints stay in the box with a margin, the commanded speed and
acceleration of the hand stay below their limits with a margin, and so do those of its rotation. The margins are for the
arm's lag: the limits are those of the hand as it is measured. What is watched in the readings: force, speed, the box,
the tool's tilt, and whether the arm follows. A violation ends the trial; nothing but a new trial undoes a stop.
"""

from dataclasses import dataclass, replace

import numpy as np

from .cell_file import Cell, ExecutionPart, LimitsPart
from .lens import matrix_of, rotation_of, rotation_vector
from .ports import ArmState, Array, Waypoint

COMMANDED = 0.7             # share of a limit of speed, rotation or tilt that is commanded: the hand swings over it
AHEAD_S = 0.1               # a hand that would be outside of the box so soon is stopped
TOUCH = 0.5                 # share of the largest force from which the hand does not push farther


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The arm was stopped. `why` is one of the words below, `detail` one clause with numbers.

    action, box, force, speed, tilt, astray, dead-man, time; and where phases are carried out: target, phase, grip
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
    measured: Array         # (3,) m/s of the hand in the last period
    gained: Array           # (3,) m/s, by which that changed
    begun_s: float
    forced: int = 0         # periods in a row with too much force
    walled: int = 0         # periods in a row in which the policy pushed against the box


def begin(state: ArmState) -> Guarded:
    """The guard of a trial that starts in this state."""
    rotation = matrix_of(state.eef_quat)
    return Guarded(
        position=state.eef_pos.copy(), rotation=rotation, velocity=np.zeros(3), turning=np.zeros(3),
        goal=state.eef_pos.copy(), goal_rotation=rotation, measured=np.zeros(3), gained=np.zeros(3),
        begun_s=state.time_s,
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
    guard = after_period(guard, state, before, limits)
    broken = violation(guard, state, limits)
    if broken is not None:
        return guard, broken
    action = np.clip(action, -1.0, 1.0)
    goal, goal_rotation = _goals(guard, action, state, execution)
    if execution.goal_update == "achieved":
        pull, turn = goal - state.eef_pos, rotation_vector(goal_rotation @ matrix_of(state.eef_quat).T)
    else:
        pull, turn = goal - guard.position, rotation_vector(goal_rotation @ guard.rotation.T)
    wanted = execution.rate_per_s * pull + execution.yield_per_s * (state.eef_pos - guard.position)
    if np.linalg.norm(turn) > execution.turn_first_rad:
        wanted[2] = max(wanted[2], 0.0)     # the hand turns first, and descends then
    wanted = _leashed(guard, _shortened(wanted, COMMANDED * limits.speed_m_s), state, limits)
    velocity, blocked = _admissible(guard, wanted, state, limits, period_s)
    lag = rotation_vector(matrix_of(state.eef_quat) @ guard.rotation.T)
    turn = _shortened(execution.rate_per_s * turn + execution.yield_per_s * lag, COMMANDED * limits.turn_rad_s)
    turning = _approached(guard.turning, turn, limits.turn_rad_s2 * period_s)
    low, high = room(limits)   # a hand that begins outside of it need not jump there
    position = guard.position + period_s * velocity
    position = np.clip(position, np.minimum(low, guard.position), np.maximum(high, guard.position))
    rotation = rotation_of(period_s * turning) @ guard.rotation
    tilt = tilt_rad(rotation)
    if tilt > max(COMMANDED * limits.tilt_rad, tilt_rad(guard.rotation)):
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


def after_period(guard: Guarded, state: ArmState, before: ArmState, limits: LimitsPart) -> Guarded:
    """The guard after a period with these readings at its end and those before it."""
    passed_s = state.time_s - before.time_s
    velocity = (state.eef_pos - before.eef_pos) / passed_s if passed_s > 0.0 else np.zeros(3)
    forced = guard.forced + 1 if np.linalg.norm(state.force_n) > limits.force_n else 0
    return replace(guard, measured=velocity, gained=velocity - guard.measured, forced=forced)


def violation(guard: Guarded, state: ArmState, limits: LimitsPart) -> Stop | None:
    """The limit that the readings break, if any."""
    low, high = room(limits)
    # No waypoint leads into the margin: a hand that gains speed there swings, and gains as much once more.
    swings = ((state.eef_pos < low) | (state.eef_pos > high)) & (guard.gained * guard.measured > 0.0)
    soon = state.eef_pos + AHEAD_S * (guard.measured + np.where(swings, guard.gained, 0.0))
    if (soon < limits.low_m).any() or (soon > limits.high_m).any():
        where = ", ".join(f"{value:.3f}" for value in state.eef_pos)
        return Stop(why="box", detail=f"the hand leaves the workspace, at {where}")
    if guard.forced >= limits.force_steps:
        return Stop(why="force", detail=f"{np.linalg.norm(state.force_n):.0f} N on the hand")
    speed = float(np.linalg.norm(guard.measured))
    if speed > limits.speed_m_s:
        return Stop(why="speed", detail=f"the hand moves at {speed:.2f} m/s")
    away = float(np.linalg.norm(state.eef_pos - guard.position))
    if away > limits.astray_m:
        return Stop(why="astray", detail=f"the hand is {1000 * away:.0f} mm from its waypoint")
    tilt = tilt_rad(matrix_of(state.eef_quat))
    if tilt > limits.tilt_rad:
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
    """The wanted velocity without what leads farther away from a hand that is held up, or into what it touches."""
    ahead = guard.position - state.eef_pos
    length = float(np.linalg.norm(ahead))
    if length > limits.leash_m:
        wanted = _without(wanted, ahead / length)
    force = float(np.linalg.norm(state.force_n))
    return _without(wanted, -state.force_n / force) if force > TOUCH * limits.force_n else wanted


def _without(wanted: Array, direction: Array) -> Array:
    """A velocity without its part in this direction."""
    return np.asarray(wanted - max(0.0, float(wanted @ direction)) * direction)


def room(limits: LimitsPart) -> tuple[Array, Array]:
    """The box of waypoints, (3,) and (3,): that of the hand without its margin."""
    margin = np.array(limits.margin_m)
    return np.array(limits.low_m) + margin, np.array(limits.high_m) - margin


def _admissible(
    guard: Guarded, wanted: Array, state: ArmState, limits: LimitsPart, period_s: float
) -> tuple[Array, bool]:
    """The velocity nearest to the wanted one from which the hand can still brake within the box; whether that is less.

    Each axis brakes with its own, gentler deceleration: a velocity is allowed only if the way that is left is enough,
    from the waypoint or from the hand, whichever is nearer to the border.
    What is wanted gets the acceleration that braking on all axes leaves, so the whole stays below the limit.
    """
    brake = limits.braking_m_s2
    rest = limits.acceleration_m_s2 - np.sqrt(3.0) * brake
    velocity = _approached(guard.velocity, wanted, rest * period_s)
    low, high = room(limits)
    up = _braking_speed(high - np.maximum(guard.position, state.eef_pos), brake, period_s)
    down = _braking_speed(np.minimum(guard.position, state.eef_pos) - low, brake, period_s)
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


class Increments:
    """Carries out the increments of one trial after another: one call of `following` per control period."""

    status: int | None = None       # there are no phases

    def __init__(self, cell: Cell, period_s: float) -> None:
        self._limits, self._execution, self._period_s = cell.limits, cell.execution, period_s

    def begin(self, state: ArmState) -> None:
        """A trial that starts in this state."""
        self._guard = begin(state)

    @property
    def position(self) -> Array:
        """The last waypoint (3,)."""
        return self._guard.position

    def following(self, action: Array, state: ArmState, before: ArmState, cubes: Array) -> Waypoint | Stop:
        """The next waypoint for an action (7,), or why the arm stops. Where the cubes are has no effect."""
        self._guard, following = advance(
            self._guard, action, state, before, limits=self._limits, execution=self._execution, period_s=self._period_s,
        )
        return following
