"""Starts a run from settings, or repeats a finished one from its recorded replies."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer

from .. import app
from ..app.recorded_runs import find_recorded
from ..app.results import RunResult
from ..app.trust import effects_of_run
from ..core.errors import SearchError, UsageError
from ..core.order_ids import initial
from ..core.provenance import GIVEN
from ..core.values import JSON
from ..memory.lookup import find
from ..memory.store import RunStore
from ..settings import Settings, build_settings
from ..settings.effects import MODELS, contacts, files_named, passes
from ..settings.sources import provenance_of_file
from .execution import StatusOptions, execute, open_screen, print_run
from .flags import DisplayKind, confirm_workers, require_at_least
from .output import print_note, say
from .show_candidate import crash_of
from .terminal_ui import run_and_watch
from .voting import asks_here, desk, display_for

PYTHON: Final = "options.python="     # of --domain-python, which is the machine's own
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
    yes: bool = False       # far more workers than processors are no mistake


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
    onward: bool = True         # say what to do next


def start(
    given: RunArguments, *, replay: str | None, loosely: bool, trust: bool, place: Place, showing: Showing
) -> RunResult | None:
    """Make the run and print its result, which is returned; None for an estimate.

    `loosely` and `trust` are about a recorded run: see `app.replay`.
    """
    address = showing.status.address()
    if loosely and replay is None:
        raise UsageError("--replay-loosely has no effect without --replay: leave it out")
    if showing.only_estimate:
        _show_estimate(given, replay=replay, trust=trust, showing=showing, runs_dir=place.runs_dir)
        return None
    settings = _settings(given, replay=replay, trust=trust, runs_dir=place.runs_dir)
    settings = settings.model_copy(update={"replay_loosely": loosely})
    confirm_workers(settings.workers, cluster=place.cluster is not None, yes=place.yes)
    if showing.command_line is not None:
        raise typer.Exit(run_and_watch(
            showing.command_line, runs_dir=place.runs_dir, name=place.name, domain=settings.domain, seed=settings.seed
        ))
    if replay is None and settings.preset == "paper":
        from .paper_words import setting_words

        words = setting_words(settings.as_json())
        if words is not None:   # who asks for the paper's setting must know what is not in it
            say(words)
    asks = replay is None and asks_here(settings)
    screen = open_screen(display_for(showing.display, asks=asks))
    work = app.run(
        settings, runs_dir=place.runs_dir, name=place.name, display=screen, address=address, cluster=place.cluster
    )
    try:
        with desk(screen, asks=asks):
            result = execute(work, screen)
    except SearchError:
        if settings.initial is not None and screen.folder is not None:
            _say_crash(screen.folder)
        raise
    quiet = showing.display is DisplayKind.NONE
    print_run(result, as_json=showing.as_json, onward=showing.onward and not quiet)
    return result


def _say_crash(folder: Path) -> None:
    """The traceback of a given first policy that failed, and what it printed, as `memento show RUN init/0` has them."""
    with RunStore.read(folder) as store:
        record = find(store, str(initial(0)))
    if record is not None:
        print_note("\n".join(crash_of(record)))


def _built(given: RunArguments, *, trust: bool) -> Settings:
    """The settings of a new run. Raises UsageError, also for a file from elsewhere that names what would be imported,
    started, contacted or read."""
    file = given.config
    provenance = GIVEN if file is None or trust else provenance_of_file(file)
    settings = build_settings(
        given.flags, assignments=given.assignments, config=file, environment=os.environ, provenance=provenance
    )
    own = {effect for key in MODELS for effect in contacts(_texts(given.flags.get(key)))}
    if given.flags.get("domain") is not None:
        own.add(f"import {settings.domain!r}")
    named = (*effects_of_run(settings, models=True), *files_named(settings.as_json()))
    own |= {*files_named(given.flags), *passes(given.flags.get("env"))}
    provenance.require(effect for effect in named if effect not in own)
    return settings.from_there(GIVEN)


def _texts(given: JSON) -> list[str]:
    """The names of models that a flag gave."""
    return [str(each) for each in given] if isinstance(given, list | tuple) else [] if given is None else [str(given)]


def _show_estimate(
    given: RunArguments, *, replay: str | None, trust: bool, showing: Showing, runs_dir: Path
) -> None:
    if replay is not None or showing.command_line is not None:
        with_what = "--replay, which spends nothing" if replay is not None else "--tui"
        raise UsageError(f"--estimate cannot go together with {with_what}: leave one out")
    from .estimates import show_estimate

    show_estimate(_built(given, trust=trust), as_json=showing.as_json, runs_dir=runs_dir)


def _settings(given: RunArguments, *, replay: str | None, trust: bool, runs_dir: Path) -> Settings:
    if replay is None:
        if trust and given.config is None:
            raise UsageError("--trust has no effect without --replay or --config: leave it out")
        return _built(given, trust=trust)
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
    pythons = [each.removeprefix(PYTHON) for each in given.assignments if each.startswith(PYTHON)]
    if chosen or len(pythons) < len(given.assignments) or given.config:
        what = f"--{chosen[0].replace('_', '-')}" if chosen else "--set and --config"
        raise UsageError(f"--replay repeats the settings of the run {folder.name!r}: omit {what}")
    workers = given.flags["workers"]
    require_at_least("--workers", workers if isinstance(workers, int) else None, 1)
    kept = {key: given.flags[key] for key in ("workers", "require_sandbox") if given.flags[key] is not None}
    if pythons:
        kept["options"] = {**settings.options, "python": str(Path(pythons[0]).expanduser().absolute())}
    return settings.model_copy(update=kept)
