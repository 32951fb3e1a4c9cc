"""The runs of a folder at a glance: how each stands, and the curve of its elite. Read anew only where it grew."""

from dataclasses import dataclass
from pathlib import Path

from ...core.errors import MementoError
from ...core.events import (
    EliteChanged,
    FinalMeasured,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStarted,
    RunStopped,
    StageEntered,
)
from ...memory.lock import is_locked
from ...memory.runs import DATABASE, list_runs
from ...memory.store import RunStore
from .fold import fold
from .snapshot import Sight
from .view import RunView

FEW = (RunStarted, RunResumed, RunPaused, RunContinued, RunStopped, StageEntered, EliteChanged, FinalMeasured)
Stamp = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """One run of the list. `trouble` says why it cannot be read."""

    folder: Path
    sight: Sight | None = None
    trouble: str | None = None
    stamp: Stamp = ()

    @property
    def curve(self) -> list[float | None]:
        """F of the elite, generation by generation."""
        return [] if self.sight is None else [elite.fitness for elite in self.sight.view.elites]


def read_runs(runs_dir: Path, known: dict[Path, RunLine]) -> dict[Path, RunLine]:
    """All runs of the folder. Those of `known` whose database did not change are not read again."""
    found: dict[Path, RunLine] = {}
    for folder in list_runs(runs_dir):
        try:
            stamp = _stamp(folder)
            old = known.get(folder)
            live = is_locked(folder)
            if old is not None and old.stamp == stamp and old.sight is not None and old.sight.live == live:
                found[folder] = old
                continue
            with RunStore.read(folder) as store:
                view = fold(RunView(), store.facts_after(0, only=FEW))
            sight = Sight(folder=folder, view=view, live=live, reading=False)
            found[folder] = RunLine(folder=folder, sight=sight, stamp=stamp)
        except (MementoError, OSError) as error:
            found[folder] = RunLine(folder=folder, trouble=str(error))
    return found


def _stamp(folder: Path) -> Stamp:
    """What changes when the database does."""
    stamps = []
    for name in (DATABASE, f"{DATABASE}-wal"):
        try:
            status = (folder / name).stat()
        except FileNotFoundError:
            continue
        if status.st_size:      # readers leave an empty log behind
            stamps.append((status.st_mtime_ns, status.st_size))
    return tuple(stamps)
