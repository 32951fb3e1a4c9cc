"""The helper process that looks at an environment and describes it, so that the controller need not import it.

    python -m memento.domains.gym.helper describe|repeat REQUEST

REQUEST is a JSON object with `id`, `kwargs`, `max_episode_steps` and, for repeat, the `modes` to try. The answer is
one JSON object on standard output: `problem` with a sentence for the user, or what the task found out. What the
environment's code prints goes to standard error.
"""

import hashlib
import inspect
import json
import os
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import Any, Final

import numpy as np

from ...core.errors import UsageError
from .description import FORMAT
from .documentation import clean
from .facts import arguments_text, model_text, parts_of, plain_attributes
from .loading import Simulator
from .names import KEPT, SEEDED, EnvironmentId, modes_of, notes_of, parse_id, suite_of
from .spaces import MOST_ACTION_NUMBERS, MOST_NUMBERS, TEXT, Leaf, flatten, has_text, leaves_of, require_small

DEFAULT_HORIZON: Final = 1_000      # for environments that are registered without a limit
RANDOM_EPISODES: Final = 16         # of a random policy, or fewer if they are long:
RANDOM_STEPS: Final = 4_000         # no episode begins after so many steps
REPEATED_STEPS: Final = 25          # of the episodes that must be equal
REPEATED_SEEDS: Final = (11, 12)
REPEATS: Final = 2
MOST_INFO: Final = 64               # fields of `info`
MOST_INFO_SIZE: Final = 16          # numbers in one of them
MOST_SEEN: Final = 64               # numbers of a field whose ranges are measured
SUCCESS_KEYS: Final = ("is_success", "success", "episode_task_completions")
RESERVED: Final = ("action", "reward", "terminated", "truncated", "return_low", "return_high", "action_low",
                   "action_high", "goal")


class _Helper:
    """Looks at one environment."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._identity: EnvironmentId = parse_id(request["id"])
        self._name = str(request["id"])
        self._kwargs: dict[str, Any] = request["kwargs"]
        self._given_steps: int | None = request["max_episode_steps"]
        self._modes: tuple[str, ...] = tuple(request.get("modes", ()))
        self._made: list[Simulator] = []

    def _simulator(self, mode: str) -> Simulator:
        made = Simulator(self._identity, self._kwargs, max_episode_steps=self._given_steps, mode=mode)
        self._made.append(made)
        return made

    def close(self) -> None:
        """Release every environment."""
        for made in self._made:
            made.close()

    def repeat(self) -> dict[str, Any]:
        """The digests of the first episode in this process, by the way an episode begins."""
        return {"digests": {mode: self._digest(mode, history=False) for mode in self._modes}}

    def describe(self) -> dict[str, Any]:
        """Everything, and the digests of an episode that follows others: up to the first way that repeats it."""
        digests: dict[str, str] = {}
        modes = modes_of(self._identity)
        for mode in modes:      # to make an environment can take a second: no more ways than needed
            digests[mode] = self._digest(mode, history=True)
            if digests[mode]:
                break
        mode = next((mode for mode in modes if digests.get(mode)), modes[0])
        simulator = self._simulator(mode)
        simulator.begin(0)
        env = simulator.env
        facts = facts_of(env, self._name)
        spec, bare = env.spec, env.unwrapped
        observation = tuple(Leaf.from_json(leaf) for leaf in facts["observation"])
        attributes = plain_attributes(bare)
        horizon = self._given_steps or spec.max_episode_steps or _own_limit(bare) or DEFAULT_HORIZON
        random = _RandomPolicy(simulator, observation, horizon)
        return {"digests": digests, "description": {
            "format": FORMAT, "id": self._name, "kwargs": self._kwargs, "horizon": int(horizon),
            **facts, "model": model_text(bare, attributes, facts["arguments"]), **random.measured(),
            "mode": mode, "repeatable": False,      # decided by comparison with the other process
        }}

    def _digest(self, mode: str, *, history: bool) -> str:
        """A hash of an episode's first steps; "" if it is not possible, or differs after other episodes."""
        simulator = None
        try:
            simulator = self._simulator(mode)
            digests = {seed: _digest_of(simulator, seed) for seed in REPEATED_SEEDS}
            if history:     # several times: an environment that draws from few tasks repeats one by chance
                repeats = REPEATS if mode == KEPT else 1    # a new environment remembers nothing
                again = [(seed, _digest_of(simulator, seed)) for _ in range(repeats) for seed in REPEATED_SEEDS]
                if any(digests[seed] != digest for seed, digest in again):
                    return ""
            return "".join(digests.values())
        except UsageError:
            if mode == SEEDED:
                return ""       # most environments take no seed when they are made
            raise
        finally:
            if simulator is not None:
                simulator.close()


