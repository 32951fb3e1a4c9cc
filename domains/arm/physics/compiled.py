"""Computes control steps of a scene with the compiled loop."""

import math
from typing import Any

import mujoco
import numpy as np

from ..arrays import Array
from ..simulator import CACHE, CONTROL_HZ, SUBSTEPS, quat2mat
from .cache import compiled_code_in, first_compilation
from .stock import ArmScene, set_goal_update

with compiled_code_in(CACHE):
    from .loop import ACHIEVED, DESIRED, Controller, Robot, control_step
    from .torques import DOF, workspace

# Of 3.6 ms, not 2. At 5 ms, which is a third faster, 4 of 134 episodes with cylinders failed; at this step
# none of 200 did. For the remaining difference to `exact` see docs/reference-policies.md.
COARSE_SUBSTEPS = 14
NO_LOG = np.empty((0, 0))
IDENTITY = np.eye(3).reshape(9)


class CompiledPhysics:
    """The substeps of robosuite's `env.step` in one compiled loop over libmujoco.

    With `near_exact` the torques agree up to rounding, otherwise bit for bit. With `sleep` MuJoCo skips
    objects at rest; `substeps` is the number per control step, 25 in robosuite. Both change trajectories
    slightly.

    `controller` and `opening` are the state outside MuJoCo that persists between steps; `robot` is the loop's
    read-only input, rebuilt by `begin`.
    """

    robot: Robot

    def __init__(
        self, scene: ArmScene, *, goal_update: str, near_exact: bool = False, sleep: bool = False,
        substeps: int = SUBSTEPS,
    ) -> None:
        self._scene = scene
        self._goal_update = goal_update
        self._near_exact = near_exact
        self.substeps = substeps
        scene.mj_model.opt.timestep = 1.0 / (CONTROL_HZ * substeps)
        # The force sensors are never read, and no state depends on them.
        scene.mj_model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SENSOR
        if sleep:
            scene.mj_model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
        with first_compilation(CACHE):
            self._workspace = workspace(scene.mj_model.nv)
            self.begin()
            whole, self.robot = self.robot, self.robot._replace(substeps=0)
            self.step(np.zeros(DOF))
            self.robot = whole

    def begin(self) -> None:
        """Read the scene after its reset, with the state of robosuite's new controllers."""
        set_goal_update(self._scene, self._goal_update)
        arm = self._scene.arm_controller
        self.robot = self._constants(arm)
        self.controller = _controller(arm, self._scene.mj_model.nv)
        self.opening = np.zeros(2) + self._scene.gripper.current_action
        self._speed = float(self._scene.gripper.speed)
        arm.scale_action(np.zeros(6))   # makes it compute its scale
        self._scale, self._shift_in, self._shift_out = (
            arm.action_scale, arm.action_input_transform, arm.action_output_transform,
        )
        self._low, self._high = arm.input_min, arm.input_max

    def step(self, action: Array, log: Array = NO_LOG) -> None:
        """Advance one control step; `action` (7,) is clipped to [-1, 1]. `log` (substeps, nu) receives the controls."""
        delta = np.minimum(np.maximum(action[:6], self._low), self._high)
        delta -= self._shift_in
        delta *= self._scale
        delta += self._shift_out
        self._grip(float(action[6]))
        control_step(
            self.robot, self.controller, self._workspace, delta, _rotation(delta[3:]), self.opening, log,
        )

    def _grip(self, command: float) -> None:
        """Positive closes, negative opens, zero holds (robosuite's PandaGripper.format_action)."""
        if command != 0.0:
            by = self._speed if command > 0.0 else -self._speed
            opening = self.opening
            opening[0] = min(max(opening[0] - by, -1.0), 1.0)
            opening[1] = min(max(opening[1] + by, -1.0), 1.0)

    def _constants(self, arm: Any) -> Robot:
        model, data = self._scene.mj_model, self._scene.mj_data
        site = model.site(arm.ref_name).id
        origin_pos, origin_rotation = self._scene.robots[0].composite_controller.get_controller_base_pose("right")
        low, high = model.actuator_ctrlrange.T.copy()
        fingers = slice(DOF, DOF + 2)
        return Robot(
            model=model._address,
            data=data._address,
            grip_site=site,
            substeps=self.substeps,
            near_exact=self._near_exact,
            goal_update=ACHIEVED if self._goal_update == "achieved" else DESIRED,
            qpos=data.qpos,
            qvel=data.qvel,
            bias=data.qfrc_bias,
            mass=data.qM,
            mass_index=_mass_index(model),
            site_pos=data.site_xpos[site],
            site_rotation=data.site_xmat[site],
            ctrl=data.ctrl,
            ctrl_low=low,
            ctrl_high=high,
            origin_pos=origin_pos,
            origin_rotation=origin_rotation.reshape(9),
            to_origin=_inverse_pose(origin_pos, origin_rotation).reshape(16),
            kp=np.asarray(arm.kp, dtype=np.float64),
            kd=np.asarray(arm.kd, dtype=np.float64),
            gripper_bias=0.5 * (high[fingers] + low[fingers]),
            gripper_weight=0.5 * (high[fingers] - low[fingers]),
        )


