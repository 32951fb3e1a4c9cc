"""`memento cell`: a robot cell, or its simulated twin."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...cli import flags
from ...cli.typer_classes import CONTEXT, Command, CommandGroup

if TYPE_CHECKING:
    from ...core.recording import Recording
    from ...core.values import JSON

EXAMPLE: Final = "memento cell run elite.py --trials 10"
CHECK_EXAMPLE: Final = "memento cell check --cell lab.toml"
LEARN_EXAMPLE: Final = "memento cell learn-colours labelled >> lab.toml"
CALIBRATE_EXAMPLE: Final = "memento cell calibrate elite.py --steps 3 --model anthropic:NAME"

cell = typer.Typer(
    help="Check a robot cell, run policies in it, and calibrate them to it.", cls=CommandGroup, rich_markup_mode=None,
    context_settings=CONTEXT, add_completion=False, epilog=f"Example: {EXAMPLE}",
)

File = Annotated[
    Path | None, typer.Option("--cell", metavar="FILE.toml", help="The cell's file; by default the shipped twin's.",
                              show_default=False),
]
Policy = Annotated[Path, typer.Argument(help="A policy file.", metavar="POLICY.py", show_default=False)]
Mode = Annotated[
    str, typer.Option(metavar="increments|phases",
                      help="What a policy's seven numbers are: increments of the hand, or phases for a planner."),
]
Trials = Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="The number of trials.")]
Seed = Annotated[int, typer.Option(metavar="N", help="The seed of the twin's first trial; it counts up from there.")]
Salt = Annotated[
    str | None,
    typer.Option(metavar="HEX", envvar="MEMENTO_SALT", show_envvar=False,
                 help="The salt of earlier trials, for the same ones; by default a new one."),
]


Film = Annotated[
    Path | None,
    typer.Option(metavar="FILE", show_default=False,
                 help="A film of the first trial, camera and scene side by side: .mp4, .gif, or .png for moments."),
]
FILM_SIZES: Final = {".mp4": "1280x480", ".gif": "800x300"}     # two pictures next to each other


@cell.command(cls=Command, epilog=f"Example: {CHECK_EXAMPLE}")
def check(file: File = None, as_json: flags.AsJson = False) -> None:
    """Look through the camera, compare with the cell's file, move the arm, and try a limit. The arm moves."""
    from ...cli.output import print_json, print_table
    from .trials import check_cell

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


Frames = Annotated[
    Path, typer.Argument(metavar="FOLDER", show_default=False,
                         help="Frames NAME.png with NAME.labels.png: grey 0 to 3 for the cubes, 4 for a container."),
]


@cell.command("learn-colours", cls=Command, epilog=f"Example: {LEARN_EXAMPLE}")
def learn_colours(frames: Frames) -> None:
    """Find the colours of the cubes and containers from a few labelled frames, and print them for the cell's file."""
    from ...cli.output import print_text
    from ...core.errors import UsageError
    from .segmenters import colours_as_toml, labelled_frames, learn

    try:
        print_text(colours_as_toml(learn(labelled_frames(frames))).rstrip())
    except ValueError as error:     # a class that no frame shows
        raise UsageError(str(error)) from error


@cell.command(cls=Command, epilog=f"Example: {EXAMPLE}")
def run(
    policy: Policy, file: File = None, mode: Mode = "increments", trials: Trials = 10, seed: Seed = 0,
    salt: Salt = None, workers: flags.Workers = None, film: Film = None, as_json: flags.AsJson = False,
) -> None:
    """Run a policy in the cell, through its camera and its guard, and report each trial."""
    from ... import app
    from ...cli.drawing import write
    from ...cli.execution import execute
    from ...cli.look import Look
    from ...cli.output import print_json, print_text
    from ...settings.evaluate import build_evaluate_settings
    from .domain import DOMAIN, IMPORT_STRING
    from .trial_text import cell_json, describe_trials
    from .trials import run_cell

    settings = build_evaluate_settings(
        policy, IMPORT_STRING, flags={"cell": str(_path(file)), "mode": mode}, assignments=(), episodes=trials,
        seed=seed, salt=salt or app.new_salt(), evaluator="reference", workers=workers,
    )
    look = None if film is None else Look(
        out=film, camera=None, size=FILM_SIZES.get(film.suffix.lower(), "800x300"), speed=None, every=None, at=None,
        flag="--film",
    )
    if look is not None:
        look.check()

    def draw(recording: "Recording") -> None:
        assert look is not None
        write(recording, DOMAIN.renderer(settings.options), look, title=policy.stem)

    result = execute(run_cell(settings, first=None if look is None else draw))
    if as_json:
        print_json(cell_json(result))
    else:
        print_text(describe_trials(result))


