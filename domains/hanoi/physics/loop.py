"""One control step in one compiled loop: 25 times step1, operational-space control, gripper, step2.

The order of floating-point operations is robosuite's, so that with exact torques every bit of the state is.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from robosuite.utils.transform_utils import quat2mat  # type: ignore[import-untyped]

from ..task import Array
from .exact import DOF, INT, NULLSPACE_KP, Workspace, exact_torques, gemm_rows, gemv_rows
from .near_exact import near_exact_torques
from .symbols import Ints, mj_jacSite, mj_kinematics, mj_step1, mj_step2

ARM_V = slice(0, DOF)       # the arm's joints come first in qpos and qvel
ACHIEVED, DESIRED = 0, 1


class Robot(NamedTuple):
    """What does not change from reset to reset: addresses, views into MuJoCo's memory, gains and limits."""

    model: int
    data: int
    grip_site: int
    substeps: int
    near_exact: bool
    goal_update: int
    qpos: Array
    qvel: Array
    bias: Array             # qfrc_bias
    mass: Array             # qM, sparse
    mass_index: Ints        # (49,) where each entry of the arm's mass matrix is in qM, or -1
    site_pos: Array         # (3,) of the grip site
    site_rotation: Array    # (9,) by rows
    ctrl: Array
    ctrl_low: Array
    ctrl_high: Array
    origin_pos: Array       # (3,) the arm's base
    origin_rotation: Array  # (9,)
    to_origin: Array        # (16,) world to base, by rows
    kp: Array               # (6,)
    kd: Array               # (6,)
    gripper_bias: Array     # (2,) finger command = bias + weight * opening
    gripper_weight: Array


class Controller(NamedTuple):
    """What the controller carries from substep to substep. robosuite computes a reference only after it was
    used once, so the first substep after a reset works on what the reset saw (`fresh` is 0)."""

    fresh: Ints             # (1,)
    has_goal: Ints          # (1,)
    goal_pos: Array         # (3,) in the base frame
    goal_rotation: Array    # (9,) by rows
    ref_pos: Array
    ref_rotation: Array     # (9,) by rows
    ref_velocity: Array     # (6,) linear, angular
    jacobian: Array         # (42,) 6 x 7 by rows
    mass: Array             # (49,)
    joint_pos: Array
    joint_vel: Array
    initial_joint: Array
    opening: Array          # (2,) the gripper's current command


@njit(cache=True)
def control_step(robot, c, w, delta_pos, delta_quat, opening):  # type: ignore[no-untyped-def]
    """Advance one control step.

    delta_pos (3,) in metres, delta_quat (4,) x, y, z, w: the commanded increments in the base frame;
    opening (2,): the gripper's command after this action.
    """
    nv = robot.qvel.size
    full = np.zeros((6, nv))
    force, turn, rest, torques = np.empty(3), np.empty(3), np.empty(DOF), np.empty(DOF)
    goal_pos, goal_rotation = np.empty(3), np.empty(9)
    kv = np.sqrt(NULLSPACE_KP) * 2
    for substep in range(robot.substeps):
        mj_step1(robot.model, robot.data)
        if c.fresh[0]:
            _update_references(robot, c, full)
        c.fresh[0] = 1
        if substep == 0:
            _set_goal(robot, c, delta_pos, delta_quat)
            gemv_rows(3, 3, robot.origin_rotation, c.goal_pos, goal_pos)
            for i in range(3):
                goal_pos[i] = robot.origin_pos[i] + goal_pos[i]
            gemm_rows(3, robot.origin_rotation, c.goal_rotation, goal_rotation)
        _errors(robot, c, goal_pos, goal_rotation, force, turn)
        for i in range(DOF):
            rest[i] = NULLSPACE_KP * (c.initial_joint[i] - c.joint_pos[i]) - kv * c.joint_vel[i]
        if not (robot.near_exact and near_exact_torques(c.mass, c.jacobian, force, turn, robot.bias, rest, torques)):
            exact_torques(c.mass, c.jacobian, force, turn, robot.bias, rest, w, torques)
        for i in range(DOF):
            robot.ctrl[i] = min(max(torques[i], robot.ctrl_low[i]), robot.ctrl_high[i])
        for i in range(2):
            finger = robot.gripper_bias[i] + robot.gripper_weight[i] * opening[i]
            k = DOF + i
            robot.ctrl[k] = min(max(finger, robot.ctrl_low[k]), robot.ctrl_high[k])
        mj_step2(robot.model, robot.data)
    mj_kinematics(robot.model, robot.data)


