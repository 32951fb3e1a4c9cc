"""Geometry of a fixed camera: its pose, the ray of each pixel, points from depth."""

from typing import NamedTuple

import numpy as np

from ...core.errors import UsageError
from .ports import Array, Lens


class CameraPose(NamedTuple):
    """Where a camera stands. The columns of `rotation` are its axes: right, down, forward."""

    position: Array     # (3,)
    rotation: Array     # (3, 3)


def looking(position_m: Array, look_at_m: Array, roll_rad: float = 0.0) -> CameraPose:
    """The pose of a camera that looks from one point at another, upright, then turned about its axis by `roll_rad`."""
    forward = np.subtract(look_at_m, position_m)
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    upright = np.column_stack([right, np.cross(forward, right), forward])
    c, s = np.cos(roll_rad), np.sin(roll_rad)
    roll = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return CameraPose(np.asarray(position_m, dtype=np.float64), upright @ roll)


STEPS = 20      # of the iteration that removes distortion; 1e-6 of the focal length is reached after a few


def pixel_rays(lens: Lens) -> Array:
    """The ray of each pixel's centre in the camera's frame, (height, width, 3), of length 1 along the optical axis.

    Raises UsageError for a distortion that cannot be removed.
    """
    across, down = lens.centre_px or ((lens.width - 1) / 2, (lens.height - 1) / 2)
    rays = np.ones((lens.height, lens.width, 3))
    rays[..., 0] = (np.arange(lens.width) - across) / lens.focal_px
    rays[..., 1] = ((np.arange(lens.height) - down) / (lens.focal_y_px or lens.focal_px))[:, None]
    if any(lens.distortion):
        rays[..., :2] = _undistorted(rays[..., :2], lens.distortion)
    return rays


def distorted(place: Array, coefficients: tuple[float, ...]) -> Array:
    """Where the lens puts points (…, 2) of the plane at distance 1, by the model of Brown and Conrady."""
    k1, k2, p1, p2, k3 = coefficients
    x, y = place[..., 0], place[..., 1]
    square = x * x + y * y
    radial = 1.0 + square * (k1 + square * (k2 + square * k3))
    return np.stack([
        x * radial + 2 * p1 * x * y + p2 * (square + 2 * x * x),
        y * radial + p1 * (square + 2 * y * y) + 2 * p2 * x * y,
    ], axis=-1)


def _undistorted(seen: Array, coefficients: tuple[float, ...]) -> Array:
    """The points that the lens puts there. Raises UsageError where the iteration does not come to rest."""
    if len(coefficients) != 5:
        raise UsageError(f"a lens has five coefficients of distortion, k1, k2, p1, p2 and k3, not {len(coefficients)}")
    place = seen.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(STEPS):
            place = place - (distorted(place, coefficients) - seen)
        left = np.abs(distorted(place, coefficients) - seen).max()
    if not left < 1e-4:
        raise UsageError("the lens's distortion cannot be removed: rectify the images, and give it as 0")
    return place


def rotation_of(vector: Array) -> Array:
    """The rotation matrix (3, 3) of a rotation vector (3,)."""
    angle = float(np.linalg.norm(vector))
    x, y, z = vector
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < 1e-9:
        return np.asarray(np.eye(3) + cross)
    turned: Array = np.eye(3) + np.sin(angle) / angle * cross + (1.0 - np.cos(angle)) / angle ** 2 * cross @ cross
    return turned


def rotation_vector(rotation: Array) -> Array:
    """The rotation vector (3,) of a rotation matrix, for angles below pi."""
    axis = 0.5 * np.array([
        rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1],
    ])
    sine, cosine = float(np.linalg.norm(axis)), 0.5 * (float(np.trace(rotation)) - 1.0)
    return axis if sine < 1e-9 else np.asarray(axis * (np.arctan2(sine, cosine) / sine))


def moved(pose: CameraPose, shift_m: Array, turn_rad: Array) -> CameraPose:
    """A camera that stands `shift_m` away and is turned by the rotation vector `turn_rad` about itself."""
    return CameraPose(pose.position + shift_m, rotation_of(np.asarray(turn_rad)) @ pose.rotation)


def matrix_of(quat_xyzw: Array) -> Array:
    """The rotation matrix (3, 3) of a unit quaternion x, y, z, w."""
    x, y, z, w = quat_xyzw
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])
