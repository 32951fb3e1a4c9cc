"""`memento stop`, `memento pause` and `memento hint`: requests to a live run."""

from pathlib import Path
from typing import Annotated, Final

import typer

from ..core.errors import UsageError
from . import flags
from .output import say

EXAMPLE: Final = "memento stop first"


def stop(run: flags.Run, runs: flags.Runs = flags.RUNS) -> None:
    """Ask a live run to stop; nothing is lost, `resume` continues it."""
    folder = request(run, "stop", runs_dir=runs)
    say(f"asked {folder.name} to stop; continue later with: memento resume {folder}")


def request(run: str, kind: str, *, runs_dir: Path) -> Path:
    """Leave a request for a live run and return the run's folder.

    Raises UsageError for a run that is not live, and for a learned baseline that is asked for more than to stop.
    """
    from ..evidence.trainings import find_training
    from ..memory.runs import find_run
    from ..memory.store import ask

    trained = find_training(runs_dir, run)
    if trained is not None:
        if kind != "stop":
            raise UsageError(f"{run} is a learned baseline, which cannot {kind}: stop it, and resume it later")
        training, folder = trained
        training.ask_to_stop(folder)
        return folder
    folder = find_run(runs_dir, run)
    ask(folder, kind)
    return folder


PAUSE_EXAMPLE: Final = "memento pause first"


def pause(run: flags.Run, runs: flags.Runs = flags.RUNS) -> None:
    """Ask a live run to pause; `resume` ends the pause."""
    folder = request(run, "pause", runs_dir=runs)
    say(f"asked {folder.name} to pause; end the pause with: memento resume {folder}")


HINT_EXAMPLE: Final = "memento hint first \"keep the wrist level over the stack\""


def hint(
    run: flags.Run,
    text: Annotated[str, typer.Argument(help="The hint, in one or two sentences.", metavar="TEXT")],
    runs: flags.Runs = flags.RUNS,
) -> None:
    """Give a hint that the following prompts for policies quote."""
    from ..app.hints import give_hint
    from ..memory.lock import is_locked
    from ..memory.runs import find_run

    folder = find_run(runs, run)
    give_hint(folder, text)
    if is_locked(folder):
        say(f"{folder.name} quotes the hint in its prompts from now on")
    else:
        say(f"{folder.name} is not live: its prompts quote the hint after: memento resume {folder}")
