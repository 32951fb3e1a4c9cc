"""The adapter of a Franka against a fake of franky's interface, and the fake against franky. No test moves an arm."""

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from memento.core.errors import RolloutError, UsageError
from memento.extensions.cell.cell_file import Cell, cell_of
from memento.extensions.cell.hardware import FrankaArm, _quat_of, open_cell
from memento.extensions.cell.lens import matrix_of, rotation_of
from memento.extensions.cell.ports import Camera, Frame, Lens, Waypoint

DOWN = np.array([1.0, 0.0, 0.0, 0.0])
PLACE = np.array([0.5, 0.1, 0.2])       # of the fake hand, in the frame of its base


class Limit:
    value = 99.0

    def set(self, value: float) -> None:
        self.value = value


@dataclass
class Robot:
    """As much of `franky.Robot` as the adapter uses. Like the real one it refuses arguments that it does not have."""

    fci_hostname: str
    moves: list[Any] = field(default_factory=list)
    fails: bool = False
    joined: int = 0

    def __post_init__(self) -> None:
        for name in ("translation_velocity", "translation_acceleration", "rotation_velocity", "rotation_acceleration"):
            setattr(self, f"{name}_limit", Limit())
        pose = SimpleNamespace(end_effector_pose=SimpleNamespace(translation=PLACE, quaternion=DOWN))
        self.current_cartesian_state = SimpleNamespace(pose=pose)
        self.current_joint_state = SimpleNamespace(position=np.arange(7.0), velocity=np.zeros(7))
        self.state = SimpleNamespace(O_F_ext_hat_K=np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0]))

    def recover_from_errors(self) -> bool:
        return True

    def move(self, motion: Any, asynchronous: bool = False) -> None:
        if self.fails:
            raise RuntimeError("motion aborted by reflex")
        self.moves.append((motion, asynchronous))

    def join_motion(self, timeout: float | None = None) -> bool:
        self.joined += 1
        if self.fails:
            self.fails = False      # franky raises what ended a motion once
            raise RuntimeError("motion aborted by reflex")
        return True


class Command:
    def __init__(self, done: bool) -> None:
        self.done = done

    def wait(self, timeout: float | None = None) -> bool:
        self.done, done = True, self.done
        return done


class Gripper:
    width = 0.05

    def __init__(self, fci_hostname: str) -> None:
        self.calls: list[str] = []

    def move(self, width: float, speed: float) -> bool:
        self.calls.append(f"move {width:g}")
        return True

    def move_async(self, width: float, speed: float) -> Command:
        self.calls.append(f"move_async {width:g}")
        return Command(done=False)

    def grasp_async(
        self, width: float, speed: float, force: float, epsilon_inner: float = 0.005, epsilon_outer: float = 0.005,
    ) -> Command:
        self.calls.append(f"grasp {force:g}")
        return Command(done=False)

    def stop(self) -> bool:
        self.calls.append("stop")
        return True


