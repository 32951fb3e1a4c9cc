"""The rewards of the Tower of Hanoi as a goal environment (paper, appendix on SAC + HER). Pure, vectorised.

A goal is the positions of the n cubes, small to large: 3 n numbers in metres, in the world frame.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

REWARDS: Final = ("sparse", "dense")
TOLERANCE_M: Final = 0.025      # of each cube from its place in the goal
SUCCESS_BONUS: Final = 5.0      # in the dense reward


def distances(achieved: ArrayLike, desired: ArrayLike) -> Floats:
    """How far each cube is from its goal, in metres: (..., 3 n), (..., 3 n) -> (..., n)."""
    offset = np.asarray(achieved, dtype=np.float64) - np.asarray(desired, dtype=np.float64)
    squares = offset * offset
    found: Floats = np.sqrt(squares[..., 0::3] + squares[..., 1::3] + squares[..., 2::3])
    return found


def is_reached(achieved: ArrayLike, desired: ArrayLike) -> Flags:
    """succ(g_ach, g*): whether every cube is within TOLERANCE_M of its goal: (..., 3 n), (..., 3 n) -> (...)."""
    return np.asarray(distances(achieved, desired).max(axis=-1) < TOLERANCE_M)


def upright(achieved: ArrayLike) -> Flags:
    """legal(g_ach): whether every larger cube is lower than every smaller one: (..., 3 n) -> (...)."""
    heights = np.asarray(achieved, dtype=np.float64)[..., 2::3]
    return np.asarray((heights[..., 1:] < heights[..., :-1]).all(axis=-1))


def sparse(achieved: ArrayLike, desired: ArrayLike) -> Floats:
    """0 where the goal is reached, else -1: (..., 3 n), (..., 3 n) -> (...)."""
    return np.asarray(is_reached(achieved, desired) - 1.0)


def dense(achieved: ArrayLike, desired: ArrayLike) -> Floats:
    """-mean distance + 5 succ - (1 - legal): (..., 3 n), (..., 3 n) -> (...).

    The mean is over the cubes, in metres.
    """
    apart = distances(achieved, desired)
    succeeded = apart.max(axis=-1) < TOLERANCE_M
    return np.asarray(SUCCESS_BONUS * succeeded - (1.0 - upright(achieved)) - apart.mean(axis=-1))


def reward_of(kind: str, achieved: Any, desired: Any) -> Floats:
    """The reward `kind`, one of REWARDS."""
    return sparse(achieved, desired) if kind == "sparse" else dense(achieved, desired)


def judge(kind: str, achieved: Sequence[float], desired: Sequence[float]) -> tuple[float, bool]:
    """The reward `kind` and whether the goal is reached, for one pair of goals as plain floats.

    The same numbers as `reward_of` and `reached` to the last bit, in a third of their time.
    """
    farthest = total = 0.0
    count = len(desired) // 3
    in_order, above = True, float("inf")
    for k in range(0, 3 * count, 3):
        x, y, z = achieved[k] - desired[k], achieved[k + 1] - desired[k + 1], achieved[k + 2] - desired[k + 2]
        apart = sqrt(x * x + y * y + z * z)
        total += apart
        farthest = max(farthest, apart)
        in_order = in_order and achieved[k + 2] < above
        above = achieved[k + 2]
    succeeded = farthest < TOLERANCE_M
    if kind == "sparse":
        return succeeded - 1.0, succeeded
    return SUCCESS_BONUS * succeeded - (1.0 - in_order) - total / count, succeeded
