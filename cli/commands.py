"""The command line as a Typer app: collects the commands, each from its module, in the order of the help.

Those of extensions follow, by name.

These modules import nothing heavy: what a command needs is imported when it is called.
"""

from collections.abc import Callable
from typing import Annotated, Final

import typer

from . import (
    audit,
    compare,
    completion,
    doctor,
    evaluate,
    export,
    gallery,
    kitchen,
    lists,
    rank,
    render,
    report,
    resume,
    run,
    show,
    stop,
    tour,
    vote,
    watch,
    what_if,
)
from .typer_classes import CONTEXT, AllCommands, Command

commands = typer.Typer(
    help="Evolves executable robot policies with language models.",
    cls=AllCommands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings=CONTEXT,
)


def _print_version(shown: bool) -> None:
    if shown:
        from ..core.version import __version__
        from .output import print_text

        print_text(f"memento {__version__}")
        raise typer.Exit


@commands.callback()
def memento(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """The flags of `memento` itself. The log is set up first: loading a domain may warn."""
    from ..app.log import log_to_stderr

    log_to_stderr()


COMMANDS: Final[tuple[tuple[Callable[..., None], str], ...]] = (
    (tour.tour, tour.EXAMPLE),
    (run.run, run.EXAMPLE),
    (resume.resume, resume.EXAMPLE),
    (evaluate.evaluate, evaluate.EXAMPLE),
    (rank.rank, rank.EXAMPLE),
    (what_if.what_if, what_if.EXAMPLE),
    (gallery.gallery, gallery.EXAMPLE),
    (audit.audit, audit.EXAMPLE),
    (compare.compare, compare.EXAMPLE),
    (report.report, report.EXAMPLE),
    (lists.domains, lists.EXAMPLE),
    (lists.methods, lists.METHODS_EXAMPLE),
    (lists.settings, lists.SETTINGS_EXAMPLE),
    (lists.models, lists.MODELS_EXAMPLE),
    (show.show, show.EXAMPLE),
    (export.export, export.EXAMPLE),
    (watch.watch, watch.EXAMPLE),
    (stop.stop, stop.EXAMPLE),
    (stop.pause, stop.PAUSE_EXAMPLE),
    (stop.hint, stop.HINT_EXAMPLE),
    (vote.vote, vote.EXAMPLE),
    (render.render, render.EXAMPLE),
    (doctor.doctor, doctor.EXAMPLE),
    (completion.completion, completion.EXAMPLE),
)
"""Each command with an example for its help."""

for command, example in COMMANDS:
    commands.command(cls=Command, epilog=f"Example: {example}")(command)
commands.add_typer(kitchen.kitchen, name="kitchen", epilog=f"Example: {kitchen.EXAMPLE}")
