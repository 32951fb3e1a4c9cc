"""The cubes and containers of the kinematic world: support, pushes, falls and topples.

There are no forces. A cube that is not held lies on the table, on a container's bars or on another cube. A
cube whose centre is not over a level face slides off. A pushed cube carries along the cubes on it.
"""

from collections.abc import Sequence
from math import cos, hypot, pi, sin

import numpy as np

from ..hanoi import task
from ..hanoi.randomisation import Drawn
from .hand import multiply

TOUCH_M = 0.001             # smaller overlaps do not count as contact
SLIP_IN_M = 0.0015          # a cube that misses the hole by less slips in
TILT_RAD = 0.3
TILTED_LIFT_M = 0.006
SCATTER_FROM_M = 0.02       # a fall from higher than this scatters
RIM_TOP_M = task.TABLE_HEIGHT_M + task.CONTAINER_THICKNESS_M
PLATE_HALF_M = 0.5 * task.HOLE_EDGE_M + task.BAR_WIDTH_M
HOLE_HALF_M = 0.5 * task.HOLE_EDGE_M
SLIDING_FRICTION = 0.5      # of the cubes at scale 1, for pushes
GRAVITY_M_S2 = 9.81


class Cubes:
    """`pos` holds cube centres [[x, y, z], …], small to large; `held` is the cube in the hand, if any."""

    def __init__(self, drawn: Drawn, rng: np.random.Generator, *, half_edges: Sequence[float]) -> None:
        self._rng = rng
        self.half = tuple(half_edges)
        self.friction = drawn.sliding_friction_scale
        self.held: int | None = None
        self.containers, self.container_yaws = _place_containers(drawn)
        self._holes = [_hole(origin, yaw) for origin, yaw in zip(self.containers, self.container_yaws, strict=True)]
        start = self._holes[task.SOURCE]
        self.pos = [
            [x + dx, y + dy, z] for (x, y, z), (dx, dy)
            in zip(task.tower(len(self.half), start), drawn.initial_cube_xy_m, strict=True)
        ]
        self.yaw = [self.container_yaws[task.SOURCE]] * len(self.half)
        self.tilted = [False] * len(self.half)
        self.settle_all()

    def extent(self, cube: int, yaw: float) -> float:
        """Half the width of a cube seen along an axis at `yaw`."""
        turn = self.yaw[cube] - yaw
        return self.half[cube] * (abs(cos(turn)) + abs(sin(turn)))

    def shove(self, cube: int, dx: float, dy: float) -> bool:
        """Push a cube and let all cubes settle; False where the cube cannot move."""
        if not self._push(cube, dx, dy, 0):
            return False
        self.yaw[cube] += 0.5 * float(self._rng.standard_normal()) * hypot(dx, dy)
        self.settle_all()
        return True

    def _push(self, cube: int, dx: float, dy: float, depth: int) -> bool:
        """Shift a cube, the cubes on it and those in its way; False where a wall or a jam stops it."""
        if depth > max(3, len(self.half) - 1) or not self.within_walls(cube, dx, dy):
            return False
        centre = self.pos[cube]
        riders = self.riders(cube)
        centre[0] += dx
        centre[1] += dy
        if not self.clear_way(cube, dx, dy, depth):
            centre[0] -= dx
            centre[1] -= dy
            return False
        for rider in riders:
            self._push(rider, dx, dy, depth + 1)
        return True

    def clear_way(self, mover: int, dx: float, dy: float, depth: int) -> bool:
        """Push the cubes in the way of `mover`; False where one cannot move."""
        x, y, z = self.pos[mover]
        half = self.half[mover]
        for cube, centre in enumerate(self.pos):
            if cube in (mover, self.held):
                continue
            reach = half + self.half[cube] - TOUCH_M
            if (abs(centre[2] - z) < reach - TOUCH_M and abs(centre[0] - x) < reach and abs(centre[1] - y) < reach
                    and (centre[0] - x) * dx + (centre[1] - y) * dy > 0.0 and not self._push(cube, dx, dy, depth + 1)):
                return False
        return True

    def within_walls(self, cube: int, dx: float, dy: float) -> bool:
        """Whether a cube, moved by (dx, dy), stays on its side of the bars: in its hole, or outside all containers."""
        centre = self.pos[cube]
        if centre[2] - self.half[cube] > RIM_TOP_M - TOUCH_M or self.tilted[cube]:
            return True
        for (hole_x, hole_y), yaw in zip(self._holes, self.container_yaws, strict=True):
            x, y = centre[0] - hole_x, centre[1] - hole_y
            before, after, extent = _across(x, y, yaw), _across(x + dx, y + dy, yaw), self.extent(cube, yaw)
            if before < HOLE_HALF_M:
                return after <= max(HOLE_HALF_M - extent, before)
            if after < min(PLATE_HALF_M + extent - TOUCH_M, before):
                return False
        return True

    def nudge(self, cube: int, velocity: Sequence[float]) -> None:
        """A push from outside: the cube slides until friction stops it."""
        if cube == self.held:
            return
        speed = hypot(*velocity)
        slide = speed / (2.0 * SLIDING_FRICTION * self.friction * GRAVITY_M_S2)
        self.shove(cube, slide * velocity[0], slide * velocity[1])

    def riders(self, cube: int) -> list[int]:
        """The cubes that stand directly on this one."""
        x, y, z = self.pos[cube]
        top = z + self.half[cube]
        return [
            other for other, centre in enumerate(self.pos)
            if other not in (cube, self.held) and abs(centre[2] - self.half[other] - top) < 0.003
            and max(abs(centre[0] - x), abs(centre[1] - y)) < self.half[cube] + self.half[other]
        ]

    def support(self, cube: int, x: float, y: float, bottom: float) -> tuple[float, str, int]:
        """The highest thing below a cube at (x, y): its top, "table", "rim" or "cube", and its index."""
        best = (task.TABLE_HEIGHT_M, "table", 0)
        half = self.half[cube]
        for index, (hole, yaw) in enumerate(zip(self._holes, self.container_yaws, strict=True)):
            across = _across(x - hole[0], y - hole[1], yaw)
            extent = self.extent(cube, yaw)
            if HOLE_HALF_M + SLIP_IN_M - extent < across < PLATE_HALF_M + extent - TOUCH_M:
                best = (RIM_TOP_M, "rim", index)
        for other, centre in enumerate(self.pos):
            if other in (cube, self.held):
                continue
            top = centre[2] + self.half[other]
            reach = half + self.half[other] - TOUCH_M
            if (best[0] < top <= bottom + 0.006
                    and max(abs(centre[0] - x), abs(centre[1] - y)) < reach):
                best = (top, "cube", other)
        return best

    def settle_all(self) -> None:
        """Let all cubes that are not held fall to their places, the lowest first."""
        for cube in sorted(range(len(self.half)), key=lambda index: self.pos[index][2]):
            if cube != self.held:
                self.settle(cube)

    def settle(self, cube: int, *, upset: bool = False) -> None:
        """Let a cube fall onto its support; it slides off a support that does not hold it."""
        centre, half = self.pos[cube], self.half[cube]
        top, _, _ = self.support(cube, centre[0], centre[1], centre[2] - half)
        fall = centre[2] - half - top
        if fall > SCATTER_FROM_M:
            scatter = self._rng.normal(0.0, 0.15 * fall, size=3).tolist()
            centre[0] += scatter[0]
            centre[1] += scatter[1]
            self.yaw[cube] += 10.0 * scatter[2]
        for _ in range(6):
            top, kind, index = self.support(cube, centre[0], centre[1], centre[2] - half)
            self.tilted[cube] = False
            if kind == "cube" and not upset and self._holds(index, centre):
                break
            if kind != "cube":
                if kind == "rim" and not self.over_bar(centre[0], centre[1], 0.0):
                    self.tilted[cube] = True
                    top = task.TABLE_HEIGHT_M + TILTED_LIFT_M
                break
            self._slide_off(cube, index)
            upset = False
        centre[2] = top + half

    def _holds(self, lower: int, centre: Sequence[float]) -> bool:
        """Whether a cube with this centre stays on `lower`: its centre is over a level face."""
        below = self.pos[lower]
        across = _across(centre[0] - below[0], centre[1] - below[1], self.yaw[lower])
        return not self.tilted[lower] and across <= self.half[lower]

    def _slide_off(self, cube: int, lower: int) -> None:
        """Topple over the nearest side of `lower`, to a place next to it."""
        centre, below = self.pos[cube], self.pos[lower]
        dx, dy = centre[0] - below[0], centre[1] - below[1]
        if max(abs(dx), abs(dy)) < 1e-6:
            angle = float(self._rng.uniform(-pi, pi))
            dx, dy = cos(angle), sin(angle)
        scale = (self.half[cube] + self.half[lower] + 0.004) / max(abs(dx), abs(dy))
        centre[0], centre[1] = below[0] + dx * scale, below[1] + dy * scale
        self.yaw[cube] += float(self._rng.uniform(-0.4, 0.4))

    def over_bar(self, x: float, y: float, margin: float) -> bool:
        """Whether a point lies over the bars of a container, or within `margin` of them."""
        for hole, yaw in zip(self._holes, self.container_yaws, strict=True):
            across = _across(x - hole[0], y - hole[1], yaw)
            if HOLE_HALF_M - margin < across < PLATE_HALF_M + margin:
                return True
        return False

    def cube_quat(self, cube: int) -> list[float]:
        """The cube's orientation, w, x, y, z."""
        upright = _yaw_quat(self.yaw[cube])
        if self.tilted[cube]:
            return multiply(upright, (cos(0.5 * TILT_RAD), sin(0.5 * TILT_RAD), 0.0, 0.0))
        return upright

    def container_quat(self, container: int) -> list[float]:
        """A container's orientation, w, x, y, z."""
        return _yaw_quat(self.container_yaws[container])


def _yaw_quat(yaw: float) -> list[float]:
    return [cos(0.5 * yaw), 0.0, 0.0, sin(0.5 * yaw)]


def _place_containers(drawn: Drawn) -> tuple[list[list[float]], list[float]]:
    ox, oy = drawn.world_offset_m
    origins = [[x + ox, y + oy, task.CONTAINER_Z_M] for x, y in task.CONTAINER_XY_M]
    return origins, list(drawn.container_yaw_rad)


def _hole(origin: Sequence[float], yaw: float) -> tuple[float, float]:
    return origin[0] + task.HOLE_LOCAL_M[0] * cos(yaw), origin[1] + task.HOLE_LOCAL_M[0] * sin(yaw)


def _across(x: float, y: float, yaw: float) -> float:
    """The distance of (x, y) from the centre of a square at `yaw`, along the axis where it is larger."""
    if yaw == 0.0:
        return max(abs(x), abs(y))
    c, s = cos(yaw), sin(yaw)
    return max(abs(c * x + s * y), abs(c * y - s * x))
