"""`memento completion`, and the candidates for a shell at the Tab key. Registries are imported only then."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer

from ..core.errors import MementoError, no_such
from . import choices
from .output import print_text

EXAMPLE: Final = "memento completion bash >> ~/.bashrc"
VARIABLE: Final = "_MEMENTO_COMPLETE"      # set by the shell's script for completion

Completer = Callable[[str], Iterator[str]]


def answer_shells() -> None:
    """Prepare completion if a shell's script started this process."""
    if VARIABLE in os.environ:
        from typer.completion import completion_init

        completion_init()


def _completer(names: Callable[[], Iterable[str]]) -> Completer:
    def complete(incomplete: str) -> Iterator[str]:
        return _matching(names(), incomplete)

    return complete


domains = _completer(choices.domains)
methods = _completer(choices.methods)
presets = _completer(choices.presets)
experiments = _completer(choices.experiments)
shells = _completer(choices.shells)


def runs(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Names of the runs in the folder."""
    from ..memory.runs import list_runs

    return _matching((folder.name for folder in list_runs(_folder(ctx))), incomplete)


def candidates(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Names of the candidates and votes in the run that precedes on the command line."""
    from ..core.events import ProposalFailed, ProposalMade, VoteCast
    from ..memory.runs import find_run
    from ..memory.store import RunStore

    with suppress(MementoError):      # an incomplete name is not a run: offer nothing
        with RunStore.read(find_run(_folder(ctx), str(ctx.params.get("run") or ""))) as store:
            orders = [fact.order for fact in store.facts(only=(ProposalMade, ProposalFailed, VoteCast))]
        yield from _matching((order for order in orders if order is not None), incomplete)


def _folder(ctx: typer.Context) -> Path:
    return Path(ctx.params.get("runs") or os.environ.get("MEMENTO_RUNS") or "runs")


def _matching(names: Iterable[str], incomplete: str) -> Iterator[str]:
    return (name for name in names if name.startswith(incomplete) and name.isprintable())


Shell = Annotated[
    str, typer.Argument(metavar="SHELL", help="The shell: {shells}.", show_default=False, autocompletion=shells)
]


def completion(shell: Shell) -> None:
    """Print the script that lets a shell complete commands, runs and candidates."""
    from typer.completion import get_completion_script

    if shell not in choices.SHELLS:
        raise no_such("shell", shell, choices.SHELLS)
    print_text(get_completion_script(prog_name="memento", complete_var=VARIABLE, shell=shell))
