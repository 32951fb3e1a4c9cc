"""The observation of a policy: the flat vector, and the sensor noise added to the true state."""

from collections.abc import Sequence

import numpy as np

from ..arm.sensors import ObjectSensors
from .randomisation import Drawn

Layout = tuple[tuple[str, tuple[int, ...]], ...]


def observation_layout(n_cubes: int) -> Layout:
    """Names and shapes of the observation's fields, in order (paper, table of observation fields)."""
    return (
        ("robot0_eef_pos", (3,)),
        ("robot0_eef_quat", (4,)),          # x, y, z, w
        ("robot0_gripper_qpos", (2,)),
        ("robot0_gripper_qvel", (2,)),
        ("robot0_joint_pos", (7,)),
        ("robot0_joint_vel", (7,)),
        ("cube_pos", (3 * n_cubes,)),
        ("cube_quat", (4 * n_cubes,)),      # w, x, y, z
        ("cube_size", (n_cubes,)),
        ("boxes_pos", (9,)),
        ("boxes_quat", (12,)),              # w, x, y, z
    )


def observation_slices(n_cubes: int) -> dict[str, slice]:
    """The slice of each field in the flat vector."""
    slices, start = {}, 0
    for name, shape in observation_layout(n_cubes):
        slices[name] = slice(start, start + shape[0])
        start += shape[0]
    return slices


def observation_size(n_cubes: int) -> int:
    """The length of the flat vector."""
    return sum(shape[0] for _, shape in observation_layout(n_cubes))


class Sensors(ObjectSensors):
    """Turns the true state vector of a Hanoi task into observations. The robot's own readings and sizes are exact."""

    def __init__(
        self, drawn: Drawn, rng: np.random.Generator, *, half_edges: Sequence[float], control_period_s: float,
    ) -> None:
        slices = observation_slices(len(half_edges))

        def entries(*names: str) -> list[int]:
            return [k for name in names for k in range(slices[name].start, slices[name].stop)]

        super().__init__(
            drawn, rng, positions=entries("cube_pos", "boxes_pos"), orientations=entries("cube_quat", "boxes_quat"),
            control_period_s=control_period_s,
        )