class By(StrEnum):
    """Who chooses the values of a calibration."""

    MODEL = "model"
    SEARCH = "search"


Steps = Annotated[int, typer.Option(metavar="N", min=1, max=100, help="The calibration steps, N_cal.")]
StepTrials = Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="The trials per step.")]
Calibrate = Annotated[
    By, typer.Option("--calibrate", metavar="|".join(By),
                     help="Who chooses values: a model, or a coordinate search with as many trials."),
]
Model = Annotated[str | None, typer.Option(metavar="MODEL", help="The model to ask: see `memento models`.")]
Evaluator = Annotated[
    str, typer.Option(metavar="NAME|FILE", help="What measures trials: reference (E_R), evolve, or a Python file.")
]
Name = Annotated[
    str | None, typer.Option(metavar="NAME", help="The name of the run; by default domain, time and a tag.")
]


@cell.command(cls=Command, epilog=f"Example: {CALIBRATE_EXAMPLE}")
def calibrate(
    policy: Policy, file: File = None, mode: Mode = "increments", steps: Steps = 3, trials: StepTrials = 3,
    by: Calibrate = By.MODEL, model: Model = None, evaluator: Evaluator = "reference", seed: Seed = 0,
    workers: flags.Workers = None,
    budget_calls: flags.BudgetCalls = None, budget_tokens: flags.BudgetTokens = None,
    budget_usd: flags.BudgetUsd = None, budget_wall_s: flags.BudgetWall = None,
    require_sandbox: flags.RequireSandbox = False, runs: flags.Runs = flags.RUNS, name: Name = None,
    assignments: flags.Settings = None, display: flags.Display = flags.DisplayKind.RICH, as_json: flags.AsJson = False,
) -> None:
    """Change named constants of a policy after trials in the cell. It is a run: show, resume and export know it."""
    from ...cli.execution import StatusOptions
    from ...cli.new_run import Place, RunArguments, Showing, start
    from ...core.errors import UsageError
    from .domain import IMPORT_STRING

    if by is By.MODEL and model is None:
        raise UsageError("which model? name one with --model, or use --calibrate search")
    if by is By.SEARCH and model is not None:
        raise UsageError("--model has no effect with --calibrate search: leave one out")
    vectors, each = (steps, trials) if by is By.MODEL else ((steps + 1) * trials - 1, 1)
    given: dict[str, JSON] = {
        "domain": IMPORT_STRING, "method": "calibrate", "initial": str(policy), "evaluator": evaluator,
        "model": model, "generations": vectors, "n_roll": each, "seed": seed, "workers": workers,
        "budget_calls": budget_calls, "budget_tokens": budget_tokens, "budget_usd": budget_usd,
        "budget_wall_s": budget_wall_s, "require_sandbox": require_sandbox or None,
    }
    start(
        RunArguments(
            flags=given, config=None,
            assignments=[
                *(assignments or ()), f"options.cell={json.dumps(str(_path(file).absolute()))}",
                f"options.mode={json.dumps(mode)}",
            ],
        ),
        replay=None, loosely=False, trust=False, place=Place(runs_dir=runs, name=name),
        showing=Showing(
            display=display, status=StatusOptions(port=None, host=None), as_json=as_json, command_line=None,
        ),
    )


def _path(file: Path | None) -> Path:
    from .cell_file import SHIPPED

    return file or SHIPPED / "twin.toml"
