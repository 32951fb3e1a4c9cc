"""Displays of a live run: none, plain lines, and one bar; the live screen is in `tui/live.py`."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TextIO

from ..core.events import Fact
from ..core.ports import Activity, Display
from ..core.text import number, plural, printable_line, share
from ..memory.run_status import RunStatus
from .lines import lines_of, still_working, waiting
from .live_view import LiveView, steady_clock
from .words import stage_of

QUIET_S = 30.0            # after this time without a line, print that work goes on
BAR = 24                  # characters of a progress bar
LONGEST_QUIET_S = 1800.0  # while nothing changes in a search, the interval doubles up to this
BEAT_S = 5.0              # how often a thread looks, for the time when the controller is too busy to
STARTING = ("", "initial")
PROGRESS = "   … "        # begins the lines that end with the time of day


class Silence:
    """`--display none`."""

    folder: Path | None = None

    def on_open(self, folder: Path) -> None:
        """Store the folder only."""
        self.folder = folder

    def recall(self, facts: Iterable[Fact]) -> None:
        """Nothing."""

    def show(self, fact: Fact) -> None:
        """Nothing."""

    def tick(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class PlainLines:
    """`--display plain`: a line per important event, and a progress line after a while without one.

    A thread prints the progress where the controller cannot: while it imports, on a machine that is overloaded.
    """

    folder: Path | None = None

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] | None = None) -> None:
        self._stream: TextIO | None = stream
        self._clock = clock or steady_clock()
        self._live = LiveView()
        self._printed_at = self._clock()
        self._quiet_s = QUIET_S
        self._counted = (0, 0)          # episodes and calls, when the last line was written
        self._changing = threading.Lock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def on_open(self, folder: Path) -> None:
        """Print the run's folder."""
        self.folder = folder
        self._print(f"run {folder}")
        if self._thread is None:
            self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
            self._thread.start()

    def recall(self, facts: Iterable[Fact]) -> None:
        """Read the facts without printing."""
        now = self._clock()
        for fact in facts:
            with self._changing:
                self._live.on_fact(fact, now)

    def show(self, fact: Fact) -> None:
        """Print the lines of this fact."""
        with self._changing:
            now = self._clock()
            self._live.on_fact(fact, now)
            for line in lines_of(fact, self._live.view, now=now):
                self._print(line)
                self._quiet_s = QUIET_S

    def on_begin(self, order: str) -> None:
        """An agent started an order."""
        with self._changing:
            self._live.under_way.begin(order, self._clock())

    def on_retry(self, order: str, why: str) -> None:
        """The model call of an order is tried again."""
        with self._changing:
            self._live.under_way.retry(order, why)

    def observe(self, activity: Activity) -> None:
        """Nothing: a worker's task makes no line."""

    def tick(self) -> None:
        """After a while without a line print the progress, or the open orders: in a search at growing intervals."""
        with self._changing:
            now, status = self._clock(), self._live.view.status
            if status.stage == "done" or now - self._printed_at < QUIET_S:
                return
            if self._counts() != self._counted:
                self._quiet_s = QUIET_S
                self._print(still_working(status, now=now, note=self._live.under_way.note(now)))
            elif now - self._printed_at >= self._quiet_s:
                self._quiet_s = QUIET_S if status.stage in STARTING else min(LONGEST_QUIET_S, 2 * self._quiet_s)
                under_way = self._live.under_way
                self._print(waiting(under_way.note(now), status, under_way.retry_words))

    def close(self) -> None:
        """End the thread; the stream stays open."""
        self._over.set()

    def _beat(self) -> None:
        while not self._over.wait(BEAT_S):
            self.tick()

    def _counts(self) -> tuple[int, int]:
        status = self._live.view.status
        return status.episodes, status.spending.total.calls

    def _print(self, line: str) -> None:
        """Write a line. After the first error (a closed pipe, a full disk) write nothing more; the run continues."""
        if self._stream is None:
            return
        if line.startswith(PROGRESS):
            line = f"{line}  [{time.strftime('%H:%M', time.localtime(self._clock()))}]"
        try:
            print(printable_line(line), file=self._stream, flush=True)
        except (OSError, ValueError):
            self._stream = None
        self._printed_at, self._counted = self._clock(), self._counts()


class ProgressBar(Silence):
    """One line that is written again in place: how far the search is, F and success of the elite, the time."""

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] | None = None) -> None:
        self._stream: TextIO | None = stream
        self._clock = clock or steady_clock()
        self._live = LiveView()
        self._drawn = ""

    def recall(self, facts: Iterable[Fact]) -> None:
        """Read the facts without drawing."""
        for fact in facts:
            self._live.on_fact(fact, self._clock())

    def show(self, fact: Fact) -> None:
        """Count the fact."""
        self._live.on_fact(fact, self._clock())
        self._draw()

    def close(self) -> None:
        """End the line."""
        if self._drawn:
            self._write("\n")

    def _draw(self) -> None:
        text = bar_line(self._live.view.status)
        if text != self._drawn:
            self._write(f"\r{text.ljust(len(self._drawn))}")
            self._drawn = text

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            print(text, end="", file=self._stream, flush=True)
        except (OSError, ValueError):       # a closed pipe, a full disk: the run continues
            self._stream = None


def bar_line(status: RunStatus) -> str:
    """The text of the bar; it changes with the stage and with each candidate."""
    expected, done = status.candidates_expected, status.candidates
    filled = BAR if status.stage == "done" else min(BAR, round(BAR * done / expected)) if expected else 0
    elite = status.elite
    words = [
        stage_of(status, short=True), f"{done} of {plural(expected, 'candidate')}" if expected else "",
        f"F {number(elite.fitness)}" if elite is not None else "",
        f"success {share(elite.success_rate)}" if elite is not None and elite.success_rate is not None else "",
    ]
    return printable_line(f"[{'█' * filled}{'·' * (BAR - filled)}] {', '.join(filter(None, words))}")


def open_display(kind: str, stream: TextIO, *, environment: Mapping[str, str]) -> Display:
    """The display called `kind`: "rich", "plain" or "none"; without a capable terminal, rich becomes plain."""
    if kind == "none":
        return Silence()
    if kind == "rich" and can_draw(stream, environment):
        from .live import RichDisplay

        return RichDisplay(stream)
    return PlainLines(stream)


def can_draw(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether the stream is a terminal with cursor control and the characters of the live screen."""
    encoding = (getattr(stream, "encoding", None) or "").lower().replace("-", "")
    return stream.isatty() and environment.get("TERM", "dumb") not in ("dumb", "unknown") and encoding == "utf8"
