"""What a shell offers at the Tab key. Everything heavy is imported when the key is pressed, not before."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import typer

from ..core.errors import MementoError, unknown

VARIABLE = "_MEMENTO_COMPLETE"      # set by the shell's script when it asks
SHELLS = ("bash", "zsh", "fish")


def tell_script(shell: str) -> None:
    """`memento completion SHELL`: the script that makes the shell ask."""
    from typer.completion import get_completion_script

    if shell not in SHELLS:
        raise unknown("shell", shell, SHELLS)
    typer.echo(get_completion_script(prog_name="memento", complete_var=VARIABLE, shell=shell))


def answer_shells() -> None:
    """Make ready to answer, where it is a shell that asks."""
    if VARIABLE in os.environ:
        from typer.completion import completion_init

        completion_init()


def shells(incomplete: str) -> Iterator[str]:
    """Names of shells."""
    return _of(SHELLS, incomplete)


def domains(incomplete: str) -> Iterator[str]:
    """Names of domains."""
    from ..domains import names

    return _of(names(), incomplete)


def methods(incomplete: str) -> Iterator[str]:
    """Names of methods."""
    from ..core.methods import METHODS

    return _of(METHODS, incomplete)


def presets(incomplete: str) -> Iterator[str]:
    """Names of presets."""
    from ..settings.presets import PRESETS

    return _of(PRESETS, incomplete)


def experiments(incomplete: str) -> Iterator[str]:
    """Names of the experiments that ship with MEMENTO."""
    from ..evidence.experiment import shipped

    return _of(shipped(), incomplete)


def runs(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Names of the runs in the folder."""
    from ..memory.runs import list_runs

    return _of((folder.name for folder in list_runs(_folder(ctx))), incomplete)


def candidates(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Names of what there is to look at in the run that is named already."""
    from ..core.events import ProposalFailed, ProposalMade, VoteCast
    from ..memory.runs import find_run
    from ..memory.store import RunStore

    with suppress(MementoError):      # a half-typed name is no run yet: nothing is offered
        with RunStore.read(find_run(_folder(ctx), str(ctx.params.get("run") or ""))) as store:
            orders = [fact.order for fact in store.facts(only=(ProposalMade, ProposalFailed, VoteCast))]
        yield from _of((order for order in orders if order is not None), incomplete)


def _folder(ctx: typer.Context) -> Path:
    return Path(ctx.params.get("runs") or os.environ.get("MEMENTO_RUNS") or "runs")


def _of(names: Iterable[str], incomplete: str) -> Iterator[str]:
    return (name for name in names if name.startswith(incomplete))
