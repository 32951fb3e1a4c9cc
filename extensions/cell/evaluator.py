"""E_R, the reduced evaluator of a robot cell (paper, appendix A): metrics from an execution and from perceived poses.

It judges nothing: the fitness that the contract asks for is always 0. It reads what a real cell can measure only:
the hand, the fingers, the forces, the waypoints, and the poses that the camera saw. Lengths are in mm. An offset is
the hand minus the cube that it grasps, or a placed cube minus the middle of what is below it, along the world's axes.
"""

from typing import Any

import numpy as np

Arrays = dict[str, Any]     # each recorded quantity as an array of numpy
NAMES = ("small", "medium", "large", "xlarge")
HOLE = 0.055                # from a container's origin to its hole
HELD = (0.75, 1.12)         # of the fingers' distance to a half-edge
NEAR = 0.05                 # from a hole, so that a cube belongs to its container
STILL = 8                   # steps after an opening in which the fingers let go and a cube comes to rest


class Evaluator:
    """E_R."""

    def evaluate(self, trajectory: Arrays) -> tuple[float, dict[str, Any]]:
        """(0, metrics) of one execution."""
        run = _Run(trajectory)
        grasps = run.grasps()
        held = [grasp for grasp in grasps if grasp["held"]]
        placed = [place for place in map(run.placing, held) if place is not None]
        kept = sum(map(run.in_hand_at_end, held))
        ends = [grasp["end"] + STILL for grasp in grasps if grasp["opened"]]
        return 0.0, {
            "progress": run.progress([0, *ends, *([] if kept else [len(run.eef) - 1])]),
            "tower_seen_on_c": run.tower_on_target(),
            "cubes_seen_on_c": run.on_target(),
            "grasps": len(grasps),
            "grasps_that_held": len(held),
            "grasp_height_above_centre_mm": _spread([grasp["height"] for grasp in grasps]),
            "grasp_lateral_mm": _spread([grasp["lateral"] for grasp in grasps]),
            "grasp_offset_mm": _means([grasp["offset"] for grasp in grasps]),
            "missed_height_above_centre_mm": _spread([grasp["height"] for grasp in grasps if not grasp["held"]]),
            "placings": len(placed),
            "dropped_on_the_way": len(held) - len(placed) - kept,
            "in_hand_at_end": kept,
            "placing_lateral_mm": _spread([place["lateral"] for place in placed]),
            "placing_in_hole_offset_mm": _means([place["offset"] for place in placed if place["in_hole"]]),
            "placing_on_cube_offset_mm": _means([place["offset"] for place in placed if not place["in_hole"]]),
            "release_height_above_rest_mm": _spread([place["fall"] for place in placed]),
            "force_peak_n": _round(run.force.max()),
            "force_peak_while": run.situation(int(run.force.argmax())),
            "force_peak_descending_open_n": _round(run.peak(run.opening)),
            "force_peak_descending_held_n": _round(run.peak(~run.opening)),
            **run.phases(),
            "waypoint_lag_mm": _spread(run.lag),
            "seconds": _round(run.period * (len(run.eef) - 1)),
            "seconds_per_placing": _round(run.period * (len(run.eef) - 1) / len(placed)) if placed else None,
            "share_of_time_unseen": {
                name: _round((run.unseen[:, k] > 0.3).mean(), 3) for k, name in enumerate(NAMES)
            },
        }