class Made:
    """A value of franky: what it was made of."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)


class Affine(Made):
    def __init__(self, translation: list[float], quaternion: list[float]) -> None:
        self.translation, self.quaternion = translation, quaternion


class CartesianMotion(Made):
    def __init__(self, target: Affine, *, return_when_finished: bool = True) -> None:
        self.target, self.return_when_finished = target, return_when_finished


class JointMotion(Made):
    def __init__(self, target: list[float], *, relative_dynamics_factor: float = 1.0) -> None:
        self.target, self.relative_dynamics_factor = target, relative_dynamics_factor


class CartesianStopMotion(Made):
    pass


def fake(**replaced: Any) -> SimpleNamespace:
    named = (Affine, CartesianMotion, CartesianStopMotion, Gripper, JointMotion, Robot)
    return SimpleNamespace(**{**{each.__name__: each for each in named}, **replaced})


@pytest.fixture
def lab() -> Cell:
    franka = {"address": "arm.example", "base_m": [-0.5, 0.0, 0.9], "base_yaw_rad": np.pi / 2}
    return cell_of({
        "arm": {"kind": "franka", "franka": franka}, "camera": {"kind": "lab.cameras:Fixed"},
        "segmenter": {"kind": "command", "command": ["label"]},
    }, where="lab")


def ready(lab: Cell, now: list[float]) -> FrankaArm:
    arm = FrankaArm(lab, franky=fake(), clock=lambda: now[0], sleep=lambda s: now.__setitem__(0, now[0] + s))
    arm.prepare(index=0, seed=0)
    return arm


def test_readings_are_in_the_world_frame(lab: Cell) -> None:
    state = ready(lab, [10.0]).state()
    assert np.allclose(state.eef_pos, [-0.5 - 0.1, 0.5, 1.1])
    turned = rotation_of(np.array([0.0, 0.0, np.pi / 2])) @ matrix_of(DOWN)
    assert np.allclose(matrix_of(state.eef_quat), turned)
    assert np.allclose(state.force_n, [-2.0, 1.0, 3.0]) and np.allclose(state.gripper_qpos, [0.025, -0.025])
    assert state.time_s == 10.0


def test_waypoints_are_in_the_frame_of_the_base_once_a_period(lab: Cell) -> None:
    now = [10.0]
    arm = ready(lab, now)
    state = arm.state()
    for _ in range(3):
        arm.move(Waypoint(position=state.eef_pos, rotation=matrix_of(state.eef_quat), grip=0.0))
    assert now[0] == pytest.approx(10.15)
    motion, asynchronous = arm._robot.moves[-1]
    assert isinstance(motion, CartesianMotion) and asynchronous and not motion.return_when_finished
    assert np.allclose(motion.target.translation, PLACE) and np.allclose(np.abs(motion.target.quaternion), DOWN)
    assert arm._robot.translation_velocity_limit.value == lab.limits.speed_m_s


def test_the_gripper_gets_a_command_when_the_sign_changes(lab: Cell) -> None:
    arm = ready(lab, [0.0])
    state = arm.state()
    for grip in (1.0, 0.5, 0.0, 1.0, -1.0, -0.2):
        arm.move(Waypoint(position=state.eef_pos, rotation=matrix_of(state.eef_quat), grip=grip))
    assert arm._gripper.calls == ["move 0.04", "grasp 20", "stop", "move_async 0.08"]


def test_the_way_to_the_start_is_slow_and_begins_at_rest(lab: Cell) -> None:
    arm = ready(lab, [0.0])
    start = (JointMotion(list(lab.arm.franka.start_rad), relative_dynamics_factor=0.1), False)
    assert arm._robot.moves == [start]
    state = arm.state()
    arm.move(Waypoint(position=state.eef_pos, rotation=matrix_of(state.eef_quat), grip=0.0))
    arm.prepare(index=1, seed=1)            # the control mode cannot change while the hand moves
    assert [type(motion) for motion, _ in arm._robot.moves[2:]] == [CartesianStopMotion, JointMotion]
    assert arm._robot.joined == 1


def test_what_ended_the_trial_before_does_not_end_the_next_one(lab: Cell) -> None:
    arm = ready(lab, [0.0])
    state = arm.state()
    here = Waypoint(position=state.eef_pos, rotation=matrix_of(state.eef_quat), grip=0.0)
    arm.move(here)
    arm._robot.fails = True
    with pytest.raises(RolloutError, match="motion aborted by reflex"):
        arm.move(here)
    arm.prepare(index=1, seed=1)
    arm.move(here)
    assert isinstance(arm._robot.moves[-1][0], CartesianMotion)


def test_a_stopped_arm_ignores_waypoints_until_it_is_prepared(lab: Cell) -> None:
    arm = ready(lab, [0.0])
    state = arm.state()
    here = Waypoint(position=state.eef_pos, rotation=matrix_of(state.eef_quat), grip=1.0)
    arm.stop()
    assert arm._robot.moves[-1] == (CartesianStopMotion(), True)
    moves = len(arm._robot.moves)
    arm.move(here)
    assert len(arm._robot.moves) == moves and "grasp 20" not in arm._gripper.calls
    arm.prepare(index=1, seed=1)
    arm.move(here)
    assert isinstance(arm._robot.moves[-1][0], CartesianMotion)


def test_an_arm_that_stops_itself_is_a_sentence(lab: Cell) -> None:
    arm = ready(lab, [0.0])
    state = arm.state()
    arm._robot.fails = True
    with pytest.raises(RolloutError, match="does not obey: motion aborted by reflex"):
        arm.move(Waypoint(position=state.eef_pos, rotation=matrix_of(state.eef_quat), grip=0.0))


def test_an_arm_that_is_not_reached_is_refused(lab: Cell) -> None:
    def unreachable(address: str) -> None:
        raise RuntimeError("no route to host")

    with pytest.raises(UsageError, match=r"arm\.example.*no route to host"):
        FrankaArm(lab, franky=fake(Robot=unreachable))


def test_a_factory_that_is_not_there_is_refused(lab: Cell) -> None:
    with pytest.raises(UsageError, match=r"camera\.kind = 'lab\.cameras:Fixed' cannot be imported"):
        open_cell(lab)


class Fixed:
    """A laboratory's camera."""

    lens = Lens(width=32, height=32, focal_px=40.0)

    def __init__(self, cell: Cell) -> None:
        self.cell = cell

    def frame(self) -> Frame | None:
        return None


