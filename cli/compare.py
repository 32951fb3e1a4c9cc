"""`memento compare`: methods × seeds at an equal budget, told line by line or as a live table."""

import json as json_text
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..app.budgets import models_of
from ..core.errors import RunRefused, StoreError, UsageError
from ..core.events import EliteChanged
from ..core.text import counted
from ..core.values import JSON
from ..evidence.comparing import LOST_MEASURE, Comparing, Effort, default_effort
from ..evidence.experiment import Experiment, load_experiment, with_flags
from ..evidence.folder import ComparisonFolder
from ..evidence.plan import candidates_of, check, merge
from ..evidence.scheduling import OVER, Phase, Progress, Unit
from ..evidence.summary import Row, RunStanding, plus_minus, rows_of
from ..memory.lock import WriterLock
from ..memory.runs import is_run
from ..memory.store import RunStore
from ..runtime.clock import SystemClock
from ..runtime.models.spec import key_of, parse_specs
from ..settings import Settings, parse_assignments
from ..tui.display import can_draw
from .result_text import duration, number
from .signals import run_until_told

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

LOOK_S = 2.0  # between two looks at the runs that are under way


def compare(
    given: str | None,
    *,
    flags: Mapping[str, Sequence[str]],
    words: Mapping[str, str | None],
    assignments: Sequence[str],
    episodes: int | None,
    runs_dir: Path,
    name: str | None,
    effort: tuple[int | None, int | None, bool],
    display: str,
    json: bool,
) -> int:
    """Carry a comparison out or go on with it; returns the exit code: 3 where something is not done."""
    settings = {key: entry.value for key, entry in parse_assignments(assignments).items()}
    changes = {"domains": flags["domains"], "methods": flags["methods"], "models": flags["models"], **words}
    folder, experiment = _plan(given, changes, settings, episodes, runs_dir, name)
    for what, least in zip(("--jobs", "--workers"), effort[:2], strict=True):
        if least is not None and least < 1:
            raise UsageError(f"{what} must be at least 1, not {least}")
    checked = check(experiment)
    _require_keys(checked.values())
    clock = SystemClock()
    began_s = clock.elapsed()
    if not folder.exists and folder.path.exists() and any(folder.path.iterdir()):
        raise UsageError(f"{folder.path} exists and is no comparison: choose another --name")
    folder.write_plan(experiment)
    try:
        lock = WriterLock.acquire(folder.path, now=clock.now())
    except RunRefused:
        raise UsageError(f"the comparison {folder.path} is being carried out by another process") from None
    try:
        spread = default_effort(jobs=effort[0], workers=effort[1], measure=effort[2])
        teller = _Teller(folder, experiment, checked, display=display)
        progress = _carried_out(folder, experiment, checked, spread, clock, teller)
    finally:
        lock.release()
    return _hand_over(teller, progress, wall_s=clock.elapsed() - began_s, json=json)


def _plan(
    given: str | None, changes: Mapping[str, object], settings: Mapping[str, JSON], episodes: int | None,
    runs_dir: Path, name: str | None,
) -> tuple[ComparisonFolder, Experiment]:
    """Where the comparison is, and what it shall be: a new one, an old one, or an old one that grows."""
    old = next((ComparisonFolder(path) for path in (Path(given or "."), runs_dir / (given or ".")) if given
                and ComparisonFolder(path).exists), None)
    asked = any(changes.values()) or bool(settings) or episodes is not None
    if old is not None:
        if name is not None:
            raise UsageError(f"--name has no effect: {old.path} is a comparison, which keeps its name")
        known = old.plan()
        return old, merge(known, _changed(known, changes, settings, episodes)) if asked else known
    if given is None and not changes["domains"]:
        raise UsageError(
            "compare what? name an experiment, as in memento compare main, or give --domain and two --method"
        )
    base = None if given is None else load_experiment(given)
    experiment = _changed(base, changes, settings, episodes)
    experiment = replace(experiment, name=name or experiment.name)
    folder = ComparisonFolder(runs_dir / experiment.name)
    return folder, merge(folder.plan(), experiment) if folder.exists else experiment


def _changed(
    base: Experiment | None, changes: Mapping[str, Any], settings: Mapping[str, JSON], episodes: int | None
) -> Experiment:
    given = {key: value for key, value in changes.items() if value}
    return with_flags(base, settings=settings, episodes=episodes, **given)


