"""Geometry of a fixed camera: its pose, the ray of each pixel, points from depth."""

from typing import NamedTuple

import numpy as np

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


def pixel_rays(lens: Lens) -> Array:
    """The ray of each pixel's centre in the camera's frame, (height, width, 3), of length 1 along the optical axis."""
    x = (np.arange(lens.width) + 0.5 - lens.width / 2) / lens.focal_px
    y = (np.arange(lens.height) + 0.5 - lens.height / 2) / lens.focal_px
    rays = np.ones((lens.height, lens.width, 3))
    rays[..., 0], rays[..., 1] = x, y[:, None]
    return rays


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
