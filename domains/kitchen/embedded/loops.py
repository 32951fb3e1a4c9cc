"""The inner loops: points in view, their occluders, and free space for a box.

numba compiles them where it is installed. Without it the results are the same, and a kitchen's steps take about four
times as long.
"""

from typing import Any

import numpy as np

try:
    from numba import njit
except ModuleNotFoundError:
    COMPILES = False
else:
    from ...compiled_code import recompile_damaged

    recompile_damaged()
    COMPILES = True

SHORT = 1e-9            # smallest component of a ray along an axis, to avoid a division by zero
TOUCH_M = 1e-6          # a smaller overlap of boxes is contact only
BEFORE = 1.0 - 1e-3     # of the way to a point: an occluder must begin earlier


def compiled(function: Any) -> Any:
    """The function, compiled at its first call; the code is cached if numba finds a writable cache folder.

    Without numba, the function itself.
    """
    if not COMPILES:
        return function
    try:
        return njit(cache=True)(function)
    except RuntimeError:        # neither next to the source nor in the user's cache
        return njit(function)


@compiled
def look(points, shown, low, high, clear, glass, floor, eye, ahead, right, up, lens, visible, interactable):
    """Mark the visible and the interactable of n objects, given by (n, p, 3) points, among b boxes (low, high).

    `clear` (n, b) marks boxes that do not hide an object, `glass` (b,) boxes that are transparent but block
    interaction. The object `floor` (-1: none) is checked on the ground ahead. `lens` is (tangent up,
    tangent right, range, nearest depth, chord), metres: a box occludes a point if the ray's chord through the
    box is at least this long.
    """
    tan_up, tan_right, within, near, chord_m = lens
    boxes = _around(low, high, eye, within)
    flat = np.hypot(right[0], right[2])
    point = np.empty(3)
    for k in range(points.shape[0]):
        if not shown[k]:
            continue
        for p in range(points.shape[1]):
            if k == floor:
                away = 0.2 + (within - 0.2) * p / (points.shape[1] - 1)
                point[0] = -right[2] / flat * away
                point[2] = right[0] / flat * away
                point[1] = points[k, :, 1].max() - eye[1]
            else:
                for axis in range(3):
                    point[axis] = points[k, p, axis] - eye[axis]
            depth = point[0] * ahead[0] + point[1] * ahead[1] + point[2] * ahead[2]
            if depth <= near or point[0] * point[0] + point[2] * point[2] > within * within:
                continue
            if abs(point[0] * up[0] + point[1] * up[1] + point[2] * up[2]) > depth * tan_up:
                continue
            if abs(point[0] * right[0] + point[1] * right[1] + point[2] * right[2]) > depth * tan_right:
                continue
            hidden, barred = _obstructed(point, k, boxes, low, high, clear, glass, eye, chord_m)
            if not hidden:
                visible[k] = True
                if not barred:
                    interactable[k] = True
                    break


@compiled
def _around(low, high, eye, within):
    """The boxes in range that do not contain the eye."""
    found = np.empty(low.shape[0], dtype=np.int64)
    count = 0
    for b in range(low.shape[0]):
        gap_x = max(low[b, 0] - eye[0], eye[0] - high[b, 0], 0.0)
        gap_y = max(low[b, 1] - eye[1], eye[1] - high[b, 1], 0.0)
        gap_z = max(low[b, 2] - eye[2], eye[2] - high[b, 2], 0.0)
        if gap_x * gap_x + gap_z * gap_z < within * within and max(gap_x, gap_y, gap_z) > 0.0:
            found[count] = b
            count += 1
    return found[:count]


@compiled
def _obstructed(ray, k, boxes, low, high, clear, glass, eye, chord_m):
    """Whether a solid box stands between the eye and a point of object k, and whether glass does."""
    length = np.sqrt(ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2])
    barred = False
    for b in boxes:
        if clear[k, b]:
            continue
        enter, leave = -np.inf, np.inf
        for axis in range(3):
            slope = 1.0 / (ray[axis] if abs(ray[axis]) >= SHORT else SHORT)
            one, two = (low[b, axis] - eye[axis]) * slope, (high[b, axis] - eye[axis]) * slope
            enter, leave = max(enter, min(one, two)), min(leave, max(one, two))
        if enter >= BEFORE:
            continue
        chord = (min(leave, 1.0) - max(enter, 0.0)) * length
        if glass[b]:
            barred = barred or chord > 0.0
        elif chord > chord_m:
            return True, barred
    return False, barred


@compiled
def first_free(centres, half, low, high, inner_low, inner_high):
    """The first of (n, 3) centres where a box touches no solid box (low, high) and is within the inner one; or -1."""
    for k in range(centres.shape[0]):
        free = True
        for axis in range(3):
            bottom, top = centres[k, axis] - half[axis], centres[k, axis] + half[axis]
            free = free and bottom >= inner_low[axis] and top <= inner_high[axis]
        for b in range(low.shape[0]):
            if not free:
                break
            free = not (
                centres[k, 0] - half[0] < high[b, 0] - TOUCH_M and centres[k, 0] + half[0] > low[b, 0] + TOUCH_M
                and centres[k, 1] - half[1] < high[b, 1] - TOUCH_M and centres[k, 1] + half[1] > low[b, 1] + TOUCH_M
                and centres[k, 2] - half[2] < high[b, 2] - TOUCH_M and centres[k, 2] + half[2] > low[b, 2] + TOUCH_M
            )
        if free:
            return k
    return -1
