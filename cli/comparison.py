"""Runs a planned comparison and prints its result."""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from ..app.budgets import models_of
from ..app.wiring import require_shelves
from ..core.errors import RunRefused, StoreError, UsageError
from ..core.events import EliteChanged
from ..core.provenance import GIVEN, Provenance
from ..core.seeds import new_salt
from ..core.text import counted, duration, number, printable
from ..core.values import JSON
from ..domains import require_installed
from ..evidence.comparing import LOST_MEASURE, Comparing, Effort
from ..evidence.experiment import Experiment, load_experiment
from ..evidence.folder import ComparisonFolder
from ..evidence.learned import check_learned
from ..evidence.plan import candidates_of, check, merge, shared_runs, with_flags
from ..evidence.scheduling import OVER, Phase, Progress, WorkUnit
from ..evidence.summary import Row, RunStanding, rows_of, spread
from ..memory.lock import WriterLock
from ..memory.runs import is_run
from ..memory.store import RunStore
from ..models.spec import key_of, parse_specs
from ..runtime.clock import SystemClock
from ..settings import Settings
from ..settings.sources import provenance_of_file
from ..tui.display import can_draw
from .execution import INTERRUPTED, run_until_signalled
from .flags import DisplayKind
from .output import print_json, print_note, print_text, say

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table


# Plans `memento compare`: a new comparison, or an existing one, which may grow.


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The changes of flags in an experiment; empty or None for a flag that was not given."""

    domains: Sequence[str]
    methods: Sequence[str]
    models: Sequence[str]
    seeds: str | None
    preset: str | None
    evaluator: str | None
    initial: str | None
    episodes: int | None
    settings: Mapping[str, JSON]

    @property
    def any(self) -> bool:
        """Whether a flag was given."""
        return self.episodes is not None or any((
            self.domains, self.methods, self.models, self.seeds, self.preset, self.evaluator, self.initial,
            self.settings,
        ))

    def applied_to(self, experiment: Experiment | None) -> Experiment:
        """The experiment with the changes; without one, an experiment from the flags alone. Raises UsageError."""
        return with_flags(
            experiment, domains=self.domains, methods=self.methods, models=self.models, seeds=self.seeds or None,
            preset=self.preset, evaluator=self.evaluator, initial=self.initial, settings=self.settings,
            episodes=self.episodes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A comparison that is ready to run: its folder, its experiment, and the settings of each run by job.

    `own`: this installation wrote the plan, and signs it again.
    """

    folder: ComparisonFolder
    experiment: Experiment
    settings: Mapping[str, Settings]
    own: bool


def plan(
    given: str | None, changes: Changes, *, runs_dir: Path, name: str | None, keys: bool = True, trusted: bool = False
) -> Planned:
    """The existing comparison `given`, or a new one from the experiment `given` or from flags alone.

    With `keys` the keys of its models must be there. Raises UsageError for a comparison that cannot run, before
    anything is spent, and without `trusted` for one from elsewhere that would import, start, contact or read something.
    """
    old = _existing(given, runs_dir)
    if old is not None and name is not None:
        raise UsageError(f"--name has no effect: {old.path} is a comparison, which keeps its name")
    folder, experiment = _new(given, changes, runs_dir, name) if old is None else (old, _grown(old, changes))
    provenance = _provenance(folder, given, trusted=trusted)
    settings = check(experiment, provenance)
    check_learned(experiment, provenance)
    if old is None or changes.any:
        require_shelves(settings.values())
    if keys:
        _require_keys(settings)
    if not folder.exists and folder.path.exists() and any(folder.path.iterdir()):
        raise UsageError(f"{folder.path} exists and is not a comparison: choose another --name")
    own = folder.is_own or not folder.exists
    return Planned(folder=folder, experiment=experiment, settings=settings, own=own)


def _provenance(folder: ComparisonFolder, given: str | None, *, trusted: bool) -> Provenance:
    """Where the plan came from: a comparison that may be from elsewhere, or an experiment's file, or the command."""
    if trusted:
        return GIVEN
    if folder.exists:
        return Provenance(place=f"the comparison {folder.path.name!r}", trusted=folder.is_own)
    return provenance_of_file(Path(given)) if given is not None and given.endswith(".toml") else GIVEN


