"""Rolls out a policy object in this process, for tests of trusted policies only."""

from collections.abc import Callable, Mapping

import numpy as np
from memento.core.recording import Recording
from memento.core.values import JSON
from memento.domains.hanoi_kinematic import DOMAIN
from memento.domains.hanoi_kinematic.environment import KinematicHanoi

from ..reference_policies.hanoi_kinematic import FrankaPolicy


def kinematic(**options: JSON) -> KinematicHanoi:
    return KinematicHanoi(DOMAIN.options({"randomisation": "none", "rules": "paper", **options}, preset="paper"))


def fields(env: KinematicHanoi, vector: np.ndarray) -> dict[str, np.ndarray]:
    """The flat observation as the dict that a policy sees."""
    seen, start = {}, 0
    for name, shape in env.observation_layout or ():
        size = int(np.prod(shape))
        seen[name] = vector[start:start + size].reshape(shape)
        start += size
    assert start == len(vector)
    return seen


def solve(env: KinematicHanoi, seed: int) -> str | None:
    """One episode of the solver; returns what ended it."""
    env.reset(index=0, seed=seed)
    policy = FrankaPolicy(env.settings.goal_update)
    policy.reset()
    ended_by = None
    while ended_by is None:
        ended_by = env.step(policy.compute_action(fields(env, np.asarray(env.observe()))))
    return ended_by


Act = Callable[[int, np.random.Generator], np.ndarray]


def play(env: KinematicHanoi, seed: int, act: Act, steps: int) -> Recording:
    """Play `steps` actions of `act(step, rng)`, or fewer if the episode ends."""
    env.reset(index=0, seed=seed)
    rng = np.random.default_rng(seed + 1)
    for step in range(steps):
        env.observe()
        if env.step(act(step, rng)) is not None:
            break
    return env.recording()


def same(one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]) -> bool:
    """Whether two dicts of arrays are equal to the bit."""
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)
