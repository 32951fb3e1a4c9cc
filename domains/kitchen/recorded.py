"""Reads kitchens recorded from AI2-THOR: start metadata, and the cells where the agent can stand."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import UsageError, no_such
from .scene import AGENT_RADIUS_M, GRID_M, Cell, Kitchen, Point, Stance, Thing, reachable

FOLDERS = ("start_states", "recorded")
_GOES_TO_THE_FLOOR_M = 1.5      # a box that begins higher than this above the floor does not block the agent


def scene_names(folder: Path) -> tuple[str, ...]:
    """The kitchens recorded in `folder`, sorted by number. Raises UsageError if there are none."""
    if not (folder / FOLDERS[0]).is_dir():
        raise UsageError(
            f"{folder} contains no recorded kitchens (it has no folder {FOLDERS[0]!r}):"
            " set kitchen.recordings to their folder, or use kitchen.backend=generated"
        )
    names = [path.stem for path in (folder / FOLDERS[0]).glob("*.json") if (folder / FOLDERS[1] / path.name).exists()]
    if not names:
        raise UsageError(f"{folder} contains no recorded kitchens: {' and '.join(FOLDERS)} have no file in common")
    return tuple(sorted(names, key=lambda name: (len(name), name)))


def load(folder: Path, name: str) -> Kitchen:
    """The recorded kitchen `name`. Raises UsageError for a name that was not recorded."""
    if name not in scene_names(folder):
        raise no_such("recorded kitchen", name, scene_names(folder))
    start, visited = (
        json.loads((folder / part / f"{name}.json").read_text(encoding="utf-8")) for part in FOLDERS
    )
    return kitchen(name, start, visited)


def kitchen(name: str, start: Mapping[str, Any], visited: Mapping[str, Any]) -> Kitchen:
    """A kitchen from start metadata (objects, agent) and the visited cells (`grid_all`, [x, z] in metres)."""
    agent = start["agent_start"]
    x, y, z = agent["position"]
    stance = Stance(cell=_cell(x, z), yaw=round(agent["yaw"] / 90.0) % 4, horizon_deg=round(agent["horizon"]))
    shelves = _shelves(start["objects"])
    things = tuple(_thing(row, shelves.get(row["objectId"], ())) for row in start["objects"])
    cells = frozenset(_cell(x, z) for x, z in visited["grid_all"]) | {stance.cell}
    if len(reachable(cells, stance.cell)) < 0.9 * len(cells):
        cells = _with_gaps_filled(cells, things, floor_m=y - 0.9)
    return Kitchen(
        name=name, start=stance, agent_y_m=y, things=things, cells=reachable(cells, stance.cell),
    )


def _cell(x: float, z: float) -> Cell:
    return round(x / GRID_M), round(z / GRID_M)


def _thing(row: Mapping[str, Any], shelves: tuple[float, ...]) -> Thing:
    size: Point = tuple(row["aabb"]["size"])
    return Thing(
        object_id=row["objectId"], name=row["name"], object_type=row["objectType"],
        position=tuple(row["position"]), yaw_deg=float(row["rotation"][1]) % 360.0,
        centre=tuple(row["aabb"]["center"]), size=size, extent=_extent(row.get("obb"), size),
        flags=frozenset(row["flags"]) - {"visible", "isInteractable", "isMoving"},
        parents=tuple(row.get("parentReceptacles") or ()), shelves=shelves,
    )


def _extent(corners: list[list[float]] | None, size: Point) -> Point:
    """Across, up and along of an oriented box given by its corners, bottom four first; else the upright box's."""
    if corners is None:
        return size
    across, along, up = (math.dist(corners[a], corners[b]) for a, b in ((0, 1), (1, 2), (0, 4)))
    return across, up, along


def _shelves(rows: list[Mapping[str, Any]]) -> dict[str, tuple[float, ...]]:
    """The heights of objects in each closed receptacle, above its bottom."""
    bottoms = {row["objectId"]: row["aabb"]["center"][1] - row["aabb"]["size"][1] / 2 for row in rows}
    found: dict[str, tuple[float, ...]] = {}
    for row in rows:
        inside = (other for other in row.get("receptacleObjectIds") or () if other in bottoms)
        if "openable" in row["flags"]:
            heights = sorted(round(bottoms[other] - bottoms[row["objectId"]], 3) for other in inside)
            found[row["objectId"]] = tuple(height for height in heights if height > 0.0)
    return found


def _with_gaps_filled(cells: frozenset[Cell], things: tuple[Thing, ...], *, floor_m: float) -> frozenset[Cell]:
    """The cells and their neighbours that are clear of all boxes, for a recording with gaps."""
    solid = [
        thing for thing in things
        if thing.object_type != "Floor" and thing.centre[1] - thing.size[1] / 2 < floor_m + _GOES_TO_THE_FLOOR_M
    ]
    centres = np.array([[thing.centre[0], thing.centre[2]] for thing in solid])
    halves = np.array([[thing.size[0], thing.size[2]] for thing in solid]) / 2
    xs, zs = zip(*cells, strict=True)
    clear = set(cells)
    for x in range(min(xs), max(xs) + 1):
        for z in range(min(zs), max(zs) + 1):
            gaps = np.maximum(np.abs(np.array([x, z]) * GRID_M - centres) - halves, 0.0)
            adjacent = any((x + dx, z + dz) in cells for dx in range(-2, 3) for dz in range(-2, 3))
            if adjacent and np.hypot(gaps[:, 0], gaps[:, 1]).min() > AGENT_RADIUS_M + 0.02:
                clear.add((x, z))
    return frozenset(clear)
