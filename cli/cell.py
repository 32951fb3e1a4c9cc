"""`memento cell`: a robot cell, or its simulated twin."""

from pathlib import Path
from typing import Annotated, Final

import typer

from . import flags
from .command import CONTEXT, Command, CommandGroup

EXAMPLE: Final = "memento cell run elite.py --trials 10"
CHECK_EXAMPLE: Final = "memento cell check --cell lab.toml"

cell = typer.Typer(
    help="Check a robot cell and run policies in it.", cls=CommandGroup, rich_markup_mode=None,
    context_settings=CONTEXT,
)

File = Annotated[
    Path | None, typer.Option("--cell", metavar="FILE.toml", help="The cell's file; by default the shipped twin's.",
                              show_default=False),
]
Policy = Annotated[Path, typer.Argument(help="A policy file.", metavar="POLICY.py", show_default=False)]
Trials = Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="The number of trials.")]
Seed = Annotated[int, typer.Option(metavar="N", help="The seed of the twin's first trial; it counts up from there.")]
Salt = Annotated[
    str | None,
    typer.Option(metavar="HEX", envvar="MEMENTO_SALT", show_envvar=False,
                 help="The salt of earlier trials, for the same ones; by default a new one."),
]


@cell.command(cls=Command, epilog=f"Example: {CHECK_EXAMPLE}")
def check(file: File = None, as_json: flags.AsJson = False) -> None:
    """Look through the camera, compare with the cell's file, move the arm, and try a limit. The arm moves."""
    from ..app.cell import check_cell
    from .output import print_json, print_table

    findings = check_cell(_path(file))
    good = all(finding.ok for finding in findings)
    if as_json:
        print_json({"ok": good, "findings": [
            {"what": finding.what, "ok": finding.ok, "found": finding.found} for finding in findings
        ]})
    else:
        print_table([
            (finding.what, finding.found if finding.ok else f"NOT GOOD: {finding.found}") for finding in findings
        ])
    if not good:
        raise typer.Exit(3)


@cell.command(cls=Command, epilog=f"Example: {EXAMPLE}")
def run(
    policy: Policy, file: File = None, trials: Trials = 10, seed: Seed = 0, salt: Salt = None,
    workers: flags.Workers = None, as_json: flags.AsJson = False,
) -> None:
    """Run a policy in the cell, through its camera and its guard, and report each trial."""
    from .. import app
    from ..app.cell import run_cell
    from ..domains.cell import IMPORT_STRING
    from ..settings.evaluate import build_evaluate_settings
    from .cell_text import cell_json, describe_trials
    from .execution import execute
    from .output import print_json, print_text

    settings = build_evaluate_settings(
        policy, IMPORT_STRING, flags={"cell": str(_path(file))}, assignments=(), episodes=trials, seed=seed,
        salt=salt or app.new_salt(), evaluator="reference", workers=workers,
    )
    result = execute(run_cell(settings))
    if as_json:
        print_json(cell_json(result))
    else:
        print_text(describe_trials(result))


def _path(file: Path | None) -> Path:
    from ..domains.cell.cell_file import SHIPPED

    return file or SHIPPED / "twin.toml"
