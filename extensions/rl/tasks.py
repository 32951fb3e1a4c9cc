"""The tasks that a baseline learns: environments for the training, and episodes of the final measure.

The agent is trusted, so it lives in the process of the simulator. Imports simulators where they are needed.
"""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ...core.ports import Environment, InvalidAction
from ...core.recording import Recording
from ...core.returns import RETURN
from ...core.values import JSON
from ...domains import load
from .settings import TOWERS, BaselineSettings

KEYS: Final = ("observation", "achieved_goal", "desired_goal")
CPU: Final = "cpu"              # in `info`: the id and the CPU time in seconds of the environment's process
REACHED: Final = "goal_reached"
_TOWER_IDS: Final = {       # with the module that registers them, which gymnasium imports
    "hanoi": "memento.envs:memento/Hanoi-v0", "hanoi-kinematic": "memento.envs:memento/HanoiKinematic-v0",
}

Observation = dict[str, NDArray[np.float32]]
Act = Callable[[Observation], NDArray[np.float32]]     # an agent


class Trained(gymnasium.Wrapper[Observation, Any, dict[str, Any], Any]):
    """An environment for training: 32-bit observations, which halve the replay buffer, and the CPU time in `info`."""

    def __init__(self, env: gymnasium.Env[dict[str, Any], Any]) -> None:
        super().__init__(env)
        inner = cast(spaces.Dict, env.observation_space)
        self.observation_space = cast(Any, spaces.Dict({
            key: spaces.Box(-np.inf, np.inf, cast(spaces.Box, inner[key]).shape, np.float32) for key in KEYS
        }))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return single(observation), {**info, CPU: (os.getpid(), time.process_time())}

    def step(self, action: Any) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """One step."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return single(observation), reward, terminated, truncated, {**info, CPU: (os.getpid(), time.process_time())}

    def compute_reward(self, achieved: Any, desired: Any, info: Any) -> Any:
        """The reward for goals of shape (..., n), for hindsight."""
        return cast(Any, self.env.unwrapped).compute_reward(achieved, desired, info)


def single(observation: Mapping[str, Any]) -> Observation:
    """The three vectors of an observation in 32 bits."""
    return {key: np.asarray(observation[key], dtype=np.float32) for key in KEYS}


def training_environment(domain: str, options: Mapping[str, JSON], reward: str) -> Trained:
    """A new environment for training. Raises UsageError if a package is missing."""
    return Trained(_environment(domain, options, reward))


def _environment(domain: str, options: Mapping[str, JSON], reward: str) -> Any:
    if domain in _TOWER_IDS:
        return gymnasium.make(_TOWER_IDS[domain], reward=reward, **cast("dict[str, Any]", dict(options)))
    from ...domains.gym.loading import make
    from ...domains.gym.names import parse_id
    from ...domains.gym.options import settings

    known = settings(options).description
    return make(parse_id(known.id), {**known.kwargs, "max_episode_steps": known.horizon})


class MeasuredTask(Protocol):
    """A task in which the final measure plays its episodes; they are those of `memento evaluate`."""

    environment: Environment

    def begin(self, index: int, seed: int) -> Observation:
        """Begin the episode. Returns the first observation."""

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, float, str | None, bool]:
        """One step: the observation, the reward, the word for the end or None, whether the goal is reached."""

    def recording(self) -> Recording:
        """The episode so far."""

    def close(self) -> None:
        """Release the simulator."""


class TowerTask:
    """A Tower of Hanoi, by its Gymnasium environment, whose episodes are those of a worker bit for bit."""

    def __init__(self, settings: BaselineSettings) -> None:
        self._env: Any = _environment(settings.domain, settings.options, settings.reward).unwrapped
        self.environment: Environment = self._env.environment

    def begin(self, index: int, seed: int) -> Observation:
        """Begin the episode."""
        observation, _ = self._env.reset(seed=seed, options={"index": index})
        return single(observation)

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, float, str | None, bool]:
        """One step."""
        observation, reward, _, _, info = self._env.step(action)
        return single(observation), float(reward), info.get("ended_by"), bool(info[REACHED])

    def recording(self) -> Recording:
        """The episode so far."""
        return cast(Recording, self._env.recording())

    def close(self) -> None:
        """Release the simulator."""
        self._env.close()


class GymTask:
    """A goal environment of Gymnasium, by the domain's environment, which decides success."""

    def __init__(self, settings: BaselineSettings) -> None:
        from ...domains.gym.options import settings as typed

        self.environment: Environment = load(settings.domain, settings.provenance).environment(settings.options)
        self._places: dict[str, slice] = {}
        start = 0
        for leaf in typed(settings.options).description.observation:
            self._places[leaf.name] = slice(start, start + leaf.size)
            start += leaf.size
        self._total = 0.0

    def begin(self, index: int, seed: int) -> Observation:
        """Begin the episode."""
        self.environment.reset(index=index, seed=seed)
        self._total = 0.0
        return self._observed()

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, float, str | None, bool]:
        """One step."""
        try:
            ended = self.environment.step(np.asarray(action, dtype=np.float64))
        except InvalidAction:
            return self._observed(), 0.0, "diverged", False
        before, self._total = self._total, self._total_so_far(ended)
        return self._observed(), self._total - before, ended, self.environment.success()

    def _total_so_far(self, ended: str | None) -> float:
        """The return at the end of the episode, which the recording holds; before it, it is not looked up."""
        return float(str(self.recording().info[RETURN])) if ended is not None else self._total

    def _observed(self) -> Observation:
        flat = np.asarray(self.environment.observe())
        return single({key: flat[place] for key, place in self._places.items()})

    def recording(self) -> Recording:
        """The episode so far."""
        return self.environment.recording()

    def close(self) -> None:
        """Release the simulator."""
        self.environment.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedEpisode:
    """How an episode went. `success` is the task's; `reached` is hindsight's at the last step."""

    steps: int
    ended_by: str
    episode_return: float
    success: bool
    reached: bool


def play(
    task: MeasuredTask, act: Act, *, index: int, seed: int, stopped: Callable[[], bool],
) -> PlayedEpisode | None:
    """One episode; `stopped` is asked at every step, and None is returned if it ended the episode."""
    observation = task.begin(index, seed)
    ended, total, reached, steps = None, 0.0, False, 0
    while ended is None:
        if stopped():
            return None
        observation, reward, ended, reached = task.step(act(observation))
        total, steps = total + reward, steps + 1
    return PlayedEpisode(
        steps=steps, ended_by=ended, episode_return=total, success=bool(task.environment.success()), reached=reached
    )


def measured_task(settings: BaselineSettings) -> MeasuredTask:
    """The task of the final measure. Raises UsageError if a package is missing."""
    return TowerTask(settings) if settings.domain in TOWERS else GymTask(settings)
