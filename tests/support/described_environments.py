"""An environment that says everything in its code, and nothing in the docstring of its class."""

from enum import IntEnum
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Action(IntEnum):
    LOWER = 0
    LIFT = 1


class Arm:
    def __init__(self) -> None:
        self.height = 0.0
        self.joints = np.zeros(2)

    def get_joints(self) -> Any:
        return self.joints.copy()


class Described(gymnasium.Env[Any, Any]):
    def __init__(self, pay: float = 2.0) -> None:
        """Make it.

        Args:
            pay: what a step at the goal pays.
        """
        self.observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float64)
        self.action_space = spaces.Discrete(2)
        self.pay, self.goal = pay, 3.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.arm = Arm()
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.arm.height += 0.5 if action == Action.LIFT else -0.5
        self.arm.joints = self.np_random.normal(size=2)
        success = bool(self.arm.height > self.goal)
        return self._seen(), self.pay * success, False, False, {"is_success": success}

    def _seen(self) -> Any:
        return np.array([self.arm.height, *self.arm.joints])


gymnasium.register("Described-v0", entry_point=Described, max_episode_steps=30)
