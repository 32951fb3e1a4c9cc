"""The parts of a simulated Hanoi environment: scene, draws applied to it, physics, and true state."""

from dataclasses import dataclass
from typing import TypeAlias

import mujoco
import numpy as np
import numpy.typing as npt

from ..arm.physics.choice import Physics
from . import task
from .randomisation import Drawn
from .scene import HanoiScene
from .sensors import observation_size, observation_slices
from .task import Array

# Applies the draws of an episode to the MuJoCo model and state: nominal values scaled or shifted.


@dataclass(frozen=True, slots=True, kw_only=True)
class Nominal:
    """The model's values before any draw, in MuJoCo's array layout."""

    friction: Array     # of geoms (n, 3)
    mass: Array         # of bodies, kg
    inertia: Array      # of bodies (n, 3), kg m²
    damping: Array      # of degrees of freedom
    gain: Array         # of actuators (n, 10)


class Dynamics:
    """Sets a scene up for each episode; every reset overwrites all values of the previous episode."""

    def __init__(self, scene: HanoiScene) -> None:
        model = scene.mj_model
        self._scene = scene
        self.cube_bodies = [model.body(f"cube_{name}").id for name in scene.object_names]
        self.nominal = Nominal(
            friction=model.geom_friction.copy(), mass=model.body_mass.copy(), inertia=model.body_inertia.copy(),
            damping=model.dof_damping.copy(), gain=model.actuator_gainprm.copy(),
        )
        self.cube_qpos, self.container_qpos = object_addresses(scene)
        self._cube_qvel = [
            int(model.jnt_dofadr[model.joint(f"cube_{name}_joint").id]) for name in scene.object_names
        ]

    def reset(self, drawn: Drawn) -> None:
        """Reset the scene with these draws: the model first, then robosuite's reset, then the object poses."""
        self._set_model(drawn)
        self._scene.reset()
        data = self._scene.mj_data
        for where, pose in zip(self.container_qpos, container_poses(drawn), strict=True):
            data.qpos[where : where + 7] = pose
        for where, pose in zip(self.cube_qpos, cube_poses(drawn), strict=True):
            data.qpos[where : where + 7] = pose
        # The solver's warm start belongs to a state before the poses were set.
        data.qacc_warmstart[:] = 0.0
        mujoco.mj_forward(self._scene.mj_model, data)

    def push(self, cube: int, velocity_m_s: tuple[float, float]) -> None:
        """Add this planar velocity to the cube's current velocity."""
        start = self._cube_qvel[cube]
        self._scene.mj_data.qvel[start : start + 2] += velocity_m_s

    def _set_model(self, drawn: Drawn) -> None:
        model, nominal = self._scene.mj_model, self.nominal
        # Every geom, fingers and table too: MuJoCo takes the larger of two geoms' coefficients, so all
        # must be set for each contact to have the drawn friction.
        model.geom_friction[:, 0] = nominal.friction[:, 0] * drawn.sliding_friction_scale
        model.geom_friction[:, 1] = drawn.torsional_friction
        model.geom_friction[:, 2] = drawn.rolling_friction
        model.body_mass[:] = nominal.mass
        model.body_inertia[:] = nominal.inertia
        for body, scale in zip(self.cube_bodies, drawn.cube_mass_scale, strict=True):
            model.body_mass[body] *= scale
            model.body_inertia[body] *= scale
        model.dof_damping[:] = nominal.damping * drawn.joint_damping_scale
        # The fingers' position servos scale in gain but not in bias: a weak gripper opens less.
        model.actuator_gainprm[:, 0] = nominal.gain[:, 0] * drawn.actuator_gain_scale
        mujoco.mj_setConst(model, self._scene.mj_data)


def container_poses(drawn: Drawn) -> list[Array]:
    """qpos (7,) of containers A, B, C on the table."""
    dx, dy = drawn.world_offset_m
    return [
        _pose(x + dx, y + dy, task.CONTAINER_Z_M, yaw)
        for (x, y), yaw in zip(task.CONTAINER_XY_M, drawn.container_yaw_rad, strict=True)
    ]


def cube_poses(drawn: Drawn) -> list[Array]:
    """qpos (7,) of the cubes, small to large: the legal tower in A's hole, each cube a little off."""
    source = container_poses(drawn)[task.SOURCE]
    x, y, _ = task.hole_centre(source[:3], source[3:])
    tower = task.tower(len(drawn.cube_mass_scale), (float(x), float(y)))
    yaw = drawn.container_yaw_rad[task.SOURCE]
    return [
        _pose(cx + dx, cy + dy, cz, yaw)
        for (cx, cy, cz), (dx, dy) in zip(tower, drawn.initial_cube_xy_m, strict=True)
    ]


