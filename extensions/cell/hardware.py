"""Opens the arm and the camera that a cell's file names. A Franka arm behind the port `Arm`, through `franky-control`:
tested against a fake of its interface, on no arm.

Every waypoint preempts the motion to the last one; franky plans the way at 1 kHz, within the cell's own limits, to rest
at that waypoint. A motion to a waypoint holds its target until it is preempted, so that a hand that waits does not end
franky's control loop. Frames are franky's: the end effector is the point between the fingertips of a Franka Hand, as
configured in Desk.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from ...core.errors import RolloutError, UsageError
from ...core.extras import require
from .cell_file import Cell
from .lens import matrix_of, rotation_of
from .ports import Arm, ArmState, Array, Camera, Waypoint

PERIOD_S = 0.05     # between two actions of a policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """An open arm and camera. `begin(seed)` starts a trial of a simulated camera."""

    arm: Arm
    camera: Camera
    begin: Callable[[int], None]
    close: Callable[[], None]


def open_cell(cell: Cell) -> Hardware:
    """The arm and the camera of a cell. Raises UsageError for one that is not installed or cannot be reached."""
    if cell.arm.kind == "twin":
        return _twin(cell)
    camera: Any = _made(cell.camera.kind, cell, "camera.kind")
    if cell.arm.kind == "franka":
        arm: Any = FrankaArm(cell)
    else:
        arm = _made(cell.arm.kind, cell, "arm.kind")
    return Hardware(arm=arm, camera=camera, begin=lambda _: None, close=arm.close)


def _twin(cell: Cell) -> Hardware:
    from .twin import TwinArm
    from .twin_camera import TwinCamera

    arm = TwinArm(cell)
    camera = TwinCamera(cell, arm)
    return Hardware(arm=arm, camera=camera, begin=camera.begin, close=arm.close)


def _made(name: str, cell: Cell, key: str) -> object:
    """What the laboratory's own factory makes for this cell."""
    module, _, attribute = name.partition(":")
    try:
        factory = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{key} = {name!r} cannot be imported: {error}") from error
    return factory(cell)


WIDTH_M = 0.08              # of the open fingers
WIDE = 1.0                  # a grasp of any width counts
HAND_S = 5.0                # for a command of the gripper to end
REST_S = 5.0                # for the arm to come to rest


