"""Runs long work: serves its status, ends it cleanly on a signal, and prints a run's result."""

import os
import shlex
import sys
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeVar

import typer

from ..app import StatusAddress
from ..app.log import log_to_stderr
from ..app.results import RunResult
from ..core.errors import UsageError
from ..tui.display import Display, open_display
from .output import print_json_line, print_text, say
from .result_text import describe_run
from .signals import run_until_signalled

T = TypeVar("T")
INTERRUPTED: Final = 130       # the exit code


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusOptions:
    """The address for a run's status as given; None for an option that was not given."""

    port: int | None
    host: str | None

    def address(self) -> StatusAddress | None:
        """The address to serve at; None for nowhere. Raises UsageError for a host without a port."""
        if self.port is None:
            if self.host is not None:
                raise UsageError("--status-host has no effect without --status-port: give both, or neither")
            return None
        return StatusAddress(
            host=self.host or "127.0.0.1", port=self.port, tell=lambda url: say(f"status at {url}/status")
        )


def open_screen(kind: str) -> Display:
    """The display of this kind, on stderr."""
    return open_display(kind, sys.stderr, environment=os.environ)


def execute(work: Coroutine[Any, Any, T], screen: Display | None = None) -> T:
    """Run to the end. After a Ctrl-C or a SIGTERM, print how to resume and raise typer.Exit(130).

    A second Ctrl-C does not wait for the clean-up of the first one: workers end with this process.
    """
    log_to_stderr()

    def end_at_once() -> NoReturn:
        try:
            if screen is not None:
                screen.close()
            _say_interrupted(screen)
        finally:
            os._exit(INTERRUPTED)

    try:
        try:
            return run_until_signalled(work, at_once=end_at_once)
        finally:
            if screen is not None:
                screen.close()
    except KeyboardInterrupt:
        _say_interrupted(screen)
        raise typer.Exit(INTERRUPTED) from None


def print_run(result: RunResult, *, as_json: bool) -> None:
    """Print a run's result, and how to continue a run that spent its budget."""
    if as_json:
        print_json_line(result.line())
    else:
        print_text(describe_run(result))
    if result.status == "budget":
        say(f"a budget is spent; to continue with a larger one: memento resume {result.run} --budget-…")
    elif not as_json and sys.stderr.isatty():
        name = shlex.quote(result.run)
        say(f"what next: memento show {name}, memento watch {name}, or memento render {name} --out elite.gif")


def _say_interrupted(screen: Display | None) -> None:
    folder = screen.folder if screen is not None else None
    say(f"interrupted, nothing is lost; continue with: memento resume {folder}" if folder else "interrupted")
