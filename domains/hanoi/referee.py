"""The step-by-step judge of an episode: success, illegal placement, placements, parking off the containers.

Both environments ask one Referee once a control step, so they agree by construction. It works on plain
floats: a look costs microseconds. The same predicates over whole arrays are in `task`.
"""

from collections.abc import Sequence
from math import ceil, hypot, inf

from ...core.values import JSON
from . import task

Vector = Sequence[float]

RULES = ("paper", "strict")
RESTING_SPEED_M_S = 0.02     # slower is at rest
RELEASED_M = 0.03            # the end effector is farther than this from the cube's surface radius: let go
SETTLED_S = 0.5              # at rest and let go for so long is placed
MOVED_M = 0.02               # a placement is at least so far from the cube's last place
PARKING_LIMIT_S = 2.0        # rules "strict": resting off the containers for longer is illegal


class Referee:
    """Judges one episode at a time, from true states.

    After `reset` and after each control step call `containers_at` (only when containers moved) and `look`.
    """

    def __init__(self, half_edges: Sequence[float], *, rules: str, control_period_s: float) -> None:
        self._half_edges = tuple(half_edges)
        n_cubes = len(self._half_edges)
        self._strict = rules == "strict"
        self._settled_steps = max(1, ceil(SETTLED_S / control_period_s - 1e-9))
        self._parking_steps = max(1, ceil(PARKING_LIMIT_S / control_period_s - 1e-9))
        self._resting_m = RESTING_SPEED_M_S * control_period_s
        self._pairs = [
            (small, large, self._half_edges[small] + self._half_edges[large],
             task.STACK_HORIZONTAL_FACTOR * self._half_edges[small])
            for small in range(n_cubes) for large in range(small + 1, n_cubes)
        ]
        self._frames: list[tuple[float, ...]] = []
        self.reset([(0.0, 0.0, 0.0)] * n_cubes)

    def reset(self, cubes: Sequence[Vector]) -> None:
        """Begin an episode with cubes at rest at these centres [[x, y, z], …], small to large."""
        self._last = [tuple(cube) for cube in cubes]
        self._anchors = [tuple(cube) for cube in cubes]
        self._rest_steps = [0] * len(cubes)
        self.success = False
        self.illegal_score = 0.0
        self.max_illegal_score = 0.0
        self.placements = 0
        self.off_peg_parkings = 0

    def containers_at(self, positions: Sequence[Vector], quats: Sequence[Vector]) -> None:
        """Tell where the three containers are: positions [[x, y, z], …], quats [[w, x, y, z], …]."""
        frames: list[tuple[float, ...]] = []
        for (px, py, pz), (w, x, y, z) in zip(positions, quats, strict=True):
            frames.append((
                px, py, pz,
                1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y),     # local x axis
                2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x),     # local y axis
            ))
        self._frames = frames

    def container_of(self, cube: Vector) -> int | None:
        """The container whose gate holds this cube centre: 0, 1, 2, or None."""
        for index in range(len(self._frames)):
            if self._in_gate(cube, index):
                return index
        return None

    def _in_gate(self, cube: Vector, container: int) -> bool:
        px, py, pz, ax, ay, az, bx, by, bz = self._frames[container]
        dx, dy, dz = cube[0] - px, cube[1] - py, cube[2] - pz
        return (task.GATE_X_M[0] <= ax * dx + ay * dy + az * dz <= task.GATE_X_M[1]
                and abs(bx * dx + by * dy + bz * dz) <= task.GATE_HALF_Y_M)

    def look(self, eef: Vector, cubes: Sequence[Vector]) -> str | None:
        """Judge the state after a control step; returns "success", "illegal" or None.

        `eef` is the end-effector position, `cubes` the cube centres, small to large.
        """
        self.illegal_score = score = self._illegal(cubes)
        self.max_illegal_score = max(self.max_illegal_score, score)
        parked_too_long = self._follow(eef, cubes)
        if self._succeeded(cubes):
            self.success = True
            return "success"
        if score >= task.ILLEGAL_AT or (self._strict and parked_too_long):
            return "illegal"
        return None

    def _illegal(self, cubes: Sequence[Vector]) -> float:
        least = inf      # the smallest misfit gives the largest score
        for small, large, height, tolerance in self._pairs:
            lower, upper = cubes[small], cubes[large]
            misfit = abs(upper[2] - lower[2] - height) / task.STACK_VERTICAL_M
            if misfit < least:
                misfit = max(misfit, hypot(upper[0] - lower[0], upper[1] - lower[1]) / tolerance)
                if misfit < least:
                    least = misfit
        return float(task.ILLEGAL_AT ** (least * least))

    def _succeeded(self, cubes: Sequence[Vector]) -> bool:
        for cube in reversed(cubes):
            if not self._in_gate(cube, task.TARGET):
                return False
            if self._in_gate(cube, task.SOURCE) or self._in_gate(cube, task.SPARE):
                return False
        for index in range(len(cubes) - 1):
            upper, lower = cubes[index], cubes[index + 1]
            height = self._half_edges[index] + self._half_edges[index + 1]
            tolerance = task.STACK_HORIZONTAL_FACTOR * self._half_edges[index]
            if abs(upper[2] - lower[2] - height) / task.STACK_VERTICAL_M > 1.0:
                return False
            if hypot(upper[0] - lower[0], upper[1] - lower[1]) / tolerance > 1.0:
                return False
        return True

    def _follow(self, eef: Vector, cubes: Sequence[Vector]) -> bool:
        """Count placements and parkings; returns whether a cube is parked longer than the strict rules allow."""
        too_long = False
        for index, cube in enumerate(cubes):
            x, y, z = cube
            lx, ly, lz = self._last[index]
            if abs(x - lx) + abs(y - ly) + abs(z - lz) > self._resting_m:
                self._rest_steps[index] = 0
                self._last[index] = (x, y, z)
                continue
            self._last[index] = (x, y, z)
            ex, ey, ez = eef[0] - x, eef[1] - y, eef[2] - z
            reach = self._half_edges[index] + RELEASED_M
            if ex * ex + ey * ey + ez * ez < reach * reach:
                self._rest_steps[index] = 0
                continue
            steps = self._rest_steps[index] = self._rest_steps[index] + 1
            if steps == self._settled_steps:
                self._settle(index, (x, y, z))
            if steps >= self._parking_steps and self._strict and self.container_of(cube) is None:
                too_long = True
        return too_long

    def _settle(self, index: int, place: tuple[float, float, float]) -> None:
        ax, ay, az = self._anchors[index]
        if hypot(place[0] - ax, place[1] - ay, place[2] - az) > MOVED_M:
            self._anchors[index] = place
            self.placements += 1
            if self.container_of(place) is None:
                self.off_peg_parkings += 1

    def info(self) -> dict[str, JSON]:
        """What an episode's record says of it: placements, off-peg parkings, the largest illegal score."""
        return {
            "placements": self.placements,
            "off_peg_parkings": self.off_peg_parkings,
            "max_illegal_score": round(self.max_illegal_score, 6),
        }
