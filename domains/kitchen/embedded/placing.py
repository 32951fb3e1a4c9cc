"""The position of a held item that is put in or on a receptacle, from AI2-THOR's grid of candidate points."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..rules import ENCLOSING, INSIDE
from ..scene import GRID_M, Kitchen, Thing
from .loops import first_free
from .sight import Floats, View

POINTS_A_SIDE: Final = 9
GAP_M: Final = 0.005            # between a shelf and an item put on it
OVER_A_CELL_M: Final = 0.15     # the box of an L-shaped counter covers floor cells: no item there
WALL_M: Final = 0.05            # thickness of a fridge's or microwave's walls
FRIDGE_DOOR_M: Final = 0.10
FRIDGE_SHELVES: Final = (0.16, 0.31, 0.45, 0.60, 0.74, 0.86)    # of its height, if no shelves are known
SHELF_SPACING_M: Final = 0.2


def interior(thing: Thing, centre: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Low and high corner of the space in (or, above the box, on) a receptacle at `centre`."""
    half = size / 2
    low, high = centre - half, centre + half
    if thing.object_type not in INSIDE:
        low[1], high[1] = high[1], high[1] + 3.0
    elif thing.object_type in ENCLOSING:
        low[1], high[1] = low[1] + 0.02, high[1] - 0.02
        low[[0, 2]] += WALL_M
        high[[0, 2]] -= WALL_M
        if thing.object_type == "Fridge":
            axis, towards = ((2, 1), (0, 1), (2, -1), (0, -1))[round(thing.yaw_deg / 90.0) % 4]
            (high if towards > 0 else low)[axis] -= towards * (FRIDGE_DOOR_M - WALL_M)
    else:
        low[1] += min(0.02, half[1])
    return low, high


def shelf_heights(thing: Thing, low: Floats, high: Floats) -> list[float]:
    """The heights (metres, world) of the surfaces inside a receptacle, lowest first."""
    if thing.object_type != "Fridge":
        return [float(low[1])]
    bottom = thing.centre[1] - thing.size[1] / 2
    known = [bottom + height for height in thing.shelves]
    kept: list[float] = []
    for height in sorted(known):
        if not kept or height - kept[-1] > 0.05:
            kept.append(height)
    for share in FRIDGE_SHELVES:
        height = bottom + share * thing.size[1]
        if all(abs(height - other) >= SHELF_SPACING_M for other in kept):
            kept.append(height)
    return sorted(height for height in kept if low[1] <= height < high[1] - 0.05)


def candidate_points(thing: Thing, low: Floats, high: Floats, kitchen: Kitchen) -> Floats:
    """The 9 × 9 points of every shelf, (n, 3)."""
    xs, zs = (np.linspace(low[k], high[k], POINTS_A_SIDE + 2)[1:-1] for k in (0, 2))
    points = np.array([(x, y, z) for y in shelf_heights(thing, low, high) for x in xs for z in zs])
    if thing.object_type not in INSIDE:
        points = points[[not _over_a_cell(x, z, kitchen) for x, _, z in points]]
    return points


def _over_a_cell(x: float, z: float, kitchen: Kitchen) -> bool:
    """Whether a point is near a cell where the agent can stand."""
    cell = round(x / GRID_M), round(z / GRID_M)
    return cell in kitchen.cells and math.hypot(x - cell[0] * GRID_M, z - cell[1] * GRID_M) < OVER_A_CELL_M


def place(
    thing: Thing, box: tuple[Floats, Floats], points: Floats, *, view: View, sizes: Sequence[Floats],
    solid_low: Floats, solid_high: Floats,
) -> tuple[Floats, Floats] | None:
    """The position of an item that is put down: the centre and size of its box, or None if it does not fit.

    `box` is the receptacle's interior with its candidate `points`, `sizes` are the item's box sizes in its
    orientations, and the solid boxes (n, 3) are obstacles. Points nearer to the camera come first.
    """
    low, high = box
    points = points[view.sees(points)] if len(points) else points
    if not len(points):
        return None
    points = points[np.argsort(np.hypot(*(points - view.eye)[:, [0, 2]].T), kind="stable")]
    shell = (low, high) if thing.object_type in ENCLOSING else (np.full(3, -np.inf), np.full(3, np.inf))
    for size in sizes:
        centres = points + np.array([0.0, size[1] / 2 + GAP_M, 0.0])
        at = first_free(centres, size / 2, solid_low, solid_high, *shell)
        if at >= 0:
            return centres[at], size
    return None
