"""Recordings that stay on the nodes of a cluster: which ones, and how they come here, or are made again if lost."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import structlog

from ..agents.rollout_agents import remake
from ..core.errors import MementoError, RecordingLost
from ..core.events import EpisodeEnded
from ..core.operators import OPERATORS
from ..core.order_ids import RANDOM, SEARCH, owner_of, parse
from ..core.ports import RemotePool, RollTask
from ..core.recording_file import trajectory_key
from ..core.values import Episode
from ..memory.lookup import find
from ..memory.store import RunStore
from ..settings import Settings

END_S: Final = 20.0     # for recordings that are still to come when a run ends
TRIES: Final = 3
SPLIT: Final = "search"

_log = structlog.get_logger("memento.cluster")


def staying(settings: Settings) -> Callable[[RollTask], bool]:
    """Which recordings may stay on their nodes: those of candidates, unless the run keeps or looks at all of them."""
    if settings.keep_trajectories or settings.looks or settings.proposer_turns:
        return lambda _: False
    return lambda task: _made_by(task.order)


def _made_by(order: str) -> bool:
    """Whether an order is the rollout of a candidate that can be made again from the log."""
    found = parse(order)
    written = found.branch == RANDOM or OPERATORS[OPERATORS.of_word(found.branch)].needs_model  # so the log has it
    return (
        found.stage == SEARCH and written and found.vector is None and found.episode is not None
        and not found.part
    )


class Rollouts:
    """The rollouts of candidates in a run's log, by the keys of their recordings."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    def again(self, key: str) -> RollTask:
        """The task that made a recording. Raises RecordingLost if the log does not have it."""
        return self._found(key)[0]

    def steps(self, key: str) -> int:
        """The length of the episode. Raises RecordingLost if the log does not have it."""
        return self._found(key)[1].steps

    def _found(self, key: str) -> tuple[RollTask, Episode]:
        order = key.replace("_", "/")
        if trajectory_key(order) == key and _made_by(order):
            owner = owner_of(order)
            made = find(self._store, owner)
            ended = [
                fact.episode for fact in self._store.facts(only=(EpisodeEnded,), about=owner)
                if isinstance(fact, EpisodeEnded) and fact.order == order
            ]
            if made is not None and made.program is not None and ended:
                [episode] = ended
                return RollTask(
                    order=order, program=made.program, split=SPLIT, index=episode.index, seed=episode.seed
                ), episode
        raise RecordingLost(f"the recording {key} is lost, and the log cannot make it again: start the run again")


class Bringing:
    """Brings recordings from nodes to this disk in the background; `arrived` is called with the key of each."""

    def __init__(self, pool: RemotePool, rollouts: Rollouts, arrived: Callable[[str], None]) -> None:
        self._pool = pool
        self._rollouts = rollouts
        self._arrived = arrived
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, keys: Iterable[str]) -> None:
        """Bring these, each once at a time."""
        for key in keys:
            if key not in self._tasks:
                self._tasks[key] = asyncio.create_task(self._bring(key))

    async def end(self) -> None:
        """Wait for what is under way, for a time; what did not come can be rolled out again when somebody asks."""
        if self._tasks:
            _, late = await asyncio.wait([*self._tasks.values()], timeout=END_S)
            _missed([key for key, task in self._tasks.items() if task in late], "the run ended")
            for task in late:
                task.cancel()

    async def _bring(self, key: str) -> None:
        try:
            await self._brought(key)
            self._arrived(key)
        except MementoError as error:
            _missed([key], str(error))
        finally:
            del self._tasks[key]

    async def _brought(self, key: str) -> None:
        for _ in range(TRIES):
            try:
                return await self._pool.bring(key)
            except RecordingLost:
                await remake(self._pool, self._rollouts.again(key), steps=self._rollouts.steps(key))
        return await self._pool.bring(key)


def _missed(keys: Sequence[str], why: str) -> None:
    if keys:
        _log.warning("recordings-missed", keys=[*keys], why=why)
