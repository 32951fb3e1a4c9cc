"""The command line as a Typer app: collects the commands, each from its module, in the order of the help.

These modules import nothing heavy: what a command needs is imported when it is called.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer

from . import (
    bench,
    compare,
    completion,
    doctor,
    domains,
    evaluate,
    flags,
    kitchen,
    methods,
    models,
    pause,
    render,
    report,
    resume,
    run,
    stop,
)
from .command import CONTEXT, Command, CommandGroup

commands = typer.Typer(
    help="Evolves executable robot policies with language models.",
    cls=CommandGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings=CONTEXT,
)


def _print_version(shown: bool) -> None:
    if shown:
        from .. import __version__
        from .output import print_text

        print_text(f"memento {__version__}")
        raise typer.Exit


@commands.callback()
def memento(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """The flags of `memento` itself."""


# ------------------------------------------------------------------------------ show, export and watch


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
    from .show import show_run

    parts = {"code": code, "diff": diff, "metrics": metrics, "prompt": prompt, "reply": reply}
    show_run(run, candidate, runs_dir=runs, settings=settings, parts=[part for part, given in parts.items() if given])


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
    from .export import export_program

    export_program(run, candidate, runs_dir=runs, out=out)


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
    from .watch import watch_run

    watch_run(run, runs_dir=runs)


# -------------------------------------------------------------------------------------- the collection

COMMANDS: Final[tuple[tuple[Callable[..., None], str], ...]] = (
    (run.run, run.EXAMPLE),
    (resume.resume, resume.EXAMPLE),
    (evaluate.evaluate, evaluate.EXAMPLE),
    (compare.compare, compare.EXAMPLE),
    (report.report, report.EXAMPLE),
    (domains.domains, domains.EXAMPLE),
    (methods.methods, methods.EXAMPLE),
    (models.models, models.EXAMPLE),
    (show, "memento show first g1/macro/0 --diff"),
    (export, "memento export first --out elite.py"),
    (watch, "memento watch first"),
    (stop.stop, stop.EXAMPLE),
    (pause.pause, pause.EXAMPLE),
    (render.render, render.EXAMPLE),
    (bench.bench, bench.EXAMPLE),
    (doctor.doctor, doctor.EXAMPLE),
    (completion.completion, completion.EXAMPLE),
)
"""Each command with an example for its help."""

for command, example in COMMANDS:
    commands.command(cls=Command, epilog=f"Example: {example}")(command)
commands.add_typer(kitchen.kitchen, name="kitchen", epilog=f"Example: {kitchen.EXAMPLE}")
