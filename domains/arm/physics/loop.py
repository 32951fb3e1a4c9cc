"""One control step in one compiled loop: step1, operational-space control, gripper, step2 in every substep.

The order of floating-point operations is robosuite's, so with exact torques the state agrees bit for bit.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ..arrays import Array
from .symbols import Ints, address, mj_jacSite, mj_kinematics, mj_step1, mj_step2
from .torques import DOF, NULLSPACE_KP, apply, exact_torques, multiply, near_exact_torques

ACHIEVED, DESIRED = 0, 1


class Robot(NamedTuple):
    """Inputs that stay fixed between resets: addresses, views into MuJoCo's memory, gains and limits."""

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
    """The controller state that persists between substeps, and buffers for the loop's vectors."""

    # robosuite updates the references only after they were used once, so the first substep after a
    # reset uses those of the reset: `fresh` is 0 then.
    fresh: Ints             # (1,)
    has_goal: Ints          # (1,)
    goal_pos: Array         # (3,) in the base frame
    goal_rotation: Array    # (9,)
    ref_pos: Array          # (3,) of the grip site
    ref_rotation: Array     # (9,)
    ref_velocity: Array     # (6,) linear, angular
    jacobian: Array         # (42,) 6 x 7
    mass: Array             # (49,)
    joint_pos: Array        # (7,)
    joint_vel: Array
    initial_joint: Array
    full_jacobian: Array    # (6 * nv,)
    world_goal_pos: Array
    world_goal_rotation: Array
    turned: Array           # (9,)
    pose: Array             # (16,)
    pose_in_base: Array     # (16,)
    force: Array            # (3,)
    turn: Array             # (3,)
    rest: Array             # (7,)
    torques: Array          # (7,)


@njit(cache=True, nogil=True)
def control_step(robot, c, w, delta_pos, delta_rotation, opening, log):
    """Advance one control step.

    delta_pos (3,) in metres and delta_rotation (9,) are the commanded increments in the base frame;
    opening (2,) is the gripper's command after this action; log (substeps, nu) receives the controls of
    every substep, or has no rows.
    """
    kv = np.sqrt(NULLSPACE_KP) * 2
    for substep in range(robot.substeps):
        mj_step1(robot.model, robot.data)
        if c.fresh[0]:
            _update_references(robot, c, w)
        c.fresh[0] = 1
        if substep == 0:
            _set_goal(robot, c, w, delta_pos, delta_rotation)
        _errors(robot, c)
        for i in range(DOF):
            c.rest[i] = NULLSPACE_KP * (c.initial_joint[i] - c.joint_pos[i]) - kv * c.joint_vel[i]
        done = False
        if robot.near_exact:
            done = near_exact_torques(c.mass, c.jacobian, c.force, c.turn, robot.bias, c.rest, c.torques)
        if not done:
            exact_torques(c.mass, c.jacobian, c.force, c.turn, robot.bias, c.rest, w, c.torques)
        for i in range(DOF):
            robot.ctrl[i] = min(max(c.torques[i], robot.ctrl_low[i]), robot.ctrl_high[i])
        for i in range(2):
            k = DOF + i
            finger = robot.gripper_bias[i] + robot.gripper_weight[i] * opening[i]
            robot.ctrl[k] = min(max(finger, robot.ctrl_low[k]), robot.ctrl_high[k])
        if substep < log.shape[0]:
            for i in range(robot.ctrl.size):
                log[substep, i] = robot.ctrl[i]
        mj_step2(robot.model, robot.data)
    mj_kinematics(robot.model, robot.data)


@njit
def _update_references(robot, c, w):
    """Pose, velocity and Jacobian of the grip site, joint state and mass matrix of the arm."""
    nv = robot.qvel.size
    full, qvel, velocity = address(c.full_jacobian), address(robot.qvel), address(c.ref_velocity)
    mj_jacSite(robot.model, robot.data, full, full + 8 * 3 * nv, robot.grip_site)
    apply(w, np.int64(3), nv, full, qvel, velocity)
    apply(w, np.int64(3), nv, full + 8 * 3 * nv, qvel, velocity + 8 * 3)
    for row in range(6):
        for i in range(DOF):
            c.jacobian[DOF * row + i] = c.full_jacobian[nv * row + i]
    for i in range(3):
        c.ref_pos[i] = robot.site_pos[i]
    for i in range(9):
        c.ref_rotation[i] = robot.site_rotation[i]
    for i in range(DOF):
        c.joint_pos[i] = robot.qpos[i]
        c.joint_vel[i] = robot.qvel[i]
    for i in range(DOF * DOF):
        where = robot.mass_index[i]
        c.mass[i] = robot.mass[where] if where >= 0 else 0.0


@njit
def _set_goal(robot, c, w, delta_pos, delta_rotation):
    """The goal pose, from the achieved pose or from the last goal, in the base frame and in the world."""
    if robot.goal_update == ACHIEVED or not c.has_goal[0]:
        # robosuite turns position and rotation into the base frame by two products of poses.
        for i in range(16):
            c.pose[i] = 1.0 if i % 5 == 0 else 0.0
        for i in range(3):
            c.pose[4 * i + 3] = c.ref_pos[i]
        multiply(w, np.int64(4), robot.to_origin, c.pose, c.pose_in_base)
        for i in range(3):
            c.goal_pos[i] = c.pose_in_base[4 * i + 3]
        for i in range(3):
            for k in range(3):
                c.pose[4 * i + k] = c.ref_rotation[3 * i + k]
        multiply(w, np.int64(4), robot.to_origin, c.pose, c.pose_in_base)
        for i in range(3):
            for k in range(3):
                c.goal_rotation[3 * i + k] = c.pose_in_base[4 * i + k]
        c.has_goal[0] = 1
    for i in range(3):
        c.goal_pos[i] = c.goal_pos[i] + delta_pos[i]
    multiply(w, np.int64(3), delta_rotation, c.goal_rotation, c.turned)
    for i in range(9):
        c.goal_rotation[i] = c.turned[i]
    apply(w, np.int64(3), np.int64(3), address(robot.origin_rotation), address(c.goal_pos), address(c.world_goal_pos))
    for i in range(3):
        c.world_goal_pos[i] = robot.origin_pos[i] + c.world_goal_pos[i]
    multiply(w, np.int64(3), robot.origin_rotation, c.goal_rotation, c.world_goal_rotation)


@njit
def _errors(robot, c):
    """Desired force and torque of the end effector: kp times the pose error minus kd times the velocity."""
    now, goal = c.ref_rotation, c.world_goal_rotation
    for i in range(3):
        error = c.world_goal_pos[i] - c.ref_pos[i]
        c.force[i] = error * robot.kp[i] + -c.ref_velocity[i] * robot.kd[i]
        j, k = 3 * ((i + 1) % 3), 3 * ((i + 2) % 3)
        # Half the sum of the cross products of the three axes, column by column.
        first = now[j] * goal[k] - now[k] * goal[j]
        second = now[j + 1] * goal[k + 1] - now[k + 1] * goal[j + 1]
        third = now[j + 2] * goal[k + 2] - now[k + 2] * goal[j + 2]
        error = 0.5 * (first + second + third)
        c.turn[i] = error * robot.kp[3 + i] + -c.ref_velocity[3 + i] * robot.kd[3 + i]
