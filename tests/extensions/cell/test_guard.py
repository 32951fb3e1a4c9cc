"""The guard keeps every limit, whatever the actions and however the arm follows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.extensions.cell import guard as guarding
from memento.extensions.cell.cell_file import ExecutionPart, LimitsPart
from memento.extensions.cell.guard import Guarded, Stop
from memento.extensions.cell.ports import ArmState, Waypoint

pytestmark = pytest.mark.quick

PERIOD_S = 0.05
LIMITS = LimitsPart()
LOW, HIGH = np.array(LIMITS.low_m), np.array(LIMITS.high_m)
DOWN = np.array([1.0, 0.0, 0.0, 0.0])


def state(place: np.ndarray, *, time_s: float = 0.0, force: float = 0.0) -> ArmState:
    return ArmState(
        time_s=time_s, eef_pos=np.array(place, dtype=float), eef_quat=DOWN, gripper_qpos=np.zeros(2),
        gripper_qvel=np.zeros(2), joint_pos=np.zeros(7), joint_vel=np.zeros(7), force_n=np.array([0.0, 0.0, force]),
    )


def advance(guard: Guarded, action: np.ndarray, now: ArmState, before: ArmState, mode: str):
    return guarding.advance(
        guard, action, now, before, limits=LIMITS, execution=ExecutionPart(goal_update=mode), period_s=PERIOD_S,
    )


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    start=st.tuples(*(st.floats(low, high) for low, high in zip(LOW, HIGH, strict=True))),
    actions=st.lists(
        st.lists(st.floats(-1e6, 1e6) | st.sampled_from([-1.0, 0.0, 1.0]), min_size=7, max_size=7),
        min_size=1, max_size=12,
    ),
    hold=st.integers(1, 12), follows=st.floats(0.0, 1.0), mode=st.sampled_from(["achieved", "desired"]),
)
def test_waypoints_keep_box_speed_and_acceleration(start, actions, hold, follows, mode) -> None:
    now = before = state(np.array(start))
    guard = guarding.begin(now)
    for action in [each for each in actions for _ in range(hold)]:
        following, waypoint = advance(guard, np.array(action), now, before, mode)
        if isinstance(waypoint, Stop):
            return
        assert (waypoint.position >= LOW - 1e-9).all() and (waypoint.position <= HIGH + 1e-9).all()
        assert np.linalg.norm(waypoint.position - guard.position) <= LIMITS.speed_m_s * PERIOD_S * (1 + 1e-9)
        change = np.linalg.norm(following.velocity - guard.velocity)
        assert change <= LIMITS.acceleration_m_s2 * PERIOD_S * (1 + 1e-9)
        assert np.allclose(following.position - guard.position, PERIOD_S * following.velocity, atol=1e-9)
        assert np.linalg.norm(following.turning) <= LIMITS.turn_rad_s * (1 + 1e-9)
        assert np.linalg.norm(following.turning - guard.turning) <= LIMITS.turn_rad_s2 * PERIOD_S * (1 + 1e-9)
        assert guarding.tilt_rad(waypoint.rotation) <= LIMITS.tilt_rad + 1e-9
        assert abs(waypoint.grip) <= 1.0
        guard, before = following, now
        now = state(now.eef_pos + follows * (waypoint.position - now.eef_pos), time_s=now.time_s + PERIOD_S)


@pytest.mark.parametrize("mode", ["achieved", "desired"])
@pytest.mark.parametrize("direction", [*np.eye(3), *-np.eye(3)])
def test_pushing_against_the_box_stops_the_arm_inside_of_it(direction: np.ndarray, mode: str) -> None:
    now = before = state((LOW + HIGH) / 2)
    guard = guarding.begin(now)
    for _ in range(400):
        guard, waypoint = advance(guard, np.concatenate([direction, np.zeros(4)]), now, before, mode)
        if isinstance(waypoint, Stop):
            assert waypoint.why == "box"
            assert (now.eef_pos >= LOW).all() and (now.eef_pos <= HIGH).all()
            return
        before, now = now, state(waypoint.position, time_s=now.time_s + PERIOD_S)
    pytest.fail("it was never stopped")


def test_what_is_small_passes() -> None:
    now = state((LOW + HIGH) / 2)
    _, waypoint = advance(guarding.begin(now), np.array([0.1, 0, 0, 0, 0, 0, 1.0]), now, now, "achieved")
    assert isinstance(waypoint, Waypoint) and waypoint.grip == 1.0
    assert waypoint.position[0] == pytest.approx(now.eef_pos[0] + 0.1 * 0.05 * 5.0 * PERIOD_S)


@pytest.mark.parametrize("bad", [np.full(7, np.nan), np.array([0, 0, np.inf, 0, 0, 0, 0]), np.zeros(6)])
def test_an_action_that_is_no_action_stops_the_arm(bad: np.ndarray) -> None:
    now = state((LOW + HIGH) / 2)
    _, stop = advance(guarding.begin(now), bad, now, now, "achieved")
    assert isinstance(stop, Stop) and stop.why == "action"


def test_readings_stop_the_arm() -> None:
    middle = (LOW + HIGH) / 2
    calm = state(middle)
    guard, idle = guarding.begin(calm), np.zeros(7)
    far = np.array([0.12, 0.0, 0.0])
    cases = {
        "box": (state([*middle[:2], LOW[2] - 0.02]), calm),
        "speed": (state(middle + np.array([0.05, 0, 0]), time_s=PERIOD_S), calm),
        "astray": (state(middle + far), state(middle + far)),
        "time": (state(middle, time_s=LIMITS.trial_s + 1), state(middle, time_s=LIMITS.trial_s + 0.95)),
        "tilt": (replace(calm, eef_quat=np.array([np.cos(0.5), 0.0, np.sin(0.5), 0.0])), calm),
    }
    for why, (now, before) in cases.items():
        _, stop = advance(guard, idle, now, before, "achieved")
        assert isinstance(stop, Stop) and stop.why == why, why


@pytest.mark.parametrize(("speeds", "stops"), [((0.09, 0.12), True), ((0.12, 0.12), False), ((0.15, 0.12), False)])
def test_a_hand_that_gains_speed_in_the_margin_is_stopped_earlier(speeds: tuple[float, float], stops: bool) -> None:
    """A program of increments, which turned the hand and turned round, swung it 3 mm out of the box before."""
    place, now = np.array([LOW[0] + 0.013, 0.0, 1.0]), 0.0
    there = place + np.array([PERIOD_S * sum(speeds), 0.0, 0.0])
    guard, following = guarding.begin(state(there)), None
    for speed in speeds:
        before, now = state(there, time_s=now), now + PERIOD_S
        there = there - np.array([PERIOD_S * speed, 0.0, 0.0])
        guard, following = advance(guard, np.zeros(7), state(there, time_s=now), before, "achieved")
    assert isinstance(following, Stop) == stops


def test_force_stops_the_arm_only_when_it_lasts() -> None:
    middle = (LOW + HIGH) / 2
    guard = guarding.begin(state(middle))
    found = []
    for force in (99.0, 0.0, 99.0, 99.0, 99.0):
        guard, waypoint = advance(guard, np.zeros(7), state(middle, force=force), state(middle), "achieved")
        found.append(isinstance(waypoint, Stop))
    assert found == [False, False, False, False, True]
