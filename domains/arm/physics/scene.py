"""What the physics needs of a scene: one robosuite environment with one Panda."""

from collections.abc import Sequence
from typing import Any, Protocol

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
