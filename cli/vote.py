"""`memento vote`: vote on the ballots of a run with the judge `ask`."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from ..core.errors import UsageError
from . import flags
from .output import say

EXAMPLE: Final = "memento vote first B \"the only one that notices a dropped disk\""


def vote(
    run: flags.Run,
    choice: Annotated[
        str | None, typer.Argument(help="The label of the best evaluator; without one you are asked.", metavar="CHOICE")
    ] = None,
    reason: Annotated[str, typer.Argument(help="Why, in one or two sentences.", metavar="REASON")] = "",
    runs: flags.Runs = flags.RUNS,
) -> None:
    """Vote on the ballots that wait for a person: all of them in turn, or with a CHOICE the first one."""
    from ..core.ballot_files import BALLOTS, open_ballots
    from ..memory.runs import find_run
    from .voting import at_terminal, put_before_person

    folder = find_run(runs, run) / BALLOTS
    ballots = open_ballots(folder)
    if not ballots:
        raise UsageError(f"no ballot of the run {folder.parent.name!r} waits for a vote")
    if choice is not None:
        _vote(folder, choice, reason)
        return
    if not at_terminal():
        raise UsageError("there is no terminal to ask in: name the CHOICE, or write the file that the ballot names")
    while ballots and put_before_person(folder, ballots[0], _line):
        ballots = open_ballots(folder)
    if ballots and (left := len(open_ballots(folder))):
        say(f"{left} more wait for a vote" if left > 1 else "1 more waits for a vote")


def _vote(folder: Path, choice: str, reason: str) -> None:
    from ..core.ballot_files import open_ballots
    from ..core.ballot_files import vote as write
    from ..core.text import one_line
    from .voting import MAX_LINE

    ballot = open_ballots(folder)[0]
    label = choice.strip().upper()
    if label not in ballot.labels:
        raise UsageError(f"{one_line(choice, 40)!r} is none of the choices {', '.join(ballot.labels)} of {ballot.name}")
    write(folder, ballot, label, one_line(reason, MAX_LINE))
    say(f"voted {label} on {ballot.name}")


def _line(question: str) -> str | None:
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline(4000) or None
