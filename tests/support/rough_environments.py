"""Environments as they are found: each breaks one thing that Gymnasium's interface promises, or makes it hard."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Cart(gymnasium.Env):
    """A cart on a line; push it to 0."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
        self.action_space: Any = spaces.Box(-1.0, 1.0, (1,), np.float64)

    def look(self) -> Any:
        return np.array([self.x, self.t])

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.t, self.x = 0, float(self.np_random.uniform(-1, 1))
        return self.look(), {}

    def step(self, action: Any) -> Any:
        self.t += 1
        self.x += 0.1 * float(np.asarray(action).reshape(-1)[0])
        return self.look(), -abs(self.x), False, False, {}


class LateNoise(Cart):
    def step(self, action: Any) -> Any:
        answer = super().step(action)
        if self.t > 30:
            self.x += float(np.random.default_rng().normal())  # no seed reaches this
        return answer


class OldStep(Cart):
    def step(self, action: Any) -> Any:
        observation, reward, done, _, info = super().step(action)
        return observation, reward, done, info


class OldReset(Cart):
    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed=seed)[0]


class OldSeed(Cart):
    def reset(self) -> Any:     # type: ignore[override]
        return super().reset()[0]


class VectorReward(Cart):
    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return observation, np.array([reward, 1.0]), *rest


class AgentsReward(Cart):
    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return observation, {"a": reward, "b": 0.0}, *rest


class GrowingObservation(Cart):
    def look(self) -> Any:
        return np.zeros(2 + (self.t > 3))


class TwoLines(Cart):
    def step(self, action: Any) -> Any:
        if self.t == 9:
            raise RuntimeError("actuator 3 is not connected\nsee the manual")
        return super().step(action)


class Leaves(Cart):
    def step(self, action: Any) -> Any:
        raise SystemExit("no display")


class Scalar(Cart):
    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Box(-1.0, 1.0, (), np.float64)

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action), (action, type(action))
        return super().step(action)


class Masked(Cart):
    """Raises for a choice that is not allowed, which the mask in `info` says.

    | Num | Observation |
    | --- | --- |
    | 0 | the cart's place |
    | 1 | the number of the step |
    """

    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Discrete(5, start=1)

    def mask(self) -> Any:
        flags = np.ones(5, np.int8)
        flags[self.t % 5] = 0
        return flags

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        observation, _ = super().reset(seed=seed)
        return observation, {"action_mask": self.mask()}

    def step(self, action: Any) -> Any:
        if not self.mask()[int(action) - 1]:
            raise ValueError(f"illegal move {action}")
        observation, *rest, _ = super().step(action - 3)
        return observation, *rest, {"action_mask": self.mask()}


class MaskedByMethod(Masked):
    """Has the mask in a method, for two choices."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.MultiDiscrete([2, 3])

    def action_masks(self) -> Any:
        return [self.t % 2 == 0, True, True, self.t % 3 != 0, True]

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed=seed)[0], {}

    def step(self, action: Any) -> Any:
        masks = self.action_masks()
        if not (masks[action[0]] and masks[2 + action[1]]):
            raise ValueError(f"illegal move {action}")
        return *Cart.step(self, 0)[:4], {}


class Unmasked(Masked):
    """Has no mask for its illegal moves."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed=seed)[0], {}

    def step(self, action: Any) -> Any:
        return *super().step(action)[:4], {}


class OddInfo(Cart):
    """What it reports changes its size, and becomes too large; two keys have one name as a variable."""

    def step(self, action: Any) -> Any:
        *answer, _ = super().step(action)
        far = self.x > 2.8      # random actions seldom come here
        return *answer, {
            "large": 10**400 if far else 1, "wide": np.ones(3) if far else 2.0, "word": "far" if far else 3.0,
            "near-by": 4.0, "near_by": 5.0, "near": {"by": 6.0}, 7: 8.0,
        }


class Huge(Cart):
    """Its reward is too large for a float where the cart is far away."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return observation, (-(10**400) if self.x > 3 else reward), *rest


class Parent(Cart):
    """Starts a program in a session of its own, which holds the output open, and leaves it behind."""

    def __init__(self, file: str = "") -> None:
        super().__init__()
        child = subprocess.Popen(["sleep", "300"], start_new_session=True)
        with Path(file).open("a") as out:
            out.write(f"{child.pid}\n")


class Slow(Cart):
    def __init__(self, step_s: float = 0.1) -> None:
        super().__init__()
        self.step_s = step_s

    def step(self, action: Any) -> Any:
        time.sleep(self.step_s)
        return super().step(action)


class Substeps(Cart):
    """`dt` is a part of a step, as the rate of frames shows."""

    metadata = {"render_modes": [], "render_fps": 10}
    dt = 0.01


class Controlled(Substeps):
    """It names the rate of its control, too."""

    control_hz = 10


KINDS: tuple[Callable[..., Any], ...] = (
    Cart, LateNoise, OldStep, OldReset, OldSeed, VectorReward, AgentsReward, GrowingObservation, TwoLines, Leaves,
    Scalar, Masked, MaskedByMethod, Unmasked, OddInfo, Huge, Parent, Slow, Substeps, Controlled,
)
for kind in KINDS:
    gymnasium.register(id=f"Rough{kind.__name__}-v0", entry_point=kind, max_episode_steps=40)
