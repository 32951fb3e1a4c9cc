"""`memento run`: a new run, or a finished one repeated from its recorded replies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..core.errors import UsageError
from . import completion, flags
from .flags import DisplayKind, StatusOptions

if TYPE_CHECKING:
    from ..core.values import JSON
    from ..settings import Settings

EXAMPLE: Final = "memento run hanoi-kinematic --preset smoke --name first"
WITH_REPLAY: Final = frozenset({"domain", "workers", "require_sandbox"})     # settings that go together with --replay

Domain = Annotated[
    str | None,
    typer.Argument(metavar="DOMAIN", show_default=False, autocompletion=completion.domains,
                   help="The task: {domains}, or PACKAGE.MODULE:ATTRIBUTE for one of your own."),
]
Preset = Annotated[
    str | None,
    typer.Option(metavar="NAME", autocompletion=completion.presets,
                 help="The size of the search: {presets}; by default quick."),
]
Method = Annotated[
    str | None,
    typer.Option(metavar="NAME", autocompletion=completion.methods, help="The search method: {methods}."),
]
Model = Annotated[
    str | None, typer.Option(metavar="MODEL", help="The model that writes programs: see `memento models`.")
]
EvaluatorModel = Annotated[
    str | None, typer.Option(metavar="MODEL", help="The model that writes evaluators; by default that of --model.")
]
Judge = Annotated[
    list[str] | None, typer.Option(metavar="MODEL", help="The model of a judge; repeat the flag to mix models.")
]
Evaluator = Annotated[
    str | None, typer.Option(metavar="NAME|FILE", help="The evaluator: {evaluators}, or a Python file.")
]
Initial = Annotated[str | None, typer.Option(metavar="FILE", help="The policy to start from.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="The seed of all randomness.")]
Scenes = Annotated[str | None, typer.Option(metavar="A,B", help="The scenes to search in, if the domain has scenes.")]
Replay = Annotated[
    str | None,
    typer.Option(metavar="RUN", help="Repeat a finished run from its recorded replies, without calling a model."),
]
Name = Annotated[
    str | None, typer.Option(metavar="NAME", help="The name of the run; by default domain, time and a tag.")
]
Config = Annotated[Path | None, typer.Option(metavar="FILE.toml", help="A file of settings.")]
Tui = Annotated[bool, typer.Option("--tui", help="Follow the run in the terminal UI; closing it leaves the run alive.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Settings as given on the command line; a flag that was not given is None."""

    flags: "Mapping[str, JSON]"
    assignments: Sequence[str]
    config: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a new run is kept; without a name it gets one."""

    runs_dir: Path
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """How a run is shown. `command_line` is this one's arguments if the terminal UI is to follow the run, else None."""

    display: DisplayKind
    status: StatusOptions
    as_json: bool
    command_line: Sequence[str] | None


def run(
    context: typer.Context,
    domain: Domain = None,
    preset: Preset = None,
    method: Method = None,
    model: Model = None,
    evaluator_model: EvaluatorModel = None,
    judge: Judge = None,
    evaluator: Evaluator = None,
    initial: Initial = None,
    seed: Seed = None,
    scenes: Scenes = None,
    workers: flags.Workers = None,
    budget_calls: flags.BudgetCalls = None,
    budget_tokens: flags.BudgetTokens = None,
    budget_usd: flags.BudgetUsd = None,
    budget_wall_s: flags.BudgetWall = None,
    replay: Replay = None,
    require_sandbox: flags.RequireSandbox = False,
    runs: flags.Runs = flags.RUNS,
    name: Name = None,
    config: Config = None,
    assignments: flags.Settings = None,
    status_port: flags.StatusPort = None,
    status_host: flags.StatusHost = None,
    display: flags.Display = DisplayKind.RICH,
    tui: Tui = False,
    as_json: flags.AsJson = False,
) -> None:
    """Evolve an evaluator, then a policy."""
    given: dict[str, JSON] = {
        "domain": domain, "preset": preset, "method": method, "model": model, "judges": [*judge] if judge else None,
        "evaluator_model": evaluator_model, "evaluator": evaluator, "initial": initial, "seed": seed,
        "workers": workers, "require_sandbox": require_sandbox or None, "budget_calls": budget_calls,
        "budget_tokens": budget_tokens, "budget_usd": budget_usd, "budget_wall_s": budget_wall_s,
    }
    in_scenes = [] if scenes is None else [f"options.scenes={scenes}"]
    start(
        Given(flags=given, assignments=[*(assignments or ()), *in_scenes], config=config),
        replay=replay,
        place=Place(runs_dir=runs, name=name),
        showing=Showing(
            display=display, status=StatusOptions(port=status_port, host=status_host), as_json=as_json,
            command_line=context.find_root().obj if tui else None,
        ),
    )


def start(given: Given, *, replay: str | None, place: Place, showing: Showing) -> None:
    """Make the run and print its result."""
    from .. import app
    from .execution import execute, open_screen, print_run, status_address

    address = status_address(showing.status)
    settings = _settings(given, replay=replay, runs_dir=place.runs_dir)
    if showing.command_line is not None:
        from .watch import run_and_watch

        raise typer.Exit(run_and_watch(
            showing.command_line, runs_dir=place.runs_dir, name=place.name, domain=settings.domain, seed=settings.seed
        ))
    screen = open_screen(showing.display)
    work = app.run(settings, runs_dir=place.runs_dir, name=place.name, display=screen, address=address)
    print_run(execute(work, screen), as_json=showing.as_json)


def _settings(given: Given, *, replay: str | None, runs_dir: Path) -> "Settings":
    import os

    from ..memory.runs import find_run
    from ..settings import build_settings
    from .output import say

    if replay is None:
        return build_settings(
            given.flags, assignments=given.assignments, config=given.config, environment=os.environ
        )
    settings = _recorded_settings(find_run(runs_dir, replay), given)
    say(f"repeats {replay}: no model is called, calls and costs are those of the record")
    return settings


def _recorded_settings(folder: Path, given: Given) -> "Settings":
    """The settings of a recorded run, with those given that cannot change its result. Raises UsageError for others."""
    from .. import app

    settings = app.read_recorded(folder).settings
    domain = given.flags.get("domain")
    if domain not in (None, settings.domain):
        raise UsageError(f"the run {folder.name!r} was in the domain {settings.domain!r}, not {domain!r}")
    chosen = [key for key, value in given.flags.items() if value is not None and key not in WITH_REPLAY]
    if chosen or given.assignments or given.config:
        what = f"--{chosen[0].replace('_', '-')}" if chosen else "--set and --config"
        raise UsageError(f"--replay repeats the settings of the run {folder.name!r}: omit {what}")
    workers = given.flags["workers"]
    flags.require_at_least("--workers", workers if isinstance(workers, int) else None, 1)
    kept = {key: given.flags[key] for key in ("workers", "require_sandbox") if given.flags[key] is not None}
    return settings.model_copy(update=kept)
