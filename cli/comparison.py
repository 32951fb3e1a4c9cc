"""Runs a planned comparison and prints its result."""

from collections.abc import Mapping, Sequence

import typer

from ..core.errors import RunRefused, UsageError
from ..core.text import duration
from ..core.values import JSON
from ..domains import require_installed
from ..evidence.comparing import LOST_MEASURE, Comparing, Effort
from ..evidence.plan import shared_runs
from ..evidence.scheduling import Progress
from ..evidence.summary import Row, spread
from ..memory.lock import WriterLock
from ..runtime.clock import SystemClock
from .comparison_display import ComparisonDisplay
from .comparison_plan import Planned
from .comparison_results import ComparisonResults
from .execution import INTERRUPTED
from .flags import DisplayKind
from .output import print_json, print_text, say
from .signals import run_until_signalled

INCOMPLETE = 3      # the exit code


def carry_out(planned: Planned, effort: Effort, *, display: DisplayKind, as_json: bool) -> int:
    """Do the remaining work and print the result; returns the exit code: 3 if something is not done."""
    for domain in sorted({settings.domain for settings in planned.settings.values()}):
        require_installed(domain)
    folder = planned.folder
    clock = SystemClock()
    began_s = clock.elapsed()
    folder.write_plan(planned.experiment)
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
