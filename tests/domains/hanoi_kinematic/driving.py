"""Moves the kinematic hand by its true position: to a place, onto a cube, over a hole."""


import numpy as np
from memento.core.values import JSON
from memento.domains.hanoi import task
from memento.domains.hanoi_kinematic.environment import KinematicHanoi

from ...support.rollouts import kinematic

SMALL, MEDIUM, LARGE, XLARGE = range(4)
HALF = task.cube_half_edges(4)
HOLES = [(x + 0.055, y) for x, y in task.CONTAINER_XY_M]
OPEN, CLOSE = -1.0, 1.0


def started(seed: int = 0, **options: JSON) -> KinematicHanoi:
    env = kinematic(**options)
    env.reset(index=0, seed=seed)
    return env


def drive(env: KinematicHanoi, target: tuple[float, float, float], grip: float = 0.0, steps: int = 30) -> str | None:
    """Command the true end effector to `target`; returns what ended the episode."""
    for _ in range(steps):
        error = np.array(target) - env.world.hand.pos
        if np.abs(error).max() < 0.001 and grip == 0.0:
            return None
        ended_by = env.step(np.array([*np.clip(error / 0.05, -1, 1), 0.0, 0.0, 0.0, grip]))
        if ended_by is not None:
            return ended_by
    return None


def grip(env: KinematicHanoi, command: float, steps: int = 4) -> None:
    for _ in range(steps):
        env.step(np.array([0.0] * 6 + [command]))


def above(env: KinematicHanoi, cube: int, clearance: float = 0.06) -> tuple[float, float, float]:
    x, y, z = env.world.cubes.pos[cube]
    return x, y, z + HALF[cube] + clearance


def pick(env: KinematicHanoi, cube: int, shift: tuple[float, float] = (0.0, 0.0)) -> bool:
    """Open, lower the hand, shifted by `shift`, onto the cube, and close; returns whether the cube is held."""
    x, y, z = env.world.cubes.pos[cube]
    grip(env, OPEN)
    drive(env, (*env.world.hand.pos[:2], 1.1))
    drive(env, (x + shift[0], y + shift[1], 1.1))
    drive(env, (x + shift[0], y + shift[1], z), steps=15)
    grip(env, CLOSE)
    return env.world.cubes.held == cube


def carry(env: KinematicHanoi, xy: tuple[float, float], bottom: float, *, then_open: bool = True) -> str | None:
    """Carry the held cube over `xy`, lower it until its underside is at `bottom`, and release it."""
    held = env.world.cubes.held
    assert held is not None
    up = env.world.hand.pos[2] - env.world.cubes.pos[held][2]
    ended_by = (drive(env, (*env.world.hand.pos[:2], 1.15)) or drive(env, (*xy, 1.15))
                or drive(env, (*xy, bottom + HALF[held] + up), steps=15))
    if then_open and ended_by is None:
        grip(env, OPEN, 2)
    return ended_by


def place_in(env: KinematicHanoi, cube: int, container: int, on_top_of: float = task.TABLE_HEIGHT_M) -> None:
    assert pick(env, cube)
    assert carry(env, HOLES[container], on_top_of) is None


def restless(step: int, rng: np.random.Generator) -> np.ndarray:
    action = rng.uniform(-1.0, 1.0, 7)
    action[:3] += [0.1, -0.4, -0.3] if step < 25 else [0.0, 0.0, 0.0]
    return action