def _existing(given: str | None, runs_dir: Path) -> ComparisonFolder | None:
    """The comparison of this name or path; None where there is none."""
    if not given:
        return None
    folders = (ComparisonFolder(path) for path in (Path(given), runs_dir / given))
    return next((folder for folder in folders if folder.exists), None)


def _grown(folder: ComparisonFolder, changes: Changes) -> Experiment:
    known = folder.plan()
    return merge(known, changes.applied_to(known)) if changes.any else known


def _new(
    given: str | None, changes: Changes, runs_dir: Path, name: str | None
) -> tuple[ComparisonFolder, Experiment]:
    if given is None and not changes.domains:
        raise UsageError(
            "nothing to compare: name an experiment, as in memento compare main, or give --domain and two --method"
        )
    experiment = changes.applied_to(None if given is None else load_experiment(given))
    experiment = replace(experiment, name=name or experiment.name)
    folder = ComparisonFolder(runs_dir / experiment.name)
    known = folder.plan() if folder.exists else None
    # One salt for all runs and measures, so that they meet the same episodes; an older comparison has none.
    shared = known.settings.get("salt") if known else os.environ.get("MEMENTO_SALT") or new_salt()
    if shared is not None:
        experiment = replace(experiment, settings={"salt": shared, **experiment.settings})
    return folder, experiment if known is None else merge(known, experiment)


def _require_keys(settings: Mapping[str, Settings]) -> None:
    """Raise UsageError for a model whose key is missing."""
    named = {text for each in settings.values() for texts in models_of(each).values() for text in texts}
    for text in sorted(named):
        for spec in parse_specs(text):
            key_of(spec, os.environ)


# The results of a comparison so far: the state of each run, its measures, and its failures.


class ComparisonResults:
    """Collects results during a comparison. Call `begin` first."""

    def __init__(self, planned: Planned) -> None:
        self._planned = planned
        self._folder = planned.folder
        self._comparing: Comparing | None = None
        self._standings: dict[str, RunStanding] = {}
        self._messages: dict[str, str] = {}

    @property
    def comparing(self) -> Comparing:
        """The running comparison. `begin` must have been called."""
        assert self._comparing is not None
        return self._comparing

    def begin(self, comparing: Comparing) -> None:
        """Start with the results of earlier calls."""
        self._comparing = comparing
        for unit in comparing.units:
            self.look(unit)

    def note(self, unit: WorkUnit, phase: Phase, message: str) -> None:
        """Update after a unit started or ended."""
        if phase in OVER:
            self.look(unit)
        if phase is Phase.FAILED:
            self._messages[unit.name] = message
        else:
            self._messages.pop(unit.name, None)

    def look(self, unit: WorkUnit) -> None:
        """Read the state of a run. A measure, or a run that has no store yet, changes nothing."""
        path = self._folder.run_of(unit.job)
        if unit.measure is not None or not is_run(path):
            return
        try:
            with RunStore.read(path) as store:
                elites = [fact for fact in store.facts(only=(EliteChanged,)) if isinstance(fact, EliteChanged)]
        except StoreError:  # its store does not exist yet
            return
        if elites:
            self._standings[unit.job.name] = RunStanding(
                generation=elites[-1].generation, initial_fitness=elites[0].fitness, fitness=elites[-1].fitness,
                success=elites[-1].success_rate,
            )

    def standing(self, unit: WorkUnit) -> RunStanding | None:
        """The state of a unit's run; None if it has no elite yet."""
        return self._standings.get(unit.job.name)

    def success(self, unit: WorkUnit) -> float | None:
        """The success rate of a measure. The unit must be a measure that is done."""
        assert unit.measure is not None
        return self._folder.measured()[unit.job.name, unit.measure.name].success

    def rows(self, progress: Progress) -> tuple[Row, ...]:
        """The results so far, by task, model and arm."""
        return rows_of(
            self._planned.experiment, self.comparing.jobs, progress, self._standings, self._folder.measured()
        )

    def result(self, progress: Progress, *, wall_s: float) -> dict[str, JSON]:
        """The final object, for scripts."""
        units = self.comparing.units
        phases = [progress.phase(unit) for unit in units if unit.measure is None]
        not_done: dict[str, JSON] = {
            unit.name: self._messages.get(unit.name, str(progress.phase(unit)))
            for unit in units if progress.phase(unit) is not Phase.DONE
        }
        return {
            "comparison": str(self._folder.path),
            "status": "incomplete" if not_done else "done",
            "runs": len(phases),
            "done": phases.count(Phase.DONE),
            "measured": sum(unit.measure is not None and progress.phase(unit) is Phase.DONE for unit in units),
            "not_done": not_done,
            "table": [row.as_json() for row in self.rows(progress)],
            "wall_s": round(wall_s, 3),
        }


