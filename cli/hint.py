"""`memento hint`: a hint for the proposers of a run."""

from pathlib import Path
from typing import Annotated, Final

import typer

from ..core.errors import UsageError
from . import flags
from .output import say

EXAMPLE: Final = "memento hint first \"keep the wrist level over the stack\""


def hint(
    run: flags.Run,
    text: Annotated[str, typer.Argument(help="The hint, in one or two sentences.", metavar="TEXT")],
    runs: flags.Runs = flags.RUNS,
) -> None:
    """Give a hint that the following prompts for policies quote."""
    from ..memory.lock import is_locked
    from ..memory.runs import find_run

    folder = find_run(runs, run)
    give_hint(folder, text)
    if is_locked(folder):
        say(f"{folder.name} quotes the hint in its prompts from now on")
    else:
        say(f"{folder.name} is not live: its prompts quote the hint after: memento resume {folder}")


def give_hint(folder: Path, text: str) -> None:
    """Leave a hint in the store of a run. Raises UsageError for a text or a run with which it has no effect."""
    import time

    from ..agents.hints import MAX_HINT
    from ..app.hinting import refuse_without_effect
    from ..app.history import outline_of
    from ..app.requests import HINT
    from ..core.text import one_line
    from ..memory.store import RunStore

    line = one_line(text, 8 * MAX_HINT)
    if not line:
        raise UsageError("the hint is empty: say in a sentence what proposers should know")
    if len(line) > MAX_HINT:
        raise UsageError(f"the hint has {len(line)} characters, and prompts quote at most {MAX_HINT}: shorten it")
    with RunStore.read(folder) as store:
        refuse_without_effect(outline_of(store), folder)
        store.request(HINT, {"text": line}, at=time.time())
