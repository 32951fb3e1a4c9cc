"""How points in the plane lie along the axes of many yaws, compiled: `fitting` takes the yaw that fits best."""

import numpy as np
from numba import njit


@njit(cache=True)
def outlines(points, yaws, low, high):
    """The distance (k, 2), along both axes of each yaw, between the `low`th and the `high`th of points (n, 2)."""
    count = points.shape[0]
    lengths, along = np.empty((yaws.shape[0], 2)), np.empty(count)
    kept = np.empty(max(low + 1, count - high))
    for k in range(yaws.shape[0]):
        for axis in range(2):
            _turn(points, yaws[k], axis, 1.0, along)
            largest = _largest(along, count - high, kept)
            for i in range(count):
                along[i] = -along[i]
            lengths[k, axis] = largest + _largest(along, low + 1, kept)
    return lengths


@njit(cache=True)
def flatness(sides, yaws, camera, rank):
    """The mean distance (k,) of points (n, 2) of a cube's sides from the nearer of the two planes facing the camera.

    A plane lies at the `rank`th point towards the camera (2,).
    """
    count = sides.shape[0]
    found, eye = np.empty(yaws.shape[0]), np.empty(1)
    along, kept = np.empty((2, count)), np.empty(count - rank)
    plane = np.empty(2)
    for k in range(yaws.shape[0]):
        for axis in range(2):
            _turn(sides, yaws[k], axis, 1.0, along[axis])
            _turn(camera, yaws[k], axis, 1.0, eye)
            if eye[0] < along[axis].mean():
                _turn(sides, yaws[k], axis, -1.0, along[axis])
            plane[axis] = _largest(along[axis], count - rank, kept)
        total = 0.0
        for i in range(count):
            total += min(abs(along[0, i] - plane[0]), abs(along[1, i] - plane[1]))
        found[k] = total / count
    return found


@njit(cache=True)
def _turn(points, yaw, axis, sign, out):
    """`sign` times the coordinates (n,) of points (n, 2) along one axis of a yaw."""
    c, s = np.cos(yaw), np.sin(yaw)
    x, y = (c, s) if axis == 0 else (-s, c)
    for i in range(points.shape[0]):
        out[i] = sign * (x * points[i, 0] + y * points[i, 1])


@njit(cache=True)
def _largest(values, rank, kept):
    """The `rank`th largest value, from 1; `kept` is memory for that many. Fast for a small rank."""
    held = 0
    for value in values:
        if held == rank and value <= kept[held - 1]:
            continue
        if held < rank:
            held += 1
        place = held - 1
        while place > 0 and kept[place - 1] < value:
            kept[place] = kept[place - 1]
            place -= 1
        kept[place] = value
    return kept[rank - 1]
