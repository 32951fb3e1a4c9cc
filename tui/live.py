"""`--display rich`: the live screen, drawn by a separate thread, so that no terminal can slow or end a run."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live as Screen
from rich.text import Text

from ..core.events import (
    EliteChanged,
    EnvironmentRemembered,
    EvaluatorChosen,
    Fact,
    FinalMeasured,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStarted,
    RunStopped,
    ServiceNoted,
    StageEntered,
)
from ..core.ports import Activity
from ..core.text import number, one_line, plural, printable_line, success_and_return, version_words
from ..memory.quality import quality_words
from ..memory.run_view import quality_of_elite
from .lines import SUMMARY_LENGTH, lines_of
from .live_view import LiveView, steady_clock
from .snapshot import RunSnapshot, evaluator_lanes, search_lanes, search_slots, trials_now
from .words import (
    ACCENT,
    BAD,
    BEST,
    DIM,
    GOOD,
    LEGEND,
    LOUD,
    MARKS,
    PLAIN,
    WARN,
    WORST,
    Styled,
    clock,
    domain_words,
    lane_words,
    left,
    rolling_words,
    sparkline,
    spent_words,
    stage_of,
    worker_words,
)

EVERY_S = 0.5             # between two drawings
CLOSING_S = 2.0           # the longest wait for a terminal that accepts no more output
MARGIN = 1                # free rows, so that the terminal does not scroll
KEPT = (RunStarted, RunResumed, RunPaused, RunContinued, RunStopped, StageEntered, EvaluatorChosen, EliteChanged,
        FinalMeasured, EnvironmentRemembered, ServiceNoted)    # facts whose lines stay above the screen

Change = Callable[[LiveView], tuple[str, ...]]       # changes the view, returns lines to keep


class RichDisplay:
    """The controller only puts changes into a queue; the thread applies them, draws and writes.

    Lines of lasting interest (stages, choices, generations) are printed above the screen and stay.
    """

    folder: Path | None = None

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, highlight=False, soft_wrap=False)
        self._inbox: deque[Change] = deque()
        self._live = LiveView()
        self._clock = steady_clock()
        self._began = self._clock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def on_open(self, folder: Path) -> None:
        """Start to draw."""
        self.folder = folder
        if self._thread is None:
            self._thread = threading.Thread(target=self._draw, name="display", daemon=True)
            self._thread.start()

    def recall(self, facts: Iterable[Fact]) -> None:
        """Apply the facts one by one, here and not in the thread, so that no fact waits in memory."""
        past, now = LiveView(), self._clock()
        for fact in facts:
            past.on_fact(fact, now)

        def change(live: LiveView) -> tuple[str, ...]:
            live.view = past.view
            return ()

        self._put(change)

    def show(self, fact: Fact) -> None:
        """A fact was committed."""
        now = self._clock()

        def change(live: LiveView) -> tuple[str, ...]:
            live.on_fact(fact, now)
            return lines_of(fact, live.view, now=None) if isinstance(fact, KEPT) else ()

        self._put(change)

    def on_begin(self, order: str) -> None:
        """An agent started an order."""
        now = self._clock()

        def change(live: LiveView) -> tuple[str, ...]:
            live.under_way.begin(order, now)
            return ()

        self._put(change)

    def on_retry(self, order: str, why: str) -> None:
        """The model call of an order is tried again."""

        def change(live: LiveView) -> tuple[str, ...]:
            live.under_way.retry(order, why)
            return ()

        self._put(change)

    def observe(self, activity: Activity) -> None:
        """A worker changed its task."""

        def change(live: LiveView) -> tuple[str, ...]:
            live.under_way.observe(activity)
            return ()

        self._put(change)

    def tick(self) -> None:
        """Nothing: the thread draws at its own interval."""

    def close(self) -> None:
        """Remove the screen; the lines above it stay."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(CLOSING_S)

    def _put(self, change: Change) -> None:
        if not self._over.is_set():
            self._inbox.append(change)

    # ------------------------------------------------------------------------------------ the thread

    def _draw(self) -> None:
        screen = Screen(
            console=self._console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=True,
            vertical_overflow="crop",
        )
        try:
            with screen:
                while not self._over.wait(EVERY_S):
                    self._step(screen)
                self._step(screen)
        except (OSError, ValueError):       # the terminal is gone: the run continues without a display
            pass
        finally:
            self._over.set()

    def _step(self, screen: Screen) -> None:
        while self._inbox:
            for line in self._inbox.popleft()(self._live):
                self._console.print(Text(printable_line(line)))
        size, now, view = self._console.size, self._clock(), self._live.view
        snapshot = RunSnapshot(
            folder=self.folder, run=view.status, slots=view.slots, live=True, reading=False,
            note=self._live.under_way.note(now),
        )
        drawn = draw(snapshot, began=self._began, now=now, width=size.width, height=size.height - MARGIN)
        screen.update(drawn, refresh=True)


