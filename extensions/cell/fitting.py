"""The pose of a cube and of a container from the points that the camera sees of it. Pure.

Seen from any place the horizontal outline of a cube's visible surface is its square or a part of it. Its yaw is the one
with the smallest outline and the flattest sides; its centre follows from the sides that face the camera, or from the
outline where that is complete.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .compiled import flatness, outlines
from .ports import Array

MOST_POINTS = 400
NOISE_M = 0.004             # a point this near to a face belongs to it
SIDE_POINTS = 25            # of a side, to be measured by it
COMPLETE = 0.80             # share of an edge's length that an outline has to show
COARSE = np.radians(np.arange(-45.0, 45.0, 5.0))
FINE = np.radians(np.arange(-4.0, 4.1, 0.5))
QUARTER = np.pi / 2
GRID_M = 0.01               # in which plates are looked for
PLATE_REACH = 0.8           # of a plate's edge: from its middle to its farthest points along an axis, and a little more
STRIPS = 16                 # in which the edges of a plate are looked up
NEAR_M = 0.012              # of the height of a stack, to be one
COVERED_M = 0.006           # an edge's point so far inside is not of the edge


@dataclass(frozen=True, slots=True, kw_only=True)
class CubeFit:
    """A measured cube. An axis that was not measured is NaN in `local`; `prior` completes it."""

    position: Array         # (3,) centre, completed
    yaw_rad: float          # in [-pi/4, pi/4)
    measured: tuple[bool, bool, bool]       # along its own x and y, and in height
    half_edge_m: float      # by its outline; NaN where that is not complete
    top: bool               # its height was measured by its top
    points: int


def fit_cube(points: Array, half_m: float, camera: Array, prior: Array | None = None) -> CubeFit | None:
    """The pose of a cube of this half-edge from points (n, 3) of its surface, or None for too few.

    `prior` (3,) is where it was last, for what these points do not show.
    """
    points = _without_strays(points, 2.2 * half_m)
    if len(points) < SIDE_POINTS:
        return None
    if len(points) > MOST_POINTS:
        points = points[:: 1 + len(points) // MOST_POINTS]
    height, top = _height(points, half_m, camera)
    sides = points[~top]
    yaw = _yaw(points[:, :2], sides[:, :2], camera[:2])
    turn = _turned(yaw)
    local, local_sides = points[:, :2] @ turn, sides[:, :2] @ turn
    towards = np.sign((camera[:2] @ turn) - local.mean(axis=0))
    low, high = _percentiles(local, 2, 98)
    length = high - low
    expected = None if prior is None else prior[:2] @ turn
    centre, measured = np.empty(2), [False, False]
    for axis in (0, 1):
        side = _side(local_sides, axis, towards, (low, high))
        complete = length[axis] > COMPLETE * 2.0 * half_m
        if side is not None:
            centre[axis] = side - towards[axis] * half_m
        elif complete or expected is None:
            centre[axis] = 0.5 * (low[axis] + high[axis])
        else:       # where it was, as far as the points allow
            centre[axis] = np.clip(expected[axis], high[axis] - half_m, low[axis] + half_m)
        measured[axis] = side is not None or bool(complete)
    whole = length[length > COMPLETE * 2.0 * half_m]
    known_height = np.isfinite(height)
    z = height if known_height else (float(points[:, 2].max()) - half_m if prior is None else float(prior[2]))
    return CubeFit(
        position=np.append(turn @ centre, z), yaw_rad=yaw, measured=(measured[0], measured[1], bool(known_height)),
        half_edge_m=float(whole.mean() / 2) if len(whole) else float("nan"), points=len(points),
        top=bool(top.any()),
    )


def stacked(fits: Sequence[CubeFit | None], half_edges_m: Sequence[float]) -> list[CubeFit | None]:
    """The fits with the heights of cubes whose top is hidden by what stands on them, from the top of that stack."""
    found = list(fits)
    for index in sorted((k for k, fit in enumerate(fits) if fit is not None), key=lambda k: -_fit(fits, k).position[2]):
        fit = _fit(found, index)
        if fit.top:
            continue
        for other, upper in enumerate(found):
            gap = half_edges_m[index] + half_edges_m[other]
            if upper is None or not upper.top or other == index:
                continue
            rise = upper.position - fit.position
            if np.hypot(rise[0], rise[1]) < half_edges_m[index] and abs(rise[2] - gap) < NEAR_M:
                position = np.append(fit.position[:2], upper.position[2] - gap)
                found[index] = replace(fit, position=position, measured=(*fit.measured[:2], True), top=True)
    return found


def _fit(fits: Sequence[CubeFit | None], index: int) -> CubeFit:
    fit = fits[index]
    assert fit is not None
    return fit


def find_plates(ground: Array, edge_m: float, count: int, least: int) -> Array:
    """The middles (k, 2), k <= `count`, of the squares of this edge that hold most points (n, 2), at least `least`.

    To about a quarter of the edge. Points that belong to one square count for no other.
    """
    found: list[Array] = []
    left = ground
    while len(found) < count and len(left) >= least:
        middle = _fullest(left, edge_m)
        own = np.abs(left - middle).max(axis=1) < PLATE_REACH * edge_m
        if own.sum() < least:
            break
        found.append(middle)
        left = left[~own]
    middles = np.array(found).reshape(-1, 2)
    for _ in range(3 if found else 0):      # what the first took of its neighbours goes to the nearest
        away = ground[:, None] - middles
        nearest = np.linalg.norm(away, axis=2).argmin(axis=1)
        for index, middle in enumerate(middles):
            own = ground[(nearest == index) & (np.abs(ground - middle).max(axis=1) < PLATE_REACH * edge_m)]
            middles[index] = _percentiles(own, 2, 98).mean(axis=0) if len(own) else middle
    return middles


def _fullest(points: Array, edge_m: float) -> Array:
    """The middle (2,) of a square of this edge, along the axes, that holds most of these points (n, 2)."""
    low, window = points.min(axis=0), round(edge_m / GRID_M)
    cells = ((points - low) / GRID_M).astype(np.intp)
    counts = np.zeros(cells.max(axis=0) + 1 + 2 * window)
    np.add.at(counts, tuple(cells.T + window), 1.0)
    sums = np.pad(counts.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    boxes = sums[window:, window:] - sums[:-window, window:] - sums[window:, :-window] + sums[:-window, :-window]
    first = np.array(np.unravel_index(int(boxes.argmax()), boxes.shape))
    return np.asarray(low + GRID_M * (first - window / 2))


def fit_plate(outline: Array, thickness_m: float, edge_m: float, camera: Array, height_m: float) -> tuple[Array, float]:
    """The centre (2,) and yaw (near 0) of a square plate from its pixels' points (n, 2) in the plane of its top.

    The edges that face the camera show the plate's side too, which lies outside the top by a known width.
    """
    yaws = np.radians(np.arange(-45.0, 45.0, 1.0))
    yaw = float(yaws[np.argmin(_outlines(outline, yaws, (1, 99)).sum(axis=1))])
    for _ in range(2):      # the edges' own directions are ten times finer than the outline's size
        edges = _edges(outline @ _turned(yaw))
        yaw += float(np.median([slope for slope, _ in edges]))
    turn = _turned(yaw)
    low, high = np.array([place for _, place in _edges(outline @ turn)]).reshape(2, 2).T
    away = camera[:2] @ turn - 0.5 * (low + high)
    shown = thickness_m * np.abs(away) / (camera[2] - height_m)
    faces = np.abs(away) > edge_m / 2
    low = np.where(faces & (away < 0.0), low + shown, low)
    high = np.where(faces & (away > 0.0), high - shown, high)
    return turn @ (0.5 * (low + high)), yaw


def _edges(local: Array) -> list[tuple[float, float]]:
    """(slope in rad, counter-clockwise; place) of the four edges of points (n, 2): low and high x, low and high y."""
    found = []
    for axis in (0, 1):
        along, across = local[:, 1 - axis], local[:, axis]
        low, high = np.percentile(along, (10, 90))
        strip = np.floor((along - low) / (high - low) * STRIPS).astype(np.intp)
        inside = (strip >= 0) & (strip < STRIPS)
        middles = low + (np.arange(STRIPS) + 0.5) * (high - low) / STRIPS
        for sign in (-1.0, 1.0):
            ends = np.full(STRIPS, -np.inf)
            np.maximum.at(ends, strip[inside], sign * across[inside])
            kept = ends > np.median(np.sort(ends)[-STRIPS // 2 :]) - COVERED_M     # the others are behind something
            slopes = np.subtract.outer(ends[kept], ends[kept])[(pairs := np.triu_indices(kept.sum(), 3))]
            slope = float(np.median(slopes / np.subtract.outer(middles[kept], middles[kept])[pairs]))
            found.append((sign * slope * (-1.0 if axis == 0 else 1.0), sign * float(np.median(ends[kept]))))
    return found


def nearest_quarter(yaw_rad: float, reference_rad: float) -> float:
    """The yaw that a square with this yaw also has, nearest to the reference."""
    return yaw_rad + QUARTER * round((reference_rad - yaw_rad) / QUARTER)


def _without_strays(points: Array, radius_m: float) -> Array:
    """The points near the middle of all: mixed pixels at the border have the depth of what is behind."""
    if not len(points):
        return points
    away = np.abs(points - np.median(points, axis=0)).max(axis=1)
    return np.asarray(points[away < radius_m])


def _height(points: Array, half_m: float, camera: Array) -> tuple[float, NDArray[np.bool_]]:
    """The height of the cube's centre, NaN if it is not known, and which points belong to its top."""
    z, away = points[:, 2], camera - points.mean(axis=0)
    along = points[:, :2] @ (away[:2] / max(float(np.hypot(away[0], away[1])), 1e-6))
    behind = along < _percentiles(along, 97)[0] - 2.0 * NOISE_M      # of the sides that face the camera
    near_top = behind & (z > _percentiles(z, 97)[0] - 3.0 * NOISE_M)
    # A visible top shows about as many pixels as a side times the slope of the view; the upper end of a side shows few.
    slope = away[2] / max(float(np.hypot(away[0], away[1])), 1e-6)
    if near_top.sum() > 0.35 * slope / (1.0 + slope) * len(points) and _reach(along[near_top]) > 1.2 * half_m:
        surface = float(np.median(z[near_top]))
        return surface - half_m, z > surface - NOISE_M
    low, high = _percentiles(z, 2, 98)
    nothing = np.zeros(len(points), dtype=np.bool_)
    return (float(low + high) / 2 if high - low > COMPLETE * 2.0 * half_m else float("nan")), nothing


