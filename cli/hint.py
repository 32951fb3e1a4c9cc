"""`memento hint`: a hint for the proposers of a run."""

from typing import Annotated, Final

import typer

from . import flags
from .output import say

EXAMPLE: Final = "memento hint first \"keep the wrist level over the stack\""


def hint(
    run: flags.Run,
    text: Annotated[str, typer.Argument(help="The hint, in one or two sentences.", metavar="TEXT")],
    runs: flags.Runs = flags.RUNS,
) -> None:
    """Give a hint that the following prompts for policies quote."""
    from ..app.hinting import give_hint
    from ..memory.lock import is_locked
    from ..memory.runs import find_run

    folder = find_run(runs, run)
    give_hint(folder, text)
    if is_locked(folder):
        say(f"{folder.name} quotes the hint in its prompts from now on")
    else:
        say(f"{folder.name} is not live: its prompts quote the hint after: memento resume {folder}")