NARROWEST, SHORTEST = 30, 6
COLOURS: Mapping[str, str] = {      # rich's, by role
    PLAIN: "", DIM: "dim", LOUD: "bold", ACCENT: "cyan", GOOD: "green", BAD: "red", WARN: "yellow",
    BEST: "bold green", WORST: "bold red",
}
LEGENDS = ("  ".join(LEGEND), " ".join(LEGEND), " ".join(LEGEND[2:-1]).replace(" out", ""))
LABEL = 11
WORKERS_SHOWN = 8


def draw(snapshot: RunSnapshot, *, began: float, now: float, width: int, height: int) -> Group:
    """At most `height` lines of at most `width` columns. If space is short, the least important lines are dropped.

    `began` is the time at which this process started or resumed the run.
    """
    width, height = max(width, NARROWEST), max(height, SHORTEST)
    rule = [Text("─" * width, style="dim")]
    head, lanes, elite = [*_head(snapshot, began, now)], [*_lanes(snapshot)], [*_elite(snapshot, width)]
    spent, foot = [_spent(snapshot)], [_foot(snapshot, width)]
    fitting = [each for each in LEGENDS if len(each) <= width] if snapshot.run.stage == "search" else []
    legend = [Text(each, style="dim") for each in fitting[:1]]
    space = [Text()]
    fixed = len(head) + len(lanes) + len(spent) + len(foot)
    workers = [*_workers(snapshot, max(1, height - fixed - len(elite) - len(legend) - 3))]
    # From the most to the least important; the order on the screen differs.
    kept: dict[str, list[Text]] = {}
    free = height
    for name, lines in (
        ("head", head), ("foot", foot), ("lanes", lanes), ("elite", elite), ("spent", spent),
        ("workers", workers), ("rule", rule), ("gap 1", space), ("gap 2", space), ("legend", legend), ("gap 3", space),
    ):
        taken = lines[:free] if name in ("head", "lanes", "workers") else (lines if len(lines) <= free else [])
        kept[name] = taken
        free -= len(taken)
    shown = ("rule", "head", "gap 1", "lanes", "legend", "gap 2", "elite", "gap 3", "workers", "spent", "foot")
    lines = [line for name in shown for line in kept[name]]
    for line in lines:
        line.no_wrap = True
        line.truncate(width, overflow="ellipsis")
    return Group(*lines)


def _text_of(words: Iterable[Styled]) -> Text:
    return Text.assemble(*((text, COLOURS[role]) for text, role in words))


def _head(snapshot: RunSnapshot, began: float, now: float) -> Iterator[Text]:
    status, words = snapshot.run, snapshot.run.settings
    yield Text.assemble(
        ("MEMENTO ", "bold"), f"{domain_words(words)} by {words.get('method', '')}, {words.get('model', '')}"
        f", preset {words.get('preset', '')}, seed {words.get('seed', '')}", ("  " + snapshot.name, "dim"),
    )
    known = "paused" if status.status == "paused" else left(status, now=now)
    if not known and status.stage == "search":
        known = "time left: estimated after a few candidates"
    yield Text.assemble((stage_of(status), "bold cyan"), f"   {clock(now - began)}", f"   {known}" if known else "")


