"""How a live run tells what it does: a display is shown every fact, and ticks now and then.

A display may also be `Attentive`: then it hears which orders were taken up and what the workers do.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol, TextIO, runtime_checkable

from ..core.events import Fact
from .lines import lines_of, still_working
from .live.slots import Activity
from .view import View, after, recounted

QUIET_S = 20.0            # after this long without a line, say that work goes on


class Display(Protocol):
    """What the controller talks to. It never slows a run down and never ends it."""

    folder: Path | None
    """Where the run is kept; None before it was opened."""

    def opened(self, folder: Path) -> None:
        """The run is kept in `folder`."""

    def recall(self, facts: Iterable[Fact]) -> None:
        """Facts from before a resume: taken in, not told again."""

    def show(self, fact: Fact) -> None:
        """A fact was committed."""

    def tick(self) -> None:
        """Some time went by; a display may say or draw something."""

    def close(self) -> None:
        """The controller is through; nothing is said after this."""


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


class PlainLines:
    """`--display plain`: a line for everything that matters, and a word where nothing did for a while."""

    folder: Path | None = None

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream: TextIO | None = stream
        self._clock = clock
        self._view = View()
        self._spoke_s = clock()

    def opened(self, folder: Path) -> None:
        """Say where the run is kept."""
        self.folder = folder
        self._say(f"run {folder}")

    def recall(self, facts: Iterable[Fact]) -> None:
        """Take the facts in; the time left is measured from now on."""
        now_s = self._clock()
        for fact in facts:
            self._view = after(self._view, fact, now_s=now_s)
        self._view = recounted(self._view, now_s=now_s)

    def show(self, fact: Fact) -> None:
        """Say what there is to say of this fact."""
        now_s = self._clock()
        self._view = after(self._view, fact, now_s=now_s)
        for line in lines_of(fact, self._view, now_s=now_s):
            self._say(line)

    def tick(self) -> None:
        """Say that work goes on, where nothing was said for a while."""
        now_s = self._clock()
        if self._view.stage not in ("", "done") and now_s - self._spoke_s >= QUIET_S:
            self._say(still_working(self._view, now_s=now_s))

    def close(self) -> None:
        """Nothing is open."""

    def _say(self, line: str) -> None:
        """Write a line. A reader who left (a closed pipe) is not written to again; the run goes on."""
        if self._stream is None:
            return
        try:
            print(line, file=self._stream, flush=True)
        except (BrokenPipeError, ValueError):
            self._stream = None
        self._spoke_s = self._clock()


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
