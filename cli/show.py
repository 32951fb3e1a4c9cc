"""Reads runs: show, export."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from ..core.errors import StoreError, UsageError
from ..core.events import EliteChanged, Fact, RunContinued, RunPaused, RunResumed, RunStarted, RunStopped, StageEntered
from ..core.values import Program
from ..memory.lock import is_locked
from ..memory.queries import active_seconds, summarise, trace_lineage
from ..memory.runs import find_run, list_runs
from ..memory.store import RunStore
from ..settings import Settings, settings_in
from .result_text import number
from .show_candidate import look_up, tell_item
from .show_run import Standing, state_of, tell_story

WIDEST = 100
STATUS_FACTS = (RunStarted, RunResumed, RunPaused, RunContinued, RunStopped, StageEntered, EliteChanged)


def show_run(
    run: str | None, candidate: str | None, *, runs_dir: Path, settings: bool, parts: Sequence[str] = ()
) -> None:
    """`memento show`: the runs there are, the story of one, one thing of it (its `parts`), or its settings."""
    if run is None:
        _list(runs_dir)
        return
    if parts and candidate is None:
        raise UsageError(f"--{parts[0]} is of one candidate: name it, as in memento show {run} g1/macro/0 --{parts[0]}")
    folder = find_run(runs_dir, run)
    with RunStore.read(folder) as store:
        entries = tuple(store.facts_after(0, texts=not {"prompt", "reply"}.isdisjoint(parts)))
    facts = tuple(entry.fact for entry in entries)
    if settings:
        typer.echo(_settings(facts, folder).as_toml(), nl=False)
        return
    if candidate is not None:
        lines = tell_item(look_up(facts, candidate), parts=parts)
    else:
        standing = Standing(
            folder=folder, live=is_locked(folder), begun=entries[0].at if entries else 0.0,
            worked_s=active_seconds((entry.at, entry.fact) for entry in entries),
        )
        lines = tell_story(facts, standing, width=min(shutil.get_terminal_size().columns, WIDEST))
    for line in lines:
        typer.echo(line)


def export_program(run: str, candidate: str | None, *, runs_dir: Path, out: Path) -> None:
    """`memento export`: the program of a candidate, or of the elite, as a file. Never writes over one."""
    folder = find_run(runs_dir, run)
    with RunStore.read(folder) as store:
        facts = tuple(store.facts())
    if candidate is None:
        lineage = trace_lineage(facts)
        if not lineage:
            raise UsageError(f"the run {folder.name!r} has no elite yet: name a candidate, or let the run go on")
        candidate = lineage[-1].id
    program = look_up(facts, candidate).program
    if program is None:
        raise UsageError(f"{candidate} of {folder.name} has no program: memento show {folder} {candidate} tells why")
    write_program(program, out)
    typer.echo(f"memento: {candidate} of {folder.name} is in {out}", err=True)


def write_program(program: Program, out: Path) -> None:
    """Write a program to a new file. Raises UsageError where there is one, or where it cannot be written."""
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(program.text)
    except FileExistsError:
        raise UsageError(f"{out} exists already: choose another --out, or remove it") from None
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None


def _list(runs_dir: Path) -> None:
    folders = list_runs(runs_dir)
    if not folders:
        typer.echo(f"memento: there are no runs in {runs_dir}; begin one with: memento run hanoi", err=True)
        return
    width = max(len(folder.name) for folder in folders)
    for folder in folders:
        typer.echo(f"{folder.name:<{width}}  {''.join(_in_short(folder, runs_dir))}")


def _in_short(folder: Path, runs_dir: Path) -> Iterator[str]:
    """One run in a line. One that cannot be read says why, and hides no other."""
    try:
        with RunStore.read(folder) as store:
            summary = summarise(store.facts(only=STATUS_FACTS))
        state = state_of(summary.status, live=is_locked(folder))
    except (StoreError, OSError) as error:
        yield f"cannot be read: {error}"
        return
    words = summary.settings
    if not words:
        yield "killed before its first fact"
        return
    yield f"{words.get('domain')} by {words.get('method')}, {words.get('model')}; {state}"
    if summary.fitness is not None:
        yield f"; g{summary.generations} F {number(summary.initial_fitness)} -> {number(summary.fitness)}"
    if state not in ("done", "running", "paused"):
        yield f"; memento resume {folder.name if runs_dir == Path('runs') else folder}"


def _settings(facts: Sequence[Fact], folder: Path) -> Settings:
    settings = settings_in(facts)
    if settings is None:
        raise UsageError(f"the run {folder.name!r} was killed before its first fact: it has no settings")
    return settings
