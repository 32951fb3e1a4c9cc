"""Carries out a planned comparison: its progress on stderr as plain lines or a live table, then its result."""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import typer

from ..core.errors import RunRefused, UsageError
from ..core.text import duration, number, plural, printable
from ..core.values import JSON
from ..domains import require_installed
from ..evidence.comparing import LOST_MEASURE, Comparing, Effort
from ..evidence.plan import candidates_of, shared_runs
from ..evidence.scheduling import JobPhase, Progress, WorkUnit
from ..evidence.summary import Row, spread
from ..memory.lock import WriterLock
from ..runtime.clock import SystemClock
from ..tui.display import can_draw
from .execution import INTERRUPTED, run_until_signalled
from .flags import DisplayKind
from .output import print_json, print_note, print_text, say

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table
from .comparison_plan import Planned
from .comparison_results import ComparisonResults

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

    def on_phase(self, unit: WorkUnit, phase: JobPhase, message: str) -> None:
        """Show a unit that started or ended."""
        self._results.note(unit, phase, message)
        if self._kind is DisplayKind.NONE or (self._kind is DisplayKind.RICH and phase is not JobPhase.FAILED):
            return
        what = f", {unit.measure.name}" if unit.measure is not None else ""
        result = self._result(unit) if phase is JobPhase.DONE else ""
        self._say(f"{unit.job.name}{what}  {phase}{result}{f': {message}' if message else ''}")

    def on_tick(self, progress: Progress) -> None:
        """Update the live table from the live runs, every few seconds."""
        now_s = time.monotonic()
        if self._live is None or now_s - self._looked_s < LOOK_S:
            return
        self._looked_s = now_s
        for unit in self._results.comparing.units:
            if progress.phase(unit) is JobPhase.RUNNING:
                self._results.look(unit)
        self._live.update(self._table(progress), refresh=True)

    def _say_plan(self, progress: Progress, effort: Effort) -> None:
        comparing = self._results.comparing
        done = sum(phase is JobPhase.DONE for phase in progress.phases.values())
        self._say(f"comparison {self._planned.folder.path}: {plural(len(comparing.jobs), 'run')}, "
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
    failed = row.phases.get(JobPhase.FAILED, 0)
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
        progress = _run_comparison(planned, effort, clock, results, display)
    finally:
        lock.release()
    result = results.result(progress, wall_s=clock.elapsed() - began_s)
    if as_json:
        print_json(result)
    else:
        for line in describe(result, results.rows(progress)):
            print_text(line)
    return 0 if result["status"] == "done" else INCOMPLETE


def _run_comparison(
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
