"""A driver that reads the true state: it proves the simulated task solvable and compares physics by outcome."""

from collections.abc import Iterator

import numpy as np
from memento.domains.hanoi import task
from memento.domains.hanoi.environment import HanoiEnvironment
from memento.domains.hanoi.task import Array

OPEN, CLOSE = -1.0, 1.0
TRANSIT_M = task.TABLE_HEIGHT_M + 0.30    # high enough to pass over any tower with a cube in the hand
GRASP = np.array([0.0, 0.0, 0.006])   # above the centre: lower, the fingers would open against the container
DOWN = np.diag([1.0, -1.0, -1.0])    # the hand's axes in the world when the tool points down


class Oracle:
    """Solves the tower by true positions, plus a given error that sets how well it does."""

    def __init__(self, environment: HanoiEnvironment, *, error_m: tuple[float, float] = (0.0, 0.0)) -> None:
        self._environment = environment
        self._error = np.array([*error_m, 0.0])
        self._integral = np.zeros(3)
        self._edges = environment._half_edges
        self._script = self._solve()

    def action(self) -> Array:
        """The next action; raises StopIteration when the plan is done."""
        return next(self._script)

    @property
    def _eef(self) -> Array:
        return np.array(self._environment.simulation.truth.eef)

    def _cube(self, index: int) -> Array:
        return np.array(self._environment.simulation.truth.cubes[index])

    def _solve(self) -> Iterator[Array]:
        pegs = [list(range(len(self._edges)))[::-1], [], []]
        for cube, source, target in moves(len(self._edges), 0, 1, 2):
            yield from self._move(cube, pegs[target], target)
            pegs[target].append(pegs[source].pop())
        yield from self._reach(self._eef + np.array([0.0, 0.0, 0.1]), OPEN, 60)

    def _move(self, cube: int, under: list[int], target: int) -> Iterator[Array]:
        start = self._cube(cube) + self._error
        start[2] = TRANSIT_M
        yield from self._reach(start, OPEN, 120, tolerance_m=0.01)
        yield from self._reach(self._cube(cube) + GRASP + self._error, OPEN, 80, tolerance_m=0.003)
        yield from self._stay(CLOSE, 15)
        height = task.TABLE_HEIGHT_M + 2 * sum(self._edges[below] for below in under)
        if under:
            place = self._cube(under[-1])
        else:
            truth = self._environment.simulation.truth
            place = task.hole_centre(np.array(truth.containers), np.array(truth.container_quats))[target]
        carry = self._eef
        carry[2] = TRANSIT_M
        yield from self._reach(carry, CLOSE, 60, tolerance_m=0.03)
        grip = self._eef - self._cube(cube)     # offset between hand and cube
        goal = np.array([place[0], place[1], height + self._edges[cube] + 0.003]) + grip
        over = goal.copy()
        over[2] = carry[2]
        yield from self._reach(over, CLOSE, 120, tolerance_m=0.004)
        yield from self._reach(goal, CLOSE, 100, tolerance_m=0.003)
        yield from self._stay(OPEN, 12)
        up = self._eef
        up[2] = TRANSIT_M
        yield from self._reach(up, OPEN, 60, tolerance_m=0.03)

    def _reach(
        self, goal: Array, grip: float, limit: int, *, tolerance_m: float = 0.006,
    ) -> Iterator[Array]:
        self._integral[:] = 0.0
        last = self._eef
        for _ in range(limit):
            error = goal - self._eef
            still = np.abs(self._eef - last).max() < 0.5 * tolerance_m     # the hand coasts for a centimetre
            last = self._eef
            if still and np.abs(error).max() < tolerance_m:
                return
            near = np.abs(error).max() < 0.03
            self._integral = self._integral + 0.2 * error if near else self._integral
            yield self._command(error + self._integral, grip)

    def _stay(self, grip: float, steps: int) -> Iterator[Array]:
        place = self._eef
        for _ in range(steps):
            # A weak or strong arm drifts without a command: hold the position.
            self._integral = self._integral + 0.3 * (place - self._eef)
            yield self._command(place - self._eef + self._integral, grip)

    def _command(self, move_m: Array, grip: float) -> Array:
        x, y, z, w = self._environment.simulation.truth.vector[3:7]
        now = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])
        turn = 0.5 * np.cross(now.T, DOWN.T).sum(axis=0)
        command: Array = np.concatenate([20.0 * move_m, 2.0 * turn, [grip]])
        return np.clip(command, -1.0, 1.0)


def moves(count: int, source: int, spare: int, target: int) -> Iterator[tuple[int, int, int]]:
    """(cube, from, to), small to large cubes 0, 1, …: the shortest legal plan."""
    if count:
        yield from moves(count - 1, source, target, spare)
        yield count - 1, source, target
        yield from moves(count - 1, spare, source, target)


def play(environment: HanoiEnvironment, seed: int, **how: tuple[float, float]) -> tuple[str | None, int]:
    """The reason why this seed's episode ended (None: the plan was completed first), and its number of steps."""
    environment.reset(index=0, seed=seed)
    oracle = Oracle(environment, **how)
    steps = 0
    while True:
        try:
            action = oracle.action()
        except (StopIteration, RuntimeError):
            return None, steps
        steps += 1
        ended = environment.step(action)
        if ended:
            return ended, steps