def _require_keys(settings: Iterable[Settings]) -> None:
    """Raises UsageError for a model whose key is missing, before anything is spent."""
    named = {text for each in settings for texts in models_of(each).values() for text in texts}
    for text in sorted(named):
        for spec in parse_specs(text):
            key_of(spec, os.environ)


def _carried_out(
    folder: ComparisonFolder, experiment: Experiment, checked: Mapping[str, Settings], effort: Effort,
    clock: SystemClock, teller: "_Teller",
) -> Progress:
    comparing = Comparing(
        folder, experiment, checked, effort=effort, clock=clock, hear=teller.hear, tick=teller.tick
    )
    try:
        teller.open(comparing, effort)
        return run_until_told(comparing.run())
    except KeyboardInterrupt:
        typer.echo(f"memento: interrupted, nothing is lost; go on with: memento compare {folder.path}", err=True)
        raise typer.Exit(130) from None
    finally:
        teller.close()


class _Teller:
    """Says how a comparison goes: plain lines, or a table that is drawn anew, on stderr."""

    def __init__(
        self, folder: ComparisonFolder, experiment: Experiment, checked: Mapping[str, Settings], *, display: str
    ) -> None:
        self._folder, self._experiment, self._checked = folder, experiment, checked
        self._kind = "plain" if display == "rich" and not can_draw(sys.stderr, os.environ) else display
        self._comparing: Comparing | None = None
        self._standings: dict[str, RunStanding] = {}
        self._messages: dict[str, str] = {}
        self._looked_s = 0.0
        self._live: Live | None = None

    def open(self, comparing: Comparing, effort: Effort) -> None:
        """Begin, with what is there already."""
        self._comparing = comparing
        for unit in comparing.units:
            if unit.measure is None and is_run(self._folder.run_of(unit.job)):
                self._look(unit)
        done = sum(phase is Phase.DONE for phase in comparing.progress.phases.values())
        budgets = {job.arm.name: candidates_of(self._checked[job.name]) for job in comparing.jobs}
        if self._kind != "none":
            left = len(comparing.units) - done
            self._say(f"comparison {self._folder.path}: {counted(len(comparing.jobs), 'run')}, "
                      f"{done} of {len(comparing.units)} steps are done, {left} to do; "
                      f"at most {effort.jobs} at once")
            if len(set(budgets.values())) > 1:
                each = ", ".join(f"{arm} {count}" for arm, count in budgets.items())
                self._say(f"budgets differ, in candidates a run: {each}")
        if self._kind == "rich":
            from rich.console import Console
            from rich.live import Live

            self._live = Live(self._table(comparing.progress), console=Console(file=sys.stderr), transient=True,
                              auto_refresh=False)
            self._live.start()

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def hear(self, unit: Unit, phase: Phase, message: str) -> None:
        """A unit began or ended."""
        if unit.measure is None and phase in OVER and is_run(self._folder.run_of(unit.job)):
            self._look(unit)
        if phase is Phase.FAILED:
            self._messages[unit.name] = message
        else:
            self._messages.pop(unit.name, None)
        if self._kind == "none" or (self._kind == "rich" and phase is not Phase.FAILED):
            return
        standing = self._standings.get(unit.job.name)
        what = f", {unit.measure.name}" if unit.measure is not None else ""
        result = ""
        if phase is Phase.DONE and unit.measure is None and standing is not None:
            result = f": F {number(standing.initial_fitness)} -> {number(standing.fitness)}"
        elif phase is Phase.DONE and unit.measure is not None:
            result = f": success {number(self._folder.measured()[unit.job.name, unit.measure.name].success)}"
        self._say(f"{unit.job.name}{what}  {phase}{result}{f': {message}' if message else ''}")

    def tick(self, progress: Progress) -> None:
        """Look at what is under way, now and then."""
        now_s = time.monotonic()
        if self._live is None or now_s - self._looked_s < LOOK_S or self._comparing is None:
            return
        self._looked_s = now_s
        for unit in self._comparing.units:
            running = unit.measure is None and progress.phase(unit) is Phase.RUNNING
            if running and is_run(self._folder.run_of(unit.job)):
                self._look(unit)
        self._live.update(self._table(progress), refresh=True)

    def rows(self, progress: Progress) -> tuple[Row, ...]:
        """What there is so far."""
        assert self._comparing is not None
        return rows_of(self._experiment, self._comparing.jobs, progress, self._standings, self._folder.measured())

    def result(self, progress: Progress, *, wall_s: float) -> dict[str, JSON]:
        """The final object."""
        assert self._comparing is not None
        units = self._comparing.units
        phases = [progress.phase(unit) for unit in units if unit.measure is None]
        failed: dict[str, JSON] = {
            unit.name: self._messages.get(unit.name, str(progress.phase(unit)))
            for unit in units if progress.phase(unit) is not Phase.DONE
        }
        return {
            "comparison": str(self._folder.path),
            "status": "incomplete" if failed else "done",
            "runs": len(phases),
            "done": phases.count(Phase.DONE),
            "measured": sum(unit.measure is not None and progress.phase(unit) is Phase.DONE for unit in units),
            "not_done": failed,
            "table": [row.as_json() for row in self.rows(progress)],
            "wall_s": round(wall_s, 3),
        }

    def _look(self, unit: Unit) -> None:
        try:
            with RunStore.read(self._folder.run_of(unit.job)) as store:
                elites = [fact for fact in store.facts(only=(EliteChanged,)) if isinstance(fact, EliteChanged)]
        except StoreError:  # just being made
            return
        if elites:
            self._standings[unit.job.name] = RunStanding(
                generation=elites[-1].generation, initial_fitness=elites[0].fitness, fitness=elites[-1].fitness,
                success=elites[-1].success_rate,
            )

    def _table(self, progress: Progress) -> "Table":
        from rich.table import Table

        table = Table(title=f"{self._folder.path}", title_justify="left", expand=False)
        names = [measure.name for measure in self._experiment.measures]
        models = len(self._experiment.models) > 1
        for column in ("task", *(("model",) if models else ()), "arm", "done", "now", "F", "S", *names):
            table.add_column(column, no_wrap=column == "done")
        for row in self.rows(progress):
            failed = row.phases.get(Phase.FAILED, 0)
            now = " ".join(f"s{seed} g{one.generation if one.generation is not None else '·'}"
                           for seed, one in row.running)
            done = f"{row.done}/{row.runs}" + (f" ({failed} failed)" if failed else "")
            table.add_row(row.task, *((row.model,) if models else ()), row.arm, done, now, plus_minus(row.fitness),
                          plus_minus(row.success), *(plus_minus(row.measures.get(name, ())) for name in names))
        return table

    def _say(self, line: str) -> None:
        if self._live is not None:
            from rich.text import Text

            self._live.console.print(Text(line))
        else:
            typer.echo(line, err=True)


