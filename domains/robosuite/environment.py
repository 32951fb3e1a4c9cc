"""A robosuite task as a trusted worker steps it."""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from ...core.errors import RolloutError
from ...core.ports import Action
from ...core.recording import Array as AnyArray
from ...core.recording import Recording
from ...core.values import JSON
from ..arm.arrays import Array
from ..arm.sensors import ObjectSensors
from ..arm.simulator import CONTROL_HZ
from .options import DrawnNoise, settings
from .scenes import ARENA, make_scene
from .steps import make_steps
from .tasks import LASTING_STEPS, REST_M_S, REST_RAD_S, TASKS, UPRIGHT, Field, Task, layout

# The true state of a robosuite task, as the flat vector of an observation.


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


class Settling:
    """Whether a success lasts: robosuite's predicate held for half a second, with what was placed let go and at rest.

    At one instant a cube that is falling past another one touches it, and a nut that stands beside its peg is near it.
    """

    def __init__(self, scene: Any, task: Task) -> None:
        self._model, self._data = scene.mj_model, scene.mj_data
        self._flat = task.flat
        self._bodies = [self._model.body(name).id for name in task.placed]
        self._roots = {int(self._model.body_rootid[body]) for body in self._bodies}
        self._robots = {
            int(self._model.body_rootid[self._model.body(robot.robot_model.eef_name["right"]).id])
            for robot in scene.robots
        }
        self._steps = 0
        self._held: Array | None = None         # where the bodies were when the predicate held

    def begin(self) -> None:
        """Prepare for a new episode."""
        self._steps, self._held = 0, None

    def lasts(self, holds: bool) -> bool:
        """Count a control step after which the predicate holds or not; whether it has held for long enough."""
        places = self._data.xpos[self._bodies].copy()
        if holds:
            self._held = places
        # The fast physics lets resting bodies sleep: they touch still, and no contact says so.
        asleep = bool(self._bodies) and self._held is not None and np.abs(places - self._held).max() < ASLEEP_M
        self._steps = self._steps + 1 if (holds or asleep) and self._calm() else 0
        return self._steps >= LASTING_STEPS

    def _calm(self) -> bool:
        """Whether what was placed is at rest, lies flat if it must, and no robot touches it."""
        for body in self._bodies:
            start = int(self._model.jnt_dofadr[self._model.body_jntadr[body]])
            speed, turn = self._data.qvel[start : start + 3], self._data.qvel[start + 3 : start + 6]
            if np.linalg.norm(speed) > REST_M_S or np.linalg.norm(turn) > REST_RAD_S:
                return False
            if self._flat and self._data.xmat[body][8] < UPRIGHT:
                return False
        return not self._bodies or not self._touch_flags()

    def _touch_flags(self) -> bool:
        pairs = self._model.body_rootid[self._model.geom_bodyid[self._data.contact.geom]]
        return any(
            (one in self._roots and other in self._robots) or (other in self._roots and one in self._robots)
            for one, other in pairs.tolist()
        )


ASLEEP_M = 1e-5         # what has moved less is where it was
CONTROL_PERIOD_S = 1.0 / CONTROL_HZ
_OUT_OF_ARENA = slice(int(mujoco.mjtWarning.mjWARN_CONTACTFULL), int(mujoco.mjtWarning.mjWARN_CNSTRFULL) + 1)


