"""Starts what takes long: run, resume, evaluate."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import typer

from .. import app
from ..core.errors import UsageError
from ..core.values import JSON
from ..evaluate_settings import build_evaluate_settings
from ..memory.runs import find_run
from ..results import RunResult
from ..settings import build_settings
from ..tui.display import Display, open_display
from .log import log_to_stderr
from .requests import end_pause
from .telling import tell_evaluation, tell_run

T = TypeVar("T")


def start_run(
    flags: Mapping[str, JSON],
    *,
    assignments: Sequence[str],
    config: Path | None,
    runs_dir: Path,
    name: str | None,
    display: str,
    json: bool,
) -> None:
    """`memento run`."""
    settings = build_settings(flags, assignments=assignments, config=config, environment=os.environ)
    screen = open_display(display, sys.stderr)
    result = _finish(app.run(settings, runs_dir=runs_dir, name=name, display=screen), screen)
    _hand_over(result, json=json)


def resume_run(run: str, *, runs_dir: Path, workers: int | None, display: str, json: bool) -> None:
    """`memento resume`."""
    if workers is not None and workers < 1:
        raise UsageError(f"--workers must be at least 1, not {workers}")
    folder = find_run(runs_dir, run)
    if end_pause(folder):
        return
    screen = open_display(display, sys.stderr)
    result = _finish(app.resume(folder, display=screen, workers=workers), screen)
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


def _hand_over(result: RunResult, *, json: bool) -> None:
    typer.echo(result.line() if json else tell_run(result))


def _finish(work: Coroutine[Any, Any, T], screen: Display | None) -> T:
    """Run to the end; a Ctrl-C or a SIGTERM ends the program with 130 and a word on how to go on."""
    log_to_stderr()
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        folder = screen.folder if screen is not None else None
        onward = f", nothing is lost; go on with: memento resume {folder}" if folder else ""
        typer.echo(f"memento: interrupted{onward}", err=True)
        raise typer.Exit(130) from None
