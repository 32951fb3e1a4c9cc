"""`memento export`: the program of a candidate as a file."""

from pathlib import Path
from typing import Annotated, Final

import typer

from . import completion, flags

EXAMPLE: Final = "memento export first --out elite.py"


def export(
    run: flags.Run,
    out: Annotated[Path, typer.Option(metavar="FILE.py", help="A new file.", show_default=False)],
    candidate: Annotated[
        str | None,
        typer.Argument(
            metavar="CANDIDATE", help="By default the elite.", show_default=False, autocompletion=completion.candidates
        ),
    ] = None,
    runs: flags.Runs = flags.RUNS,
) -> None:
    """Write the program of the elite or of a candidate to a file."""
    from .program_export import export_program

    export_program(run, candidate, runs_dir=runs, out=out)