def test_factories_open_a_laboratorys_own_devices(lab: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memento.extensions.cell.hardware.import_module", lambda _: SimpleNamespace(
        Fixed=Fixed, Own=lambda cell: FrankaArm(cell, franky=fake()),
    ))
    own = lab.model_copy(update={"arm": lab.arm.model_copy(update={"kind": "lab.arms:Own"})})
    hardware = open_cell(own)
    camera: Camera = hardware.camera
    assert camera.frame() is None and isinstance(hardware.arm, FrankaArm)
    hardware.close()


def test_every_rotation_has_its_quaternion() -> None:
    rng = np.random.default_rng(0)
    for vector in [*rng.uniform(-3.1, 3.1, (50, 3)), np.array([np.pi, 0, 0]), np.array([0, 0, np.pi])]:
        rotation = rotation_of(vector)
        assert np.allclose(matrix_of(_quat_of(rotation)), rotation, atol=1e-9)


def _overloads(real: Callable[..., Any]) -> list[inspect.Signature]:
    """The signatures that pybind11 writes into the documentation, without `self`."""
    found = []
    for line in (real.__doc__ or "").splitlines():
        written = re.fullmatch(r"(?:\d+\. )?(\w+\(self: .*)", line.strip())
        if written:
            made = ast.parse(f"def {written[1]}: ...").body[0]
            assert isinstance(made, ast.FunctionDef)
            names, defaults = [each.arg for each in made.args.args[1:]], len(made.args.defaults)
            found.append(inspect.Signature([
                inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=(
                    None if place >= len(names) - defaults else inspect.Parameter.empty
                )) for place, name in enumerate(names)
            ]))
    return found


def _fits(faked: Callable[..., Any], real: inspect.Signature) -> bool:
    """Whether each call that the fake takes is one that the real function takes."""
    own = [each for each in list(inspect.signature(faked).parameters.values())[1:] if each.kind is not each.VAR_KEYWORD]
    placed = [each.name for each in own if each.kind is each.POSITIONAL_OR_KEYWORD]
    names = list(real.parameters)
    return placed == names[:len(placed)] and {each.name for each in own} <= set(names) and all(
        each.default is not each.empty or each.name in {given.name for given in own if given.default is given.empty}
        for each in real.parameters.values()
    )


NO_FRANKY = "franky-control is not installed (the extra franka); it needs no arm here"
FAKED: list[tuple[type, str]] = [
    (Robot, "recover_from_errors"), (Robot, "move"), (Robot, "join_motion"),
    (Gripper, "__init__"), (Gripper, "move"), (Gripper, "move_async"), (Gripper, "grasp_async"), (Gripper, "stop"),
    (Affine, "__init__"), (CartesianMotion, "__init__"), (JointMotion, "__init__"),
]


@pytest.mark.parametrize(("owner", "name"), FAKED, ids=lambda each: getattr(each, "__name__", each))
def test_the_fake_takes_what_franky_takes(owner: type, name: str) -> None:
    franky = pytest.importorskip("franky", reason=NO_FRANKY)
    overloads = _overloads(getattr(getattr(franky, owner.__name__), name))
    assert overloads and any(_fits(getattr(owner, name), real) for real in overloads), overloads


def test_a_call_that_franky_refuses_does_not_fit() -> None:
    class Real:
        """As pybind11 documents it."""

        def move(self) -> None:
            """move(self: franky._franky._RobotInternal, motion: franky._franky.Motion, asynchronous: bool = False)"""

    def with_more(self: object, motion: Any, *, relative_dynamics_factor: float = 1.0) -> None: ...
    def with_less(self: object) -> None: ...

    real, = _overloads(Real.move)
    assert _fits(Robot.move, real) and not _fits(with_more, real) and not _fits(with_less, real)


def test_the_adapter_drives_frankys_own_motions(lab: Cell) -> None:
    franky = pytest.importorskip("franky", reason=NO_FRANKY)
    for owner, names in ((Robot("").__dict__.keys() - {"moves", "fails", "joined"}, franky.Robot),
                         ({"width"}, franky.Gripper), ({"O_F_ext_hat_K"}, franky.RobotState)):
        assert [name for name in owner if not hasattr(names, name)] == []
    values = ("Affine", "CartesianMotion", "CartesianStopMotion", "JointMotion")
    arm = FrankaArm(lab, franky=fake(**{name: getattr(franky, name) for name in values}), sleep=lambda _: None)
    arm.prepare(index=0, seed=0)
    state = arm.state()
    arm.move(Waypoint(position=state.eef_pos, rotation=matrix_of(state.eef_quat), grip=0.0))
    arm.stop()
    made = [type(motion).__name__ for motion, _ in arm._robot.moves]
    assert made == ["JointMotion", "CartesianMotion", "CartesianStopMotion"]
