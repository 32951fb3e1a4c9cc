"""`memento stop`: ask a live run to stop."""

from pathlib import Path
from typing import Final

from ..core.errors import UsageError
from . import flags
from .output import say

EXAMPLE: Final = "memento stop first"


def stop(run: flags.Run, runs: flags.Runs = flags.RUNS) -> None:
    """Ask a live run to stop; nothing is lost, `resume` continues it."""
    folder = request(run, "stop", runs_dir=runs)
    say(f"asked {folder.name} to stop; continue later with: memento resume {folder}")


def request(run: str, kind: str, *, runs_dir: Path) -> Path:
    """Store a request in a live run's store, which its controller reads soon. Returns the run's folder.

    Raises UsageError for a run that is not live.
    """
    import time

    from ..memory.lock import is_locked
    from ..memory.runs import find_run
    from ..memory.store import RunStore

    folder = find_run(runs_dir, run)
    if not is_locked(folder):
        raise UsageError(f"the run {folder.name!r} is not live: there is nothing to {kind}")
    with RunStore.read(folder) as store:
        store.request(kind, at=time.time())
    return folder
