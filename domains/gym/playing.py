"""Random episodes of an environment that is looked at: their digests, returns and ranges, within limits of time.

An environment may refuse an action in some states by raising. Then the same state is reached again and other actions
are tried, so that such an environment can be looked at, too; a state in which all of them raise ends the episode.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ...core.errors import UsageError
from ...core.text import error_words
from .loading import Simulator
from .spaces import TEXT, ActionReader, Leaf, flatten

RANDOM_EPISODES: Final = 16         # of a random policy, or fewer if they are long:
RANDOM_STEPS: Final = 4_000         # no episode begins after this number of steps,
RANDOM_S: Final = 60.0              # nor after this number of seconds;
EPISODE_S: Final = 240.0            # an episode that takes longer is cut
REPEATED_STEPS: Final = 25          # of the episodes that must be equal, at least;
REPEATED_S: Final = 20.0            # they are whole if they take no longer than this
ALTERNATIVES: Final = 8             # other actions that are tried where one raises
MOST_RAISED: Final = 30             # of them in an episode; then it ends
MOST_INFO: Final = 64               # fields of `info`
MOST_INFO_SIZE: Final = 16          # numbers in one of them
MOST_SEEN: Final = 64               # numbers of a field whose ranges are measured
SUCCESS_KEYS: Final = ("is_success", "success", "episode_task_completions")
Key = str | int


@dataclass(slots=True)
class Played:
    """One episode: `observed` and `rewarded` are digests of each step; `cut` if the time was up before its end."""

    total: float = 0.0
    steps: int = 0
    failed: bool = False            # every action that was tried in its last state raised
    cut: bool = False
    observed: list[str] = field(default_factory=list)
    rewarded: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """What another process compares."""
        return {"observed": self.observed, "rewarded": self.rewarded, "whole": not self.cut}


class Player:
    """Plays random episodes of one environment. `tick` is called at every step with the words for what is done."""

    def __init__(
        self, simulator: Simulator, leaves: tuple[Leaf, ...], reader: ActionReader, horizon: int,
        tick: Callable[[], None],
    ) -> None:
        self._simulator, self._leaves, self._reader = simulator, leaves, reader
        self._horizon, self._tick = horizon, tick
        self.raised = ""            # what an action raised first

    def play(
        self, seed: int, *, limit_s: float, least: int = 0, see: Callable[[Any, Mapping[str, Any] | None], None],
        digest: bool = False,
    ) -> Played:
        """One episode of at most the horizon, cut after `limit_s` and at least `least` steps. Raises UsageError."""
        until = time.monotonic() + limit_s
        played = Played()
        observation, _ = self._begin(seed)
        actions: list[Any] = []
        refused, over = 0, False
        while not over and played.steps < self._horizon:
            if digest:
                played.observed.append(_hash(flatten(observation, self._leaves).tobytes()))
            see(observation, None)
            if time.monotonic() > until and played.steps >= least:
                played.cut = True
                return played
            action = self._drawn()
            try:
                answer = self._step(action)
            except UsageError:
                raise
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's environment may raise anything
                self.raised = self.raised or error_words(error)
                refused += 1
                other = self._another(seed, actions) if refused <= MOST_RAISED else None
                if other is None:
                    played.failed = True
                    return played
                action, answer = other
            actions.append(action)
            observation, reward, terminated, truncated, info = answer
            over = terminated or truncated
            played.total += reward if np.isfinite(reward) else 0.0
            played.steps += 1
            if digest:
                played.rewarded.append(_hash(np.float64(reward).tobytes()))
            see(None, info)
        see(observation, None)
        if digest:
            played.observed.append(_hash(flatten(observation, self._leaves).tobytes()))
        return played

    def _begin(self, seed: int) -> tuple[Any, Mapping[str, Any]]:
        begun = self._simulator.begin(seed)
        self._simulator.env.action_space.seed(seed)
        self._rng = np.random.default_rng(seed)
        return begun

    def _drawn(self) -> Any:
        mask = self._simulator.mask
        if mask is None:
            return self._simulator.env.action_space.sample()
        return self._reader.native(self._reader.drawn(self._rng, mask))

    def _step(self, action: Any) -> tuple[Any, float, bool, bool, Mapping[str, Any]]:
        self._tick()
        return self._simulator.step(action)

    def _another(self, seed: int, actions: list[Any]) -> tuple[Any, Any] | None:
        """Another action in the same state, and its step; None if all that were tried raise.

        The state is reached again from the beginning, since whatever raised may have left another one.
        """
        space, rng = self._simulator.env.action_space, self._rng
        tried = [self._drawn() for _ in range(ALTERNATIVES)]
        for action in tried:
            try:
                self._simulator.begin(seed)
                for earlier in actions:
                    self._step(earlier)
                answer = self._step(action)
            except UsageError:
                raise
            except (Exception, SystemExit):  # noqa: BLE001 - as above
                continue
            if self._simulator.env.action_space is not space:   # a new environment: its own generator begins again
                self._simulator.env.action_space.seed(seed + len(actions))
            self._rng = rng
            return action, answer
        return None


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=6).hexdigest()


class RandomPolicy:
    """Plays episodes with random actions and measures returns, ranges and the fields of `info`. Raises UsageError."""

    def __init__(self, player: Player, leaves: tuple[Leaf, ...], horizon: int) -> None:
        self._leaves = leaves
        size = sum(leaf.size for leaf in leaves)
        self._low, self._high = np.full(size, np.inf), np.full(size, -np.inf)
        self._info: dict[tuple[Key, ...], int] = {}
        self._keys: set[str] = set()
        self._returns: list[float] = []
        failed, steps, until = 0, 0, time.monotonic() + RANDOM_S
        while len(self._returns) < RANDOM_EPISODES and steps < RANDOM_STEPS and time.monotonic() < until:
            played = player.play(len(self._returns), limit_s=EPISODE_S, see=self._see)
            failed += played.failed
            steps += played.steps
            part = horizon / played.steps if played.cut and played.steps else 1.0
            self._returns.append(played.total * part)       # of a cut episode what a whole one would have
        if failed == len(self._returns):
            raise UsageError(f"every random episode ({failed} of them) ends because the environment raises: "
                             f"{player.raised}")

    def _see(self, observation: Any, info: Mapping[str, Any] | None) -> None:
        if info is None:
            flat = flatten(observation, self._leaves)
            np.fmin(self._low, flat, out=self._low)
            np.fmax(self._high, flat, out=self._high)
            return
        self._keys |= {*map(str, info)}
        for path, size in _numbers(info, ()):
            if self._info.setdefault(path, size) != size:
                self._info[path] = 0        # its size changes: it cannot be an array

    def measured(self) -> dict[str, Any]:
        """The fields of a description."""
        found = sorted(((path, size) for path, size in self._info.items() if size), key=lambda each: str(each[0]))
        found = found[:MOST_INFO]
        names = _different([
            "info_" + "_".join("".join(c if c.isalnum() else "_" for c in str(key)) for key in path)
            for path, _ in found
        ])
        return {
            "info": [{"name": name, "path": list(path), "size": size}
                     for name, (path, size) in zip(names, found, strict=True)],
            "success_key": next((key for key in SUCCESS_KEYS if key in self._keys), None),
            "random_mean": float(np.mean(self._returns)), "random_std": float(np.std(self._returns)),
            "random_episodes": len(self._returns), "seen": self._seen(),
        }

    def _seen(self) -> dict[str, Any]:
        seen, start = {}, 0
        for leaf in self._leaves:
            if leaf.kind != TEXT:
                low, high = (ends[start : start + leaf.size] for ends in (self._low, self._high))
                shown = leaf.size <= MOST_SEEN and not leaf.is_mask
                if shown and np.isfinite(low).all() and np.isfinite(high).all():
                    seen[leaf.name] = [[float(f"{value:.4g}") for value in ends] for ends in (low, high)]
                start += leaf.size
        return seen


def _different(names: list[str]) -> list[str]:
    """The names, those that occurred before with a number."""
    taken = set(names)
    used: set[str] = set()
    found = []
    for name in names:
        free, number = name, 2
        while free in used or (free != name and free in taken):
            free, number = f"{name}_{number}", number + 1
        used.add(free)
        found.append(free)
    return found


def _numbers(info: Mapping[Any, Any], path: tuple[Key, ...]) -> Iterator[tuple[tuple[Key, ...], int]]:
    """The paths of numbers and small arrays of numbers within `info`, with their sizes."""
    for key, value in info.items():
        if not isinstance(key, str | int | np.integer):
            continue
        here = (*path, key if isinstance(key, str) else int(key))
        if isinstance(value, Mapping):
            if len(here) < 3:
                yield from _numbers(value, here)
        elif isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
            yield here, 1
        elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and 0 < value.size <= MOST_INFO_SIZE:
            yield here, int(value.size)
