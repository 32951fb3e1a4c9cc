"""Which triangle each pixel sees, by a depth buffer, compiled.

A triangle that spans the corners a, b, c as seen from the camera meets the ray d where the determinants d·(b×c),
d·(c×a) and d·(a×b) have one sign; its depth there is a·(b×c) over their sum. Neighbours compute the determinant of a
shared edge from the same products, so no ray passes between them.
"""

import numpy as np
from numba import njit

NEAR_M = 0.05       # a corner nearer to the camera than this has no place in the image


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def _cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@njit(cache=True)
def normals_of(faces, normals, shape_of, rotations, out):
    """The unit normals (n, 3), world axes, of faces (n,) whose own normals are in their shapes' frames."""
    for k in range(faces.shape[0]):
        turn, own = rotations[shape_of[faces[k]]], normals[faces[k]]
        for i in range(3):
            out[k, i] = turn[i, 0] * own[0] + turn[i, 1] * own[1] + turn[i, 2] * own[2]
