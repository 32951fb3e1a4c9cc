"""Control steps of a robosuite task: the shared compiled loop, or robosuite's own step."""

from typing import Any, Protocol

import mujoco

from ..arm.arrays import Array
from ..arm.physics.choice import Physics, make_physics
from .tasks import Task


class Steps(Protocol):
    """Control steps with robosuite's reward."""

    reward: float       # robosuite's shaped reward of the last step, 1 for success; 0 after `begin`
    stopped: bool       # whether robosuite's own rules end the episode, success apart

    def begin(self) -> None:
        """Prepare for a new episode after the scene's reset."""

    def step(self, action: Array) -> None:
        """Advance one control step."""


class CompiledSteps:
    """One arm, stepped by an implementation of `arm.physics`; robosuite computes the reward of the new state."""

    def __init__(self, scene: Any, physics: Physics) -> None:
        self._scene = scene
        self.physics = physics
        self.reward, self.stopped = 0.0, False
        # robosuite's step would compute it from positions of the last substep, and again for every comparison.
        self._reward = scene.reward
        scene.reward = _no_reward

    def begin(self) -> None:
        """Prepare for a new episode after the scene's reset."""
        self.physics.begin()
        self.reward = 0.0

    def step(self, action: Array) -> None:
        """Advance one control step."""
        self.physics.step(action)
        self.reward = float(self._reward(action))


class OwnSteps:
    """robosuite's `env.step`: for two arms, and for tasks whose reward or rules need its sensors."""

    def __init__(self, scene: Any, *, goal_update: str) -> None:
        self._scene = scene
        self._goal_update = goal_update
        self.reward, self.stopped = 0.0, False

    def begin(self) -> None:
        """Prepare for a new episode after the scene's reset."""
        self.reward, self.stopped = 0.0, False
        for robot in self._scene.robots:
            controller = robot.part_controllers["right"]
            controller.set_goal_update_mode(self._goal_update)
            if self._goal_update == "desired":
                controller.goal_pos = None      # after a reset it is in another frame
                controller.goal_ori = None

    def step(self, action: Array) -> None:
        """Advance one control step."""
        _, reward, stopped, _ = self._scene.step(action)
        self.reward, self.stopped = float(reward), bool(stopped)
        # Positions of bodies and sites lag one substep behind qpos; update them for the observation.
        mujoco.mj_kinematics(self._scene.mj_model, self._scene.mj_data)


def make_steps(task: Task, scene: Any, *, physics: str, goal_update: str) -> Steps:
    """The control steps of a task."""
    if not task.compiled:
        return OwnSteps(scene, goal_update=goal_update)
    return CompiledSteps(scene, make_physics(physics, scene, goal_update=goal_update))


def _no_reward(_: Any = None) -> float:
    return 0.0
