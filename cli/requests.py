"""Asks things of live runs: stop, pause, and the end of a pause."""

import time
from pathlib import Path

import typer

from ..core.errors import UsageError
from ..core.events import RunContinued, RunPaused, RunResumed, RunStarted
from ..memory.lock import holder, is_locked
from ..memory.runs import find_run
from ..memory.store import RunStore

FOLLOWS = {"stop": "go on later with", "pause": "end the pause with"}


def ask_of_run(run: str, kind: str, *, runs_dir: Path) -> None:
    """`memento stop` and `memento pause`: leave a request, which the controller takes up in a moment."""
    folder = find_run(runs_dir, run)
    if not is_locked(folder):
        raise UsageError(f"the run {folder.name!r} is not live: there is nothing to {kind}")
    with RunStore.read(folder) as store:
        store.request(kind, at=time.time())
    typer.echo(f"memento: asked {folder.name} to {kind}; {FOLLOWS[kind]}: memento resume {folder}", err=True)


def end_pause(folder: Path) -> bool:
    """Ask a live run to end its pause; False where the run is not live. Raises UsageError where it is at work."""
    if not is_locked(folder):
        return False
    with RunStore.read(folder) as store:
        marks = tuple(store.facts(only=(RunStarted, RunResumed, RunPaused, RunContinued)))
        if not marks or not isinstance(marks[-1], RunPaused):
            who = holder(folder) or "another process"
            raise UsageError(f"the run {folder.name!r} is live, {who} writes it: stop it first (memento stop {folder})")
        store.request("continue", at=time.time())
    typer.echo(f"memento: asked {folder.name} to go on", err=True)
    return True
