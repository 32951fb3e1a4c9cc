"""The adapter of a Franka against a fake of franky's interface. No test here moves an arm."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from memento.core.errors import RolloutError, UsageError
from memento.domains.cell.cell_file import Cell, cell_of
from memento.domains.cell.hardware import FrankaArm, _quat_of, open_cell
from memento.domains.cell.lens import matrix_of, rotation_of
from memento.domains.cell.ports import Camera, Frame, Lens, Waypoint

DOWN = np.array([1.0, 0.0, 0.0, 0.0])
PLACE = np.array([0.5, 0.1, 0.2])       # of the fake hand, in the frame of its base


class Limit:
    value = 99.0

    def set(self, value: float) -> None:
        self.value = value


@dataclass
class Robot:
    """As much of `franky.Robot` as the adapter uses."""

    address: str
    moves: list[Any] = field(default_factory=list)
    fails: bool = False

    def __post_init__(self) -> None:
        for name in ("translation_velocity", "translation_acceleration", "rotation_velocity", "rotation_acceleration"):
            setattr(self, f"{name}_limit", Limit())
        pose = SimpleNamespace(end_effector_pose=SimpleNamespace(translation=PLACE, quaternion=DOWN))
        self.current_cartesian_state = SimpleNamespace(pose=pose)
        self.current_joint_state = SimpleNamespace(position=np.arange(7.0), velocity=np.zeros(7))
        self.state = SimpleNamespace(O_F_ext_hat_K=np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0]))

    def recover_from_errors(self) -> bool:
        return True

    def move(self, motion: Any, **more: Any) -> None:
        if self.fails:
            raise RuntimeError("motion aborted by reflex")
        self.moves.append((motion, more))


class Command:
    def __init__(self, done: bool) -> None:
        self.done = done

    def wait(self, limit_s: float) -> bool:
        self.done, done = True, self.done
        return done


class Gripper:
    width = 0.05

    def __init__(self, address: str) -> None:
        self.calls: list[str] = []

    def move(self, width: float, speed: float) -> bool:
        self.calls.append(f"move {width:g}")
        return True

    def move_async(self, width: float, speed: float) -> Command:
        self.calls.append(f"move_async {width:g}")
        return Command(done=False)

    def grasp_async(self, width: float, speed: float, force: float, **epsilons: float) -> Command:
        self.calls.append(f"grasp {force:g}")
        return Command(done=False)

    def stop(self) -> bool:
        self.calls.append("stop")
        return True


def fake(**replaced: Any) -> SimpleNamespace:
    named = {name: (lambda *given, name=name: (name, *given)) for name in (
        "Affine", "CartesianMotion", "CartesianStopMotion", "JointMotion",
    )}
    return SimpleNamespace(**{"Robot": Robot, "Gripper": Gripper, **named, **replaced})


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
    motion, more = arm._robot.moves[-1]
    _, (_, place, quat) = motion
    assert motion[0] == "CartesianMotion" and more == {"asynchronous": True}
    assert np.allclose(place, PLACE) and np.allclose(np.abs(quat), DOWN)
    assert arm._robot.translation_velocity_limit.value == lab.limits.speed_m_s


def test_the_gripper_gets_a_command_when_the_sign_changes(lab: Cell) -> None:
    arm = ready(lab, [0.0])
    state = arm.state()
    for grip in (1.0, 0.5, 0.0, 1.0, -1.0, -0.2):
        arm.move(Waypoint(position=state.eef_pos, rotation=matrix_of(state.eef_quat), grip=grip))
    assert arm._gripper.calls == ["move 0.04", "grasp 20", "stop", "move_async 0.08"]


def test_a_stopped_arm_ignores_waypoints_until_it_is_prepared(lab: Cell) -> None:
    arm = ready(lab, [0.0])
    state = arm.state()
    here = Waypoint(position=state.eef_pos, rotation=matrix_of(state.eef_quat), grip=1.0)
    arm.stop()
    assert arm._robot.moves[-1][0] == ("CartesianStopMotion",)
    moves = len(arm._robot.moves)
    arm.move(here)
    assert len(arm._robot.moves) == moves and "grasp 20" not in arm._gripper.calls
    arm.prepare(index=1, seed=1)
    arm.move(here)
    assert arm._robot.moves[-1][0][0] == "CartesianMotion"


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
    monkeypatch.setattr("memento.domains.cell.hardware.import_module", lambda _: SimpleNamespace(
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
