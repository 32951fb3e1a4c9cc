"""The hand among the cubes of the kinematic world: where contacts stop it, what it pushes, grasps and lets go.

Within a control step the hand moves in small substeps near anything it could touch, and at once elsewhere.
Plain floats throughout: a step near contact costs some tens of microseconds, a step in free space a few.
"""

from collections.abc import Sequence
from math import ceil, pi

import numpy as np

from ..hanoi import task
from ..hanoi.randomisation import Drawn
from .cubes import RIM_TOP_M, SCATTER_FROM_M, TOUCH_M, Cubes
from .hand import Hand

FINGERTIP_M = 0.012         # from the end effector down to the fingertips
PALM_M = 0.033              # from the end effector up to the palm
PALM_HEIGHT_M = 0.06        # of the hand above that, which no cube can enter from the side
PALM_HALF_X_M = 0.03        # along the hand's x axis, and
PALM_HALF_Y_M = 0.1         # along its y axis, in which the fingers move
FINGER_HALF_WIDTH_M = 0.010
FINGER_THICKNESS_M = 0.010
GRASP_TOP_M = 0.002         # the end effector must be so far below the top of the cube
MAX_GRASP_TILT_RAD = 0.35
MAX_GRASP_YAW_RAD = 0.6     # between hand and cube, beyond which a cube slips out
SUBSTEP_M = 0.006
CLEARANCE_M = 0.15          # cubes farther than this to the side, hand and held cube cannot touch


