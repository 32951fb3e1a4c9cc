"""Small Gymnasium environments for tests, registered when this module is imported."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Spaces(gymnasium.Env):
    """Walk to a place.

    ## Description
    Every kind of space in one environment.

    ## Arguments
    None of interest.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}
    dt = 0.25

    def __init__(self, *, size: int = 5, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.size = size
        self.observation_space = spaces.Dict({
            "desired_goal": spaces.Dict({"my place": spaces.Box(-9.0, 9.0, (1,), np.float32)}),
            "achieved_goal": spaces.Dict({"my place": spaces.Box(-9.0, 9.0, (1,), np.float32)}),
            "reward": spaces.Discrete(size, start=-1),
            "parts": spaces.Tuple([spaces.MultiBinary(3), spaces.MultiDiscrete([2, 3])]),
            "image": spaces.Box(0, 255, (2, 2, 3), np.uint8),
        })
        self.action_space = spaces.Tuple([
            spaces.Discrete(3), spaces.Dict({"push": spaces.Box(-1.0, np.array([1.0, 2.0], np.float32))}),
        ])

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.goal, self.steps = 0.0, float(self.np_random.uniform(1, 3)), 0
        self.noise = self.np_random.integers(0, 255, (2, 2, 3))
        return self._observation(), {}

    def _observation(self) -> Any:
        return {
            "desired_goal": {"my place": np.array([self.goal], np.float32)},
            "achieved_goal": {"my place": np.array([self.place], np.float32)},
            "reward": self.steps % self.size - 1, "parts": (np.array([1, 0, 1], np.int8), np.array([1, 2])),
            "image": self.noise.astype(np.uint8),
        }

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), action
        choice, pushes = action
        self.place += (choice - 1) * 0.5 + 0.1 * float(pushes["push"].sum())
        self.steps += 1
        near = abs(self.place - self.goal) < 0.3
        info = {"is_success": near, "rewards": {"near reward": float(near)}, "word": "text", "pair": np.ones(2)}
        return self._observation(), -abs(self.place - self.goal), False, False, info

    def render(self) -> Any:
        picture = np.zeros((30, 40, 3), np.uint8)
        picture[:, : int(np.clip(self.place * 5, 1, 40))] = 200
        return picture


class Unseeded(Spaces):
    """Draws from a generator that no seed reaches."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, _, *rest = super().step(action)
        return observation, float(np.random.default_rng().uniform()), *rest


class Drawn(Spaces):
    """Draws its goal when it is made, as benchmarks of many tasks do: only a new environment repeats an episode."""

    def __init__(self, *, seed: int | None = None, **given: Any) -> None:
        super().__init__(**given)
        self.tasks = np.random.default_rng(seed)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.goal = float(self.tasks.uniform(1, 3))
        return self._observation(), {}


class Spoken(gymnasium.Env):
    """Do as it says."""

    def __init__(self) -> None:
        self.observation_space = spaces.Dict({
            "mission": spaces.Text(20), "place": spaces.Discrete(4), "image": spaces.Box(0, 9, (2, 3), np.uint8),
        })
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.word, self.place = self.np_random.choice(["left", "right"]), 0
        return self._observation(), {}

    def _observation(self) -> Any:
        return {"mission": f"go {self.word}", "place": self.place, "image": np.full((2, 3), self.place, np.uint8)}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.place = min(self.place + 1, 3)
        return self._observation(), float(action == (self.word == "right")), self.place == 3, False, {}


class Escaping(Spaces):
    """Its place is no number from the third step on that pushes with all force."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, *rest = super().step(action)
        return observation, (reward if self.place < 3 else float("nan")), *rest


class Planted(Spaces):
    """Its words for success are a number that nothing else is, and that its code, which briefs quote, does not hold."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, ended, cut, info = super().step(action)
        word = 73519.0 * 1000 + 428 if self.steps > 3 else 0.0
        return observation, reward, ended, cut, {**info, "is_success": word, "success": word, "done": {"success": word}}


class Wide(Spaces):
    """Shows more than fits."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.observation_space = spaces.Box(0, 255, (210, 160, 3), np.uint8)

    def _observation(self) -> Any:
        return np.zeros((210, 160, 3), np.uint8)


for name, made in {
    "Spaces": Spaces, "Unseeded": Unseeded, "Drawn": Drawn, "Spoken": Spoken, "Escaping": Escaping, "Wide": Wide,
    "Planted": Planted,
}.items():
    gymnasium.register(id=f"Toy{name}-v0", entry_point=made, max_episode_steps=12)
