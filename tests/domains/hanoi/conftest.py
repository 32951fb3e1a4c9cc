"""A closed loop that touches, grasps, lifts and drops, so that compared paths meet every kind of contact."""

from collections.abc import Callable

import numpy as np
import pytest
from memento.domains.hanoi.task import Array

Driver = Callable[[int, Array, Array], Array]

# The hand's target relative to the smallest cube or to the world, and the gripper's command.
PHASES = (
    ("cube", (0.0, 0.0, 0.10), -1.0), ("cube", (0.0, 0.0, 0.0), -1.0), ("cube", (0.0, 0.0, 0.0), 1.0),
    ("world", (0.05, -0.2, 1.1), 1.0), ("world", (0.05, 0.0, 0.95), 1.0), ("world", (0.05, 0.0, 0.84), 1.0),
    ("world", (0.05, 0.0, 0.84), -1.0), ("world", (0.05, -0.3, 1.0), 0.0), ("world", (0.1, -0.25, 0.88), 1.0),
    ("world", (0.0, 0.25, 0.85), -1.0),
)
PHASE_STEPS = 30


@pytest.fixture(scope="session")
def drive() -> Driver:
    """action(step, eef_pos, smallest_cube_pos): depends on the state, so that differences feed back."""

    def action(step: int, eef: Array, cube: Array) -> Array:
        frame, target, grip = PHASES[step // PHASE_STEPS % len(PHASES)]
        goal = np.array(target) + (cube if frame == "cube" else 0.0)
        turn = 0.15 * np.array([np.sin(step / 7), np.cos(step / 11), np.sin(step / 13)])
        return np.concatenate([np.clip(8.0 * (goal - eef), -1, 1), turn, [grip]])

    return action