class RobosuiteEnvironment:
    """One task at 20 Hz. An episode ends with "success", "stopped" (by robosuite's own rules) or "horizon".

    `scene`, `steps` and `truth` are public for tests and benchmarks, which compare them with robosuite.
    """

    def __init__(self, name: str, options: Mapping[str, JSON]) -> None:
        self._name, self._task = name, TASKS[name]
        self._chosen = settings(self._task, options)
        self.scene = make_scene(name, self._task, horizon=self._chosen.horizon)
        self._generator = self.scene.rng        # robosuite's samplers hold references to it
        self._overflows = self.scene.mj_data.warning.number[_OUT_OF_ARENA]
        self.steps = make_steps(
            self._task, self.scene, physics=self._chosen.physics, goal_update=self._chosen.goal_update,
        )
        self.truth = Truth(self.scene, self._task)
        self._settling = Settling(self.scene, self._task) if self._chosen.settled else None
        self._noisy = noisy_entries(self._task, self.truth.slices)
        self._sensors: ObjectSensors | None = None
        self._drawn: DrawnNoise | None = None
        self._rows: list[tuple[Array, Array]] = []          # true state, qpos
        self._actions: list[Array] = []
        self._rewards: list[float] = []
        self._successes: list[bool] = []
        self._seed, self._ended_by = 0, ""
        fields = layout(self._task)
        self.observation_layout: tuple[tuple[str, tuple[int, ...]], ...] | None = tuple(
            (field.name, (field.size,)) for field in fields
        )
        self.action_size: int | None = self._task.action_size

    def reset(self, *, index: int, seed: int) -> None:
        """Begin an episode; `seed` determines everything random in it."""
        draws, noise = (np.random.default_rng(part) for part in np.random.SeedSequence(seed).spawn(2))
        self._generator.bit_generator.state = draws.bit_generator.state
        scene = self.scene
        scene.reset()
        # Forward passes inside the reset began from model and poses of the last episode.
        scene.mj_data.qacc_warmstart[:] = 0.0
        mujoco.mj_forward(scene.mj_model, scene.mj_data)
        self.steps.begin()
        self.truth.update()
        positions, orientations = self._noisy
        self._drawn = self._chosen.ranges.draw(noise, len(positions) // 3)
        self._sensors = ObjectSensors(
            self._drawn, noise, positions=positions, orientations=orientations, control_period_s=CONTROL_PERIOD_S,
        )
        self._seed, self._ended_by = seed, ""
        self._rows, self._actions = [], []
        self._rewards, self._successes = [], []
        if self._settling is not None:
            self._settling.begin()
        self._record()

    def observe(self) -> Array:
        """The observation vector of the current state, with sensor noise. Call it once per step."""
        assert self._sensors is not None
        return self._sensors.observe(self.truth.vector)

    def step(self, action: Action) -> str | None:
        """Apply one action for 0.05 s; returns the reason why the episode ended, or None. Values are clipped."""
        command = np.array(action, dtype=np.float64)
        if command.shape != (self.action_size,):
            raise ValueError(f"an action has {self.action_size} numbers, not shape {command.shape}")
        np.clip(command, -1.0, 1.0, out=command)
        self.steps.step(command.copy())
        if self._overflows.any():
            raise RolloutError(
                f"MuJoCo dropped contacts at step {len(self._actions)}: its arena of {ARENA} is full;"
                " increase scenes.ARENA"
            )
        self.truth.update()
        self._actions.append(command)
        self._record()
        if self._successes[-1]:
            self._ended_by = "success"
        elif self.steps.stopped:
            self._ended_by = "stopped"
        elif len(self._actions) >= self._chosen.horizon:
            self._ended_by = "horizon"
        return self._ended_by or None

    def success(self) -> bool:
        """Whether robosuite's `_check_success` holds in the last state, and has held as long as the options demand."""
        return self._successes[-1]

    def recording(self) -> Recording:
        """The true trajectory so far, with the episode's draws."""
        assert self._drawn is not None
        states = np.array([row for row, _ in self._rows], dtype=np.float32)
        recorded: dict[str, AnyArray] = {
            name: states[:, where].copy() for name, where in self.truth.slices.items()
        }
        recorded["qpos"] = np.array([qpos for _, qpos in self._rows], dtype=np.float32)
        recorded["reward"] = np.array(self._rewards)
        return Recording(
            states={**recorded, "success": np.array(self._successes, dtype=np.bool_)},
            actions={"actions": np.array(self._actions).reshape(len(self._actions), self._task.action_size)},
            constants={"control_period_s": np.array(CONTROL_PERIOD_S)},
            info={
                "task": self._name, "seed": self._seed, "ended_by": self._ended_by,
                "physics": self._chosen.physics, "goal_update": self._chosen.goal_update,
                "noise": self._chosen.noise, "drawn": self._drawn.to_json(),
            },
        )

    def close(self) -> None:
        """Release the scene."""
        self.scene.close()

    def _record(self) -> None:
        self._rows.append((self.truth.vector.copy(), self.scene.mj_data.qpos.copy()))
        self._rewards.append(self.steps.reward)
        holds = bool(self.scene._check_success())
        self._successes.append(holds if self._settling is None else self._settling.lasts(holds))
