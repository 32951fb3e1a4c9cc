"""Episodes of known order of merit for probes: a scripted hand in the kinematic world, driven by true positions.

The shortest solution is followed for k moves. The scripted hand knows where the cubes are, so draws that only make the
task hard (noise, latency, weights, pushes, turned containers) are left out; places are drawn as in the run.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core.ports import KnownEpisode
from ...core.values import JSON
from ..hanoi import task
from ..hanoi.options import settings
from ..hanoi.randomisation import QUANTITIES
from ..hanoi.referee import MOVED_M
from ..hanoi.task import Array
from .environment import NAME, KinematicHanoi
from .hand import MOVE_PER_UNIT_M

OPEN, CLOSE, KEEP = -1.0, 1.0, 0.0
ABOVE_M = 1.15              # height of the hand on its way
NEAR_M = 0.001              # of a place where it grasps or lets go
PASSED_M = 0.015            # of a place on its way
MOVE_STEPS = 40             # at most, for one straight line
GRIP_STEPS = 4
SETTLE_STEPS = 5            # 1 s: at rest and released
PARKED_STEPS = 14           # 2.8 s: longer than rules "strict" allow
BARE_TABLE_M = (0.22, 0.125)
BESIDE_M = 0.16             # from the tower, where the palm passes it
PUSH_M_S = 0.9              # speed of a push that topples the tower

LEFT = "end of the recording"     # ended_by of an episode that the script left
LIFTED = "first cube lifted and held"
UNDONE = "3 moves done, the third undone"
STACKED = "1 move kept, then a larger cube put on a smaller one"
KNOCKED = "tower knocked over"
PARKED = "1 move kept, then a cube parked on the bare table"

Move = tuple[int, int, int]     # cube, from and to container


class _Ended(Exception):
    """The episode ended; the script stops."""


class _Hand:
    """A hand that knows true positions, in one episode."""

    def __init__(self, options: Mapping[str, JSON], seed: int) -> None:
        self.env = KinematicHanoi(options)
        self.env.reset(index=0, seed=seed)
        self.half = self.env.half_edges
        self.ended_by: str | None = None

    def act(self, move: Array, grip: float = KEEP) -> None:
        """One control step. Raises _Ended."""
        self.ended_by = self.env.step(np.array([*move, 0.0, 0.0, 0.0, grip]))
        if self.ended_by is not None:
            raise _Ended

    def wait(self, steps: int, grip: float = KEEP) -> None:
        for _ in range(steps):
            self.act(np.zeros(3), grip)

    def go(self, x: float, y: float, z: float, *, near_m: float = NEAR_M) -> None:
        """In a straight line to this place, as far as contacts allow."""
        for _ in range(MOVE_STEPS):
            away = np.array([x, y, z]) - self.env.world.hand.pos
            if np.abs(away).max() < near_m:
                return
            self.act(np.clip(away / MOVE_PER_UNIT_M, -1.0, 1.0))

    def rise(self) -> None:
        x, y, _ = self.env.world.hand.pos
        self.go(x, y, ABOVE_M, near_m=PASSED_M)

    def take(self, cube: int) -> None:
        """Grasp a cube from above and lift it."""
        x, y, z = self.env.world.cubes.pos[cube]
        self.wait(GRIP_STEPS, OPEN)
        self.rise()
        self.go(x, y, ABOVE_M)
        self.go(x, y, z)
        self.wait(GRIP_STEPS, CLOSE)
        self.rise()

    def put(self, cube: int, xy: tuple[float, float], bottom_m: float) -> None:
        """Put the held cube down at `xy` with its underside at `bottom_m`, let go, and move away."""
        up = self.env.world.hand.pos[2] - self.env.world.cubes.pos[cube][2]
        self.go(*xy, ABOVE_M)
        self.go(*xy, bottom_m + self.half[cube] + up)
        self.wait(GRIP_STEPS, OPEN)
        self.rise()


def shortest_solution(n_cubes: int) -> tuple[Move, ...]:
    """The 2^n - 1 moves from A to C."""

    def moves(cube: int, start: int, goal: int) -> Iterator[Move]:
        if cube < 0:
            return
        spare = 3 - start - goal
        yield from moves(cube - 1, start, spare)
        yield cube, start, goal
        yield from moves(cube - 1, spare, goal)

    return tuple(moves(n_cubes - 1, task.SOURCE, task.TARGET))


class _Script:
    """Legal moves of one hand, and where they leave the cubes."""

    def __init__(self, hand: _Hand) -> None:
        self.hand = hand
        self.n = len(hand.half)
        self.solution = shortest_solution(self.n)
        self.places = [task.SOURCE] * self.n

    def move(self, cube: int, container: int) -> None:
        below = [other for other in range(self.n) if self.places[other] == container and other != cube]
        bottom = task.TABLE_HEIGHT_M + 2 * sum(self.hand.half[other] for other in below)
        self.hand.take(cube)
        self.places[cube] = container
        self.hand.put(cube, self.hole(container), bottom)

    def hole(self, container: int) -> tuple[float, float]:
        x, y, _ = self.hand.env.world.cubes.containers[container]
        return x + task.HOLE_LOCAL_M[0], y

    def solve(self, moves: int) -> None:
        """The first moves of the shortest solution."""
        for cube, _, container in self.solution[:moves]:
            self.move(cube, container)

    def stands(self) -> bool:
        """Whether every cube is in the container where the script put it."""
        states = self.hand.env.recording().states
        cubes, containers, quats = (
            np.asarray(states[name][-1], dtype=np.float64) for name in ("cube_pos", "container_pos", "container_quat")
        )
        inside = task.in_gate(cubes, containers, quats)
        return all(bool(inside[cube, container]) for cube, container in enumerate(self.places))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A script, the words with which its episode may end (None: it goes on), and whether it worked."""

    name: str
    below: tuple[str, ...]      # the names of those that are worth more
    act: Callable[[_Script], None]
    ends: tuple[str | None, ...] = (None,)
    worked: Callable[[_Script], bool] = _Script.stands


