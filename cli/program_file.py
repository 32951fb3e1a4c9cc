"""Writes the program of a candidate to a new file."""

from pathlib import Path

from ..core.errors import UsageError
from ..core.values import Program
from ..memory.lookup import last_elite, look_up
from ..memory.runs import find_run
from ..memory.store import RunStore
from .output import say


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
