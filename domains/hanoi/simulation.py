"""The parts of a simulated Hanoi environment: scene, draws applied to it, physics, and true state."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..arm.physics.choice import Physics
from .dynamics import Dynamics
from .scene import HanoiScene
from .sensors import observation_size, observation_slices

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
