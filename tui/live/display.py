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
from ...core.ports import Activity
from ...core.text import printable_line
from ..lines import lines_of
from ..live_view import LiveView, steady_clock
from ..snapshot import RunSnapshot
from .screen import draw

EVERY_S = 0.5             # between two drawings
CLOSING_S = 2.0           # the longest wait for a terminal that accepts no more output
MARGIN = 1                # free rows, so that the terminal does not scroll
KEPT = (RunStarted, RunResumed, RunPaused, RunContinued, RunStopped, StageEntered, EvaluatorChosen, EliteChanged,
        FinalMeasured)    # facts whose lines stay above the screen

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

    def opened(self, folder: Path) -> None:
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

    def begun(self, order: str) -> None:
        """An agent started an order."""
        now = self._clock()

        def change(live: LiveView) -> tuple[str, ...]:
            live.under_way.begin(order, now)
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