@njit(inline="always")
def _update_references(robot, c, full):  # type: ignore[no-untyped-def]
    """Pose, velocity and Jacobian of the grip site, joint state and mass matrix of the arm."""
    nv = robot.qvel.size
    mj_jacSite(robot.model, robot.data, full[0:].ctypes, full[3:].ctypes, robot.grip_site)
    gemv_rows(3, nv, full[0:], robot.qvel, c.ref_velocity[0:])
    gemv_rows(3, nv, full[3:], robot.qvel, c.ref_velocity[3:])
    for row in range(6):
        for i in range(DOF):
            c.jacobian[DOF * row + i] = full[row, i]
    c.ref_pos[:] = robot.site_pos
    c.ref_rotation[:] = robot.site_rotation
    c.joint_pos[:] = robot.qpos[0:DOF]
    c.joint_vel[:] = robot.qvel[0:DOF]
    for i in range(DOF * DOF):
        where = robot.mass_index[i]
        c.mass[i] = robot.mass[where] if where >= 0 else 0.0


@njit(inline="always")
def _set_goal(robot, c, delta_pos, delta_quat):  # type: ignore[no-untyped-def]
    """The goal pose in the base frame, from the achieved pose or from the last goal."""
    if robot.goal_update == ACHIEVED or not c.has_goal[0]:
        pose, in_base = np.zeros(16), np.empty(16)
        for i in range(4):
            pose[5 * i] = 1.0
        for i in range(3):
            pose[4 * i + 3] = c.ref_pos[i]
        # A translation only: robosuite turns position and rotation into the base frame separately.
        gemm_rows(4, robot.to_origin, pose, in_base)
        for i in range(3):
            c.goal_pos[i] = in_base[4 * i + 3]
        for i in range(3):
            for j in range(3):
                pose[4 * i + j] = c.ref_rotation[3 * i + j]
        gemm_rows(4, robot.to_origin, pose, in_base)
        for i in range(3):
            for j in range(3):
                c.goal_rotation[3 * i + j] = in_base[4 * i + j]
        c.has_goal[0] = 1
    for i in range(3):
        c.goal_pos[i] = c.goal_pos[i] + delta_pos[i]
    turned = np.empty(9)
    gemm_rows(3, quat2mat(delta_quat).reshape(9), c.goal_rotation, turned)
    c.goal_rotation[:] = turned


@njit(inline="always")
def _errors(robot, c, goal_pos, goal_rotation, force, turn):  # type: ignore[no-untyped-def]
    """Desired force and torque of the end effector: kp times the pose error minus kd times the velocity."""
    for i in range(3):
        error = goal_pos[i] - c.ref_pos[i]
        force[i] = error * robot.kp[i] + -c.ref_velocity[i] * robot.kd[i]
        j, k = (i + 1) % 3, (i + 2) % 3
        cross = np.zeros(3)
        for axis in range(3):
            cross[axis] = (c.ref_rotation[3 * j + axis] * goal_rotation[3 * k + axis]
                           - c.ref_rotation[3 * k + axis] * goal_rotation[3 * j + axis])
        error = 0.5 * (cross[0] + cross[1] + cross[2])
        turn[i] = error * robot.kp[3 + i] + -c.ref_velocity[3 + i] * robot.kd[3 + i]