class _Run:
    """The arrays of one execution."""

    def __init__(self, trajectory: Arrays) -> None:
        self.eef = np.asarray(trajectory["eef_pos"], dtype=float)
        self.fingers = np.abs(np.asarray(trajectory["gripper_qpos"], dtype=float)).mean(axis=1)
        self.cubes = np.asarray(trajectory["seen_cube_pos"], dtype=float)
        self.half = np.asarray(trajectory["cube_size"], dtype=float)
        self.table = float(trajectory["table_height_m"])
        self.period = float(trajectory["control_period_s"])
        boxes = np.asarray(trajectory["seen_container_pos"], dtype=float)[-1]
        w, x, y, z = np.asarray(trajectory["seen_container_quat"], dtype=float)[-1].T
        turn = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z)], axis=-1)
        self.holes = boxes[:, :2] + HOLE * turn
        self.force = np.linalg.norm(np.asarray(trajectory["force_n"], dtype=float), axis=1)
        self.lag = 1000 * np.linalg.norm(np.asarray(trajectory["waypoint_pos"], dtype=float) - self.eef, axis=1)
        self.unseen = np.asarray(trajectory["unseen_s"], dtype=float)
        grip = np.asarray(trajectory["actions"], dtype=float).reshape(-1, 7)[:, 6]
        last = np.maximum.accumulate(np.where(grip != 0.0, np.arange(len(grip)), -1))     # 0 keeps the last command
        self.closing = np.concatenate([(last >= 0) & (grip[last] > 0), [False]])[: len(self.eef)]
        self.status = np.asarray(trajectory.get("phase_status", []), dtype=float).ravel()
        self.opening = ~self.closing
        self.descending = np.concatenate([[False], np.diff(self.eef[:, 2]) < -0.0005])
        self.moving = np.concatenate([[False], np.linalg.norm(np.diff(self.eef, axis=0), axis=1) > 0.0005])

    def grasps(self) -> list[dict[str, Any]]:
        """Each stretch of closing: which cube is nearest, how the hand stood over it, whether it was held."""
        found = []
        starts = np.flatnonzero(self.closing & ~np.concatenate([[False], self.closing[:-1]]))
        for start in starts:
            after = np.flatnonzero(self.opening[start:-1])      # after the last row comes no action
            end = start + int(after[0]) if len(after) else len(self.eef) - 1
            away = np.linalg.norm(self.cubes[start] - self.eef[start], axis=1)
            cube = int(away.argmin())
            offset = self.eef[start] - self.cubes[start, cube]
            shut = min(start + 20, end)
            found.append({
                "start": start, "end": end, "opened": len(after) > 0, "cube": cube, "height": 1000 * offset[2],
                "lateral": 1000 * np.hypot(offset[0], offset[1]), "offset": 1000 * offset[:2],
                "held": self.holds(cube, shut),
            })
        return found

    def phases(self) -> dict[str, int]:
        """How many phases were completed, and how many a contact ended, where phases are carried out."""
        ended = self.status[1:][(self.status[1:] > 0.0) & (self.status[:-1] == 0.0)]
        names = {"phases_done": 1.0, "phases_ended_by_contact": 2.0}
        return {name: int((ended == status).sum()) for name, status in names.items()} if len(self.status) else {}

    def holds(self, cube: int, row: int) -> bool:
        """Whether the fingers are as far apart as this cube is wide."""
        low, high = HELD
        return bool(low * self.half[cube] < self.fingers[row] < high * self.half[cube])

    def in_hand_at_end(self, grasp: dict[str, Any]) -> bool:
        """Whether the recording ends before the fingers let go of a cube that they still hold."""
        last = len(self.eef) - 1
        return last <= grasp["end"] + STILL and all(
            self.holds(grasp["cube"], row) for row in range(grasp["end"], last + 1)
        )

    def placing(self, grasp: dict[str, Any]) -> dict[str, Any] | None:
        """Where a held cube came to rest, against what is below it; None if it was lost on the way or not let go."""
        cube, end = grasp["cube"], grasp["end"]
        if not self.holds(cube, end) or self.in_hand_at_end(grasp):
            return None
        rest = self.cubes[min(end + STILL, len(self.cubes) - 1), cube]
        others = [k for k in range(len(self.half)) if k != cube]
        below = [
            self.cubes[end, k, :2] for k in others
            if abs(rest[2] - self.cubes[end, k, 2] - self.half[k] - self.half[cube]) < 0.012
            and np.hypot(*(self.cubes[end, k, :2] - rest[:2])) < self.half[k]
        ]
        goals = below or list(self.holes)
        offset = 1000 * min((rest[:2] - goal for goal in goals), key=lambda each: np.hypot(*each))
        return {
            "lateral": np.hypot(*offset), "offset": offset, "in_hole": not below,
            "fall": 1000 * (self.cubes[end, cube, 2] - rest[2]),
        }

    def progress(self, rows: list[int]) -> float:
        """The share of the shortest solution's moves that were seen done at best, at one of these rows."""
        least = [left for row in rows if row < len(self.cubes) and (left := self.moves_left(row)) is not None]
        return _round(1.0 - min(least) / (2 ** len(self.half) - 1), 3) if least else 0.0

    def moves_left(self, row: int) -> int | None:
        """The moves that are left from here; None if a cube is not over a container."""
        gaps = np.linalg.norm(self.cubes[row, :, None, :2] - self.holes, axis=2)
        if (gaps.min(axis=1) > NEAR).any():
            return None
        target, moves = 2, 0
        for cube in reversed(range(len(self.half))):
            at = int(gaps[cube].argmin())
            if at != target:
                moves += 2 ** cube
                target = 3 - at - target
        return moves

    def on_target(self) -> int:
        """How many cubes were last seen over C's hole."""
        return int((np.linalg.norm(self.cubes[-1, :, :2] - self.holes[2], axis=1) < 0.035).sum())

    def tower_on_target(self) -> bool:
        last = self.cubes[-1]
        if self.on_target() < len(self.half):
            return False
        heights = self.table + 2 * np.cumsum(self.half[::-1])[::-1] - self.half
        return bool((np.abs(last[:, 2] - heights) < 0.012).all())

    def situation(self, row: int) -> str:
        """What the hand did at a row, and over which container it was."""
        motion = "descending" if self.descending[row] else "moving" if self.moving[row] else "at rest"
        gaps = np.linalg.norm(self.holes - self.eef[row, :2], axis=1)
        place = f"over {'ABC'[int(gaps.argmin())]}" if gaps.min() < NEAR else "between containers"
        height = 5 * round(200 * (self.eef[row, 2] - self.table))
        return f"{motion}, {'open' if self.opening[row] else 'closed'}, {place}, {height} mm above the table"

    def peak(self, when: Any) -> float:
        chosen = self.force[when & self.descending]
        return float(chosen.max()) if len(chosen) else 0.0


def _spread(values: Any) -> dict[str, float] | None:
    """Median, smallest and largest; None without values."""
    if len(values) == 0:
        return None
    return {"median": _round(np.median(values)), "min": _round(np.min(values)), "max": _round(np.max(values))}


def _means(offsets: Any) -> dict[str, float] | None:
    """The mean along x and along y, with its sign; None without values."""
    if len(offsets) == 0:
        return None
    x, y = np.mean(offsets, axis=0)
    return {"x": _round(x), "y": _round(y)}


def _round(value: Any, digits: int = 1) -> float:
    return round(float(value), digits)
