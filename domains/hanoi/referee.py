"""The step-by-step judge of an episode: success, illegal moves, placements, parking off the containers.

Both environments ask one Referee once a control step, so they agree by construction. It works on plain
floats: a look costs microseconds. The planar predicates over whole arrays are in `task`.

Success, under every set of rules: the tower stands on C (`task.success`), its lowest cube on the table, C upright and
near its drawn place, and every cube at rest and released for SETTLED_S. What ends an episode as illegal:

    stacking     a larger cube on a smaller one, also for a moment (every set of rules: the paper's)
    parking      a cube that rests outside all gates for PARKING_LIMIT_S                    (rules "strict", as below)
    two-cubes    two cubes farther than MOVED_M from the places where they last settled
    order        a cube that settles elsewhere and was not the smallest in its container, or joins a smaller one,
                 or while another cube lies outside all gates
    container    a container that was tipped over, or moved by more than CONTAINER_MOVED_M
"""

from collections.abc import Sequence
from math import ceil, cos, dist, hypot, inf

from ...core.values import JSON
from . import task

Vector = Sequence[float]

RULES = ("paper", "strict")
RESTING_SPEED_M_S = 0.02     # slower is at rest
RELEASED_M = 0.03            # the end effector is farther than this from the cube's surface radius: let go
SETTLED_S = 0.5              # at rest and let go for so long is placed
MOVED_M = 0.02               # a placement is at least so far from the cube's last place
PARKING_LIMIT_S = 2.0        # rules "strict": resting off the containers for longer is illegal
CONTAINER_MOVED_M = 0.05     # from its drawn place: no longer the container that was drawn
CONTAINER_TILT_RAD = 0.35    # of its plate: tipped over
_UPRIGHT = cos(CONTAINER_TILT_RAD)


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

    def reset(self, cubes: Sequence[Vector], positions: Sequence[Vector], quats: Sequence[Vector]) -> None:
        """Begin an episode with cubes at rest at these centres [[x, y, z], …], small to large, and containers
        at `positions` [[x, y, z], …] with orientations `quats` [[w, x, y, z], …]: their drawn places."""
        self._drawn = [tuple(position) for position in positions]
        self.containers_at(positions, quats)
        self._last = [tuple(cube) for cube in cubes]
        self._placed = [tuple(cube) for cube in cubes]      # where each cube was placed last, and
        self._settled = [tuple(cube) for cube in cubes]     # where it settled last, however near to that
        self._homes = [self.container_of(cube) for cube in cubes]
        self._rest_steps = [0] * len(cubes)
        self.success = False
        self.illegal_score = 0.0
        self.max_illegal_score = 0.0
        self.placements = 0
        self.off_peg_parkings = 0
        self.broken_rule: str | None = None

    def containers_at(self, positions: Sequence[Vector], quats: Sequence[Vector]) -> None:
        """Say where the three containers are: positions [[x, y, z], …], quats [[w, x, y, z], …]."""
        self._frames: list[tuple[float, ...]] = []
        self._in_place: list[bool] = []
        for (px, py, pz), (w, x, y, z), drawn in zip(positions, quats, self._drawn, strict=True):
            self._frames.append((
                px, py, pz,
                1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y),     # local x axis
                2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x),     # local y axis
            ))
            moved = dist((px, py, pz), drawn)
            self._in_place.append(moved <= CONTAINER_MOVED_M and 1 - 2 * (x * x + y * y) >= _UPRIGHT)

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

        `eef` is the end-effector position, `cubes` the cube centres, small to large. `broken_rule` says why an
        episode is illegal.
        """
        self.illegal_score = score = self._illegal(cubes)
        self.max_illegal_score = max(self.max_illegal_score, score)
        broken = self._follow(eef, cubes)
        if score >= task.ILLEGAL_AT:
            broken = "stacking"
        elif not self._strict:
            broken = None
        if broken is None and self._is_success(cubes):
            self.success = True
            return "success"
        self.broken_rule = self.broken_rule or broken
        return None if broken is None else "illegal"

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

    def _is_success(self, cubes: Sequence[Vector]) -> bool:
        """Whether the tower stands on C, on the table, at rest and released. The cheapest test comes first."""
        if min(self._rest_steps) < self._settled_steps or not self._in_place[task.TARGET]:
            return False
        lowest = cubes[-1][2] - task.TABLE_HEIGHT_M - self._half_edges[-1]
        return abs(lowest) <= task.STACK_VERTICAL_M and self._stands_on_target(cubes)

    def _stands_on_target(self, cubes: Sequence[Vector]) -> bool:
        """The paper's predicate, planar and at one instant: `task.success`."""
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

    def _follow(self, eef: Vector, cubes: Sequence[Vector]) -> str | None:
        """Count placements and parkings; returns the strict rule that this step breaks, if any."""
        broken = None if all(self._in_place) else "container"
        away = 0
        for index, cube in enumerate(cubes):
            steps = self._rest(index, eef, cube)
            if steps == self._settled_steps:
                broken = self._settle(index, cube) or broken
            elif steps >= self._parking_steps and self._homes[index] is None:
                broken = "parking"
            away += dist(cube, self._settled[index]) > MOVED_M
        return "two-cubes" if away > 1 else broken

    def _rest(self, index: int, eef: Vector, cube: Vector) -> int:
        """For how many steps the cube has been at rest and released, this one included."""
        x, y, z = cube
        lx, ly, lz = self._last[index]
        self._last[index] = (x, y, z)
        ex, ey, ez = eef[0] - x, eef[1] - y, eef[2] - z
        reach = self._half_edges[index] + RELEASED_M
        moving = abs(x - lx) + abs(y - ly) + abs(z - lz) > self._resting_m
        held = ex * ex + ey * ey + ez * ez < reach * reach
        self._rest_steps[index] = 0 if moving or held else self._rest_steps[index] + 1
        return self._rest_steps[index]

    def _settle(self, index: int, cube: Vector) -> str | None:
        """A cube has come to rest; returns "order" where no legal move of this one cube leads there."""
        place = (cube[0], cube[1], cube[2])
        home, before = self.container_of(place), self._homes[index]
        if dist(place, self._placed[index]) > MOVED_M:
            self._placed[index] = place
            self.placements += 1
            self.off_peg_parkings += home is None
        self._settled[index] = place        # also after a small shift, so that small pushes do not add up to a move
        self._homes[index] = home
        if home == before:
            return None
        smaller, larger = self._homes[:index], self._homes[index + 1 :]
        legal = home not in smaller and before not in smaller and None not in smaller and None not in larger
        return None if legal else "order"

    def info(self) -> dict[str, JSON]:
        """What an episode's record says of it: placements, off-peg parkings, the largest illegal score, which rule
        ended it ("stacking", "parking", "two-cubes", "order", "container" or None)."""
        return {
            "placements": self.placements,
            "off_peg_parkings": self.off_peg_parkings,
            "max_illegal_score": round(self.max_illegal_score, 6),
            "broken_rule": self.broken_rule,
        }
