"""Reads runs, and leaves requests for live ones: show, export, stop, pause."""

import time
from pathlib import Path

import typer

from ..core.errors import UsageError, unknown
from ..core.events import (
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    EvaluatorChosen,
    FinalMeasured,
    InitialChosen,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStarted,
    RunStopped,
    StageEntered,
)
from ..core.values import Candidate, Program
from ..memory.lock import holder, is_locked
from ..memory.runs import find_run
from ..memory.store import RunStore
from ..settings import Settings
from ..tui.lines import lines_of
from ..tui.view import View, after

TOLD = (RunStarted, RunResumed, RunStopped, EvaluatorChosen, EliteChanged, FinalMeasured)
COUNTED = (StageEntered, CandidateScored, EpisodeEnded)


def show_run(run: str, candidate: str | None, *, runs_dir: Path, settings: bool) -> None:
    """`memento show`: the story of a run on one screen, one candidate of it, or its settings."""
    folder = find_run(runs_dir, run)
    with RunStore.read(folder) as store:
        if settings:
            typer.echo(_settings_of(store).as_toml(), nl=False)
        elif candidate is not None:
            _show_candidate(_candidate(store, candidate))
        else:
            _show_story(folder, store)


def export_program(run: str, candidate: str | None, *, runs_dir: Path, out: Path) -> None:
    """`memento export`: the program of a candidate, or of the elite, as a file. Never writes over one."""
    with RunStore.read(find_run(runs_dir, run)) as store:
        program = _elite_program(store) if candidate is None else _program_of(store, candidate)
    try:
        with out.open("x", encoding="utf-8", errors="surrogateescape") as file:
            file.write(program.text)
    except FileExistsError:
        raise UsageError(f"{out} exists already: choose another --out, or remove it") from None
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None
    typer.echo(out)


def ask_of_run(run: str, kind: str, *, runs_dir: Path) -> None:
    """`memento stop` and `memento pause`: leave a request, which the controller takes up in a moment."""
    folder = find_run(runs_dir, run)
    if not is_locked(folder):
        raise UsageError(f"the run {folder.name!r} is not live: there is nothing to {kind}")
    with RunStore.read(folder) as store:
        store.request(kind, at=time.time())
    follow = "go on with: memento resume" if kind == "stop" else "end the pause with: memento resume"
    typer.echo(f"memento: asked {folder.name} to {kind}; {follow} {folder}", err=True)


def end_pause(folder: Path) -> bool:
    """Ask a live run to end its pause; False where the run is not live. Raises UsageError where it is at work."""
    if not is_locked(folder):
        return False
    with RunStore.read(folder) as store:
        marks = [*store.facts(only=(RunStarted, RunResumed, RunPaused, RunContinued))]
        if not marks or not isinstance(marks[-1], RunPaused):
            who = holder(folder) or "another process"
            raise UsageError(f"the run {folder.name!r} is live, {who} writes it: stop it first (memento stop {folder})")
        store.request("continue", at=time.time())
    typer.echo(f"memento: asked {folder.name} to go on", err=True)
    return True


# --------------------------------------------------------------------------------------------- pieces


def _show_story(folder: Path, store: RunStore) -> None:
    view = View()
    live = is_locked(folder)
    for fact in store.facts(only=TOLD + COUNTED):
        view = after(view, fact, now_s=0.0)
        for line in lines_of(fact, view, now_s=None) if isinstance(fact, TOLD) else ():
            typer.echo(line)
    typer.echo("")
    counts = f"{len(view.candidates)} candidates, {view.episodes} episodes"
    typer.echo(f"run {folder}: {'live, ' if live else ''}{_state(view)}; {counts}")
    if not live and view.stage != "done":
        typer.echo(f"go on with: memento resume {folder}")
    elif view.elite is not None:
        typer.echo(f"the elite as a file: memento export {folder} --out elite.py")


def _state(view: View) -> str:
    return "done" if view.stage == "done" else f"in the stage {view.stage!r}" if view.stage else "just begun"


def _show_candidate(candidate: Candidate) -> None:
    typer.echo(f"{candidate.id}  {candidate.operator} of {', '.join(candidate.parents) or 'nothing'}")
    if candidate.summary:
        typer.echo(f"  {candidate.summary}")
    if candidate.fault is not None:
        typer.echo(f"  failed: {candidate.fault.kind}, {candidate.fault.message}")
    else:
        typer.echo(f"  F {candidate.fitness:.3f}  success {100 * candidate.success_rate:.0f} %")
        for name, value in candidate.metrics.items():
            typer.echo(f"  {name}: {value}")
    typer.echo("")
    typer.echo(candidate.program.text)


def _settings_of(store: RunStore) -> Settings:
    started = next(iter(store.facts(only=(RunStarted,))), None)
    if not isinstance(started, RunStarted):
        raise UsageError(f"the run {store.folder.name!r} was killed before its first fact: it has no settings")
    return Settings.model_validate(dict(started.settings))


def _elite_program(store: RunStore) -> Program:
    elites = [fact for fact in store.facts(only=(EliteChanged,)) if isinstance(fact, EliteChanged)]
    if not elites:
        raise UsageError(f"the run {store.folder.name!r} has no elite yet: name a candidate, or let it go on")
    return _program_of(store, elites[-1].candidate)


def _program_of(store: RunStore, candidate: str) -> Program:
    """The program of a candidate of the search, or p_0 by the id of its order."""
    for fact in store.facts(only=(InitialChosen,)):
        if isinstance(fact, InitialChosen) and fact.order == candidate:
            return fact.program
    return _candidate(store, candidate).program


def _candidate(store: RunStore, name: str) -> Candidate:
    found = {
        fact.candidate.id: fact.candidate
        for fact in store.facts(only=(CandidateScored,))
        if isinstance(fact, CandidateScored)
    }
    if name not in found:
        raise unknown(f"candidate of the run {store.folder.name}", name, found)
    return found[name]
