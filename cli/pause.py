"""`memento pause`: ask a live run to pause; `memento resume` ends the pause."""

from pathlib import Path
from typing import Final

from ..core.errors import UsageError
from . import flags
from .output import say
from .stop import request

EXAMPLE: Final = "memento pause first"


def pause(run: flags.Run, runs: flags.Runs = flags.RUNS) -> None:
    """Ask a live run to pause; `resume` ends the pause."""
    folder = request(run, "pause", runs_dir=runs)
    say(f"asked {folder.name} to pause; end the pause with: memento resume {folder}")


def end_pause(folder: Path) -> bool:
    """Ask a paused run to continue. Returns False if the run is not live. Raises UsageError if it is not paused."""
    import time

    from ..core.events import RunContinued, RunPaused, RunResumed, RunStarted
    from ..memory.lock import holder, is_locked
    from ..memory.store import RunStore

    if not is_locked(folder):
        return False
    with RunStore.read(folder) as store:
        marks = tuple(store.facts(only=(RunStarted, RunResumed, RunPaused, RunContinued)))
        if not marks or not isinstance(marks[-1], RunPaused):
            who = holder(folder) or "another process"
            raise UsageError(f"the run {folder.name!r} is live, {who} writes it: stop it first (memento stop {folder})")
        store.request("continue", at=time.time())
    say(f"asked {folder.name} to continue")
    return True
