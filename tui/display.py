"""How a live run shows what it does: a display is given every fact, and ticks now and then.

A display may also be `Attentive`: then it also gets the orders that were taken up and what the workers do.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol, TextIO, runtime_checkable

from ..core.events import EliteChanged, Fact
from ..core.text import printable_line
from ..memory.run_view import RunView
from .activity import Activity, UnderWay
from .lines import lines_of, still_working, waiting

QUIET_S = 20.0            # after this long without a line, say that work goes on
LONGEST_QUIET_S = 1800.0  # while nothing changes, twice as long each time up to this


class Display(Protocol):
    """What the controller talks to. It never slows a run down and never ends it."""

    folder: Path | None
    """Where the run is kept; None before it was opened."""

    def opened(self, folder: Path) -> None:
        """The run is kept in `folder`."""

    def recall(self, facts: Iterable[Fact]) -> None:
        """Facts from before a resume: taken in, not shown again."""

    def show(self, fact: Fact) -> None:
        """A fact was committed."""

    def tick(self) -> None:
        """Some time went by; a display may say or draw something."""

    def close(self) -> None:
        """The controller has ended; nothing is shown after this."""


@runtime_checkable
class Attentive(Protocol):
    """A display that also wants what no fact tells. Neither method may take long."""

    def begun(self, order: str) -> None:
        """An agent took the order with this id up."""

    def observe(self, activity: Activity) -> None:
        """A worker of the rollout pool does something else."""


class Silence:
    """`--display none`."""

    folder: Path | None = None

    def opened(self, folder: Path) -> None:
        """Only remember where."""
        self.folder = folder

    def recall(self, facts: Iterable[Fact]) -> None:
        """Nothing."""

    def show(self, fact: Fact) -> None:
        """Nothing."""

    def tick(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def steady_clock() -> Callable[[], float]:
    """A clock of seconds since the epoch that goes on evenly where the machine's clock is set."""
    epoch, began = time.time(), time.monotonic()
    return lambda: epoch + time.monotonic() - began


class LiveView:
    """The view of a live run that stays small: what is over with a generation is forgotten."""

    def __init__(self) -> None:
        self.view = RunView()
        self.under_way = UnderWay()

    def on_fact(self, fact: Fact, at: float) -> None:
        """Add a fact."""
        self.view.apply(fact, at)
        self.under_way.on_fact(fact)
        if isinstance(fact, EliteChanged):
            self.view.slots.forget(fact.generation)


class PlainLines:
    """`--display plain`: a line for everything that matters, and a sign of life where nothing did for a while."""

    folder: Path | None = None

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] | None = None) -> None:
        self._stream: TextIO | None = stream
        self._clock = clock or steady_clock()
        self._live = LiveView()
        self._spoke_at = self._clock()
        self._quiet_s = QUIET_S
        self._counted = (0, 0)          # episodes and calls, when the last line was written

    def opened(self, folder: Path) -> None:
        """Say where the run is kept."""
        self.folder = folder
        self._say(f"run {folder}")

    def recall(self, facts: Iterable[Fact]) -> None:
        """Take the facts in."""
        now = self._clock()
        for fact in facts:
            self._live.on_fact(fact, now)

    def show(self, fact: Fact) -> None:
        """Say what there is to say of this fact."""
        now = self._clock()
        self._live.on_fact(fact, now)
        for line in lines_of(fact, self._live.view, now=now):
            self._say(line)
            self._quiet_s = QUIET_S

    def begun(self, order: str) -> None:
        """An agent took an order up."""
        self._live.under_way.begin(order, self._clock())

    def observe(self, activity: Activity) -> None:
        """Nothing: what a worker does makes no line."""

    def tick(self) -> None:
        """After a quiet while say how far the work is; where nothing has changed, what is waited for, less and less."""
        now, status = self._clock(), self._live.view.status
        if status.stage in ("", "done") or now - self._spoke_at < QUIET_S:
            return
        if self._counts() != self._counted:
            self._quiet_s = QUIET_S
            self._say(still_working(status, now=now))
        elif now - self._spoke_at >= self._quiet_s:
            self._quiet_s = min(LONGEST_QUIET_S, 2 * self._quiet_s)
            self._say(waiting(self._live.under_way.note(now), status))

    def close(self) -> None:
        """Nothing is open."""

    def _counts(self) -> tuple[int, int]:
        status = self._live.view.status
        return status.episodes, status.spending.total.calls

    def _say(self, line: str) -> None:
        """Write a line. A stream that fails (a closed pipe, a full disk) is not written to again; the run goes on."""
        if self._stream is None:
            return
        try:
            print(printable_line(line), file=self._stream, flush=True)
        except (OSError, ValueError):
            self._stream = None
        self._spoke_at, self._counted = self._clock(), self._counts()


def open_display(kind: str, stream: TextIO, *, environment: Mapping[str, str]) -> Display:
    """The display called `kind`: "rich", "plain" or "none"; rich is plain where the stream is no capable terminal."""
    if kind == "none":
        return Silence()
    if kind == "rich" and can_draw(stream, environment):
        from .live.display import RichDisplay

        return RichDisplay(stream)
    return PlainLines(stream)


def can_draw(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether the stream is a terminal that moves its cursor and knows the characters that are drawn."""
    spoken = (getattr(stream, "encoding", None) or "").lower().replace("-", "")
    return stream.isatty() and environment.get("TERM", "dumb") not in ("dumb", "unknown") and spoken == "utf8"