def _lanes(snapshot: RunSnapshot) -> Iterator[Text]:
    status = snapshot.run
    if status.stage == "search":
        here = [slot for slot in search_slots(snapshot) if slot.generation == status.generation_under_way]
        for lane in search_lanes(snapshot, here):
            yield _text_of(lane_words(lane, status.number("n_roll"), width=LABEL))
    elif status.stage in ("evaluator", "hardening"):
        for lane in evaluator_lanes(snapshot):
            yield _text_of(lane_words(lane, 0, width=LABEL))
    else:
        trials, of = trials_now(snapshot)
        for slot in trials:
            mark, role = MARKS.get(slot.state, MARKS["scored"])
            yield _text_of([(f"{slot.id:<{LABEL + 4}}", LOUD), (mark, role), (f" {rolling_words(slot, of)}", PLAIN)])


def _elite(snapshot: RunSnapshot, width: int) -> Iterator[Text]:
    elite = snapshot.run.elite
    if elite is None:
        return
    curve = [each.fitness for each in snapshot.slots.comparable] or [elite.fitness]
    yield _text_of([
        (f"{'fitness':<{LABEL}}", LOUD), (sparkline(curve[-max(1, width - 40):]), GOOD),
        (f"  {number(curve[0])} -> {number(curve[-1])}" if len(curve) > 1 else f"  {number(curve[-1])}", PLAIN),
        (f" since {plural(snapshot.run.joined, 'start')} joined" if snapshot.slots.joined else "", PLAIN),
    ])
    yield _text_of([
        (f"{'elite':<{LABEL}}", LOUD), (elite.candidate, BEST),
        (f" from {elite.origin}, F {number(elite.fitness)}{version_words(elite.version)}"
         f"{success_and_return(elite.success_rate, elite.mean_return)}"
         f"{quality_words(quality_of_elite(snapshot.run, snapshot.slots, elite), before='; ')}", PLAIN),
    ])
    slot = snapshot.slots.get(elite.candidate)
    if slot is not None and slot.summary.strip():
        room = min(SUMMARY_LENGTH + 20, width - LABEL - 2)
        yield Text(f"{'':<{LABEL}}“{one_line(slot.summary, room)}”", style="italic")


def _workers(snapshot: RunSnapshot, room: int) -> Iterator[Text]:
    workers = () if snapshot.note is None else snapshot.note.workers
    shown = workers[: min(room, WORKERS_SHOWN)]
    for index, worker in enumerate(shown):
        busy = worker.phase not in ("idle", "starting")
        line = _text_of([
            (f"{'workers' if index == 0 else '':<{LABEL}}", LOUD), (f"{worker.worker + 1} ", PLAIN),
            (worker_words(worker), PLAIN if busy else DIM),
        ])
        if index + 1 == len(shown) < len(workers):
            others = workers[len(shown):]
            line.append(f"   and {len(others)} more, {sum(other.phase != 'idle' for other in others)} busy")
        yield line


def _spent(snapshot: RunSnapshot) -> Text:
    status = snapshot.run
    of = status.candidates_expected
    done = f"{status.candidates} of {of} candidates, " if of else ""
    words = f"{done}{plural(status.episodes, 'episode')}, {spent_words(status)}"
    return _text_of([(f"{'spent':<{LABEL}}", LOUD), (words, PLAIN)])


def _foot(snapshot: RunSnapshot, width: int) -> Text:
    whole = f"Ctrl-C stops, nothing is lost; continue with: memento resume {snapshot.folder}"
    return Text(whole if len(whole) <= width else "Ctrl-C stops, nothing is lost; resume continues", style="dim")
