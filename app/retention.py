"""Keeps the recordings of a run within bounds: whenever a generation is over, and where they pass the user's limit."""

from collections.abc import Iterable
from pathlib import Path

import structlog

from ..core.events import EpisodeEnded, Fact
from ..core.order_ids import episode_id
from ..core.recording_file import load_recording, owner_of_key, save_recording, trajectory_key
from ..memory.retention_policy import Change, Keeping
from ..memory.trajectories import Trajectories

END = ".end"        # what the key of an episode's last steps ends with
END_STEPS = 100     # of an episode that a fault ended; 5 s of an arm that is controlled at 20 Hz
MB = 1e6

_log = structlog.get_logger("memento.retention")


class Retention:
    """Listens to a run and drops recordings; see memory.keeping for which. `keep_all` drops none of them.

    With `limit_mb` (10^6 bytes) recordings go until they fit, whatever else is said.
    """

    def __init__(
        self, folder: Path, history: Iterable[Fact], *, keep_all: bool = False, limit_mb: float | None = None
    ) -> None:
        self._trajectories = Trajectories(folder)
        self._keeping = Keeping(keep_all=keep_all)
        self._limit = None if limit_mb is None else limit_mb * MB
        self._told = False
        changes = [self._keeping.heed(fact) for fact in history]
        self._sizes = self._trajectories.sizes()    # of all there are, by key
        self._carry_out(_together(changes))         # what a killed controller had no time for
        self._fit()

    def heed(self, fact: Fact) -> None:
        """Take a committed fact in."""
        change = self._keeping.heed(fact)
        if isinstance(fact, EpisodeEnded) and fact.episode.trajectory is not None:
            self._measure(fact.episode.trajectory)
        self._carry_out(change)
        self._fit()

    def _carry_out(self, change: Change) -> None:
        for key in change.shortened:
            self._shorten(key)
        for key in change.dropped:
            self._drop(key)
        if change.over:
            self._sweep({owner_of_key(trajectory_key(episode_id(name, 0))) for name in change.over})

    def _sweep(self, over: set[str]) -> None:
        """Drop what rollouts left that were withdrawn in the moment they ended: no fact tells of them."""
        for key in tuple(self._trajectories.keys()):
            if key not in self._sizes and owner_of_key(key) in over:
                self._trajectories.delete([key])

    def _shorten(self, key: str) -> None:
        """Keep the last steps of an episode, under a key of their own, so that nobody takes them for all of it."""
        if key not in self._sizes:
            return
        recording = load_recording(self._trajectories.path(key))
        save_recording(self._trajectories.path(key + END), recording.end(END_STEPS))
        self._drop(key)
        self._measure(key + END)

    def _drop(self, key: str) -> None:
        self._trajectories.delete([key])
        self._sizes.pop(key, None)

    def _measure(self, key: str) -> None:
        self._sizes.update(self._trajectories.sizes([key]))

    def _fit(self) -> None:
        if self._limit is None:
            return
        total = sum(self._sizes.values())
        while total > self._limit:
            key = self._keeping.give_up()
            if key is None:
                if not self._told:
                    self._told = True
                    _log.warning(
                        "trajectories-over-limit", limit_mb=self._limit / MB, needed_mb=round(total / MB, 1),
                        why="the run still needs them",
                    )
                return
            for name in (key, key + END):
                total -= self._sizes.get(name, 0)
                self._drop(name)


def _together(changes: Iterable[Change]) -> Change:
    """Many changes as one."""
    changes = tuple(changes)
    return Change(
        dropped=tuple(key for change in changes for key in change.dropped),
        shortened=tuple(key for change in changes for key in change.shortened),
        over=tuple(name for change in changes for name in change.over),
    )