# Shows the progress of a comparison on stderr: plain lines, or a live table.


LOOK_S: Final = 2.0     # between two reads of the live runs


class ComparisonDisplay:
    """Shows each unit that starts or ends. Call `open` first and `close` last."""

    def __init__(self, planned: Planned, results: ComparisonResults, *, kind: DisplayKind) -> None:
        self._planned, self._results = planned, results
        drawable = kind is not DisplayKind.RICH or can_draw(sys.stderr, os.environ)
        self._kind = kind if drawable else DisplayKind.PLAIN
        self._looked_s = 0.0
        self._live: Live | None = None

    def open(self, progress: Progress, effort: Effort) -> None:
        """Print the plan, and start the live table."""
        if self._kind is not DisplayKind.NONE:
            self._say_plan(progress, effort)
            self._say_budgets()
        if self._kind is DisplayKind.RICH:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(self._table(progress), console=Console(file=sys.stderr), transient=True,
                              auto_refresh=False)
            self._live.start()

    def close(self) -> None:
        """Restore the terminal."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def on_phase(self, unit: WorkUnit, phase: Phase, message: str) -> None:
        """Show a unit that started or ended."""
        self._results.note(unit, phase, message)
        if self._kind is DisplayKind.NONE or (self._kind is DisplayKind.RICH and phase is not Phase.FAILED):
            return
        what = f", {unit.measure.name}" if unit.measure is not None else ""
        result = self._result(unit) if phase is Phase.DONE else ""
        self._say(f"{unit.job.name}{what}  {phase}{result}{f': {message}' if message else ''}")

    def on_tick(self, progress: Progress) -> None:
        """Update the live table from the live runs, every few seconds."""
        now_s = time.monotonic()
        if self._live is None or now_s - self._looked_s < LOOK_S:
            return
        self._looked_s = now_s
        for unit in self._results.comparing.units:
            if progress.phase(unit) is Phase.RUNNING:
                self._results.look(unit)
        self._live.update(self._table(progress), refresh=True)

    def _say_plan(self, progress: Progress, effort: Effort) -> None:
        comparing = self._results.comparing
        done = sum(phase is Phase.DONE for phase in progress.phases.values())
        self._say(f"comparison {self._planned.folder.path}: {counted(len(comparing.jobs), 'run')}, "
                  f"{done} of {len(comparing.units)} steps are done, {len(comparing.units) - done} to do; "
                  f"at most {effort.jobs} at once")

    def _say_budgets(self) -> None:
        jobs = self._results.comparing.jobs
        budgets = {job.arm.name: candidates_of(self._planned.settings[job.name]) for job in jobs
                   if job.name in self._planned.settings}
        if len(set(budgets.values())) > 1:
            each = ", ".join(f"{arm} {count}" for arm, count in budgets.items())
            self._say(f"budgets differ, in candidates per run: {each}")

    def _result(self, unit: WorkUnit) -> str:
        if unit.measure is not None:
            return f": success {number(self._results.success(unit))}"
        standing = self._results.standing(unit)
        return "" if standing is None else f": F {number(standing.initial_fitness)} -> {number(standing.fitness)}"

    def _table(self, progress: Progress) -> "Table":
        from rich.table import Table

        table = Table(title=f"{self._planned.folder.path}", title_justify="left", expand=False)
        names = [measure.name for measure in self._planned.experiment.measures]
        with_model = len(self._planned.experiment.models) > 1
        for column in ("task", *(("model",) if with_model else ()), "arm", "done", "now", "F", "S", *names):
            table.add_column(column, no_wrap=column == "done")
        for row in self._results.rows(progress):
            measures = [spread(row.measures.get(name, ())) for name in names]
            table.add_row(row.task, *((row.model,) if with_model else ()), row.arm, _done(row), _running(row),
                          spread(row.fitness), spread(row.success), *measures)
        return table

    def _say(self, line: str) -> None:
        if self._live is not None:
            from rich.text import Text

            self._live.console.print(Text(printable(line)))
        else:
            print_note(line)


def _done(row: Row) -> str:
    failed = row.phases.get(Phase.FAILED, 0)
    return f"{row.done}/{row.runs}" + (f" ({failed} failed)" if failed else "")


def _running(row: Row) -> str:
    return " ".join(
        f"s{seed} g{standing.generation if standing.generation is not None else '·'}" for seed, standing in row.running
    )


INCOMPLETE = 3      # the exit code


def carry_out(planned: Planned, effort: Effort, *, display: DisplayKind, as_json: bool) -> int:
    """Do the remaining work and print the result; returns the exit code: 3 if something is not done."""
    for domain in sorted({settings.domain for settings in planned.settings.values()}):
        require_installed(domain)
    folder = planned.folder
    clock = SystemClock()
    began_s = clock.elapsed()
    folder.write_plan(planned.experiment, own=planned.own)
    try:
        lock = WriterLock.acquire(folder.path, now=clock.now())
    except RunRefused:
        raise UsageError(f"the comparison {folder.path} is being run by another process: wait for it") from None
    shared = shared_runs(planned.experiment)
    if shared:
        which = ", ".join(f"{name} ({count})" for name, count in shared.items())
        say(f"{len(planned.settings)} runs; some of them also belong to {which}, and are made once")
    results = ComparisonResults(planned)
    try:
        progress = _compared(planned, effort, clock, results, display)
    finally:
        lock.release()
    result = results.result(progress, wall_s=clock.elapsed() - began_s)
    if as_json:
        print_json(result)
    else:
        for line in describe(result, results.rows(progress)):
            print_text(line)
    return 0 if result["status"] == "done" else INCOMPLETE


def _compared(
    planned: Planned, effort: Effort, clock: SystemClock, results: ComparisonResults, display: DisplayKind
) -> Progress:
    screen = ComparisonDisplay(planned, results, kind=display)
    comparing = Comparing(
        planned.folder, planned.experiment, planned.settings, effort=effort, clock=clock, on_phase=screen.on_phase,
        tick=screen.on_tick,
    )
    try:
        results.begin(comparing)
        screen.open(comparing.progress, effort)
        return run_until_signalled(comparing.run())
    except KeyboardInterrupt:
        say(f"interrupted, nothing is lost; continue with: memento compare {planned.folder.path}")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        screen.close()


def describe(result: Mapping[str, JSON], rows: Sequence[Row]) -> list[str]:
    """The result of a comparison as lines of text."""
    not_done = result["not_done"]
    assert isinstance(not_done, dict)
    wall_s = result["wall_s"]
    assert isinstance(wall_s, float)
    lines = _table(rows)
    lines.append("F and S: on the search's own episodes, F under each run's evaluator; then success on held-out seeds")
    lines += [f"not done: {name}: {why}" for name, why in not_done.items() if why != LOST_MEASURE]
    lines.append(f"{result['comparison']}: {result['status']}, {duration(wall_s)};"
                 f" for a page: memento report {result['comparison']} --out report.html")
    if not_done:
        lines.append(f"continue with: memento compare {result['comparison']}")
    return lines


def _table(rows: Sequence[Row]) -> list[str]:
    names = list(dict.fromkeys(name for row in rows for name in row.measures))
    head = ["task", "model", "arm", "runs", "F", "S", *names]
    body = [
        [row.task, row.model, row.arm, f"{row.done}/{row.runs}", spread(row.fitness), spread(row.success),
         *(spread(row.measures.get(name, ())) for name in names)]
        for row in rows
    ]
    widths = [max(len(line[place]) for line in [head, *body]) for place in range(len(head))]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in [head, *body]
    ]
