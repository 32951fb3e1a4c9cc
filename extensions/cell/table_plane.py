"""The table plane in a depth image, and the correction of the camera's pose that it gives."""

import numpy as np

from .lens import CameraPose, rotation_of
from .ports import Array

TRIES = 60
WITHIN_M = 0.006        # of the plane
SAMPLE = 3000           # points that are tried
LEAST_SHARE = 0.3       # of the points must lie in the plane


def table_plane(points: Array, rng: np.random.Generator) -> tuple[Array, float] | None:
    """The plane (unit normal upwards, offset) with n · p = offset that most points (n, 3) lie in, by RANSAC."""
    if len(points) < 100:
        return None
    if len(points) > SAMPLE:
        points = points[rng.choice(len(points), SAMPLE, replace=False)]
    best, most = None, int(LEAST_SHARE * len(points))
    for corners in rng.choice(len(points), (TRIES, 3)):
        a, b, c = points[corners]
        normal = np.cross(b - a, c - a)
        length = float(np.linalg.norm(normal))
        if length < 1e-4:
            continue
        close = np.abs((points - a) @ (normal / length)) < WITHIN_M
        count = int(close.sum())
        if count > most:
            best, most = close, count
    if best is None:
        return None
    inside = points[best]
    middle = inside.mean(axis=0)
    normal = np.linalg.svd(inside - middle, full_matrices=False)[2][2]
    normal *= np.sign(normal[2]) or 1.0
    return normal, float(normal @ middle)


def levelled(pose: CameraPose, normal: Array, offset: float, table_height_m: float) -> CameraPose:
    """The camera's pose after the plane that it saw in the world is made level and put at the table's height.

    The camera is turned about itself, as an error of its direction would, and moved up or down.
    """
    axis = np.cross(normal, (0.0, 0.0, 1.0))
    sine = float(np.linalg.norm(axis))
    turn = rotation_of(axis / max(sine, 1e-12) * np.arctan2(sine, normal[2]))
    above = float(normal @ pose.position) - offset
    position = np.array([pose.position[0], pose.position[1], table_height_m + above])
    return CameraPose(position, turn @ pose.rotation)