def known_episodes(options: Mapping[str, JSON], *, seed: int) -> Iterator[KnownEpisode]:
    """Episodes of known order under the (completed) options of a Hanoi task, in this domain's control steps.

    An episode that does not fit into the horizon is left out.
    """
    chosen = settings(options, domain=NAME)
    for case in _cases(chosen.n_cubes, strict=chosen.rules == "strict"):
        script = _Script(_Hand(_calm(options), seed))
        with suppress(_Ended):
            case.act(script)
            script.hand.wait(SETTLE_STEPS)
        ended_by, env = script.hand.ended_by, script.hand.env
        if ended_by in case.ends and case.worked(script):
            yield KnownEpisode(
                name=case.name, recording=env.recording(), ended_by=ended_by or LEFT, success=env.success(),
                below=case.below,
            )


def _calm(options: Mapping[str, JSON]) -> dict[str, JSON]:
    """The options with the places drawn as in the run, and nothing else that differs between episodes."""
    drawn = settings(options, domain=NAME).randomisation
    return {
        **{name: value for name, value in options.items() if name not in QUANTITIES},
        "randomisation": "none",
        "goal_update": "achieved",
        "world_offset_m": list(drawn.world_offset_m),
        "initial_cube_xy_m": list(drawn.initial_cube_xy_m),
    }


def _cases(n_cubes: int, *, strict: bool) -> Iterator[_Case]:
    """The rank of an episode is the state that it keeps at its end; undone progress costs less than one move."""
    total = 2 ** n_cubes - 1
    kept = sorted(moves for moves in {1, 2, 3, total // 2, total - 1, total} if 1 <= moves <= total)
    yield _Case(name="idle", below=(LIFTED,), act=lambda script: script.hand.wait(2 * MOVE_STEPS))
    yield _Case(name=LIFTED, below=(_kept(1),), act=_lift, worked=lambda script: script.hand.env.world.cubes.held == 0)
    for moves, more in zip(kept, [*kept[1:], None], strict=True):
        below = () if more is None else (_kept(more), UNDONE) if moves == 1 else (_kept(more),)
        ends = ("success",) if more is None else (None,)
        yield _Case(name=_kept(moves), below=below, act=partial(_Script.solve, moves=moves), ends=ends)
    if n_cubes == 1:
        return      # the others need a second cube
    if total > 3:   # else the third move ends the episode
        yield _Case(name=UNDONE, below=(_kept(2),), act=_undo)
    illegal = "illegal" if strict else None
    yield _Case(name=STACKED, below=(_kept(1),), act=_stack_on_smaller, ends=("illegal",), worked=_always)
    yield _Case(name=KNOCKED, below=("idle",), act=_knock_over, ends=(illegal, "illegal"), worked=_is_scattered)
    yield _Case(name=PARKED, below=(_kept(1),) if strict else (), act=_park, ends=(illegal,), worked=_always)


def _kept(moves: int) -> str:
    return f"{moves} move{'s' * (moves > 1)} done and kept"


def _lift(script: _Script) -> None:
    script.hand.take(0)


def _undo(script: _Script) -> None:
    script.solve(3)
    cube, start, _ = script.solution[2]
    script.move(cube, start)


def _stack_on_smaller(script: _Script) -> None:
    """One move, then the next cube onto the one that was moved, which is smaller."""
    script.solve(1)
    (moved, _, container), following = script.solution[0], script.solution[1][0]
    script.hand.take(following)
    top = task.TABLE_HEIGHT_M + 2 * script.hand.half[moved]
    script.hand.put(following, script.hole(container), top)


def _park(script: _Script) -> None:
    """One move, then the next cube onto the bare table."""
    script.solve(1)
    following = script.solution[1][0]
    script.hand.take(following)
    script.hand.put(following, BARE_TABLE_M, task.TABLE_HEIGHT_M)
    script.hand.wait(PARKED_STEPS)


def _knock_over(script: _Script) -> None:
    """A push into the tower, next to which the hand stands: the cubes above it slide off and fall."""
    hand = script.hand
    x, y = script.hole(task.SOURCE)
    hand.go(x, y + BESIDE_M, ABOVE_M)
    hand.go(x, y + BESIDE_M, task.TABLE_HEIGHT_M + sum(hand.half))
    hand.env.world.cubes.nudge(script.n // 2, (0.0, -PUSH_M_S))
    hand.wait(PARKED_STEPS)


def _is_scattered(script: _Script) -> bool:
    cubes = script.hand.env.recording().states["cube_pos"]
    moved = np.linalg.norm(np.asarray(cubes[-1] - cubes[0], dtype=np.float64), axis=-1) > MOVED_M
    return int(moved.sum()) > 1


def _always(script: _Script) -> bool:
    return True
