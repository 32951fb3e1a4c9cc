"""`memento show`: the list of runs, one run, or one candidate or vote of it."""

from typing import Annotated, Final

import typer

from . import completion, flags

EXAMPLE: Final = "memento show first g1/macro/0 --diff"


def show(
    run: Annotated[
        str | None,
        typer.Argument(
            help="A run: its name or its folder; without one, all runs are listed.", metavar="RUN", show_default=False,
            autocompletion=completion.runs,
        ),
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Argument(
            help="Such as g2/macro/1, eval/g1/3 or eval/g1/judge/4.", metavar="CANDIDATE", show_default=False,
            autocompletion=completion.candidates,
        ),
    ] = None,
    code: Annotated[bool, typer.Option("--code", help="The candidate's program.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Its program against its parent's.")] = False,
    metrics: Annotated[bool, typer.Option("--metrics", help="Its metrics against its parent's.")] = False,
    prompt: Annotated[bool, typer.Option("--prompt", help="The prompt for the model.")] = False,
    reply: Annotated[bool, typer.Option("--reply", help="The model's reply.")] = False,
    settings: Annotated[bool, typer.Option("--settings", help="A file for --config that repeats the run.")] = False,
    runs: flags.Runs = flags.RUNS,
) -> None:
    """List the runs, summarise one, or show one candidate."""
    from .show_reading import show_run

    parts = {"code": code, "diff": diff, "metrics": metrics, "prompt": prompt, "reply": reply}
    show_run(run, candidate, runs_dir=runs, settings=settings, parts=[part for part, given in parts.items() if given])
