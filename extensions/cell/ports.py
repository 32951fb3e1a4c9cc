"""The ports of a robot cell: an arm, an RGB-D camera and a segmenter. A laboratory implements the first two.

Positions are metres in the cell's world frame, the frame of the policy's observation: the table top is at z = 0.8,
x points from the arm's base over the table, z up. Times are seconds of one clock for arm and camera,
`time.monotonic` in a real cell.
"""

from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...core.values import JSON

Array: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.int8]    # per pixel: 0 … n - 1 a cube, small to large; n a container; NOTHING

NOTHING = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Lens:
    """A camera's intrinsics, in the convention of OpenCV: the middle of the first pixel is at (0, 0).

    `centre_px` is the principal point, by default the middle of the image. `distortion` is empty, or the five
    coefficients k1, k2, p1, p2, k3 of Brown and Conrady.
    """

    width: int
    height: int
    focal_px: float
    focal_y_px: float | None = None         # where it differs from `focal_px`, the one along a row
    centre_px: tuple[float, float] | None = None
    distortion: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One RGB-D image. Colour and depth are aligned: a pixel of both looks along the same ray."""

    time_s: float                   # of its exposure
    colour: NDArray[np.uint8]       # (height, width, 3), red, green, blue
    depth_m: NDArray[np.float32]    # (height, width), along the optical axis; 0 where there is no reading
    truth: Labels | None = None     # (height, width); only a simulated camera knows it


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmState:
    """The robot's own readings."""

    time_s: float
    eef_pos: Array          # (3,) between the fingertips
    eef_quat: Array         # (4,) of the hand, x, y, z, w
    gripper_qpos: Array     # (2,) the fingers' distances from the middle, (q, -q)
    gripper_qvel: Array     # (2,)
    joint_pos: Array        # (7,)
    joint_vel: Array        # (7,)
    force_n: Array          # (3,) external force on the hand, world axes


@dataclass(frozen=True, slots=True, kw_only=True)
class Waypoint:
    """Where the hand is to be at the end of the next control period. The guard has checked it."""

    position: Array         # (3,)
    rotation: Array         # (3, 3) of the hand
    grip: float             # positive closes, negative opens, 0 keeps; in [-1, 1]


class Camera(Protocol):
    """A fixed RGB-D camera."""

    lens: Lens

    def frame(self) -> Frame | None:
        """The newest frame that has arrived since the last call, or None. Does not wait."""


class Segmenter(Protocol):
    """Says which object each pixel of an image shows."""

    def labels(self, frame: Frame) -> Labels:
        """One label per pixel, (height, width). Raises RolloutError if it fails or does not answer in time."""

    def close(self) -> None:
        """Release it."""


class Arm(Protocol):
    """An arm with a parallel gripper under Cartesian position control.

    `move` is called once per control period, and returns when the period is over: a simulated arm computes it, a
    real one waits for it. An arm that is stopped ignores `move` until `prepare`.
    """

    real_time: bool     # whether its clock is the world's, so that silence of a policy takes time

    def prepare(self, *, index: int, seed: int) -> None:
        """Bring the arm to its start posture with open fingers; a simulated cell also sets the objects up."""

    def state(self) -> ArmState:
        """Its latest readings."""

    def move(self, waypoint: Waypoint) -> None:
        """Go to this waypoint within one control period."""

    def stop(self) -> None:
        """Stop now and hold. May be called from another thread, at any time, more than once."""

    def close(self) -> None:
        """Release the arm."""


@runtime_checkable
class Knowing(Protocol):
    """What a simulated arm offers as well."""

    def truth(self) -> Array:
        """The true state in the layout of the policy's observation."""

    def drawn(self) -> dict[str, JSON]:
        """What the episode drew, for its record."""
