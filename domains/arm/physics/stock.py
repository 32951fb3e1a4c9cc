"""Computes control steps by robosuite itself: the reference for the other implementations, and what
they all need of a scene: one robosuite environment with one Panda."""

from collections.abc import Sequence
from typing import Any, Protocol

import mujoco

from ..arrays import Array

# The compiled loop reads the arm from the first 7 joints and actuators and the fingers from the next 2; robosuite
# puts the robot first in every model.


class ArmScene(Protocol):
    """A robosuite environment with one Panda, its arm under OSC_POSE and its gripper with two fingers."""

    @property
    def mj_model(self) -> Any:
        """The bare mujoco.MjModel."""

    @property
    def mj_data(self) -> Any:
        """The bare mujoco.MjData."""

    @property
    def robots(self) -> Sequence[Any]:
        """robosuite's robots; the first is the Panda."""

    @property
    def arm_controller(self) -> Any:
        """The operational-space controller of its arm."""

    @property
    def gripper(self) -> Any:
        """The gripper model of its arm."""

    def step(self, action: Array) -> Any:
        """robosuite's own control step."""


class StockPhysics:
    """robosuite's `env.step`, unchanged."""

    def __init__(self, scene: ArmScene, *, goal_update: str) -> None:
        self._scene = scene
        self._goal_update = goal_update

    def begin(self) -> None:
        """Prepare for a new episode after the scene's reset."""
        set_goal_update(self._scene, self._goal_update)

    def step(self, action: Array) -> None:
        """Advance one control step; `action` (7,) is clipped to [-1, 1] by the controller."""
        self._scene.step(action)
        # Positions of bodies and sites lag one substep behind qpos; update them for the observation.
        mujoco.mj_kinematics(self._scene.mj_model, self._scene.mj_data)


def set_goal_update(scene: ArmScene, goal_update: str) -> None:
    """Make increments count from the current pose ("achieved") or from the last goal ("desired").

    After a reset robosuite's stored goal is in the world frame while it is read in the base frame; with
    "achieved" it is overwritten before use, with "desired" it must be cleared.
    """
    controller = scene.arm_controller
    controller.set_goal_update_mode(goal_update)
    if goal_update == "desired":
        controller.goal_pos = None
        controller.goal_ori = None
