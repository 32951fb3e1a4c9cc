"""Leaves requests in the store of a live run; its controller reads them soon."""

import time
from pathlib import Path

from ..core.errors import UsageError
from ..core.events import RunContinued, RunPaused, RunResumed, RunStarted
from .lock import holder, is_locked
from .store import RunStore


def ask(folder: Path, kind: str) -> None:
    """Ask a live run to "stop" or to "pause". Raises UsageError for a run that is not live."""
    if not is_locked(folder):
        raise UsageError(f"the run {folder.name!r} is not live: there is nothing to {kind}")
    with RunStore.read(folder) as store:
        store.request(kind, at=time.time())


def end_pause(folder: Path) -> bool:
    """Ask a paused run to continue. Returns False if the run is not live. Raises UsageError if it is not paused."""
    if not is_locked(folder):
        return False
    with RunStore.read(folder) as store:
        marks = tuple(store.facts(only=(RunStarted, RunResumed, RunPaused, RunContinued)))
        if not marks or not isinstance(marks[-1], RunPaused):
            who = holder(folder) or "another process"
            raise UsageError(f"the run {folder.name!r} is live, {who} writes it: stop it first (memento stop {folder})")
        store.request("continue", at=time.time())
    return True
