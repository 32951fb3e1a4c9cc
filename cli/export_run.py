"""The work of `memento export`: a candidate's program as a file, or the log of a run for a sink."""

from pathlib import Path

import typer

from ..core import extensions
from ..core.errors import UsageError
from ..core.ports import ExportTarget
from ..memory.lock import is_locked
from ..memory.runs import find_run
from .execution import INTERRUPTED, stop_requests
from .output import say


def export_run(run: str, to: str, out: str | None, *, runs_dir: Path, programs: bool, prompts: bool) -> None:
    """Export a run. Raises UsageError, StoreError and MementoError; after a signal typer.Exit(130)."""
    target: ExportTarget = extensions.load(extensions.SINKS, to)
    folder = find_run(runs_dir, run)
    name = folder.resolve().name
    with stop_requests() as stopped:
        export = target(folder, out, programs=programs, prompts=prompts)
        complete = False
        try:
            if is_locked(folder):
                say(f"following {name} until it ends; Ctrl-C ends the export, not the run")
            complete = export.follow(stopped)
        finally:
            export.close(complete=complete)
    say(f"{name} is in {export.place}" if complete else f"{export.place} has a part of {name}: stopped")
    if not complete:
        say("the same command continues")
        raise typer.Exit(INTERRUPTED)


def export_tape_of(run: str, out: str | None, *, runs_dir: Path) -> None:
    """Write the tape of a finished run, which `memento run --replay FILE` repeats. Raises UsageError, StoreError."""
    from ..app.recorded_runs import export_tape

    if out is None:
        raise UsageError("give --out FILE.tape.xz for the tape")
    folder = find_run(runs_dir, run)
    size = export_tape(folder, Path(out))
    say(f"the tape of {folder.name} is {out}, {size / 1e3:,.0f} kB; repeat it with: memento run --replay {out}")
