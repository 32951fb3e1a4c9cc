"""Cubes, containers and contacts of the kinematic world: what stands on what, what is pushed, held, dropped.

There are no forces. Within a control step the hand moves in small substeps; contacts stop it or push cubes;
what is let go falls at once to what lies below, and topples where its centre is not supported.
Plain floats throughout: a step near contact costs some tens of microseconds, a step in free space a few.
"""

from collections.abc import Sequence
from math import ceil, cos, hypot, pi, sin

import numpy as np

from ..hanoi import task
from ..hanoi.randomisation import Drawn
from .hand import Hand, multiply

FINGERTIP_M = 0.012         # from the end effector down to the fingertips
PALM_M = 0.033              # from the end effector up to the palm
FINGER_HALF_WIDTH_M = 0.010
FINGER_THICKNESS_M = 0.010
GRASP_TOP_M = 0.002         # the end effector must be so far below the top of the cube
MAX_GRASP_TILT_RAD = 0.35
MAX_GRASP_YAW_RAD = 0.6     # between hand and cube, beyond which a cube slips out
SUBSTEP_M = 0.006
CLEARANCE_M = 0.15          # cubes farther than this to the side, hand and held cube cannot touch
TOUCH_M = 0.001             # smaller overlaps are no contact
SLIP_IN_M = 0.0015          # a cube that misses the hole by less slips in
TILT_RAD = 0.3
TILTED_LIFT_M = 0.006
SCATTER_FROM_M = 0.02       # a fall of more scatters
RIM_TOP_M = task.TABLE_HEIGHT_M + task.CONTAINER_THICKNESS_M
PLATE_HALF_M = 0.5 * task.HOLE_EDGE_M + task.BAR_WIDTH_M
HOLE_HALF_M = 0.5 * task.HOLE_EDGE_M
SLIDING_FRICTION = 0.5      # of the cubes at scale 1, for pushes
GRAVITY_M_S2 = 9.81


