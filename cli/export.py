"""`memento export`: the program of a candidate as a file, or a run for another tool."""

from pathlib import Path
from typing import Annotated, Final

import typer

from ..core.errors import UsageError, no_such
from . import choices, completion, flags

EXAMPLE: Final = "memento export first --out elite.py"


To = Annotated[
    str | None,
    typer.Option("--to", metavar="{targets}", show_default=False,
                 help="Export the run, not a program; a live run is followed until it ends."),
]
Out = Annotated[
    str | None, typer.Option(metavar="FILE.py|DIR|URL", show_default=False,
                               help="A new file. With --to: the folder for parquet and wandb, the tracking URI for "
                                    "mlflow, the collector for otel.")
]
Candidate = Annotated[
    str | None,
    typer.Argument(
        metavar="CANDIDATE", help="By default the elite.", show_default=False, autocompletion=completion.candidates
    ),
]
WithPrograms = Annotated[bool, typer.Option("--with-programs", help="With --to: also the texts of the programs.")]
WithPrompts = Annotated[bool, typer.Option("--with-prompts", help="With --to: also prompts and replies.")]


def export(
    run: flags.Run,
    candidate: Candidate = None,
    out: Out = None,
    to: To = None,
    with_programs: WithPrograms = False,
    with_prompts: WithPrompts = False,
    runs: flags.Runs = flags.RUNS,
) -> None:
    """Write a program to a file, or export a run to other tools."""
    if to is not None and to not in choices.targets():
        raise no_such("target", to, choices.targets())
    if to == choices.TAPE:
        from .export_run import export_tape_of

        if candidate is not None or with_programs or with_prompts:
            raise UsageError("a tape is of a whole run, with its prompts and replies: give --out FILE.tape.xz alone")
        export_tape_of(run, out, runs_dir=runs)
        return
    if to is not None:
        from .export_run import export_run

        if candidate is not None:
            raise UsageError(f"--to exports a whole run: omit {candidate!r}, or omit --to")
        export_run(run, to, out, runs_dir=runs, programs=with_programs, prompts=with_prompts)
        return
    if with_programs or with_prompts:
        raise UsageError("--with-programs and --with-prompts have an effect with --to only: add it, or omit them")
    if out is None:
        raise UsageError("give --out FILE.py for the program, or --to to export the run")
    from .program_file import export_program

    export_program(run, candidate, runs_dir=runs, out=Path(out))
