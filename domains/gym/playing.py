"""Random episodes of an environment that is looked at: their digests, returns and ranges, within limits of time.

An environment may refuse an action in some states by raising. Then the same state is reached again and other actions
are tried, so that such an environment can be looked at, too; a state in which all of them raise ends the episode.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.errors import UsageError
from ...core.seeds import derive_seed
from ...core.text import error_words
from .actions import ActionReader
from .loading import Simulator
from .reward_shape import PlayedRewards, shape_of
from .spaces import TEXT, Leaf, flat_vector
from .success import SUCCESS_KEYS, reports_success, success_key_of

RANDOM_EPISODES: Final = 16         # of a random policy, or fewer if they are long:
RANDOM_STEPS: Final = 4_000         # no episode begins after this number of steps,
RANDOM_S: Final = 60.0              # nor after this number of seconds;
EPISODE_S: Final = 240.0            # an episode that takes longer is cut
SCRIPTED_EPISODES: Final = 4        # that hold one random action, if the random ones left steps
SCRIPTED_S: Final = 15.0            # and no more seconds than this
REPEATED_STEPS: Final = 25          # of the episodes that must be equal, at least;
REPEATED_S: Final = 20.0            # they are whole if they take no longer than this
ALTERNATIVES: Final = 8             # other actions that are tried where one raises
MOST_RAISED: Final = 30             # of them in an episode; then it ends
MOST_INFO: Final = 64               # fields of `info`
MOST_INFO_SIZE: Final = 16          # numbers in one of them
MOST_SEEN: Final = 64               # numbers of a field whose ranges are measured
Key = str | int


@dataclass(slots=True)
class Played:
    """One episode: `observed` and `rewarded` are digests of each step; `cut` if the time was up before its end.

    `rewards` counts one that is no finite number as 0; `flags` say whether a step reported success.
    """

    rewards: list[float] = field(default_factory=list)
    flags: list[bool] = field(default_factory=list)
    terminated: bool = False
    truncated: bool = False
    failed: bool = False            # every action that was tried in its last state raised
    cut: bool = False
    observed: list[str] = field(default_factory=list)
    rewarded: list[str] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """How many steps it had."""
        return len(self.rewards)

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
        digest: bool = False, held: bool = False,
    ) -> Played:
        """One episode of at most the horizon, cut after `limit_s` and at least `least` steps. Raises UsageError.

        Its actions are drawn at random, or with `held` the first one is repeated. They are handed over as rollouts
        hand over those of a policy. `see` gets the info of `reset` with the first observation.
        """
        until = time.monotonic() + limit_s
        played = Played()
        observation, at_reset = self._simulator.begin(seed)
        # Not the seed of `reset`: an environment that draws alike would be met by its own numbers.
        self._rng = np.random.default_rng(derive_seed(seed, "random actions"))
        see(observation, at_reset)
        actions: list[Any] = []
        refused, over = 0, False
        while not over and played.steps < self._horizon:
            if digest:
                played.observed.append(_hash(flat_vector(observation, self._leaves).tobytes()))
            if actions:
                see(observation, None)
            if time.monotonic() > until and played.steps >= least:
                played.cut = True
                return played
            action = actions[0] if held and actions else self._random_action()
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
            played.terminated, played.truncated = terminated, truncated
            played.rewards.append(reward if np.isfinite(reward) else 0.0)
            played.flags.append(any(reports_success(info, key) for key in SUCCESS_KEYS if key in info))
            if digest:
                played.rewarded.append(_hash(np.float64(reward).tobytes()))
            see(None, info)
        see(observation, None)
        if digest:
            played.observed.append(_hash(flat_vector(observation, self._leaves).tobytes()))
        return played

    def _random_action(self) -> Any:
        return self._reader.native(self._reader.random_vector(self._rng, self._simulator.mask))

    def _step(self, action: Any) -> tuple[Any, float, bool, bool, Mapping[str, Any]]:
        self._tick()
        return self._simulator.step(action)

    def _another(self, seed: int, actions: list[Any]) -> tuple[Any, Any] | None:
        """Another action in the same state, and its step; None if all that were tried raise.

        The state is reached again from the beginning, since whatever raised may have left another one.
        """
        for action in [self._random_action() for _ in range(ALTERNATIVES)]:
            try:
                self._simulator.begin(seed)
                for earlier in actions:
                    self._step(earlier)
                answer = self._step(action)
            except UsageError:
                raise
            except (Exception, SystemExit):  # noqa: BLE001 - as above
                continue
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
        self._at_reset: set[str] = set()
        self._no_reading: set[str] = set()
        self._returns: list[float] = []
        self._played: list[Played] = []
        until = time.monotonic() + RANDOM_S
        while len(self._played) < RANDOM_EPISODES and self._may_go_on(until):
            played = player.play(len(self._played), limit_s=EPISODE_S, see=self._see)
            self._played.append(played)
            part = horizon / played.steps if played.cut and played.steps else 1.0
            self._returns.append(sum(played.rewards) * part)    # of a cut episode what a whole one would have
        if all(played.failed for played in self._played):
            raise UsageError(f"every random episode ({len(self._played)} of them) ends because the environment raises: "
                             f"{player.raised}")
        until = time.monotonic() + SCRIPTED_S
        for seed in range(SCRIPTED_EPISODES):
            if self._may_go_on(until):
                self._played.append(player.play(
                    seed, limit_s=until - time.monotonic(), see=lambda observation, info: None, held=True,
                ))

    def _may_go_on(self, until: float) -> bool:
        return sum(played.steps for played in self._played) < RANDOM_STEPS and time.monotonic() < until

    def _see(self, observation: Any, info: Mapping[str, Any] | None) -> None:
        if observation is not None:
            flat = flat_vector(observation, self._leaves)
            np.fmin(self._low, flat, out=self._low)
            np.fmax(self._high, flat, out=self._high)
            if info is not None:        # the first one of an episode
                self._at_reset |= {*map(str, info)}
                self._no_reading |= {*names_of_nan(flat, self._leaves)}
            return
        assert info is not None
        self._keys |= {*map(str, info)}
        for path, size in _numbers(info, ()):
            if self._info.setdefault(path, size) != size:
                self._info[path] = 0        # its size changes: it cannot be an array

    def measurements(self) -> dict[str, Any]:
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
            "success_key": success_key_of(self._keys),
            "random_mean": float(np.mean(self._returns)), "random_std": float(np.std(self._returns)),
            "random_episodes": len(self._returns), "seen": self._ranges(), "only_at_reset": self._only_at_reset(),
            "no_reading": sorted(self._no_reading),
            "shape": shape_of([PlayedRewards(rewards=played.rewards, flags=played.flags, terminated=played.terminated)
                               for played in self._played]).as_json(),
            "truncated_after": self._truncated_after(),
        }

    def _only_at_reset(self) -> list[str]:
        """What `info` of `reset` has and no observation and no later `info`."""
        shown = {str(leaf.path[1]) for leaf in self._leaves if leaf.at_reset}
        return sorted(self._at_reset - self._keys - shown)

    def _truncated_after(self) -> int | None:
        """The number of steps after which the environment truncates, if all that it truncated had as many."""
        lengths = {played.steps for played in self._played if played.truncated and not played.terminated}
        return lengths.pop() if len(lengths) == 1 else None

    def _ranges(self) -> dict[str, Any]:
        seen, start = {}, 0
        for leaf in self._leaves:
            if leaf.kind != TEXT:
                low, high = (ends[start : start + leaf.size] for ends in (self._low, self._high))
                shown = leaf.size <= MOST_SEEN and not leaf.is_mask
                if shown and np.isfinite(low).all() and np.isfinite(high).all():
                    seen[leaf.name] = [[float(f"{value:.4g}") for value in ends] for ends in (low, high)]
                start += leaf.size
        return seen


def names_of_nan(flat: NDArray[np.float64], leaves: Sequence[Leaf]) -> Iterator[str]:
    """The fields that hold NaN."""
    start = 0
    for leaf in leaves:
        if leaf.kind != TEXT:
            if np.isnan(flat[start : start + leaf.size]).any():
                yield leaf.name
            start += leaf.size


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