class FrankaArm:
    """Implements `ports.Arm`. Its clock is that of `time.monotonic`, and so must be that of the camera's frames."""

    real_time = True

    def __init__(
        self, cell: Cell, *, franky: Any = None, clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Connect. `franky` replaces the module, for tests. Raises UsageError if it is not installed or not reached."""
        self._franky = franky or _module()
        self._part, self._limits = cell.arm.franka, cell.limits
        self._clock, self._sleep = clock, sleep
        self._turn = rotation_of(np.array([0.0, 0.0, self._part.base_yaw_rad]))
        try:
            self._robot = self._franky.Robot(self._part.address)
            self._gripper = self._franky.Gripper(self._part.address)
        except Exception as error:      # whatever the library raises
            raise UsageError(f"the arm at {self._part.address!r} cannot be reached: {error}") from error
        self._robot.translation_velocity_limit.set(self._limits.speed_m_s)
        self._robot.translation_acceleration_limit.set(self._limits.acceleration_m_s2)
        self._robot.rotation_velocity_limit.set(self._limits.turn_rad_s)
        self._robot.rotation_acceleration_limit.set(self._limits.turn_rad_s2)
        self._stopped = True
        self._moving = False            # whether a motion was given that holds until it is stopped
        self._hand: Any = None          # the running command of the gripper
        self._grip = 0.0

    def prepare(self, *, index: int, seed: int) -> None:
        """Open the fingers and go to the start posture, slowly. Raises RolloutError if the arm refuses.

        An error that ended the last motion of the trial before is dropped: if it lasts, the way to the start fails.
        """
        self._rest()
        self._command(self._robot.recover_from_errors)
        self._command(self._gripper.move, WIDTH_M / 2, self._part.finger_speed_m_s)
        start, share = list(self._part.start_rad), self._part.start_dynamics
        self._command(lambda: self._robot.move(self._franky.JointMotion(start, relative_dynamics_factor=share)))
        self._hand, self._grip = None, 0.0
        self._width, self._seen_s = float(self._gripper.width), self._clock()
        self._due = self._clock()
        self._stopped = False

    def state(self) -> ArmState:
        """The robot's latest readings, in the world frame."""
        pose = self._robot.current_cartesian_state.pose.end_effector_pose
        joints = self._robot.current_joint_state
        width, now = float(self._gripper.width), self._clock()
        speed = (width - self._width) / 2 / max(now - self._seen_s, 1e-3)
        self._width, self._seen_s = width, now
        return ArmState(
            time_s=now,
            eef_pos=self._turn @ np.asarray(pose.translation, dtype=np.float64) + np.array(self._part.base_m),
            eef_quat=_quat_of(self._turn @ matrix_of(np.asarray(pose.quaternion, dtype=np.float64))),
            gripper_qpos=np.array([width / 2, -width / 2]), gripper_qvel=np.array([speed, -speed]),
            joint_pos=np.asarray(joints.position, dtype=np.float64),
            joint_vel=np.asarray(joints.velocity, dtype=np.float64),
            force_n=self._turn @ np.asarray(self._robot.state.O_F_ext_hat_K, dtype=np.float64)[:3],
        )

    def move(self, waypoint: Waypoint) -> None:
        """Set the next waypoint, and wait for the end of the period. Raises RolloutError if the arm stopped itself."""
        if not self._stopped:
            place = self._turn.T @ (waypoint.position - np.array(self._part.base_m))
            affine = self._franky.Affine(place.tolist(), _quat_of(self._turn.T @ waypoint.rotation).tolist())
            motion = self._franky.CartesianMotion(affine, return_when_finished=False)
            self._moving = True
            self._command(self._robot.move, motion, asynchronous=True)
            self._fingers(waypoint.grip)
        self._due = max(self._due + PERIOD_S, self._clock() - PERIOD_S)
        self._sleep(max(0.0, self._due - self._clock()))

    def stop(self) -> None:
        """Brake along the way within the limits, and ignore waypoints. The fingers keep what they hold."""
        self._stopped = True
        self._robot.move(self._franky.CartesianStopMotion(), asynchronous=True)

    def close(self) -> None:
        """Stop the arm, and wait until it is at rest."""
        self._rest()

    def _rest(self) -> None:
        """End the motion of the last waypoint. franky raises a motion's own error at the next call; it ended, too."""
        if not self._moving:
            return
        self._moving = False
        with suppress(Exception):       # of the motion that is over
            if not self._stopped:
                self.stop()
            self._robot.join_motion(REST_S)

    def _fingers(self, grip: float) -> None:
        """Begin to close or to open when the sign of the command changes; 0 keeps what was commanded."""
        sign = float(np.sign(grip))
        if sign in (0.0, self._grip):
            return
        if self._hand is not None and not self._hand.wait(0.0):
            self._command(self._gripper.stop)
            self._hand.wait(HAND_S)
        self._grip, part = sign, self._part
        if sign > 0.0:
            self._hand = self._gripper.grasp_async(
                0.0, part.finger_speed_m_s, part.grip_force_n, epsilon_inner=WIDE, epsilon_outer=WIDE,
            )
        else:
            self._hand = self._gripper.move_async(WIDTH_M, part.finger_speed_m_s)

    def _command(self, do: Callable[..., Any], *arguments: Any, **more: Any) -> None:
        try:
            do(*arguments, **more)
        except Exception as error:      # whatever the library raises
            self._stopped = True
            raise RolloutError(f"the arm does not obey: {error}") from error


def _module() -> Any:
    require("franka", "a Franka arm")
    import franky

    return franky


def _quat_of(rotation: Array) -> Array:
    """The unit quaternion x, y, z, w of a rotation matrix."""
    signs = np.array([(1, -1, -1), (-1, 1, -1), (-1, -1, 1), (1, 1, 1)])
    parts = 0.5 * np.sqrt(np.maximum(0.0, 1.0 + signs @ np.diag(rotation)))
    largest = int(parts.argmax())
    pairs = {
        (0, 1): rotation[1, 0] + rotation[0, 1], (0, 2): rotation[0, 2] + rotation[2, 0],
        (1, 2): rotation[2, 1] + rotation[1, 2], (0, 3): rotation[2, 1] - rotation[1, 2],
        (1, 3): rotation[0, 2] - rotation[2, 0], (2, 3): rotation[1, 0] - rotation[0, 1],
    }
    for other in range(4):
        if other != largest:
            parts[other] = pairs[min(other, largest), max(other, largest)] / (4.0 * parts[largest])
    return np.asarray(parts / np.linalg.norm(parts))