def _controller(arm: Any, nv: int) -> Controller:
    return Controller(
        fresh=np.array([int(arm.new_update)], dtype=np.int32),
        has_goal=np.array([int(arm.goal_pos is not None)], dtype=np.int32),
        goal_pos=np.zeros(3) if arm.goal_pos is None else np.array(arm.goal_pos),
        goal_rotation=np.zeros(9) if arm.goal_ori is None else np.array(arm.goal_ori).reshape(9),
        ref_pos=arm.ref_pos.copy(),
        ref_rotation=arm.ref_ori_mat.reshape(9).copy(),
        ref_velocity=np.concatenate([arm.ref_pos_vel, arm.ref_ori_vel]),
        jacobian=arm.J_full.reshape(6 * DOF).copy(),
        mass=arm.mass_matrix.reshape(DOF * DOF).copy(),
        joint_pos=arm.joint_pos.copy(),
        joint_vel=arm.joint_vel.copy(),
        initial_joint=np.array(arm.initial_joint),
        full_jacobian=np.zeros(6 * nv),
        world_goal_pos=np.zeros(3),
        world_goal_rotation=np.zeros(9),
        turned=np.zeros(9),
        pose=np.zeros(16),
        pose_in_base=np.zeros(16),
        force=np.zeros(3),
        turn=np.zeros(3),
        rest=np.zeros(DOF),
        torques=np.zeros(DOF),
    )


def _rotation(turn: Array) -> Array:
    """The matrix (9,) of a rotation vector, by the same operations as robosuite's axisangle2quat and quat2mat."""
    angle = math.sqrt(turn.dot(turn))
    if angle == 0.0:
        return IDENTITY
    quaternion = np.empty(4)
    xyz = quaternion[:3]
    np.divide(turn, angle, out=xyz)
    xyz *= np.sin(angle / 2.0)
    quaternion[3] = np.cos(angle / 2.0)
    matrix: Array = quat2mat(quaternion).reshape(9)
    return matrix


def _inverse_pose(position: Array, rotation: Array) -> Array:
    inverse = np.zeros((4, 4))
    inverse[:3, :3] = rotation.T
    inverse[:3, 3] = -inverse[:3, :3].dot(position)
    inverse[3, 3] = 1.0
    return inverse


def _mass_index(model: Any) -> Any:
    """Indices in MuJoCo's sparse qM of the entries of the arm's (7, 7) mass matrix; -1 for structural zeros."""
    index = np.full((DOF, DOF), -1, dtype=np.int32)
    for row in range(DOF):
        where, column = int(model.dof_Madr[row]), row
        while column >= 0:
            index[row, column] = index[column, row] = where
            where, column = where + 1, int(model.dof_parentid[column])
    return index.reshape(DOF * DOF)
