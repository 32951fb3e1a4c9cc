"""Episodes that are rolled out ahead: by workers that would be idle, before anybody has ordered them.

An episode is a function of its program, split, number and seed, so one that was rolled out ahead is the one that is
ordered later. Until then its recording is in memory and nothing of it is on disk: a run that is killed leaves no file
of it, and its name can be that of no ordered one. An episode that is under way gives way to any other task. Only
episodes that end as most do are kept; what needs a second try is left to the order.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Final

from ...core.events import RolledAhead
from ...core.ports import RollTask
from ...core.values import Episode

MOST_BYTES: Final = 256 * 2**20     # of recordings in memory: with more of them nothing is begun
TRIED: Final = 16       # episodes that are rolled out ahead in any case; later ones only where enough were used
PAYS: Final = 0.25      # the least share of the worker time that ordered episodes must have saved by then
NOTHING: Final = RolledAhead(episodes=0, used=0, aborted=0, worker_s=0.0, used_s=0.0)

Key = tuple[str, str, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class AheadEpisode:
    """An episode and its recording as `packed_recording` returns it."""

    episode: Episode
    recording: bytes


Begin = Callable[[RollTask], "asyncio.Task[AheadEpisode | None] | None"]
"""Has an idle worker roll an episode out; None where no worker is idle. The task's result is None where it failed."""


def _key(task: RollTask) -> Key:
    return task.program.text, task.split, task.index, task.seed


class AheadRolls:
    """The episodes of a pool that were rolled out ahead, or are under way."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        self._likely: dict[Key, RollTask] = {}
        self._ordered: frozenset[Key] = frozenset()
        self._running: dict[Key, asyncio.Task[AheadEpisode | None]] = {}
        self._aborting: set[Key] = set()
        self._failed: set[Key] = set()          # not tried again
        self._done: dict[Key, tuple[AheadEpisode, float]] = {}  # each with the seconds that it took
        self._sum = NOTHING
        self._tried, self._used_s, self._lost_s = 0, 0.0, 0.0     # over the whole run
        self._closed = False

    def expect(self, likely: Iterable[RollTask], ordered: Iterable[RollTask]) -> None:
        """Roll the `likely` episodes out from now on, the first ones first; `ordered` ones will be taken.

        What is neither is dropped, or aborted where it is under way. Begins nothing by itself: see `go_on`.
        """
        self._likely = {_key(task): task for task in likely}
        self._ordered = frozenset(_key(task) for task in ordered)
        wanted = self._ordered | self._likely.keys()
        self._failed &= wanted
        for key in [key for key in self._done if key not in wanted]:
            self._lost_s += self._done.pop(key)[1]
        for key in self._running.keys() - wanted:
            self._abort(key)

    def go_on(self) -> None:
        """Begin what is expected on the workers that are idle."""
        if self._closed or not self._pays() or sum(len(each.recording) for each, _ in self._done.values()) > MOST_BYTES:
            return
        known = self._done.keys() | self._running.keys() | self._failed | self._ordered
        for key, task in self._likely.items():
            if key not in known:
                rolling = self._begin(task)
                if rolling is None:
                    return
                self._running[key] = rolling
                rolling.add_done_callback(partial(self._note_end, key, perf_counter()))

    def _pays(self) -> bool:
        """Whether enough of what was rolled out ahead was ordered. What may still be ordered does not count."""
        return self._tried < TRIED or self._used_s >= PAYS * (self._used_s + self._lost_s)

    def give_way(self) -> None:
        """Abort the least likely episode that is under way and not ordered, since a task waits for a worker."""
        rank = {key: place for place, key in enumerate(self._likely)}
        open_ones = self._running.keys() - self._aborting - self._ordered
        if open_ones:
            self._abort(max(open_ones, key=lambda key: rank.get(key, len(rank))))

    async def take(self, task: RollTask) -> AheadEpisode | None:
        """The episode of an order, waiting for it if it is under way; None where the order has to be carried out."""
        key = _key(task)
        running = self._running.get(key)
        if running is not None:
            self._ordered |= {key}
            await asyncio.wait([running])       # which neither raises nor ends it, if this is cancelled
        found = self._done.pop(key, None)
        if found is None:
            return None
        episode, spent_s = found
        self._used_s += spent_s
        self._sum = replace(self._sum, used=self._sum.used + 1, used_s=self._sum.used_s + spent_s)
        return episode

    def account(self) -> RolledAhead | None:
        """What was done since the last account; None for nothing."""
        found, self._sum = self._sum, NOTHING
        return None if found == NOTHING else replace(
            found, worker_s=round(found.worker_s, 3), used_s=round(found.used_s, 3)
        )

    async def close(self) -> None:
        """Abort and forget everything."""
        self._closed = True
        self.expect((), ())
        if self._running:
            await asyncio.wait([*self._running.values()])

    def _abort(self, key: Key) -> None:
        if key not in self._aborting:
            self._aborting.add(key)
            self._sum = replace(self._sum, aborted=self._sum.aborted + 1)
            self._running[key].cancel()

    def _note_end(self, key: Key, begun: float, rolling: "asyncio.Task[AheadEpisode | None]") -> None:
        del self._running[key]
        spent_s = perf_counter() - begun
        self._tried += 1
        self._sum = replace(self._sum, worker_s=self._sum.worker_s + spent_s)
        if key in self._aborting:
            self._aborting.discard(key)
            self._lost_s += spent_s
            if not rolling.cancelled():
                rolling.exception()     # it ended at the same moment: nobody asks how
        elif (found := rolling.result()) is not None:
            self._done[key] = found, spent_s
            self._sum = replace(self._sum, episodes=self._sum.episodes + 1)
        else:
            self._failed.add(key)
            self._lost_s += spent_s
            self._sum = replace(self._sum, aborted=self._sum.aborted + 1)
        self.go_on()