def facts_of(env: Any, name: str) -> dict[str, Any]:
    """The fields of a description that need no step of the environment with this id. Raises UsageError."""
    observation = leaves_of(env.observation_space, root="observation", reserved=RESERVED)
    action = leaves_of(env.action_space, root="action", reserved=())
    require_small(observation, most=MOST_NUMBERS, what=f"an observation of gym:{name}")
    require_small(action, most=MOST_ACTION_NUMBERS, what=f"an action of gym:{name}")
    if has_text(action) or not action:
        raise UsageError(f"gym:{name} takes texts as actions, which is not supported")
    spec, bare, identity = env.spec, env.unwrapped, parse_id(name)
    return {
        "observation": [leaf.as_json() for leaf in observation], "action": [leaf.as_json() for leaf in action],
        **texts_of(bare, identity, spec.kwargs), "step_s": _step_s(bare),
        "parts": parts_of(bare, observation[0].size) if len(observation) == 1 else [],
        "threshold": None if spec.reward_threshold is None else float(spec.reward_threshold),
        "goal": _has_goals(env.observation_space),
        "draws": "rgb_array" in bare.metadata.get("render_modes", ()),
        "needs_opengl": "mujoco" in sys.modules and (hasattr(bare, "mujoco_renderer") or hasattr(bare, "model")),
        "versions": _versions(identity, bare),
    }


def _digest_of(simulator: Simulator, seed: int) -> str:
    whole = hashlib.sha256()
    observation, _ = simulator.begin(seed)
    leaves = leaves_of(simulator.env.observation_space, root="observation")
    simulator.env.action_space.seed(seed)
    for _ in range(REPEATED_STEPS):
        whole.update(flatten(observation, leaves).tobytes())
        observation, reward, terminated, truncated, _info = simulator.env.step(simulator.env.action_space.sample())
        whole.update(np.float64(reward).tobytes())
        if terminated or truncated:
            break
    whole.update(flatten(observation, leaves).tobytes())
    return whole.hexdigest()


class _RandomPolicy:
    """Plays episodes with random actions and measures returns, ranges and the fields of `info`."""

    def __init__(self, simulator: Simulator, leaves: tuple[Leaf, ...], horizon: int) -> None:
        self._simulator, self._leaves, self._horizon = simulator, leaves, horizon
        size = sum(leaf.size for leaf in leaves)
        self._low, self._high = np.full(size, np.inf), np.full(size, -np.inf)
        self._info: dict[tuple[str, ...], int] = {}
        self._keys: set[str] = set()
        self._returns: list[float] = []
        steps = 0
        while len(self._returns) < RANDOM_EPISODES and steps < RANDOM_STEPS:
            steps += self._episode(len(self._returns))

    def _episode(self, seed: int) -> int:
        observation, _ = self._simulator.begin(seed)
        env = self._simulator.env
        env.action_space.seed(seed)
        total, steps, over = 0.0, 0, False
        self._see(observation)
        while not over and steps < self._horizon:
            observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
            over = bool(terminated or truncated)
            total += float(reward) if np.isfinite(reward) else 0.0
            steps += 1
            self._see(observation)
            self._keys |= {*map(str, info)}
            for path, size in _numbers(info, ()):
                if self._info.setdefault(path, size) != size:
                    self._info[path] = 0        # its size changes: it cannot be an array
        self._returns.append(total)
        return steps

    def _see(self, observation: Any) -> None:
        flat = flatten(observation, self._leaves)
        np.fmin(self._low, flat, out=self._low)
        np.fmax(self._high, flat, out=self._high)

    def measured(self) -> dict[str, Any]:
        """The fields of a description."""
        found = sorted((path, size) for path, size in self._info.items() if size)[:MOST_INFO]
        names = {path: "info_" + "_".join("".join(c if c.isalnum() else "_" for c in key) for key in path)
                 for path, _ in found}
        return {
            "info": [{"name": names[path], "path": list(path), "size": size} for path, size in found],
            "success_key": next((key for key in SUCCESS_KEYS if key in self._keys), None),
            "random_mean": float(np.mean(self._returns)), "random_std": float(np.std(self._returns)),
            "random_episodes": len(self._returns), "seen": self._seen(),
        }

    def _seen(self) -> dict[str, Any]:
        seen, start = {}, 0
        for leaf in self._leaves:
            if leaf.kind != TEXT:
                low, high = (ends[start : start + leaf.size] for ends in (self._low, self._high))
                if leaf.size <= MOST_SEEN and np.isfinite(low).all() and np.isfinite(high).all():
                    seen[leaf.name] = [[float(f"{value:.4g}") for value in ends] for ends in (low, high)]
                start += leaf.size
        return seen


