"""Starts the terminal UI for `memento watch` and `memento run --tui`, and carries out what it requests of a run."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..app.hints import check_hint, give_hint
from ..app.launching import PROGRAM, LaunchedRun
from ..core.errors import UsageError
from ..memory.runs import find_run, is_run, new_run
from ..memory.store import ask
from .output import print_note, print_text, say
from .program_file import write_candidate

if TYPE_CHECKING:
    pass

BEGUN_WITHIN_S = 120.0        # a run without a store after this time is ended


def watch_run(run: str | None, *, runs_dir: Path) -> None:
    """Open the terminal UI on a run; without one, on the list of runs."""
    if run is not None and not is_run(Path(run)) and Path(run).is_dir() and _holds_runs(Path(run)):
        runs_dir, run = Path(run), None
    folder = None if run is None else find_run(runs_dir, run)
    _require_terminal()
    _show(folder, runs_dir if folder is None else folder.parent)


def run_and_watch(arguments: Sequence[str], *, runs_dir: Path, name: str | None, domain: str, seed: int) -> int:
    """`memento run … --tui`: the run in a separate process, and the terminal UI in this one.

    `arguments` are those of the command line. The run continues after the UI is closed. Returns the exit code.
    """
    from ..runtime.clock import SystemClock

    _require_terminal()
    folder = runs_dir / name if name is not None else new_run(runs_dir, None, SystemClock(), label=domain, seed=seed)
    without = [each for each in arguments if each != "--tui"]
    named = () if name is not None else ("--name", folder.name)
    with LaunchedRun([*without, "--display", "plain", *named]) as launched:
        begun = launched.wait_until_begun(lambda: is_run(folder), within_s=BEGUN_WITHIN_S)
        if begun:
            _show(folder, runs_dir)
        if launched.wait(0 if begun else 5.0) is None and begun:
            say(f"the run continues; watch it with: memento watch {folder}, end it with: memento stop {folder}")
            return 0
        if launched.process.returncode != 0:
            print_note(launched.last_words())
        print_text(launched.output(), newline=False)
        return launched.process.returncode if launched.process.returncode is not None else 3


def _show(folder: Path | None, runs_dir: Path) -> None:
    from ..tui.watch.app import WatchApp

    WatchApp(folder=folder, runs_dir=runs_dir, controls=CliControls()).run()


def _holds_runs(folder: Path) -> bool:
    return not is_run(folder) and any(is_run(child) for child in folder.iterdir() if child.is_dir())


def _require_terminal() -> None:
    if "textual.drivers.web_driver" in os.environ.get("TEXTUAL_DRIVER", ""):
        return      # started by BrowserServer
    if not (sys.stdin.isatty() and sys.__stderr__ is not None and sys.__stderr__.isatty()):
        raise UsageError("the terminal UI needs a terminal: use memento show RUN, or --display plain")


class CliControls:
    """The actions of `memento watch` on a run, carried out by the code of the commands."""

    def request(self, folder: Path, kind: str) -> None:
        """Store a request in the run's table. Raises UsageError if the run is not live."""
        ask(folder, kind)

    def check_hint(self, folder: Path) -> None:
        """Raises UsageError for a run on which no hint has an effect."""
        check_hint(folder)

    def hint(self, folder: Path, text: str) -> None:
        """Leave a hint in the run's table. Raises UsageError."""
        give_hint(folder, text)

    def export(self, folder: Path, candidate: str, out: Path) -> None:
        """Write a program to a new file. Raises UsageError."""
        write_candidate(folder, candidate, out)

    def rendering(self, folder: Path, candidate: str, out: Path) -> list[str]:
        """The command line of `memento render`."""
        return [*PROGRAM, "render", str(folder), candidate, "--out", str(out)]
