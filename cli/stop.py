"""`memento stop`: ask a live run to stop."""

from pathlib import Path
from typing import Final

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
    from ..baselines.log import find_baseline
    from ..baselines.run import ask_to_stop
    from ..memory.requests import ask
    from ..memory.runs import find_run

    trained = find_baseline(runs_dir, run)
    if trained is not None:
        if kind != "stop":
            raise UsageError(f"{run} is a learned baseline, which cannot {kind}: stop it, and resume it later")
        ask_to_stop(trained)
        return trained
    folder = find_run(runs_dir, run)
    ask(folder, kind)
    return folder
