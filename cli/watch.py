"""`memento watch`: the terminal UI on a run."""

from typing import Annotated, Final

import typer

from . import completion, flags

EXAMPLE: Final = "memento watch first"


def watch(
    run: Annotated[
        str | None,
        typer.Argument(
            help="A run: its name or its folder; without one, choose from a list.", metavar="RUN", show_default=False,
            autocompletion=completion.runs,
        ),
    ] = None,
    runs: flags.Runs = flags.RUNS,
) -> None:
    """Follow a live or finished run in the terminal UI."""
    from .terminal_ui import watch_run

    watch_run(run, runs_dir=runs)
