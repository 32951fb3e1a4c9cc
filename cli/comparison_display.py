"""Shows the progress of a comparison on stderr: plain lines, or a live table."""

import os
import sys
import time
from typing import TYPE_CHECKING, Final

from ..core.text import counted, number, printable
from ..evidence.comparing import Effort
from ..evidence.plan import candidates_of
from ..evidence.scheduling import Phase, Progress, Unit
from ..evidence.summary import Row, spread
from ..tui.display import can_draw
from .comparison_plan import Planned
from .comparison_results import ComparisonResults
from .flags import DisplayKind
from .output import print_note

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

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

    def on_phase(self, unit: Unit, phase: Phase, message: str) -> None:
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

    def _result(self, unit: Unit) -> str:
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
