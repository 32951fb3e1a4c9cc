"""Starts a run from settings, or repeats a finished one from its recorded replies."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer

from .. import app
from ..app.replay import find_recorded
from ..core.errors import UsageError
from ..core.values import JSON
from ..settings import Settings, build_settings
from .execution import StatusOptions, execute, open_screen, print_run
from .flags import DisplayKind, require_at_least
from .output import print_json, print_text, say
from .terminal_ui import run_and_watch
from .voting import asks_here, desk, display_for

WITH_REPLAY: Final = frozenset({"domain", "workers", "require_sandbox"})     # settings that go together with --replay


@dataclass(frozen=True, slots=True, kw_only=True)
class RunArguments:
    """Settings as given on the command line; a flag that was not given is None."""

    flags: Mapping[str, JSON]
    assignments: Sequence[str]
    config: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The folder and the name of a new run; without a name it gets one. A given cluster runs the programs."""

    runs_dir: Path
    name: str | None
    cluster: app.Cluster | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """How a run is shown. `command_line` holds this command's arguments if the terminal UI follows it, else None.

    With `only_estimate` there is no run: its cost is estimated and shown.
    """

    display: DisplayKind
    status: StatusOptions
    as_json: bool
    command_line: Sequence[str] | None
    only_estimate: bool = False


def start(
    given: RunArguments, *, replay: str | None, loosely: bool, trust: bool, place: Place, showing: Showing
) -> None:
    """Make the run and print its result. `loosely` and `trust` are about a recorded run: see `app.replay`."""
    address = showing.status.address()
    if loosely and replay is None:
        raise UsageError("--replay-loosely has no effect without --replay: leave it out")
    if showing.only_estimate:
        _show_estimate(given, replay=replay, showing=showing)
        return
    settings = _settings(given, replay=replay, trust=trust, runs_dir=place.runs_dir)
    settings = settings.model_copy(update={"replay_loosely": loosely})
    if showing.command_line is not None:
        raise typer.Exit(run_and_watch(
            showing.command_line, runs_dir=place.runs_dir, name=place.name, domain=settings.domain, seed=settings.seed
        ))
    asks = replay is None and asks_here(settings)
    screen = open_screen(display_for(showing.display, asks=asks))
    work = app.run(
        settings, runs_dir=place.runs_dir, name=place.name, display=screen, address=address, cluster=place.cluster
    )
    with desk(screen, asks=asks):
        result = execute(work, screen)
    print_run(result, as_json=showing.as_json)


def _show_estimate(given: RunArguments, *, replay: str | None, showing: Showing) -> None:
    if replay is not None or showing.command_line is not None:
        with_what = "--replay, which spends nothing" if replay is not None else "--tui"
        raise UsageError(f"--estimate cannot go together with {with_what}: leave one out")
    from ..app.estimate import as_json, estimate
    from .estimate_text import describe_estimate

    settings = build_settings(
        given.flags, assignments=given.assignments, config=given.config, environment=os.environ
    )
    found = asyncio.run(estimate(settings))
    if showing.as_json:
        print_json(as_json(found))
    else:
        print_text(describe_estimate(found))


def _settings(given: RunArguments, *, replay: str | None, trust: bool, runs_dir: Path) -> Settings:
    if replay is None:
        if trust:
            raise UsageError("--trust has no effect without --replay: leave it out")
        return build_settings(
            given.flags, assignments=given.assignments, config=given.config, environment=os.environ
        )
    settings = _recorded_settings(find_recorded(runs_dir, replay), given, trust=trust)
    say(f"repeats {replay}: no model is called, calls and costs are the recorded ones")
    return settings


def _recorded_settings(folder: Path, given: RunArguments, *, trust: bool) -> Settings:
    """The settings of a recorded run, with those given that cannot change its result. Raises UsageError for others."""
    settings = app.replay_settings(folder, trusted=trust)
    domain = given.flags.get("domain")
    if domain not in (None, settings.domain):
        raise UsageError(f"the run {folder.name!r} was in the domain {settings.domain!r}, not {domain!r}")
    chosen = [key for key, value in given.flags.items() if value is not None and key not in WITH_REPLAY]
    if chosen or given.assignments or given.config:
        what = f"--{chosen[0].replace('_', '-')}" if chosen else "--set and --config"
        raise UsageError(f"--replay repeats the settings of the run {folder.name!r}: omit {what}")
    workers = given.flags["workers"]
    require_at_least("--workers", workers if isinstance(workers, int) else None, 1)
    kept = {key: given.flags[key] for key in ("workers", "require_sandbox") if given.flags[key] is not None}
    return settings.model_copy(update=kept)
