"""`memento watch`: the terminal UI on a run."""

from typing import Annotated, Final

import typer

from ..core.errors import UsageError
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
    browser: Annotated[
        bool, typer.Option("--browser", help="Serve the same screens to a browser on this machine, until Ctrl-C.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, metavar="PORT", help="With --browser: the port; by default any free one."),
    ] = None,
) -> None:
    """Follow a live or finished run in the terminal UI."""
    from .browser import serve_watch
    from .terminal_ui import watch_run

    if browser:
        serve_watch(run, runs_dir=runs, port=port or 0)
        return
    if port is not None:
        raise UsageError("--port has an effect with --browser only: add it, or omit --port")
    watch_run(run, runs_dir=runs)
