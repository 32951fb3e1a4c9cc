"""`memento pause`: ask a live run to pause; `memento resume` ends the pause."""

from typing import Final

from . import flags
from .output import say
from .stop import request

EXAMPLE: Final = "memento pause first"


def pause(run: flags.Run, runs: flags.Runs = flags.RUNS) -> None:
    """Ask a live run to pause; `resume` ends the pause."""
    folder = request(run, "pause", runs_dir=runs)
    say(f"asked {folder.name} to pause; end the pause with: memento resume {folder}")