def _reach(along: Array) -> float:
    low, high = _percentiles(along, 5, 95)
    return float(high - low)


def _yaw(points: Array, sides: Array, camera: Array) -> float:
    yaw = 0.0
    for candidates in (COARSE, FINE):
        yaws = yaw + candidates
        cost = _outlines(points, yaws, (3, 97)).sum(axis=1) / 2
        if len(sides) >= SIDE_POINTS:
            cost = cost + 2.0 * flatness(sides, yaws, camera[None], round(0.9 * (len(sides) - 1)))
        yaw = float(yaws[np.argmin(cost)])
    return (yaw + QUARTER / 2) % QUARTER - QUARTER / 2


def _outlines(points: Array, yaws: Array, percentiles: tuple[int, int]) -> Array:
    """The lengths (k, 2) of the points' outline along the axes of each yaw."""
    low, high = (round(share * (len(points) - 1) / 100) for share in percentiles)
    return np.asarray(outlines(points, yaws, low, high))


def _percentiles(values: Array, *shares: float) -> Array:
    """As `np.percentile` along the first axis, at a tenth of its cost for a few hundred values."""
    ordered, last = np.sort(values, axis=0), len(values) - 1
    places = np.array(shares) / 100.0 * last
    below = places.astype(np.intp)
    low, high = ordered[below], ordered[np.minimum(below + 1, last)]
    return np.asarray(low + ((places - below) * (high - low).T).T)


def _side(sides: Array, axis: int, towards: Array, outline: tuple[Array, Array]) -> float | None:
    """The coordinate of the side that faces the camera along this axis, if enough of its points are seen."""
    face = outline[1][axis] if towards[axis] > 0 else outline[0][axis]
    other = 1 - axis
    other_face = outline[1][other] if towards[other] > 0 else outline[0][other]
    for _ in range(2):
        own = np.abs(sides[:, axis] - face) < NOISE_M
        own &= np.abs(sides[:, other] - other_face) > NOISE_M
        if own.sum() < SIDE_POINTS:
            return None
        face = float(np.median(sides[own, axis]))
    return float(face)


def _turned(yaw: float) -> Array:
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s], [s, c]])
