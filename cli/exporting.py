"""The work of `memento export`: a candidate's program as a file, or the log of a run for a sink."""

from pathlib import Path

import typer

from ..core import extensions
from ..core.errors import UsageError
from ..core.ports import ExportTarget
from ..core.values import Program
from ..memory.lock import is_locked
from ..memory.lookup import last_elite, look_up
from ..memory.runs import find_run
from ..memory.store import RunStore
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


# The work of `memento export`: writes the program of a candidate to a new file.


def export_program(run: str, candidate: str | None, *, runs_dir: Path, out: Path) -> None:
    """`memento export`: the program of a candidate, or of the elite, as a file. Never overwrites a file."""
    folder = find_run(runs_dir, run)
    name = write_candidate(folder, candidate, out)
    say(f"{name} of {folder.name} is in {out}")


def write_candidate(folder: Path, candidate: str | None, out: Path) -> str:
    """Write the program of a candidate, or of the elite, to a new file; returns its id. Raises UsageError."""
    with RunStore.read(folder) as store:
        name = candidate or last_elite(store)
        if name is None:
            raise UsageError(f"the run {folder.name!r} has no elite yet: name a candidate, or wait for an elite")
        record = look_up(store, name)
    if record.program is None:
        raise UsageError(f"{name} of {folder.name} has no program: see memento show {folder} {name}")
    write_program(record.program, out)
    return record.id


def write_program(program: Program, out: Path) -> None:
    """Write a program to a new file. Raises UsageError."""
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(program.text)
    except FileExistsError:
        raise UsageError(f"{out} exists already: choose another --out, or remove it") from None
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None
