"""Environments whose measure is easily taken for another: success, returns, random actions, ends, goals."""

import os
import sys
import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Cover(gymnasium.Env):
    """Cover the place: every step pays the coverage, and 95 % of it end the episode, as in LeRobot's pushing task."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (1,), np.float64)
        self.action_space: Any = spaces.Box(-0.1, 0.1, (1,), np.float64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.count, self.x = 0, float(self.np_random.uniform(0.1, 0.3))
        return np.array([self.x]), self.at_reset()

    def at_reset(self) -> dict[str, Any]:
        return {}

    def step(self, action: Any) -> Any:
        self.count += 1
        self.x = float(np.clip(self.x + np.clip(action[0], -0.1, 0.1), 0.0, 1.0))
        return np.array([self.x]), self.x, self.x > 0.95, False, self.report(self.x > 0.95)

    def report(self, done: bool) -> dict[str, Any]:
        return {"is_success": done}


class Cost(Cover):
    """Every step costs one: an early success has the best return."""

    def step(self, action: Any) -> Any:
        observation, _, *rest = super().step(action)
        return observation, -1.0, *rest


class Toll(Cover):
    """Success costs more than all steps pay."""

    def step(self, action: Any) -> Any:
        observation, reward, done, *rest = super().step(action)
        return observation, reward - 100.0 * done, done, *rest


class Found(Cover):
    """Nothing is paid but success, which does not end an episode."""

    def step(self, action: Any) -> Any:
        observation, _, done, *rest = super().step(action)
        return observation, float(done), False, *rest


class Solved(Cover):
    """It has another usual word for success, and its goal is in the info of `reset` alone."""

    def at_reset(self) -> dict[str, Any]:
        return {"goal": np.array([0.95, 1.0]), "who": "nobody"}

    def report(self, done: bool) -> dict[str, Any]:
        return {"solved": done, "metrics": {"reached": done}}


class Guess(Cover):
    """Guess the number of the step, which is drawn as `sample` of the action space draws."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Discrete(8)

    def step(self, action: Any) -> Any:
        self.count += 1
        hit = int(action.item()) == self.drawn()     # a numpy number, as `sample` gives
        return np.array([float(self.count)]), float(hit), False, False, {}

    def drawn(self) -> int:
        return int(self.np_random.integers(8))


class GuessGlobal(Guess):
    """The same, drawn from numpy's generator for all, which it seeds itself."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        np.random.seed(seed)
        return super().reset(seed=seed)

    def drawn(self) -> int:
        return int(np.random.randint(8))


class GuessSpace(Guess):
    """The same, drawn by an action space of its own with the seed of `reset`."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.drawing = spaces.Discrete(8, seed=seed)
        return super().reset(seed=seed)

    def drawn(self) -> int:
        return int(self.drawing.sample())


class Late(Cover):
    """Truncates itself two steps later than its `max_steps` says."""

    max_steps = 40

    def step(self, action: Any) -> Any:
        late = self.count > self.max_steps
        observation, *_ = super().step(action)
        return observation, 1.0, False, late, {}


class Limited(Late):
    """The same by an attribute that has the name of a wrapper's."""

    max_steps, _max_episode_steps = 25, 10


class Single(Cover):
    """It adds up numbers of single precision, as its action space has them."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Box(-0.1, 0.1, (1,), np.float32)

    def step(self, action: Any) -> Any:
        assert action.dtype == np.float32
        observation, *rest = super().step(action)
        return observation, np.float32(self.x) * action[0], *rest[1:]


class Fleeting(Cover):
    """Makes a new action space whenever it is asked, as OGBench's manipulation tasks do."""

    @property
    def action_space(self) -> Any:
        return spaces.Box(-0.1, 0.1, (1,), np.float64)

    @action_space.setter
    def action_space(self, value: Any) -> None:
        """The base class sets it."""


class Told(Cover):
    """Its `reset` needs options, its constructor a render mode, and its `close` raises; pictures have alpha."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(self, render_mode: str) -> None:
        super().__init__()
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        found = super().reset(seed=seed)
        self.x = float(options["start"])
        return np.array([self.x]), found[1]

    def render(self) -> Any:
        return np.full((8, 8, 4), 200, np.uint8)

    def close(self) -> None:
        raise RuntimeError("no viewer was opened")


class Harder(Cover):
    """A curriculum: from success number `after` on each one makes it start further away; a new object forgets it.

    A success needs the greatest action at every step, which no random or scripted episode of a look has.
    """

    after, won = 1, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steady, self.x = True, self.x - 0.1 * max(0, self.won + 1 - self.after)
        return np.array([self.x]), {}

    def step(self, action: Any) -> Any:
        self.steady = self.steady and action[0] >= 0.1
        return super().step(action)

    def report(self, done: bool) -> dict[str, Any]:
        self.won += done and self.steady
        return {"is_success": done and self.steady}


class HarderLater(Harder):
    """The same after four successes, so that a single repetition shows nothing."""

    after = 4


class Worn(Harder):
    """The same for all objects of the process, and without a word for success."""

    def report(self, done: bool) -> dict[str, Any]:
        Worn.won += done and self.steady
        return {}


class Tired(Harder):
    """A motor that was driven at its limit is weaker in later episodes of the same object."""

    def step(self, action: Any) -> Any:
        self.steady = self.steady and action[0] >= 0.1
        return Cover.step(self, np.asarray(action) * (0.5 if self.won else 1.0))


class Taught(Harder):
    """An opponent of the whole process learns from each success to stand further away."""

    learnt: list[float] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        Cover.reset(self, seed=seed)
        self.steady, self.x = True, self.x - 0.2 * len(self.learnt)
        return np.array([self.x]), {}

    def report(self, done: bool) -> dict[str, Any]:
        if done and self.steady:
            self.learnt.append(self.x)
        return super().report(done)


class Odd(Harder):
    """A success pays a number that no seed determines."""

    def step(self, action: Any) -> Any:
        observation, reward, done, *rest = super().step(action)
        return observation, reward + 1e-9 * (time.time_ns() % 997) * (done and self.steady), done, *rest


class Flat(Cover):
    """A sparse reward that nothing reaches."""

    def step(self, action: Any) -> Any:
        self.count += 1
        return np.array([self.x]), 0.0, False, False, {}


class Sonar(Cover):
    """A sensor without an echo reads NaN, as it does where an episode begins."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.array([np.nan]), {}

    def step(self, action: Any) -> Any:
        observation, *rest = super().step(action)
        return observation if self.x > 0.5 else np.array([np.nan]), *rest


class Closing(Cover):
    """Its `close` raises, hangs or ends the process."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def close(self) -> None:
        if self.how == "raises":
            raise AttributeError("no viewer was opened")
        if self.how == "hangs":
            time.sleep(3600)
        os._exit(7) if self.how == "exits" else sys.exit("goodbye")


class Named(Cover):
    """It reports success under a key of the caller's choice."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key

    def report(self, done: bool) -> dict[str, Any]:
        return {self.key: done}


for _kind in (Cover, Cost, Toll, Found, Solved, Guess, GuessGlobal, GuessSpace, Single, Fleeting, Told, Harder,
              HarderLater, Worn, Tired, Taught, Odd, Flat, Sonar, Closing, Named):
    gymnasium.register(id=f"Measured{_kind.__name__}-v0", entry_point=_kind, max_episode_steps=50)
for _kind in (Late, Limited):
    gymnasium.register(id=f"Measured{_kind.__name__}-v0", entry_point=_kind)