class World:
    """The state between hand and table."""

    def __init__(
        self, drawn: Drawn, rng: np.random.Generator, *, half_edges: Sequence[float], accumulate: bool,
    ) -> None:
        """`accumulate` is goal_update "desired"."""
        self.hand = Hand(drawn, accumulate=accumulate, jitter=(0.005 * rng.standard_normal(3)).tolist())
        self.cubes = Cubes(drawn, rng, half_edges=half_edges)
        self.drops = 0
        self._hold = (0.0, 0.0, 0.0, 0.0)       # of the held cube in the hand: along x, along y, up, yaw

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

    def turn(self, by: Sequence[float]) -> None:
        """Turn the hand, and what it holds, by the commanded rotation; not at all where something is in the way."""
        if not (by[0] or by[1] or by[2]):
            return
        hand, held = self.hand, self.cubes.held
        before = hand.orientation()
        hand.turn(by)
        if held is None:
            return
        x, y, _ = self.cubes.pos[held]
        self._carry()
        to = self.cubes.pos[held]
        dx, dy = to[0] - x, to[1] - y
        to[0], to[1] = x, y
        free = self.cubes.within_walls(held, dx, dy)
        to[0], to[1] = x + dx, y + dy
        if not free or not self.cubes.clear_way(held, dx, dy, 0):
            hand.set_orientation(before)
            self._carry()

    def grip(self, command: float) -> None:
        """Move the fingers for one control step: they close on a cube, hold it, or let it go."""
        hand = self.hand
        wanted = hand.fingers(command)
        if self.cubes.held is not None:
            width = self.cubes.half[self.cubes.held]
            if wanted <= width + TOUCH_M:
                hand.squeeze(width)
                hand.set_opening(width)
                return
            self._let_go()
        elif wanted < hand.opening:
            wanted = self._close(wanted)
        hand.set_opening(wanted)

    def _clear(self, lowest: float, dx: float, dy: float) -> bool:
        """Whether nothing can be touched on a way of (dx, dy) with the end effector above `lowest`."""
        bottom = lowest - FINGERTIP_M
        if self.cubes.held is not None:
            bottom = min(bottom, lowest + self._hold[2] - self.cubes.half[self.cubes.held])
        if bottom < RIM_TOP_M + 0.01:
            return False
        x, y, _ = self.hand.pos
        dx, dy = dx + CLEARANCE_M, dy + CLEARANCE_M
        for cube, centre in enumerate(self.cubes.pos):
            if (centre[2] + self.cubes.half[cube] + 0.002 > bottom and cube != self.cubes.held
                    and abs(centre[0] - x) < dx and abs(centre[1] - y) < dy):
                return False
        return True

    def _move_a_little(self, dx: float, dy: float, dz: float) -> None:
        pos = self.hand.pos
        if dz < 0.0:
            dz = min(0.0, max(dz, self._floor() - pos[2]))
        pos[2] += dz
        self._carry()
        if (dx or dy) and (self.cubes.held is None or self.cubes.within_walls(self.cubes.held, dx, dy)):
            touching = self._at_palm()
            pos[0] += dx
            pos[1] += dy
            self._carry()
            if not self._at_palm() <= touching or self._fingers_in_bars() or not self._make_way(dx, dy):
                pos[0] -= dx
                pos[1] -= dy
                self._carry()

    def _carry(self) -> None:
        if self.cubes.held is None:
            return
        hand, cube = self.hand, self.cubes.pos[self.cubes.held]
        along, across, up, yaw = self._hold
        # The hand's z axis points down, so that its y axis, along which the fingers move, is (sin, -cos).
        c, s = hand.cos, hand.sin
        cube[0] = hand.pos[0] + along * c + across * s
        cube[1] = hand.pos[1] + along * s - across * c
        cube[2] = hand.pos[2] + up
        self.cubes.yaw[self.cubes.held] = hand.yaw + yaw

    def _from_hand(self, cube: int) -> tuple[float, float]:
        """The cube's centre along the hand's x and y axes; the fingers move along y."""
        hand = self.hand
        dx, dy = self.cubes.pos[cube][0] - hand.pos[0], self.cubes.pos[cube][1] - hand.pos[1]
        return dx * hand.cos + dy * hand.sin, dx * hand.sin - dy * hand.cos

    def _floor(self) -> float:
        """The lowest height that the end effector can have here."""
        hand = self.hand
        tip = hand.pos[2] - FINGERTIP_M
        floor = task.TABLE_HEIGHT_M + FINGERTIP_M
        if tip < RIM_TOP_M + SUBSTEP_M and tip >= RIM_TOP_M - TOUCH_M and self._finger_over_bar(0.004):
            floor = RIM_TOP_M + FINGERTIP_M
        for cube, centre in enumerate(self.cubes.pos):
            if cube == self.cubes.held:
                continue
            top = centre[2] + self.cubes.half[cube]
            u, v = self._from_hand(cube)
            half = self.cubes.extent(cube, hand.yaw)
            if abs(u) > half + PALM_HALF_X_M or abs(v) > half + PALM_HALF_Y_M:
                continue
            floor = max(floor, top - PALM_M)
            if tip >= top - TOUCH_M and self._under_finger(u, v, half):
                floor = max(floor, top + FINGERTIP_M)
        if self.cubes.held is not None:
            centre = self.cubes.pos[self.cubes.held]
            bottom = centre[2] - self.cubes.half[self.cubes.held]
            top, _, _ = self.cubes.support(self.cubes.held, centre[0], centre[1], bottom)
            floor = max(floor, top + self.cubes.half[self.cubes.held] - self._hold[2])
        return floor

    def _at_palm(self) -> set[int]:
        """The cubes that reach into the palm from the side."""
        hand = self.hand
        low, high = hand.pos[2] + PALM_M + TOUCH_M, hand.pos[2] + PALM_M + PALM_HEIGHT_M
        inside = set()
        for cube, centre in enumerate(self.cubes.pos):
            half = self.cubes.half[cube]
            if cube != self.cubes.held and centre[2] + half > low and centre[2] - half < high:
                u, v = self._from_hand(cube)
                extent = self.cubes.extent(cube, hand.yaw)
                if abs(u) < extent + PALM_HALF_X_M and abs(v) < extent + PALM_HALF_Y_M:
                    inside.add(cube)
        return inside

    def _finger_over_bar(self, margin: float) -> bool:
        hand = self.hand
        reach = hand.opening + 0.5 * FINGER_THICKNESS_M
        x, y = reach * hand.sin, -reach * hand.cos
        return (self.cubes.over_bar(hand.pos[0] + x, hand.pos[1] + y, margin)
                or self.cubes.over_bar(hand.pos[0] - x, hand.pos[1] - y, margin))

    def _fingers_in_bars(self) -> bool:
        return self.hand.pos[2] - FINGERTIP_M < RIM_TOP_M - TOUCH_M and self._finger_over_bar(0.0)

    def _under_finger(self, u: float, v: float, half: float) -> bool:
        if abs(u) >= half + FINGER_HALF_WIDTH_M - TOUCH_M:
            return False
        inner, outer = self.hand.opening, self.hand.opening + FINGER_THICKNESS_M
        # A finger covers [inner, outer] on either side; the cube covers [v - half, v + half].
        return (v + half > inner + TOUCH_M and v - half < outer - TOUCH_M) or (
            v - half < -inner - TOUCH_M and v + half > -outer + TOUCH_M)

    def _make_way(self, dx: float, dy: float) -> bool:
        """Push the cubes that the hand, moved by (dx, dy), runs into; False where one cannot give way."""
        hand = self.hand
        low, high = hand.pos[2] - FINGERTIP_M, hand.pos[2] + PALM_M
        for cube, centre in enumerate(self.cubes.pos):
            if cube == self.cubes.held:
                continue
            half = self.cubes.half[cube]
            if centre[2] + half > low + TOUCH_M and centre[2] - half < high:
                u, v = self._from_hand(cube)
                if self._under_finger(u, v, self.cubes.extent(cube, hand.yaw)) and not self.cubes.shove(cube, dx, dy):
                    return False
        return self.cubes.held is None or self.cubes.clear_way(self.cubes.held, dx, dy, 0)

    def _close(self, wanted: float) -> float:
        """Close the empty fingers towards `wanted`; returns where they stop."""
        hand = self.hand
        for cube in sorted(range(len(self.cubes.half)), key=lambda index: -self.cubes.half[index]):
            half, centre = self.cubes.half[cube], self.cubes.pos[cube]
            if not centre[2] - half - FINGERTIP_M < hand.pos[2] <= centre[2] + half - GRASP_TOP_M:
                continue
            u, v = self._from_hand(cube)
            extent = self.cubes.extent(cube, hand.yaw)
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
            if self.cubes.riders(cube):
                return max(wanted, extent)                  # what stands on it keeps it where it is
            self._take(cube, u, v)
            hand.squeeze(half)
            return half
        return wanted

    def _takes_hold(self, cube: int, u: float) -> bool:
        """Whether the pads get enough of the cube's side, and straight enough, to hold it."""
        hand = self.hand
        grip = self.cubes.half[cube] - 0.008 + 0.006 * min(self.cubes.friction, 1.0)
        return (abs(u) <= grip and hand.tilt <= MAX_GRASP_TILT_RAD
                and abs(_quarter(self.cubes.yaw[cube] - hand.yaw)) <= MAX_GRASP_YAW_RAD)

    def _squeeze_out(self, cube: int, u: float) -> None:
        side = 0.01 if u > 0 else -0.01
        self.cubes.shove(cube, side * self.hand.cos, side * self.hand.sin)

    def _shift_across(self, cube: int, by: float) -> None:
        self.cubes.shove(cube, -by * self.hand.sin, by * self.hand.cos)

    def _take(self, cube: int, u: float, v: float) -> None:
        """Hold a cube: the fingers centre and straighten it; how it sits along the pads stays."""
        hand = self.hand
        offset = self.cubes.yaw[cube] - hand.yaw
        self._shift_across(cube, v)
        self.cubes.tilted[cube] = False
        self._hold = (u, 0.0, self.cubes.pos[cube][2] - hand.pos[2], offset - _quarter(offset))
        self.cubes.held = cube
        self._carry()
        self.cubes.settle_all()

    def _let_go(self) -> None:
        cube = self.cubes.held
        assert cube is not None
        self.cubes.held = None
        height = self.cubes.pos[cube][2]
        self.cubes.settle(cube, upset=self.hand.tilt > MAX_GRASP_TILT_RAD)
        if height - self.cubes.pos[cube][2] > SCATTER_FROM_M:
            self.drops += 1


def _quarter(angle: float) -> float:
    """The same angle within ±45°, for things that look alike after a quarter turn."""
    return (angle + 0.25 * pi) % (0.5 * pi) - 0.25 * pi
