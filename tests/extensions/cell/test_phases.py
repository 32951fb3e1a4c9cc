"""Phases: the planner keeps every limit whatever is commanded, and what is wrong ends the trial with a sentence."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.agents.contract_check import check
from memento.core.errors import UsageError
from memento.core.values import JSON
from memento.extensions.cell import guard as guarding
from memento.extensions.cell.cell_file import Cell, PhasesPart
from memento.extensions.cell.domain import DOMAIN
from memento.extensions.cell.environment import CellEnvironment
from memento.extensions.cell.execution import Phases
from memento.extensions.cell.guard import Stop
from memento.extensions.cell.lens import rotation_vector
from memento.extensions.cell.phases import CONTACT, DONE, UNDER_WAY, Phase, corners, corrected, read_command
from memento.extensions.cell.ports import ArmState, Waypoint

from ...conformance.domain import DomainContract
from ...conformance.environment import EnvironmentContract
from ...reference_policies import policy_program
from ...support.nightly import first_and_nightly
from .conftest import LIGHT

PERIOD_S = 0.05
CELL = Cell.model_validate({"segmenter": {"kind": "truth"}})
LIMITS, HALF = CELL.limits, CELL.objects.half_edges_m
ROOM = guarding.room(LIMITS)
MIDDLE, HIGHER = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.05])
TOWER = np.column_stack([np.full(4, 0.055), np.full(4, -0.25), 0.8 + 2 * np.cumsum(HALF[::-1])[::-1] - HALF])


def state(place: np.ndarray) -> ArmState:
    return ArmState(
        time_s=0.0, eef_pos=np.array(place, dtype=float), eef_quat=np.array([1.0, 0.0, 0.0, 0.0]),
        gripper_qpos=np.array([0.03, -0.03]), gripper_qvel=np.zeros(2), joint_pos=np.zeros(7), joint_vel=np.zeros(7),
        force_n=np.zeros(3),
    )


def action(phase: float, place: object = MIDDLE, yaw: float = 0.0, speed: float = 1.0, grip: float = 0.0) -> np.ndarray:
    return np.array([phase, *np.asarray(place), yaw, speed, grip], dtype=float)


class Arm:
    """Phases on an arm that is where its waypoints are, as far as it follows; it turns with them."""

    def __init__(self, place: np.ndarray = MIDDLE, *, follows: float = 1.0, cell: Cell = CELL) -> None:
        self.phases, self.follows = Phases(cell, PERIOD_S), follows
        self.now = self.before = state(place)
        self.phases.begin(self.now)

    def step(self, command: np.ndarray, cubes: np.ndarray = TOWER) -> Waypoint | Stop:
        following = self.phases.following(command, self.now, self.before, cubes)
        if isinstance(following, Waypoint):
            place = self.now.eef_pos + self.follows * (following.position - self.now.eef_pos)
            yaw = np.arctan2(following.rotation[1, 0], following.rotation[0, 0])
            turn = np.array([np.cos(yaw / 2), np.sin(yaw / 2), 0.0, 0.0])
            self.before, self.now = self.now, replace(
                self.now, eef_pos=place, eef_quat=turn, time_s=self.now.time_s + PERIOD_S,
            )
        return following

    def until_over(self, command: np.ndarray, cubes: np.ndarray = TOWER) -> list[np.ndarray]:
        """The waypoints up to the end of a phase."""
        found = []
        for _ in range(200):
            following = self.step(command, cubes)
            assert isinstance(following, Waypoint), following
            found.append(following.position)
            if self.phases.status != UNDER_WAY:
                return found
        raise AssertionError("the phase does not end")


PLACES = st.tuples(*(st.floats(low, high) for low, high in zip(*ROOM, strict=True)))
COMMANDS = st.builds(
    action, st.sampled_from([float(phase) for phase in Phase]), PLACES, st.floats(-1.8, 1.8), st.floats(0.05, 1.0),
    st.sampled_from([-1.0, 1.0]),
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    start=PLACES, commands=st.lists(st.tuples(COMMANDS, st.integers(1, 40)), min_size=1, max_size=8),
    follows=st.floats(0.3, 1.0),
)
def test_waypoints_keep_box_speed_and_acceleration(start, commands, follows) -> None:
    arm = Arm(np.array(start), follows=follows)
    last, velocity, rotation = arm.phases.position, np.zeros(3), np.diag([1.0, -1.0, -1.0])
    for command, periods in commands:
        for _ in range(periods):
            following = arm.step(command)
            if isinstance(following, Stop):
                return
            assert (following.position >= LIMITS.low_m).all() and (following.position <= LIMITS.high_m).all()
            now = (following.position - last) / PERIOD_S
            assert np.linalg.norm(now) <= LIMITS.speed_m_s * (1 + 1e-9)
            assert np.linalg.norm(now - velocity) <= LIMITS.acceleration_m_s2 * PERIOD_S * (1 + 1e-9)
            turned = np.linalg.norm(rotation_vector(following.rotation @ rotation.T)) / PERIOD_S
            assert turned <= LIMITS.turn_rad_s * (1 + 1e-9)
            assert guarding.tilt_rad(following.rotation) < 1e-6
            last, velocity, rotation = following.position, now, following.rotation


@pytest.mark.parametrize(("command", "why", "sentence"), [
    (np.full(7, np.nan), "action", "not seven finite numbers"),
    (np.zeros(6), "action", "not seven finite numbers"),
    (action(2.5), "action", "there is no phase 2.5"),
    (action(9), "action", "there is no phase 9"),
    (action(-1), "action", "there is no phase -1"),
    (action(Phase.LIFT, speed=0.0), "action", "the speed of lift is 0"),
    (action(Phase.LIFT, speed=1.5), "action", "the speed of lift is 1.5"),
    (action(Phase.GRASP, grip=0.0), "grip", "never close"),
    (action(Phase.RELEASE, grip=1.0), "grip", "never open"),
    (action(Phase.PICK_HOVER, [0.9, 0.0, 1.0]), "target", "pick_hover, 0.900, 0.000, 1.000, is not between"),
    (action(Phase.PLACE_DESCEND, [0.0, 0.0, 0.7]), "target", "place_descend"),
    (action(Phase.LIFT, [1e300, 0.0, 1.0]), "target", "lift"),
    (action(Phase.LIFT, speed=1e-300), "action", "the speed of lift is 1e-300, not from 0.01 to 1"),
    (action(Phase.LIFT, yaw=3.0), "target", "the yaw of lift is 3.00 rad"),
])
def test_a_wrong_command_stops_the_arm_with_a_sentence(command: np.ndarray, why: str, sentence: str) -> None:
    stop = Arm().step(command)
    assert isinstance(stop, Stop) and stop.why == why and sentence in stop.detail


def test_a_phase_keeps_its_target_and_ends_on_it() -> None:
    arm, goal = Arm(), np.array([0.1, 0.2, 0.95])
    assert arm.phases.status == DONE
    arm.step(action(Phase.LIFT, goal, yaw=0.7))
    assert arm.phases.status == UNDER_WAY
    way = arm.until_over(action(Phase.LIFT, goal + 0.05, yaw=0.1))      # what changes under way has no effect
    assert np.allclose(way[-1], goal, atol=1e-4) and arm.phases.status == DONE
    line = (np.array(way) - MIDDLE) @ ((goal - MIDDLE) / np.linalg.norm(goal - MIDDLE))
    off = np.array(way) - MIDDLE - np.outer(line, (goal - MIDDLE) / np.linalg.norm(goal - MIDDLE))
    assert np.abs(off).max() < 1e-4 and (np.diff(line) > -1e-4).all()
    assert len(way) * PERIOD_S < 2.5                                    # 0.23 m
    arm.step(action(Phase.LIFT, goal + 0.0005, yaw=0.7))
    assert arm.phases.status == DONE, "nearly the same target is no other"
    arm.step(action(Phase.LIFT, goal + 0.05, yaw=0.7))
    assert arm.phases.status == UNDER_WAY


@pytest.mark.parametrize("direction", [*np.eye(3), *-np.eye(3), np.array([1, 1, -1]), np.array([-1, 0, -1])])
def test_a_hand_reaches_the_border_of_the_workspace(direction: np.ndarray) -> None:
    goal = np.where(direction > 0.0, ROOM[1], np.where(direction < 0.0, ROOM[0], MIDDLE))
    way = Arm().until_over(action(Phase.LIFT, goal))
    assert np.allclose(way[-1], goal, atol=1e-4)


def test_another_phase_interrupts() -> None:
    arm, goal = Arm(), np.array([0.0, 0.3, 1.0])
    for _ in range(12):
        arm.step(action(Phase.LIFT, goal))
    way = arm.until_over(action(Phase.RETREAT, MIDDLE))
    assert max(place[1] for place in way) < 0.2 and np.allclose(way[-1], MIDDLE, atol=1e-4)


def test_phases_that_interrupt_each_other_for_ever_stop_the_arm() -> None:
    arm = Arm()
    for step in range(1000):
        following = arm.step(action(Phase.LIFT if step % 2 else Phase.RETREAT, [0.1, 0.2, 0.95]))
        if isinstance(following, Stop):
            assert following.why == "phase" and "phases in a row were interrupted" in following.detail
            return
    pytest.fail("it was never stopped")


def test_a_way_that_would_take_hours_is_refused() -> None:
    slow = CELL.model_copy(update={"limits": LIMITS.model_copy(update={"speed_m_s": 1e-6})})
    stop = Arm(cell=slow).step(action(Phase.LIFT, HIGHER))
    assert isinstance(stop, Stop) and stop.detail == "lift would take 71429 s at a speed of 1"


def test_targets_are_corrected_for_the_cell() -> None:
    part = PhasesPart(pick_shift_m=(0.003, -0.001), stack_shift_m=(0.0, 0.004), place_lower_m=0.005)
    top, bare, away = TOWER[0] + [0.0, 0.0, 0.1], np.array([0.055, 0.25, 0.9]), np.array([0.0, 0.0, 1.1])
    expected = {
        (Phase.PICK_HOVER, 0): (0.003, -0.001, 0.0), (Phase.PICK_DESCEND, 1): (0.003, -0.001, 0.0),
        (Phase.PLACE_HOVER, 0): (0.0, 0.004, 0.0), (Phase.PLACE_HOVER, 1): (0.0, 0.0, 0.0),
        (Phase.PLACE_DESCEND, 0): (0.0, 0.004, -0.005), (Phase.PLACE_DESCEND, 1): (0.0, 0.0, -0.005),
        (Phase.LIFT, 0): (0.0, 0.0, 0.0), (Phase.RETREAT, 1): (0.0, 0.0, 0.0),
    }
    for (phase, which), shift in expected.items():
        target = (top, bare)[which]
        command = read_command(action(phase, target))
        assert np.allclose(corrected(command, away, TOWER, part) - target, shift), phase.name
    held = np.vstack([bare - [0.0, 0.0, 0.02], TOWER[1:]])     # the cube in the hand is no stack
    assert np.allclose(corrected(read_command(action(Phase.PLACE_HOVER, bare)), bare, held, part), bare)


def test_a_corrected_target_stays_in_the_workspace() -> None:
    cell = CELL.model_copy(update={"phases": PhasesPart(place_lower_m=0.5)})
    way = Arm(cell=cell).until_over(action(Phase.PLACE_DESCEND, [0.0, 0.0, 0.9]))
    assert way[-1][2] == pytest.approx(ROOM[0][2], abs=1e-4)


def test_a_transfer_rises_over_what_stands_on_its_way() -> None:
    start, goal = np.array([0.055, -0.3, 0.85]), np.array([0.055, 0.25, 0.85])
    across = corners(Phase.PICK_HOVER, start, goal, start, TOWER, HALF, 0.03)
    top = TOWER[0, 2] + HALF[0]
    assert [tuple(corner[:2]) for corner in across] == [(0.055, -0.3), (0.055, 0.25), (0.055, 0.25)]
    assert across[0][2] == across[1][2] == pytest.approx(top + 0.012 + 0.03) and across[2][2] == goal[2]
    beside = corners(Phase.PICK_HOVER, np.add(start, [0.0, 0.4, 0.0]), goal, start, TOWER, HALF, 0.03)
    assert beside[0][2] < 0.9                               # nothing but the table is there
    held = np.vstack([start - [0.0, 0.0, 0.01], TOWER[1:]])
    hanging = corners(Phase.PLACE_HOVER, start, goal, start, held, HALF, 0.03)
    assert hanging[0][2] == pytest.approx(TOWER[1, 2] + HALF[1] + 0.01 + HALF[0] + 0.03)
    assert len(corners(Phase.LIFT, start, goal, start, TOWER, HALF, 0.03)) == 1


def test_a_transfer_without_a_way_over_is_refused() -> None:
    high = np.add(TOWER, [0.0, 0.0, 0.14])
    stop = Arm(np.array([0.0, -0.39, 1.0])).step(action(Phase.PICK_HOVER, [0.055, 0.0, 1.0]), high)
    assert isinstance(stop, Stop) and stop.why == "target" and "needs a height of 1." in stop.detail


def test_a_contact_ends_a_way() -> None:
    arm = Arm()
    for _ in range(8):
        arm.step(action(Phase.PLACE_DESCEND, [0.0, 0.0, 0.83], speed=0.3))
    arm.now = replace(arm.now, force_n=np.array([0.0, 0.0, 15.0]))
    reached = arm.now.eef_pos[2]
    way = arm.until_over(action(Phase.PLACE_DESCEND, [0.0, 0.0, 0.83], speed=0.3))
    assert arm.phases.status == CONTACT and reached - way[-1][2] < 0.012
    arm.now = replace(arm.now, force_n=np.zeros(3))
    arm.until_over(action(Phase.RETREAT, MIDDLE))
    assert arm.phases.status == DONE


@pytest.mark.parametrize("later", [1, 2, 3])
def test_a_phase_that_interrupts_a_stop_at_a_contact_keeps_the_limits(later: int) -> None:
    arm = Arm()
    for _ in range(14):
        arm.step(action(Phase.LIFT, [0.0, 0.3, 1.0]))
    arm.now = replace(arm.now, force_n=np.array([0.0, -15.0, 0.0]))
    places = [arm.phases.position]
    for step in range(60):
        following = arm.step(action(Phase.LIFT, [0.0, 0.3, 1.0]) if step < later else action(Phase.RETREAT, HIGHER))
        places.append(following.position)
    speeds = np.diff(places, axis=0) / PERIOD_S
    assert np.linalg.norm(speeds, axis=1).max() <= LIMITS.speed_m_s
    assert np.linalg.norm(np.diff(speeds, axis=0), axis=1).max() <= LIMITS.acceleration_m_s2 * PERIOD_S * (1 + 1e-9)


def test_a_hand_that_hangs_is_led_to_its_target() -> None:
    arm, goal = Arm(), np.array([0.1, 0.0, 0.9])
    arm.step(action(Phase.LIFT, goal))
    for _ in range(200):        # 7 mm below its waypoint, always
        arm.now = replace(arm.now, eef_pos=arm.phases.position - [0.0, 0.0, 0.007])
        arm.step(action(Phase.LIFT, goal))
        if arm.phases.status == DONE:
            break
    assert np.linalg.norm(arm.phases.position - [0.0, 0.0, 0.007] - goal) < CELL.phases.arrived_m + 0.001


def stopped(arm: Arm, command: np.ndarray, **readings: float) -> Stop:
    for _ in range(300):
        following = arm.step(command)
        arm.now = replace(arm.now, **{
            name: np.array([value, -value]) for name, value in readings.items()
        })
        if isinstance(following, Stop):
            return following
    raise AssertionError("it was never stopped")


def test_fingers_that_do_not_close_stop_the_arm() -> None:
    stop = stopped(Arm(), action(Phase.GRASP, grip=1.0))
    assert stop.why == "grip" and stop.detail == "the fingers did not close within 3 s of grasp: they are 60 mm apart"


def test_fingers_that_never_rest_stop_the_arm() -> None:
    stop = stopped(Arm(), action(Phase.GRASP, grip=1.0), gripper_qvel=0.05, gripper_qpos=0.02)
    assert stop.why == "grip" and "did not come to rest within 3 s of grasp" in stop.detail


def test_a_target_that_the_arm_does_not_reach_stops_it() -> None:
    stop = stopped(Arm(follows=0.0), action(Phase.LIFT, HIGHER))
    assert stop.why == "phase" and "50 mm from the target of lift 3 s after its planned end" in stop.detail


def test_fingers_that_hold_something_are_done() -> None:
    arm = Arm()
    arm.step(action(Phase.GRASP, grip=1.0))
    arm.now = replace(arm.now, gripper_qpos=np.array([0.022, -0.022]))
    arm.until_over(action(Phase.GRASP, grip=1.0))
    arm.until_over(action(Phase.LIFT, HIGHER, grip=1.0))
    arm.until_over(action(Phase.GRASP, grip=1.0))           # they were closed before: nothing needs to move


def test_the_mode_decides_the_brief_and_the_rig() -> None:
    increments, phases = (DOMAIN.options(given, preset="paper") for given in ({}, {"mode": "phases"}))
    assert increments["mode"] == "increments"
    older = {key: value for key, value in increments.items() if key != "mode"}      # of runs before there were modes
    assert DOMAIN.brief(older) == DOMAIN.brief(increments) and DOMAIN.rig(older) == DOMAIN.rig(increments)
    brief = DOMAIN.brief(phases)
    assert "[phase, x, y, z, yaw, speed, g]" in brief.policy_interface and "`rz`" not in brief.policy_interface
    assert "[dx, dy, dz" not in brief.policy_interface + brief.evaluator_interface
    assert "phase_status" in brief.policy_interface and "phase_status" in brief.evaluator_interface
    assert all(f"| {phase.value} | {phase.name.lower()} |" in brief.policy_interface for phase in Phase)
    code = Path(guarding.__file__).with_name("phases.py").read_text("utf-8").strip()
    assert code in DOMAIN.rig(phases).description and code not in DOMAIN.rig(increments).description
    with pytest.raises(UsageError, match=r"cell\.mode cannot be 'phase'; it must be one of increments, phases"):
        DOMAIN.options({"mode": "phase"}, preset="paper")


def test_the_reference_policy_keeps_the_contract() -> None:
    assert check(policy_program("cell-phases"), DOMAIN.contract) is None


# In the twin.

PHASED: dict[str, JSON] = {"horizon": 400, "mode": "phases", "cell": LIGHT}


@pytest.mark.slow
class TestCellOfPhases(DomainContract, EnvironmentContract):
    domain = "memento.extensions.cell.domain:DOMAIN"
    given = {**PHASED, "horizon": 8}


@pytest.fixture(scope="module")
def environment():
    environment = CellEnvironment(DOMAIN.options(PHASED, preset="paper"))
    yield environment
    environment.close()


CORNERS = [np.array([x, y, z]) for x in (ROOM[0][0], ROOM[1][0]) for y in (-0.4, 0.4) for z in (0.82, 1.16)]
HOSTILE = {
    "into the tower": lambda step, rng: action(Phase.LIFT, [0.055, -0.25, 0.82], grip=1.0),
    "from corner to corner": lambda step, rng: action(Phase.PICK_HOVER, CORNERS[step // 70 * 3 % 8]),
    "to and fro": lambda step, rng: action(Phase.LIFT + step // 5 % 2 * 4, CORNERS[step // 5 % 2 * 7]),
    "along the border": lambda step, rng: action(Phase.LIFT, CORNERS[step // 60 % 2 * 2]),
    "turns": lambda step, rng: action(Phase.LIFT + step // 15 % 2 * 4, MIDDLE, yaw=1.8 * (-1) ** (step // 15)),
    "against the container": lambda step, rng: action(Phase.LIFT, [0.24, 0.25, 0.82]),
    "hammers its fingers": lambda step, rng: action(Phase.WAIT, grip=(-1.0) ** step),
    "noise": lambda step, rng: action(rng.integers(9), rng.uniform(*ROOM), rng.uniform(-2, 2), 1, rng.choice([-1, 1])),
    "outside": lambda step, rng: action(Phase.PICK_HOVER, [0.5, 0.0, 1.0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", first_and_nightly(*HOSTILE))
def test_the_measured_hand_keeps_every_limit(environment: CellEnvironment, name: str) -> None:
    environment.reset(index=0, seed=7)
    rng = np.random.default_rng(3)
    for step in range(200):
        if environment.step(HOSTILE[name](step, rng)) is not None:
            break
    states, limits = environment.recording().states, environment.limits
    eef, quat = (np.asarray(states[key], dtype=float) for key in ("eef_pos", "eef_quat"))
    assert (eef >= limits.low_m).all() and (eef <= limits.high_m).all()
    assert np.linalg.norm(np.diff(eef, axis=0), axis=1).max() <= limits.speed_m_s * PERIOD_S
    cosines = np.clip(np.abs((quat[1:] * quat[:-1]).sum(axis=1)), 0.0, 1.0)
    assert (2 * np.arccos(cosines) / PERIOD_S).max() <= limits.turn_rad_s
    pressed = np.linalg.norm(states["force_n"], axis=1) > limits.force_n
    assert "1" * (limits.force_steps + 2) not in "".join("1" if each else "0" for each in pressed)


def play(environment: CellEnvironment, seed: int) -> str | None:
    """A trial of the reference policy."""
    space: dict = {"__name__": "policy"}
    exec(compile(policy_program("cell-phases").text, "cell_phases.py", "exec"), space)
    environment.reset(index=0, seed=seed)
    policy = space["FrankaPolicy"]()
    policy.reset()
    layout = environment.observation_layout
    ends = np.cumsum([shape[0] for _, shape in layout])[:-1]
    while True:
        parts = np.split(environment.observe(), ends)
        observation = {name: part for (name, _), part in zip(layout, parts, strict=True)}
        ended = environment.step(np.array(policy.compute_action(observation), dtype=float))
        if ended is not None:
            return ended


@pytest.mark.slow
def test_the_reference_policy_places_cubes_and_e_r_measures_it(environment: CellEnvironment) -> None:
    assert play(environment, 3) == "horizon"
    recording = environment.recording()
    space: dict = {"__name__": "evaluator"}
    exec(compile(DOMAIN.reference_evaluator().text, "real.py", "exec"), space)
    _, metrics = space["Evaluator"]().evaluate(recording.arrays())
    assert metrics["grasps_that_held"] == 2 and metrics["placings"] >= 1 and metrics["dropped_on_the_way"] == 0
    assert metrics["progress"] >= 1 / 15 and metrics["phases_done"] >= 12
    assert metrics["placing_lateral_mm"]["max"] < 12.0


@pytest.mark.nightly
@pytest.mark.slow
def test_the_reference_policy_moves_the_whole_tower() -> None:
    environment = CellEnvironment(DOMAIN.options({"mode": "phases"}, preset="paper"))
    try:
        assert play(environment, 1) == "success" and environment.success()
    finally:
        environment.close()
