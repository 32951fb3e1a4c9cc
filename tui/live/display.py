"""`--display rich`: the live screen, drawn by a separate thread, so that no terminal can slow or end a run."""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.live import Live as Screen
from rich.text import Text

from ...core.events import (
    EliteChanged,
    EvaluatorChosen,
    Fact,
    FinalMeasured,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStarted,
    RunStopped,
    StageEntered,
)
from ...core.text import printable_line
from ..activity import Activity
from ..display import LiveView, steady_clock
from ..lines import lines_of
from ..snapshot import RunSnapshot
from .screen import draw

EVERY_S = 0.5             # between two drawings
CLOSING_S = 2.0           # a terminal that takes nothing any more is not waited for longer
MARGIN = 1                # rows left free, so that the terminal does not scroll
KEPT = (RunStarted, RunResumed, RunPaused, RunContinued, RunStopped, StageEntered, EvaluatorChosen, EliteChanged,
        FinalMeasured)    # facts whose lines stay above the screen

Change = Callable[[LiveView], tuple[str, ...]]       # changes the view, gives lines to keep


class RichDisplay:
    """The controller only puts what happened into a queue; the thread folds, draws and writes.

    What matters in the end (stages, choices, generations) is printed above the screen and stays.
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

    def opened(self, folder: Path) -> None:
        """Begin to draw."""
        self.folder = folder
        if self._thread is None:
            self._thread = threading.Thread(target=self._draw, name="display", daemon=True)
            self._thread.start()

    def recall(self, facts: Iterable[Fact]) -> None:
        """Take the facts in, one by one: folded here and not in the thread, so that no fact waits in memory."""
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

    def begun(self, order: str) -> None:
        """An agent took an order up."""
        now = self._clock()

        def change(live: LiveView) -> tuple[str, ...]:
            live.under_way.begin(order, now)
            return ()

        self._put(change)

    def observe(self, activity: Activity) -> None:
        """A worker does something else."""

        def change(live: LiveView) -> tuple[str, ...]:
            live.under_way.observe(activity)
            return ()

        self._put(change)

    def tick(self) -> None:
        """Nothing: the thread has its own time."""

    def close(self) -> None:
        """Take the screen away; what was printed above it stays."""
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
        except (OSError, ValueError):       # the terminal is gone: the run goes on without a display
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