class World:
    """The state between hand and table. `pos` holds cube centres [[x, y, z], …], small to large."""

    def __init__(
        self, drawn: Drawn, rng: np.random.Generator, *, half_edges: Sequence[float], accumulate: bool,
    ) -> None:
        self._rng = rng
        self._half = tuple(half_edges)
        self._friction = drawn.sliding_friction_scale
        self.hand = Hand(drawn, accumulate=accumulate, jitter=(0.005 * rng.standard_normal(3)).tolist())
        self.held: int | None = None
        self.drops = 0
        self._hold = (0.0, 0.0, 0.0, 0.0)       # along the fingers, across, up, yaw: cube seen from the hand
        self.containers, self.container_yaws = _place_containers(drawn)
        self._holes = [_hole(origin, yaw) for origin, yaw in zip(self.containers, self.container_yaws, strict=True)]
        start = self._holes[task.SOURCE]
        self.pos = [
            [x + dx, y + dy, z] for (x, y, z), (dx, dy)
            in zip(task.tower(len(self._half), start), drawn.initial_cube_xy_m, strict=True)
        ]
        self.yaw = [self.container_yaws[task.SOURCE]] * len(self._half)
        self.tilted = [False] * len(self._half)
        self._settle_all()

    # Motion -----------------------------------------------------------------------------------------

    def move(self, displacement: Sequence[float]) -> None:
        """Move the hand by as much of this displacement as contacts allow, pushing what is in the way."""
        dx, dy, dz = displacement
        pos = self.hand.pos
        if self._clear(pos[2] + min(dz, 0.0), abs(dx), abs(dy)):
            pos[0] += dx
            pos[1] += dy
            pos[2] += dz
            self._carry()
            return
        parts = max(1, ceil(max(abs(dx), abs(dy), abs(dz)) / SUBSTEP_M))
        for _ in range(parts):
            self._move_a_little(dx / parts, dy / parts, dz / parts)

    def _clear(self, lowest: float, dx: float, dy: float) -> bool:
        """Whether nothing can be touched on a way of (dx, dy) with the end effector above `lowest`."""
        bottom = lowest - FINGERTIP_M
        if self.held is not None:
            bottom = min(bottom, lowest + self._hold[2] - self._half[self.held])
        if bottom < RIM_TOP_M + 0.01:
            return False
        x, y, _ = self.hand.pos
        dx, dy = dx + CLEARANCE_M, dy + CLEARANCE_M
        for cube, centre in enumerate(self.pos):
            if (centre[2] + self._half[cube] + 0.002 > bottom and cube != self.held
                    and abs(centre[0] - x) < dx and abs(centre[1] - y) < dy):
                return False
        return True

    def _move_a_little(self, dx: float, dy: float, dz: float) -> None:
        pos = self.hand.pos
        if dz < 0.0:
            dz = min(0.0, max(dz, self._floor() - pos[2]))
        pos[2] += dz
        self._carry()
        if (dx or dy) and (self.held is None or self._within_walls(self.held, dx, dy)):
            pos[0] += dx
            pos[1] += dy
            self._carry()
            if self._fingers_in_bars() or not self._make_way(dx, dy):
                pos[0] -= dx
                pos[1] -= dy
                self._carry()

    def _carry(self) -> None:
        if self.held is None:
            return
        hand, cube = self.hand, self.pos[self.held]
        along, across, up, yaw = self._hold
        # The hand's z axis points down, so that its y axis, along which the fingers move, is (sin, -cos).
        c, s = hand.cos, hand.sin
        cube[0] = hand.pos[0] + along * c + across * s
        cube[1] = hand.pos[1] + along * s - across * c
        cube[2] = hand.pos[2] + up
        self.yaw[self.held] = hand.yaw + yaw

    def _from_hand(self, cube: int) -> tuple[float, float]:
        """The cube's centre along the hand's x and y axes; the fingers move along y."""
        hand = self.hand
        dx, dy = self.pos[cube][0] - hand.pos[0], self.pos[cube][1] - hand.pos[1]
        return dx * hand.cos + dy * hand.sin, dx * hand.sin - dy * hand.cos

    def _extent(self, cube: int, yaw: float) -> float:
        """Half the width of a cube seen along an axis at `yaw`."""
        turn = self.yaw[cube] - yaw
        return self._half[cube] * (abs(cos(turn)) + abs(sin(turn)))

    def _floor(self) -> float:
        """The lowest height that the end effector can have here."""
        hand = self.hand
        tip = hand.pos[2] - FINGERTIP_M
        floor = task.TABLE_HEIGHT_M + FINGERTIP_M
        if tip < RIM_TOP_M + SUBSTEP_M and tip >= RIM_TOP_M - TOUCH_M and self._finger_over_bar(0.004):
            floor = RIM_TOP_M + FINGERTIP_M
        for cube, centre in enumerate(self.pos):
            if cube == self.held:
                continue
            top = centre[2] + self._half[cube]
            u, v = self._from_hand(cube)
            half = self._extent(cube, hand.yaw)
            if abs(u) > half + 0.03 or abs(v) > half + 0.1:
                continue
            floor = max(floor, top - PALM_M)
            if tip >= top - TOUCH_M and self._under_finger(u, v, half):
                floor = max(floor, top + FINGERTIP_M)
        if self.held is not None:
            centre = self.pos[self.held]
            bottom = centre[2] - self._half[self.held]
            top, _, _ = self._support(self.held, centre[0], centre[1], bottom)
            floor = max(floor, top + self._half[self.held] - self._hold[2])
        return floor

    def _finger_over_bar(self, margin: float) -> bool:
        hand = self.hand
        reach = hand.opening + 0.5 * FINGER_THICKNESS_M
        x, y = reach * hand.sin, -reach * hand.cos
        return (self._over_bar(hand.pos[0] + x, hand.pos[1] + y, margin)
                or self._over_bar(hand.pos[0] - x, hand.pos[1] - y, margin))

    def _fingers_in_bars(self) -> bool:
        return self.hand.pos[2] - FINGERTIP_M < RIM_TOP_M - TOUCH_M and self._finger_over_bar(0.0)

    def _under_finger(self, u: float, v: float, half: float) -> bool:
        if abs(u) >= half + FINGER_HALF_WIDTH_M - TOUCH_M:
            return False
        inner, outer = self.hand.opening, self.hand.opening + FINGER_THICKNESS_M
        # A finger covers [inner, outer] on either side; the cube covers [v - half, v + half].
        return (v + half > inner + TOUCH_M and v - half < outer - TOUCH_M) or (
            v - half < -inner - TOUCH_M and v + half > -outer + TOUCH_M)

    # Pushing ----------------------------------------------------------------------------------------

    def _make_way(self, dx: float, dy: float) -> bool:
        """Push the cubes that the hand, moved by (dx, dy), runs into; False where one cannot give way."""
        hand = self.hand
        low, high = hand.pos[2] - FINGERTIP_M, hand.pos[2] + PALM_M
        for cube, centre in enumerate(self.pos):
            if cube == self.held:
                continue
            half = self._half[cube]
            if centre[2] + half > low + TOUCH_M and centre[2] - half < high:
                u, v = self._from_hand(cube)
                if self._under_finger(u, v, self._extent(cube, hand.yaw)) and not self._shove(cube, dx, dy):
                    return False
        return self.held is None or self._clear_way(self.held, dx, dy, 0)

    def _shove(self, cube: int, dx: float, dy: float) -> bool:
        """Push a cube and let everything find its place again; False where the cube cannot give way."""
        if not self._push(cube, dx, dy, 0):
            return False
        self.yaw[cube] += 0.5 * float(self._rng.standard_normal()) * hypot(dx, dy)
        self._settle_all()
        return True

    def _push(self, cube: int, dx: float, dy: float, depth: int) -> bool:
        """Shift a cube, what stands on it and what it runs into; False where a wall or a jam stops it."""
        if depth > 3 or not self._within_walls(cube, dx, dy):
            return False
        centre = self.pos[cube]
        riders = self._riders(cube)
        centre[0] += dx
        centre[1] += dy
        if not self._clear_way(cube, dx, dy, depth):
            centre[0] -= dx
            centre[1] -= dy
            return False
        for rider in riders:
            self._push(rider, dx, dy, depth + 1)
        return True

    def _clear_way(self, mover: int, dx: float, dy: float, depth: int) -> bool:
        """Push the cubes beside `mover` that it runs into."""
        x, y, z = self.pos[mover]
        half = self._half[mover]
        for cube, centre in enumerate(self.pos):
            if cube in (mover, self.held):
                continue
            reach = half + self._half[cube] - TOUCH_M
            if (abs(centre[2] - z) < reach - TOUCH_M and abs(centre[0] - x) < reach and abs(centre[1] - y) < reach
                    and (centre[0] - x) * dx + (centre[1] - y) * dy > 0.0 and not self._push(cube, dx, dy, depth + 1)):
                return False
        return True

    def _within_walls(self, cube: int, dx: float, dy: float) -> bool:
        """Whether a cube, moved by (dx, dy), stays within the bars of the hole that it stands in."""
        centre = self.pos[cube]
        if centre[2] - self._half[cube] > RIM_TOP_M - TOUCH_M or self.tilted[cube]:
            return True
        for (hole_x, hole_y), yaw in zip(self._holes, self.container_yaws, strict=True):
            x, y = centre[0] - hole_x, centre[1] - hole_y
            before = _across(x, y, yaw)
            if before < HOLE_HALF_M:
                room = HOLE_HALF_M - self._extent(cube, yaw)
                return _across(x + dx, y + dy, yaw) <= max(room, before)
        return True

    def nudge(self, cube: int, velocity: Sequence[float]) -> None:
        """A push from outside: the cube slides until friction stops it."""
        if cube == self.held:
            return
        speed = hypot(*velocity)
        slide = speed / (2.0 * SLIDING_FRICTION * self._friction * GRAVITY_M_S2)
        self._shove(cube, slide * velocity[0], slide * velocity[1])

    # Fingers ----------------------------------------------------------------------------------------

    def grip(self, command: float) -> None:
        """Move the fingers for one control step: they close on a cube, hold it, or let it go."""
        hand = self.hand
        wanted = hand.fingers(command)
        if self.held is not None:
            width = self._half[self.held]
            if wanted <= width + TOUCH_M:
                hand.squeeze(width)
                hand.set_opening(width)
                return
            self._let_go()
        elif wanted < hand.opening:
            wanted = self._close(wanted)
        hand.set_opening(wanted)

    def _close(self, wanted: float) -> float:
        """Close the empty fingers towards `wanted`; returns where they stop."""
        hand = self.hand
        for cube in sorted(range(len(self._half)), key=lambda index: -self._half[index]):
            half, centre = self._half[cube], self.pos[cube]
            if not centre[2] - half - FINGERTIP_M < hand.pos[2] <= centre[2] + half - GRASP_TOP_M:
                continue
            u, v = self._from_hand(cube)
            extent = self._extent(cube, hand.yaw)
            if abs(u) >= half + FINGER_HALF_WIDTH_M or abs(v) + extent > hand.opening + TOUCH_M:
                continue
            if abs(v) + extent <= wanted:
                continue                                    # not touched yet
            if not self._takes_hold(cube, u):
                self._squeeze_out(cube, u)
                continue
            if wanted >= extent:                            # one finger pushes it towards the middle
                self._shift_across(cube, v - (1.0 if v > 0 else -1.0) * (wanted - extent))
                continue
            self._take(cube, u, v)
            hand.squeeze(half)
            return half
        return wanted

    def _takes_hold(self, cube: int, u: float) -> bool:
        """Whether the pads get enough of the cube's side, and straight enough, to hold it."""
        hand = self.hand
        grip = self._half[cube] - 0.008 + 0.006 * min(self._friction, 1.0)
        return (abs(u) <= grip and hand.tilt <= MAX_GRASP_TILT_RAD
                and abs(_quarter(self.yaw[cube] - hand.yaw)) <= MAX_GRASP_YAW_RAD)

    def _squeeze_out(self, cube: int, u: float) -> None:
        side = 0.01 if u > 0 else -0.01
        self._shove(cube, side * self.hand.cos, side * self.hand.sin)

    def _shift_across(self, cube: int, by: float) -> None:
        self._shove(cube, -by * self.hand.sin, by * self.hand.cos)

    def _take(self, cube: int, u: float, v: float) -> None:
        """Hold a cube: the fingers centre and straighten it; how it sits along the pads stays."""
        hand = self.hand
        offset = self.yaw[cube] - hand.yaw
        self._shift_across(cube, v)
        self.tilted[cube] = False
        self._hold = (u, 0.0, self.pos[cube][2] - hand.pos[2], offset - _quarter(offset))
        self.held = cube
        self._carry()
        self._settle_all()

    def _let_go(self) -> None:
        cube = self.held
        assert cube is not None
        self.held = None
        height = self.pos[cube][2]
        self._settle(cube, upset=self.hand.tilt > MAX_GRASP_TILT_RAD)
        if height - self.pos[cube][2] > SCATTER_FROM_M:
            self.drops += 1

    # Standing and falling ---------------------------------------------------------------------------

    def _riders(self, cube: int) -> list[int]:
        """The cubes that stand directly on this one."""
        x, y, z = self.pos[cube]
        top = z + self._half[cube]
        return [
            other for other, centre in enumerate(self.pos)
            if other not in (cube, self.held) and abs(centre[2] - self._half[other] - top) < 0.003
            and max(abs(centre[0] - x), abs(centre[1] - y)) < self._half[cube] + self._half[other]
        ]

    def _support(self, cube: int, x: float, y: float, bottom: float) -> tuple[float, str, int]:
        """The highest thing below a cube at (x, y): its top, "table", "rim" or "cube", and its index."""
        best = (task.TABLE_HEIGHT_M, "table", 0)
        half = self._half[cube]
        for index, (hole, yaw) in enumerate(zip(self._holes, self.container_yaws, strict=True)):
            across = _across(x - hole[0], y - hole[1], yaw)
            extent = self._extent(cube, yaw)
            if HOLE_HALF_M + SLIP_IN_M - extent < across < PLATE_HALF_M + extent - TOUCH_M:
                best = (RIM_TOP_M, "rim", index)
        for other, centre in enumerate(self.pos):
            if other in (cube, self.held):
                continue
            top = centre[2] + self._half[other]
            reach = half + self._half[other] - TOUCH_M
            if (best[0] < top <= bottom + 0.006
                    and max(abs(centre[0] - x), abs(centre[1] - y)) < reach):
                best = (top, "cube", other)
        return best

    def _settle_all(self) -> None:
        for cube in sorted(range(len(self._half)), key=lambda index: self.pos[index][2]):
            if cube != self.held:
                self._settle(cube)

    def _settle(self, cube: int, *, upset: bool = False) -> None:
        """Let a cube fall to what lies below it, sliding off what does not hold it."""
        centre, half = self.pos[cube], self._half[cube]
        top, _, _ = self._support(cube, centre[0], centre[1], centre[2] - half)
        fall = centre[2] - half - top
        if fall > SCATTER_FROM_M:
            scatter = self._rng.normal(0.0, 0.15 * fall, size=3).tolist()
            centre[0] += scatter[0]
            centre[1] += scatter[1]
            self.yaw[cube] += 10.0 * scatter[2]
        for _ in range(6):
            top, kind, index = self._support(cube, centre[0], centre[1], centre[2] - half)
            self.tilted[cube] = False
            if kind == "cube" and not upset and self._holds(index, centre):
                break
            if kind != "cube":
                if kind == "rim" and not self._over_bar(centre[0], centre[1], 0.0):
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
        return not self.tilted[lower] and across <= self._half[lower]

    def _slide_off(self, cube: int, lower: int) -> None:
        """Topple over the nearest side of `lower`, to beside it."""
        centre, below = self.pos[cube], self.pos[lower]
        dx, dy = centre[0] - below[0], centre[1] - below[1]
        if max(abs(dx), abs(dy)) < 1e-6:
            angle = float(self._rng.uniform(-pi, pi))
            dx, dy = cos(angle), sin(angle)
        scale = (self._half[cube] + self._half[lower] + 0.004) / max(abs(dx), abs(dy))
        centre[0], centre[1] = below[0] + dx * scale, below[1] + dy * scale
        self.yaw[cube] += float(self._rng.uniform(-0.4, 0.4))

    def _over_bar(self, x: float, y: float, margin: float) -> bool:
        """Whether a point lies over the bars of a container, or within `margin` of them."""
        for hole, yaw in zip(self._holes, self.container_yaws, strict=True):
            across = _across(x - hole[0], y - hole[1], yaw)
            if HOLE_HALF_M - margin < across < PLATE_HALF_M + margin:
                return True
        return False

    def turn(self, by: Sequence[float]) -> None:
        """Turn the hand, and what it holds, by the commanded rotation."""
        if by[0] or by[1] or by[2]:
            self.hand.turn(by)
            self._carry()

    # What the observations say ----------------------------------------------------------------------

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
    """How far (x, y) is from the middle of a square at `yaw`, measured along its farther axis."""
    if yaw == 0.0:
        return max(abs(x), abs(y))
    c, s = cos(yaw), sin(yaw)
    return max(abs(c * x + s * y), abs(c * y - s * x))


def _quarter(angle: float) -> float:
    """The same angle within ±45°, for things that look alike after a quarter turn."""
    return (angle + 0.25 * pi) % (0.5 * pi) - 0.25 * pi
