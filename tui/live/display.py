"""`--display rich`: the live screen, drawn by a thread of its own, so that no terminal can slow or end a run."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
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
from ..lines import lines_of
from ..view import recounted
from .screen import draw
from .slots import Activity, Live, begun, heed, seen

EVERY_S = 0.5             # between two drawings
CLOSING_S = 2.0           # a terminal that takes nothing any more is not waited for longer
MARGIN = 1                # rows left free, so that the terminal does not scroll
KEPT = (RunStarted, RunResumed, RunPaused, RunContinued, RunStopped, StageEntered, EvaluatorChosen, EliteChanged,
        FinalMeasured)    # facts whose lines stay above the screen

Change = Callable[[Live], tuple[Live, tuple[str, ...]]]       # the screen after it, and lines to keep


class RichDisplay:
    """The controller only puts what happened into a queue; the thread folds, draws and writes.

    What matters in the end (stages, choices, generations) is printed above the screen and stays.
    """

    folder: Path | None = None

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, highlight=False, soft_wrap=False)
        self._inbox: deque[Change] = deque()
        self._live = Live(began_s=time.monotonic())
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def opened(self, folder: Path) -> None:
        """Begin to draw."""
        self.folder = folder
        self._put(lambda live: (replace(live, folder=folder), ()))
        if self._thread is None:
            self._thread = threading.Thread(target=self._draw, name="display", daemon=True)
            self._thread.start()

    def recall(self, facts: Iterable[Fact]) -> None:
        """Take the facts in, one by one; the time left is measured from now on."""
        now_s = time.monotonic()
        past = Live()
        for fact in facts:      # folded here and not in the thread, so that no fact waits in memory
            past = heed(past, fact, now_s=now_s)
        known = replace(past, view=recounted(past.view, now_s=now_s), slots={})
        self._put(lambda live: (replace(known, folder=live.folder, began_s=live.began_s), ()))

    def show(self, fact: Fact) -> None:
        """A fact was committed."""
        now_s = time.monotonic()

        def change(live: Live) -> tuple[Live, tuple[str, ...]]:
            live = heed(live, fact, now_s=now_s)
            return live, lines_of(fact, live.view, now_s=None) if isinstance(fact, KEPT) else ()

        self._put(change)

    def begun(self, order: str) -> None:
        """An agent took an order up."""
        self._put(lambda live: (begun(live, order), ()))

    def observe(self, activity: Activity) -> None:
        """A worker does something else."""
        self._put(lambda live: (seen(live, activity), ()))

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
            self._live, lines = self._inbox.popleft()(self._live)
            for line in lines:
                self._console.print(Text(line))
        size = self._console.size
        screen.update(
            draw(self._live, now_s=time.monotonic(), width=size.width, height=size.height - MARGIN), refresh=True
        )