def _hand_over(teller: _Teller, progress: Progress, *, wall_s: float, json: bool) -> int:
    result = teller.result(progress, wall_s=wall_s)
    if json:
        typer.echo(json_text.dumps(result, allow_nan=False, ensure_ascii=False))
    else:
        for line in tell(result, teller.rows(progress)):
            typer.echo(line)
    return 0 if result["status"] == "done" else 3


def tell(result: Mapping[str, JSON], rows: Sequence[Row]) -> list[str]:
    """What a comparison came to, for people."""
    names = list(dict.fromkeys(name for row in rows for name in row.measures))
    head = ["task", "model", "arm", "runs", "F", "S", *names]
    body = [
        [row.task, row.model, row.arm, f"{row.done}/{row.runs}", plus_minus(row.fitness), plus_minus(row.success),
         *(plus_minus(row.measures.get(name, ())) for name in names)]
        for row in rows
    ]
    widths = [max(len(line[place]) for line in [head, *body]) for place in range(len(head))]
    lines = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in [head, *body]
    ]
    not_done = result["not_done"]
    assert isinstance(not_done, dict)
    wall_s = result["wall_s"]
    assert isinstance(wall_s, float)
    lines.append("F and S: on the search's own episodes, each under its own evaluator; then success on unseen seeds")
    lines += [f"not done: {name}: {why}" for name, why in not_done.items() if why != LOST_MEASURE]
    lines.append(f"{result['comparison']}: {result['status']}, {duration(wall_s)};"
                 f" a page of it: memento report {result['comparison']} --out report.html")
    if not_done:
        lines.append(f"go on with what is not done: memento compare {result['comparison']}")
    return lines
