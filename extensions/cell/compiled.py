"""The compiled functions of the cell: which triangle each pixel sees, and how points lie along the axes of many yaws.

A triangle that spans the corners a, b, c as seen from the camera meets the ray d where the determinants d·(b×c),
d·(c×a) and d·(a×b) have one sign; its depth there is a·(b×c) over their sum. Neighbours compute the determinant of a
shared edge from the same products, so no ray passes between them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from ...domains.arm.physics.cache import cache_folder, compiled_code_in

COMPILED = cache_folder() / "cell"
COMPILED.mkdir(mode=0o700, exist_ok=True)

NEAR_M = 0.05       # a corner nearer to the camera than this has no place in the image


def _compiled(function: Callable[..., Any]) -> Any:
    """The function, compiled when it is first called; the code is kept in COMPILED for other processes."""
    with compiled_code_in(COMPILED):
        return njit(cache=True)(function)


@_compiled
def draw(position, rotation, placed, shapes, focal_px, depth, seen):
    """Lower `depth` (height, width) and set `seen` to the row of a triangle, where one is nearer than `depth`.

    `position` (3,) and `rotation` (3, 3) are the camera's; `placed` is (places (n, 3), rotations (n, 3, 3)) of the
    shapes; `shapes` is (corners (c, 3), faces (t, 3), first corner (n + 1), first face (n + 1), boxes (n, 2, 3)).
    """
    places, rotations = placed
    corners, faces, first_corner, first_face, boxes = shapes
    seen_from = np.empty((corners.shape[0], 3))
    for shape in range(places.shape[0]):
        turn = rotation.T @ rotations[shape]
        shift = rotation.T @ (places[shape] - position)
        if not _in_sight(boxes[shape], turn, shift, focal_px, depth):
            continue
        for k in range(first_corner[shape], first_corner[shape + 1]):
            for i in range(3):
                seen_from[k, i] = (
                    turn[i, 0] * corners[k, 0] + turn[i, 1] * corners[k, 1] + turn[i, 2] * corners[k, 2] + shift[i]
                )
        for face in range(first_face[shape], first_face[shape + 1]):
            _triangle(
                seen_from[faces[face, 0]], seen_from[faces[face, 1]], seen_from[faces[face, 2]], face, focal_px, depth,
                seen,
            )


@_compiled
def _in_sight(box, turn, shift, focal_px, depth):
    """Whether the corners of a shape's bounding box surround any pixel."""
    height, width = depth.shape
    low_x, high_x, low_y, high_y = np.inf, -np.inf, np.inf, -np.inf
    behind = 0
    for corner in range(8):
        x, y, z = box[corner & 1, 0], box[(corner >> 1) & 1, 1], box[corner >> 2, 2]
        ahead = turn[2, 0] * x + turn[2, 1] * y + turn[2, 2] * z + shift[2]
        if ahead < NEAR_M:
            behind += 1
            continue
        across = focal_px * (turn[0, 0] * x + turn[0, 1] * y + turn[0, 2] * z + shift[0]) / ahead + 0.5 * width
        down = focal_px * (turn[1, 0] * x + turn[1, 1] * y + turn[1, 2] * z + shift[1]) / ahead + 0.5 * height
        low_x, high_x = min(low_x, across), max(high_x, across)
        low_y, high_y = min(low_y, down), max(high_y, down)
    if behind > 0:
        return behind < 8
    return high_x > -1.0 and low_x < width + 1.0 and high_y > -1.0 and low_y < height + 1.0


@_compiled
def _triangle(a, b, c, face, focal_px, depth, seen):
    """One triangle, given by its corners in the camera's frame."""
    height, width = depth.shape
    left, right, top, bottom = 0, width - 1, 0, height - 1
    if min(a[2], b[2], c[2]) >= NEAR_M:
        ax, bx, cx = a[0] / a[2], b[0] / b[2], c[0] / c[2]
        ay, by, cy = a[1] / a[2], b[1] / b[2], c[1] / c[2]
        # The pixel i looks along x = (i + 0.5 - width / 2) / focal_px; one more on each side is for rounding.
        left = max(left, int(np.floor(focal_px * min(ax, bx, cx) + 0.5 * width - 1.5)))
        right = min(right, int(np.ceil(focal_px * max(ax, bx, cx) + 0.5 * width + 0.5)))
        top = max(top, int(np.floor(focal_px * min(ay, by, cy) + 0.5 * height - 1.5)))
        bottom = min(bottom, int(np.ceil(focal_px * max(ay, by, cy) + 0.5 * height + 0.5)))
    elif max(a[2], b[2], c[2]) <= 0.0:
        return
    if left > right or top > bottom:
        return
    first, second, third = _cross(b, c), _cross(c, a), _cross(a, b)
    volume = a[0] * first[0] + a[1] * first[1] + a[2] * first[2]
    for row in range(top, bottom + 1):
        y = (row + 0.5 - 0.5 * height) / focal_px
        for column in range(left, right + 1):
            x = (column + 0.5 - 0.5 * width) / focal_px
            one = first[0] * x + first[1] * y + first[2]
            two = second[0] * x + second[1] * y + second[2]
            three = third[0] * x + third[1] * y + third[2]
            if (one >= 0.0 and two >= 0.0 and three >= 0.0) or (one <= 0.0 and two <= 0.0 and three <= 0.0):
                total = one + two + three
                if total != 0.0:
                    ahead = volume / total
                    if 0.0 < ahead < depth[row, column]:
                        depth[row, column] = ahead
                        seen[row, column] = face


@_compiled
def _cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@_compiled
def normals_of(faces, normals, shape_of, rotations, out):
    """The unit normals (n, 3), world axes, of faces (n,) whose own normals are in their shapes' frames."""
    for k in range(faces.shape[0]):
        turn, own = rotations[shape_of[faces[k]]], normals[faces[k]]
        for i in range(3):
            out[k, i] = turn[i, 0] * own[0] + turn[i, 1] * own[1] + turn[i, 2] * own[2]


@_compiled
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


@_compiled
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


@_compiled
def _turn(points, yaw, axis, sign, out):
    """`sign` times the coordinates (n,) of points (n, 2) along one axis of a yaw."""
    c, s = np.cos(yaw), np.sin(yaw)
    x, y = (c, s) if axis == 0 else (-s, c)
    for i in range(points.shape[0]):
        out[i] = sign * (x * points[i, 0] + y * points[i, 1])


@_compiled
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