def _numbers(info: Mapping[Any, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    """The paths of numbers and small arrays of numbers within `info`, with their sizes."""
    for key, value in info.items():
        here = (*path, str(key))
        if isinstance(value, Mapping):
            if len(here) < 3:
                yield from _numbers(value, here)
        elif isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
            yield here, 1
        elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and 0 < value.size <= MOST_INFO_SIZE:
            yield here, int(value.size)


def _has_goals(space: Any) -> bool:
    """Whether observations hold an achieved and a desired goal."""
    inner = getattr(space, "spaces", None)
    return isinstance(inner, Mapping) and {"achieved_goal", "desired_goal"} <= inner.keys()


def _own_limit(bare: Any) -> int | None:
    """The limit that some environments keep themselves instead of registering it."""
    for name in ("max_steps", "max_path_length"):
        value = getattr(bare, name, None)
        if isinstance(value, int | np.integer) and not isinstance(value, bool) and value > 0:
            return int(value)
    return None


def texts_of(bare: Any, identity: EnvironmentId, kwargs: Mapping[str, Any]) -> dict[str, str]:
    """The docstring of the nearest class that has one, the notes on the environment, and the arguments in force."""
    own = [each for each in type(bare).__mro__ if each.__doc__ and each.__module__.partition(".")[0] != "builtins"]
    own = [each for each in own if each.__name__ not in ("Env", "Generic", "MujocoEnv", "EzPickle", "object")]
    raw = inspect.cleandoc(own[0].__doc__ or "") if own else ""
    return {
        "documentation": clean(raw, identity.id), "notes": notes_of(identity),
        "arguments": arguments_text(bare, kwargs, raw),
    }


def _step_s(bare: Any) -> float | None:
    """The duration of a step in seconds, where the environment knows it."""
    for name in ("dt", "tau"):
        found = _positive(getattr(bare, name, None))
        if found is not None:
            return found
    return None


def _positive(value: Any) -> float | None:
    known = isinstance(value, int | float | np.floating) and not isinstance(value, bool) and value > 0
    return float(value) if known and np.isfinite(value) else None


def _versions(identity: EnvironmentId, bare: Any) -> dict[str, str]:
    suite = suite_of(identity)
    names = {"gymnasium", *([suite.package] if suite is not None else []), type(bare).__module__.partition(".")[0]}
    distributions = metadata.packages_distributions()
    found = {}
    for name in sorted(names):
        for distribution in distributions.get(name, ())[:1]:
            found[distribution] = metadata.version(distribution)
    return found


def main() -> None:
    """Answer one request."""
    answer_fd = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    task, request = sys.argv[1], json.loads(sys.argv[2])
    try:
        helper = _Helper(request)
        try:
            answer = helper.describe() if task == "describe" else helper.repeat()
        finally:
            helper.close()
    except UsageError as error:
        answer = {"problem": str(error)}
    with os.fdopen(answer_fd, "w") as out:
        json.dump(answer, out)
    sys.stderr.flush()
    os._exit(0)     # simulators may hang while the interpreter unloads them


if __name__ == "__main__":
    main()
