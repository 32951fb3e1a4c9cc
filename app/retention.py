"""Keeps the recordings of a run within bounds: at the end of each generation, and when they exceed the user's limit."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import structlog

from ..core.errors import StoreError, os_problem
from ..core.events import Fact
from ..core.order_ids import episode_id
from ..core.recording_file import SUFFIX, load_recording, owner_of_key, save_recording, trajectory_key, trajectory_path
from ..memory.retention_policy import RetentionChange, RetentionPolicy
from ..memory.runs import TRAJECTORIES
from .kept_sheets import KeptSheets


class Trajectories:
    """The recordings in the trajectories folder of one run, by key. Workers write them, so this holds no state."""

    def __init__(self, run_folder: str | os.PathLike[str]) -> None:
        self.folder = Path(run_folder) / TRAJECTORIES

    def keys(self) -> Iterator[str]:
        """All keys, sorted."""
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            if not path.name.startswith("."):
                yield path.name.removesuffix(SUFFIX)

    def sizes(self, keys: Iterable[str] | None = None) -> dict[str, int]:
        """The size of each file in bytes, or of those with these keys; missing files are omitted."""
        found = {}
        for key in self.keys() if keys is None else keys:
            with suppress(FileNotFoundError):
                found[key] = self.path(key).stat().st_size
        return found

    def delete(self, keys: Iterable[str]) -> None:
        """Remove these recordings; a missing one is not an error. Raises StoreError if the disk refuses."""
        for key in keys:
            try:
                self.path(key).unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(f"the trajectory {key!r} cannot be deleted: {os_problem(error)}") from error

    def path(self, key: str) -> Path:
        """The file of a key. Raises StoreError for a key that would leave the folder."""
        return trajectory_path(self.folder, key)


END = ".end"        # suffix of the key of an episode's last steps
END_STEPS = 100     # kept steps of an episode that ended with a fault; 5 s of an arm controlled at 20 Hz
MB = 1e6

_log = structlog.get_logger("memento.retention")


class Retention:
    """Listens to a run and drops recordings; memory.retention_policy decides which. With `keep_all` none are dropped.

    With `limit_mb` (10^6 bytes) recordings are dropped until the rest fits, even with `keep_all`. `bring` is called
    with recordings that the run keeps and that are not on this disk; `arrived` is to be called when one is.
    The sheets of a critic go with their recordings, unless later prompts may show them (`pictures`). `moving`: another
    evaluator may take over, so recordings of the current generation stay.
    """

    def __init__(
        self, folder: Path, *, keep_all: bool = False, limit_mb: float | None = None, pictures: bool = False,
        moving: bool = False,
    ) -> None:
        self._trajectories = Trajectories(folder)
        self._policy = RetentionPolicy(keep_all=keep_all, moving=moving)
        self._sheets = None if pictures else KeptSheets(folder, keep_all=keep_all)
        self._limit = None if limit_mb is None else limit_mb * MB
        self._warned = False
        self._sizes = self._trajectories.sizes()    # of all recordings, by key
        self._due: list[RetentionChange] = []
        self._kept: tuple[str, ...] = ()
        self.bring: Callable[[Sequence[str]], None] = lambda _: None

    def recall(self, fact: Fact) -> None:
        """Apply a fact of an earlier session."""
        change = self._policy.apply(fact)
        self._follow(fact, change)
        if any(key in self._sizes for key in (*change.dropped, *change.shortened)):
            self._due.append(RetentionChange(dropped=change.dropped, shortened=change.shortened))
        self._kept = change.kept or self._kept

    def settle(self) -> None:
        """Finish the work that a killed controller left; call it after the last `recall`."""
        for change in self._due:
            self._carry_out(change)
        self._due.clear()
        self._fit()

    def on_fact(self, fact: Fact) -> None:
        """Apply a committed fact."""
        change = self._policy.apply(fact)
        for episode in fact.recorded:
            if episode.trajectory is not None:
                self._measure(episode.trajectory)
        self._carry_out(change)
        self._follow(fact, change)
        self._fit()
        if change.kept:
            self._kept = change.kept
            self.bring(self.missing())

    def missing(self) -> list[str]:
        """The recordings of the elite that are not on this disk."""
        return [key for key in self._kept if key not in self._sizes]

    def arrived(self, key: str) -> None:
        """Count a recording that was brought to this disk."""
        self._measure(key)
        self._fit()

    def _follow(self, fact: Fact, change: RetentionChange) -> None:
        if self._sheets is not None:
            self._sheets.add(fact)
            self._sheets.follow(change)

    def _carry_out(self, change: RetentionChange) -> None:
        for key in change.shortened:
            self._shorten(key)
        for key in change.dropped:
            self._drop(key)
        if change.over:
            self._sweep({owner_of_key(trajectory_key(episode_id(name, 0))) for name in change.over})

    def _sweep(self, over: set[str]) -> None:
        """Drop the recordings of rollouts that were withdrawn when they ended: no fact names them."""
        for key in tuple(self._trajectories.keys()):
            if key not in self._sizes and owner_of_key(key) in over:
                self._trajectories.delete([key])

    def _shorten(self, key: str) -> None:
        """Keep the last steps of an episode, under another key, so that they are not mistaken for the whole episode."""
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
        while (total := sum(self._sizes.values()) + (0 if self._sheets is None else self._sheets.size)) > self._limit:
            key = self._policy.give_up()
            if key is None:
                if not self._warned:
                    self._warned = True
                    _log.warning(
                        "trajectories-over-limit", limit_mb=self._limit / MB, needed_mb=round(total / MB, 1),
                        why="the run still needs them",
                    )
                return
            for name in (key, key + END):
                self._drop(name)
            if self._sheets is not None:
                self._sheets.give_up(key)
