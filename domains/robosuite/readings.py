"""The true state of a robosuite task, as the flat vector of an observation."""

from typing import Any

import numpy as np

from ..arm.arrays import Array
from .tasks import Field, Task, layout


class Truth:
    """The true values of all observed fields, one after the other in `vector`; `update` reads them."""

    def __init__(self, scene: Any, task: Task) -> None:
        self._scene = scene
        fields = layout(task)
        self.slices: dict[str, slice] = {}
        start = 0
        for field in fields:
            self.slices[field.name] = slice(start, start + field.size)
            start += field.size
        self.vector = np.zeros(start)
        self._views: list[tuple[Array, Array]] = []                 # where, from
        self._quaternions: list[tuple[Array, Array]] = []
        self._lists: list[tuple[Array, Array, list[int]]] = []      # where, from, at these indices
        self._wiped: Array | None = None
        for field in fields:
            self._connect(field, self.vector[self.slices[field.name]])

    def update(self) -> None:
        """Read the true state from the simulator."""
        for where, source in self._views:
            where[:] = source
        for where, quaternion in self._quaternions:
            where[:3], where[3] = quaternion[1:], quaternion[0]
        for where, array, indices in self._lists:
            where[:] = array[indices].reshape(-1)
        if self._wiped is not None:
            wiped = set(map(id, self._scene.wiped_markers))
            self._wiped[:] = [id(marker) in wiped for marker in self._scene.model.mujoco_arena.markers]

    def _connect(self, field: Field, where: Array) -> None:
        model, data = self._scene.mj_model, self._scene.mj_data
        kind, _, name = field.source.partition(":")
        if kind == "body_pos":
            self._views.append((where, data.xpos[model.body(name).id]))
        elif kind == "body_quat":
            self._quaternions.append((where, data.xquat[model.body(name).id]))
        elif kind == "site_pos":
            self._views.append((where, data.site_xpos[model.site(name).id]))
        elif kind == "joint":
            self._lists.append((where, data.qpos, [int(model.jnt_qposadr[model.joint(name).id])]))
        elif kind == "markers":
            bodies = [model.body(marker.root_body).id for marker in self._scene.model.mujoco_arena.markers]
            self._lists.append((where, data.xpos, bodies))
        elif kind == "wiped":
            self._wiped = where
        else:
            self._connect_robot(kind, self._scene.robots[int(name)], where)

    def _connect_robot(self, kind: str, robot: Any, where: Array) -> None:
        model, data = self._scene.mj_model, self._scene.mj_data
        if kind == "eef_pos":
            self._views.append((where, data.site_xpos[robot.eef_site_id["right"]]))
        elif kind == "eef_quat":
            self._quaternions.append((where, data.xquat[model.body(robot.robot_model.eef_name["right"]).id]))
        else:
            array, indices = {
                "fingers": (data.qpos, robot._ref_gripper_joint_pos_indexes["right"]),
                "finger_speeds": (data.qvel, robot._ref_gripper_joint_vel_indexes["right"]),
                "joints": (data.qpos, robot._ref_joint_pos_indexes),
                "joint_speeds": (data.qvel, robot._ref_joint_vel_indexes),
            }[kind]
            self._lists.append((where, array, list(indices)))


def noisy_entries(task: Task, slices: dict[str, slice]) -> tuple[list[int], list[int]]:
    """The entries of observed positions (x, y, z) and orientations (w, x, y, z) of objects in the vector."""
    positions: list[int] = []
    orientations: list[int] = []
    for field in task.fields:
        entries = list(range(slices[field.name].start, slices[field.name].stop))
        if field.is_position:
            positions += entries
        elif field.is_orientation:
            orientations += [entries[3], *entries[:3]]      # observed as x, y, z, w
    return positions, orientations