def _pose(x_m: float, y_m: float, z_m: float, yaw_rad: float) -> Array:
    return np.array([x_m, y_m, z_m, np.cos(yaw_rad / 2), 0.0, 0.0, np.sin(yaw_rad / 2)])


def object_addresses(scene: HanoiScene) -> tuple[list[int], list[int]]:
    """The qpos indices at which the pose (7,) of each cube and of each container starts."""
    model = scene.mj_model

    def starts(bodies: list[str]) -> list[int]:
        return [int(model.jnt_qposadr[model.joint(f"{body}_joint").id]) for body in bodies]

    return starts([f"cube_{name}" for name in scene.object_names]), starts(
        [f"container_{name}" for name in task.CONTAINERS]
    )


Indices: TypeAlias = npt.NDArray[np.intp]


class Truth:
    """The true state as the flat observation vector, and as plain floats for the referee."""

    def __init__(self, scene: HanoiScene, dynamics: Dynamics, half_edges: tuple[float, ...]) -> None:
        n_cubes = len(half_edges)
        slices = observation_slices(n_cubes)
        model, data = scene.mj_model, scene.mj_data
        robot = scene.robots[0]
        self.vector = np.zeros(observation_size(n_cubes))
        self._eef_pos = data.site_xpos[robot.eef_site_id["right"]]
        self._hand_quat = data.xquat[model.body(robot.robot_model.eef_name["right"]).id]
        self._qpos, self._qvel = data.qpos, data.qvel
        arm, fingers = list(robot._ref_joint_pos_indexes), list(robot._ref_gripper_joint_pos_indexes["right"])
        arm_v, fingers_v = list(robot._ref_joint_vel_indexes), list(robot._ref_gripper_joint_vel_indexes["right"])
        to_qpos: list[tuple[slice, list[int]]] = [
            (slices["robot0_gripper_qpos"], fingers),
            (slices["robot0_joint_pos"], arm),
            (slices["cube_pos"], _block(dynamics.cube_qpos, 0, 3)),
            (slices["cube_quat"], _block(dynamics.cube_qpos, 3, 7)),
            (slices["boxes_pos"], _block(dynamics.container_qpos, 0, 3)),
            (slices["boxes_quat"], _block(dynamics.container_qpos, 3, 7)),
        ]
        self._into_from_qpos, self._from_qpos = _indices(to_qpos)
        self._into_from_qvel, self._from_qvel = _indices([
            (slices["robot0_gripper_qvel"], fingers_v), (slices["robot0_joint_vel"], arm_v),
        ])
        self.vector[slices["cube_size"]] = half_edges
        self.cube_block = self.vector[slices["cube_pos"]].reshape(n_cubes, 3)
        self._boxes = self.vector[slices["boxes_pos"]].reshape(3, 3)
        self._boxes_quat = self.vector[slices["boxes_quat"]].reshape(3, 4)
        self.eef: list[float] = []
        self.cubes: list[list[float]] = []
        self.containers: list[list[float]] = []
        self.container_quats: list[list[float]] = []

    def update(self) -> None:
        """Read the true state from the simulator."""
        vector = self.vector
        vector[0:3] = self._eef_pos
        vector[3:6] = self._hand_quat[1:]       # robosuite's order: x, y, z, w
        vector[6] = self._hand_quat[0]
        vector[self._into_from_qpos] = self._qpos[self._from_qpos]
        vector[self._into_from_qvel] = self._qvel[self._from_qvel]
        self.eef = vector[0:3].tolist()
        self.cubes = self.cube_block.tolist()
        self.containers = self._boxes.tolist()
        self.container_quats = self._boxes_quat.tolist()


def _block(starts: list[int], first: int, last: int) -> list[int]:
    return [start + k for start in starts for k in range(first, last)]


def _indices(pairs: list[tuple[slice, list[int]]]) -> tuple[Indices, Indices]:
    into = np.concatenate([np.arange(where.start, where.stop) for where, _ in pairs])
    return into, np.concatenate([np.asarray(source, dtype=np.intp) for _, source in pairs])


@dataclass(slots=True, kw_only=True)
class Simulation:
    """The parts of one environment, public as `HanoiEnvironment.simulation`.

    Tests and benchmarks compare them with MuJoCo and robosuite, and may replace `physics` between two episodes.
    MEMENTO itself does not access them.
    """

    scene: HanoiScene       # with `mj_model` and `mj_data`
    dynamics: Dynamics      # applies an episode's draws to the scene; addresses of cubes and containers
    physics: Physics
    truth: Truth            # as of the last step or reset
