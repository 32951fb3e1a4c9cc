"""Starts what takes long: run, resume, evaluate."""

import os
import sys
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import typer

from .. import app
from ..app.results import RunResult
from ..core.errors import UsageError
from ..core.values import JSON
from ..memory.lock import is_locked
from ..memory.runs import find_run
from ..settings import Settings, build_settings, parse_budgets
from ..settings.evaluate import build_evaluate_settings
from ..tui.display import Display, open_display
from .log import log_to_stderr
from .requests import end_pause
from .result_text import tell_evaluation, tell_run
from .signals import run_until_told

T = TypeVar("T")
INTERRUPTED = 130       # the exit code

REPLAY_HEEDS = frozenset({"domain", "workers", "require_sandbox"})     # settings that go together with --replay


def start_run(
    flags: Mapping[str, JSON],
    *,
    assignments: Sequence[str],
    config: Path | None,
    replay: str | None,
    runs_dir: Path,
    name: str | None,
    status: tuple[int | None, str | None],
    display: str,
    json: bool,
    tui: Sequence[str] | None = None,
) -> None:
    """`memento run`. `status` is the port and host to serve the status at; `tui` the command line, where the
    run is to be watched in the terminal program."""
    address = _address(*status)
    if replay is None:
        settings = build_settings(flags, assignments=assignments, config=config, environment=os.environ)
    else:
        settings = _to_repeat(find_run(runs_dir, replay), flags, given=bool(assignments or config))
        typer.echo(f"memento: repeats {replay}: no model is asked, calls and costs are those of the record", err=True)
    if tui is not None:
        from .watch import run_and_watch

        raise typer.Exit(run_and_watch(tui, runs_dir=runs_dir, name=name, domain=settings.domain, seed=settings.seed))
    screen = open_display(display, sys.stderr, environment=os.environ)
    result = _finish(app.run(settings, runs_dir=runs_dir, name=name, display=screen, address=address), screen)
    _hand_over(result, json=json)


def _to_repeat(folder: Path, flags: Mapping[str, JSON], *, given: bool) -> Settings:
    """The settings of a recorded run; only what cannot change its result may be given anew."""
    settings = app.read_recorded(folder).settings
    if flags.get("domain") not in (None, settings.domain):
        raise UsageError(f"the run {folder.name!r} was in the domain {settings.domain!r}, not {flags['domain']!r}")
    chosen = [key for key, value in flags.items() if value is not None and key not in REPLAY_HEEDS]
    if chosen or given:
        what = f"--{chosen[0].replace('_', '-')}" if chosen else "--set and --config"
        raise UsageError(f"--replay repeats the settings of the run {folder.name!r}: leave {what} out")
    heeded = {key: flags[key] for key in ("workers", "require_sandbox") if flags[key] is not None}
    _require_workers(flags["workers"])
    return settings.model_copy(update=heeded)


def resume_run(
    run: str,
    *,
    runs_dir: Path,
    workers: int | None,
    budgets: Mapping[str, JSON],
    assignments: Sequence[str],
    require_sandbox: bool,
    status: tuple[int | None, str | None],
    display: str,
    json: bool,
) -> None:
    """`memento resume`."""
    address = _address(*status)
    _require_workers(workers)
    folder = find_run(runs_dir, run)
    given = parse_budgets(budgets, assignments)
    if given and is_locked(folder):
        raise UsageError(f"the run {folder.name!r} is live: stop it first to change its budgets")
    if end_pause(folder):
        return
    screen = open_display(display, sys.stderr, environment=os.environ)
    work = app.resume(
        folder, display=screen, workers=workers, budgets=given, isolated=require_sandbox, address=address
    )
    result = _finish(work, screen)
    _hand_over(result, json=json)


def evaluate_policy(
    policy: Path,
    domain: str,
    *,
    flags: Mapping[str, JSON],
    assignments: Sequence[str],
    episodes: int,
    seed: int,
    evaluator: str,
    workers: int | None,
    json: bool,
) -> None:
    """`memento evaluate`."""
    settings = build_evaluate_settings(
        policy, domain, flags=flags, assignments=assignments, episodes=episodes, seed=seed,
        evaluator=evaluator, workers=workers,
    )
    result = _finish(app.evaluate(settings), None)
    typer.echo(result.line() if json else tell_evaluation(result))


def _address(port: int | None, host: str | None) -> app.StatusAddress | None:
    if port is None:
        if host is not None:
            raise UsageError("--status-host has no effect without --status-port: give both, or neither")
        return None
    return app.StatusAddress(
        host=host or "127.0.0.1", port=port, tell=lambda url: typer.echo(f"memento: status at {url}/status", err=True)
    )


def _require_workers(workers: JSON) -> None:
    if isinstance(workers, int) and workers < 1:
        raise UsageError(f"--workers must be at least 1, not {workers}")


def _hand_over(result: RunResult, *, json: bool) -> None:
    typer.echo(result.line() if json else tell_run(result))
    if result.status == "budget":
        typer.echo(f"memento: a budget is spent; with a larger one: memento resume {result.run} --budget-…", err=True)


def _finish(work: Coroutine[Any, Any, T], screen: Display | None) -> T:
    """Run to the end; a Ctrl-C or a SIGTERM ends the program with 130 and a word on how to go on.

    A second Ctrl-C does not wait until the first one's cleaning up is done: workers end with this process.
    """
    log_to_stderr()

    def at_once() -> NoReturn:
        try:
            if screen is not None:
                screen.close()
            _interrupted(screen)
        finally:
            os._exit(INTERRUPTED)

    try:
        try:
            return run_until_told(work, at_once=at_once)
        finally:
            if screen is not None:
                screen.close()
    except KeyboardInterrupt:
        _interrupted(screen)
        raise typer.Exit(INTERRUPTED) from None


def _interrupted(screen: Display | None) -> None:
    folder = screen.folder if screen is not None else None
    onward = f", nothing is lost; go on with: memento resume {folder}" if folder else ""
    typer.echo(f"memento: interrupted{onward}", err=True)
