"""The work of `memento show`: reads the list of runs, one run, or one candidate or vote, and prints it."""

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ..core.errors import StoreError, UsageError
from ..core.events import RunResumed, RunStarted
from ..core.methods import CALIBRATE
from ..core.ports import Calibrating
from ..core.programs.calibration import Bounds, constants_to_calibrate, progress_of
from ..core.programs.constants import literal
from ..core.text import number, one_line, text_table, version_words
from ..core.values import JSON, Program
from ..domains import is_ours
from ..domains import load as load_domain
from ..evidence.trainings import Training, find_training, list_trainings
from ..memory.lock import is_locked
from ..memory.lookup import Record, last_elite, list_policies, look_up, parents_of
from ..memory.run_status import state_of
from ..memory.runs import find_run, list_runs
from ..memory.store import RunStore
from ..memory.tail import read_card, read_outline, read_view
from ..settings import Settings, settings_in
from ..tui.words import domain_words, ended_words
from .output import print_text, say
from .show_candidate import describe_record
from .show_run import describe_run

# A calibration as a table: the constants of each step, and what its trials showed. Pure.


MOST_COLUMNS = 8    # of constants: the first ones


def describe_calibration(records: Sequence[Record], bounds: Bounds, *, elite: str | None) -> Iterator[str]:
    """One line per tested vector of constants, p_0's first."""
    tested = [(record, record.program) for record in records if record.program is not None]
    if not tested:
        return
    names = _values(tested[0][1], bounds)
    shown = list(names)[:MOST_COLUMNS]
    more = f", the first {len(shown)} of {len(names)} constants" if len(names) > len(shown) else ""
    rows: list[tuple[str, ...]] = [("", "step", *shown, "succeeded", "progress", "ended by")]
    for record, program in tested:
        values = _values(program, bounds)
        ended = [episode for episode, _ in record.episodes if episode is not None]
        progress = progress_of(record.metrics)
        rows.append((
            "*" if record.id == elite else "", record.id, *(values.get(name, "?") for name in shown),
            f"{sum(episode.success for episode in ended)}/{len(ended)}",
            "-" if progress is None else f"{progress:.2f}",
            ", ".join(sorted({str(episode.info.get("stopped") or episode.ended_by) for episode in ended})),
        ))
    yield ""
    yield f"calibration: the constants of each step, * the result{more}"
    yield from text_table(rows).split("\n")


def _values(program: Program, bounds: Bounds) -> dict[str, str]:
    try:
        return {each.name: literal(each, each.value) for each in constants_to_calibrate(program, bounds)}
    except UsageError:
        return {}


WIDEST = 100
IN_A_PIPE = 400  # columns: nothing is cut where no terminal is


def show_run(
    run: str | None, candidate: str | None, *, runs_dir: Path, settings: bool, parts: Sequence[str] = ()
) -> None:
    """`memento show`: all runs, one of them, `parts` of one candidate or vote, or the run's settings."""
    if run is None:
        _list(runs_dir)
        return
    if parts and candidate is None:
        raise UsageError(f"--{parts[0]} needs a candidate: name one, as in memento show {run} g1/macro/0 --{parts[0]}")
    found = find_training(runs_dir, run)
    if found is not None:
        training, trained = found
        if settings or candidate is not None:
            raise UsageError(f"{run} is a learned baseline: it has no candidates and no file of settings to show")
        where = _resumable(trained, runs_dir)
        print_text(training.describe(trained, where=where, live=is_locked(trained)))
        return
    folder = find_run(runs_dir, run)
    if settings:
        print_text(_settings(folder).as_toml(), newline=False)
    elif candidate is not None:
        with RunStore.read(folder) as store:
            record = look_up(store, candidate)
            parents = parents_of(store, record)
        _print(describe_record(record, parents[0] if parents else None, parts=parts))
    else:
        view, live = read_view(folder), is_locked(folder)
        width = min(shutil.get_terminal_size().columns, WIDEST) if sys.stdout.isatty() else IN_A_PIPE
        with RunStore.read(folder) as store:
            card = read_card(store, view)
        _print(describe_run(view, folder=folder, live=live, width=width, card=card))
        _print(_calibration(folder, view.status.settings))


def _calibration(folder: Path, settings: Mapping[str, JSON]) -> Iterable[str]:
    """The table of a calibration; nothing for other runs."""
    name = str(settings["domain"])
    domain = load_domain(name) if settings.get("method") == CALIBRATE and is_ours(name) else None
    if not isinstance(domain, Calibrating):
        return ()
    options = settings["options"]
    assert isinstance(options, dict)
    with RunStore.read(folder) as store:
        records = [look_up(store, name) for name in list_policies(store)]
        elite = last_elite(store)
    return describe_calibration(records, domain.rig(options).bounds, elite=elite)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print_text(line)


def _list(runs_dir: Path) -> None:
    folders, trained = list_runs(runs_dir), list_trainings(runs_dir)
    if not folders and not trained:
        say(f"there are no runs in {runs_dir}; start one with: memento run hanoi")
        return
    width = max(len(folder.name) for folder in (*folders, *(each for _, each in trained)))
    for folder in folders:
        print_text(f"{folder.name:<{width}}  {_in_short(folder, runs_dir)}")
    for training, folder in trained:
        print_text(f"{folder.name:<{width}}  {_training_in_short(training, folder)}")


def _training_in_short(training: Training, folder: Path) -> str:
    try:
        return training.in_short(folder, live=is_locked(folder))
    except (StoreError, OSError) as error:
        return one_line(f"cannot be read: {error}", 1000)


def _in_short(folder: Path, runs_dir: Path) -> str:
    """One run in a line; the error for a run that cannot be read."""
    try:
        view = read_outline(folder)
        status = view.status
        state = state_of(status.status, live=is_locked(folder))
    except (StoreError, OSError) as error:
        return one_line(f"cannot be read: {error}", 1000)
    words = status.settings
    if not words:
        return "killed before its first fact"
    line = f"{domain_words(words)} by {words.get('method')}, {words.get('model')}; {ended_words(status, state)}"
    first, last = view.initial_quality, view.quality
    if first is not None and last is not None:
        by = version_words(status.version)
        line += f"; g{status.generation} F {number(first.fitness)} -> {number(last.fitness)}{by}"
    if state not in ("done", "running", "paused", "failed"):
        line += f"; memento resume {_resumable(folder, runs_dir)}"
    return one_line(line, 1000)


def _resumable(folder: Path, runs_dir: Path) -> str:
    """What `memento resume` takes for this run."""
    return folder.name if runs_dir == Path("runs") else str(folder)


def _settings(folder: Path) -> Settings:
    with RunStore.read(folder) as store:
        settings = settings_in(store.facts(only=(RunStarted, RunResumed)))
    if settings is None:
        raise UsageError(f"the run {folder.name!r} was killed before its first fact: it has no settings")
    return settings
