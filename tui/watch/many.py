"""The runs of a folder: the state of each and the curve of its elite. Only changed runs are read again."""

from dataclasses import dataclass
from pathlib import Path

from ...core.errors import MementoError
from ...memory.lock import is_locked
from ...memory.runs import DATABASE, list_runs
from ...memory.tail import read_outline
from ..snapshot import RunSnapshot

Stamp = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """One run of the list. `trouble` is the reason why it cannot be read."""

    folder: Path
    snapshot: RunSnapshot | None = None
    trouble: str | None = None
    stamp: Stamp = ()

    @property
    def curve(self) -> list[float]:
        """F of the elite, per generation."""
        return [] if self.snapshot is None else [elite.fitness for elite in self.snapshot.slots.elites]


def read_runs(runs_dir: Path, known: dict[Path, RunLine]) -> dict[Path, RunLine]:
    """All runs of the folder. Those of `known` whose database did not change are not read again."""
    found: dict[Path, RunLine] = {}
    for folder in list_runs(runs_dir):
        try:
            stamp = _stamp(folder)
            old = known.get(folder)
            live = is_locked(folder)
            if old is not None and old.stamp == stamp and old.snapshot is not None and old.snapshot.live == live:
                found[folder] = old
                continue
            view = read_outline(folder)
            snapshot = RunSnapshot(folder=folder, run=view.status, slots=view.slots, live=live, reading=False)
            found[folder] = RunLine(folder=folder, snapshot=snapshot, stamp=stamp)
        except (MementoError, OSError) as error:
            found[folder] = RunLine(folder=folder, trouble=str(error))
    return found


def _stamp(folder: Path) -> Stamp:
    """Times and sizes of the database files; they change with the database."""
    stamps = []
    for name in (DATABASE, f"{DATABASE}-wal"):
        try:
            status = (folder / name).stat()
        except FileNotFoundError:
            continue
        if status.st_size:      # readers leave an empty write-ahead log
            stamps.append((status.st_mtime_ns, status.st_size))
    return tuple(stamps)
