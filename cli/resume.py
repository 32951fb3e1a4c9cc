"""`memento resume`: continue a run from its last fact."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..core.errors import UsageError
from . import flags
from .flags import DisplayKind

if TYPE_CHECKING:
    from ..app import Cluster
    from ..core.values import JSON
    from .execution import StatusOptions

EXAMPLE: Final = "memento resume first"

RoleBudgets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="The budget of a role, such as budget.judge.calls=40."),
]

Model = Annotated[
    str | None,
    typer.Option(metavar="MODEL", help="Another model in place of the run's from here on, which the log records."),
]

Steps = Annotated[
    int | None,
    typer.Option(metavar="N", help="Of a learned baseline: its steps in all, fewer or more than planned."),
]


def resume(
    run: flags.Run,
    runs: flags.Runs = flags.RUNS,
    workers: flags.Workers = None,
    cluster: flags.Cluster = None,
    mixed_nodes: flags.MixedNodes = False,
    budget_calls: flags.BudgetCalls = None,
    budget_tokens: flags.BudgetTokens = None,
    budget_usd: flags.BudgetUsd = None,
    budget_wall_s: flags.BudgetWall = None,
    assignments: RoleBudgets = None,
    model: Model = None,
    steps: Steps = None,
    require_sandbox: flags.RequireSandbox = False,
    trust: flags.Trust = False,
    yes: flags.Yes = False,
    status_port: flags.StatusPort = None,
    status_host: flags.StatusHost = None,
    display: flags.Display = DisplayKind.RICH,
    as_json: flags.AsJson = False,
) -> None:
    """Continue a run that was stopped, interrupted or killed, or that spent its budget."""
    from .execution import StatusOptions

    flags.require_at_least("--workers", workers, 1)
    flags.confirm_workers(workers, cluster=cluster is not None, yes=yes)
    budgets: dict[str, JSON] = {
        "budget_calls": budget_calls, "budget_tokens": budget_tokens, "budget_usd": budget_usd,
        "budget_wall_s": budget_wall_s,
    }
    continue_run(
        run, runs_dir=runs, workers=workers, cluster=flags.cluster_at(cluster, workers, mixed=mixed_nodes),
        budgets=budgets, assignments=assignments or (), require_sandbox=require_sandbox, trust=trust,
        status=StatusOptions(port=status_port, host=status_host), display=display, as_json=as_json, steps=steps,
        model=model or "",
    )


def continue_run(
    run: str,
    *,
    runs_dir: Path,
    workers: int | None,
    cluster: "Cluster | None",
    budgets: "Mapping[str, JSON]",
    assignments: Sequence[str],
    require_sandbox: bool,
    trust: bool,
    status: "StatusOptions",
    display: DisplayKind,
    as_json: bool,
    steps: int | None = None,
    model: str = "",
) -> None:
    """Continue the run and print its result; end the pause of a live run."""
    from .. import app
    from ..memory.lock import is_locked
    from ..memory.runs import find_run
    from ..memory.store import end_pause
    from ..settings import parse_budgets
    from .execution import execute, open_screen, print_run
    from .output import say
    from .voting import asks_here, desk, display_for, recorded_settings

    if _is_a_baseline(runs_dir, run, steps, as_json=as_json, trust=trust):
        return
    if steps is not None:
        raise UsageError(f"--steps has no effect: {run} is not a learned baseline")
    address = status.address()
    folder = find_run(runs_dir, run)
    given = parse_budgets(budgets, assignments)
    if (given or model) and is_locked(folder):
        what = "model" if model else "budgets"
        raise UsageError(f"the run {folder.name!r} is live: stop it first to change its {what}")
    if end_pause(folder):
        say(f"asked {folder.name} to continue")
        return
    asks = asks_here(recorded_settings(folder))
    screen = open_screen(display_for(display, asks=asks))
    work = app.resume(
        folder, display=screen, workers=workers, budgets=given, isolated=require_sandbox, trusted=trust,
        address=address, cluster=cluster, model=model,
    )
    with desk(screen, asks=asks):
        result = execute(work, screen)
    print_run(result, as_json=as_json, onward=display is not flags.DisplayKind.NONE)


def _is_a_baseline(runs_dir: Path, run: str, steps: int | None, *, as_json: bool, trust: bool) -> bool:
    """Continue the run if it is a learned baseline's; returns whether it was."""
    from ..evidence.trainings import find_training

    found = find_training(runs_dir, run)
    if found is not None:
        training, folder = found
        training.resume(folder, steps=steps, as_json=as_json, trust=trust)
    return found is not None
