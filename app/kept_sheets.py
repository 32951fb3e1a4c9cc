"""The pictures of a critic's looks in a run's folder: each stays as long as the recording that it shows."""

from pathlib import Path

from ..agents.critic_sheets import SHEETS
from ..core.errors import StoreError, os_problem
from ..core.events import Fact
from ..core.order_ids import owner_of
from ..core.recording_file import trajectory_key
from ..memory.retention_policy import RetentionChange


class KeptSheets:
    """The sheets on disk, by candidate and recording. With `keep_all` those of losers stay too."""

    def __init__(self, folder: Path, *, keep_all: bool) -> None:
        self._folder = folder / SHEETS
        self._keep_all = keep_all
        self._files: dict[str, dict[str, str]] = {}     # the names of the files by recording, by candidate
        self._sizes: dict[str, int] = {}                # in bytes, by name

    @property
    def size(self) -> int:
        """The size of all of them in bytes."""
        return sum(self._sizes.values())

    def add(self, fact: Fact) -> None:
        """Know the sheet of a look, if it is on disk."""
        if fact.drawn is None:
            return
        rollout, file = fact.drawn
        name = Path(file).name
        try:
            self._sizes[name] = (self._folder / name).stat().st_size
        except OSError:
            return
        self._files.setdefault(owner_of(rollout), {})[trajectory_key(rollout)] = name

    def follow(self, change: RetentionChange) -> None:
        """Drop the sheets of candidates that lost, unless the end of their recording stays."""
        for candidate in () if self._keep_all else change.over:
            for key in set(self._files.get(candidate, ())).difference(change.shortened):
                self._delete(self._files[candidate].pop(key))

    def give_up(self, recording: str) -> None:
        """Drop the sheet of a recording that was dropped to save space."""
        for files in self._files.values():
            if recording in files:
                self._delete(files.pop(recording))

    def _delete(self, name: str) -> None:
        del self._sizes[name]
        try:
            (self._folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"the sheet {name!r} cannot be deleted: {os_problem(error)}") from error
