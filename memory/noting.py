"""Keeps a small file with the current activity in a live run's folder, for `memento watch`.

The controller writes it at most once a second and deletes it at the end; readers ignore a file with an old time.
"""

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..core.events import Fact
from ..core.files import read_bounded, replace_file
from ..core.ports import Activity, Attentive, Display
from .activity import NOTE, STALE_S, ActivityNote, UnderWay, WorkerNote, as_json

MOST_BYTES = 2**24
EVERY_S = 1.0
AT_LEAST_EVERY_S = 5.0


@contextlib.contextmanager
def with_notes(display: Display, folder: Path, *, clock: Callable[[], float] = time.time) -> Iterator[Display]:
    """Wrap the display; until the end, keep a note of the activity in `folder`."""
    noting = _Noting(display, folder, clock)
    try:
        yield noting
    finally:
        with contextlib.suppress(OSError):
            (folder / NOTE).unlink(missing_ok=True)


class _Noting:
    """A display that forwards every call and keeps the note."""

    def __init__(self, display: Display, folder: Path, clock: Callable[[], float]) -> None:
        self.folder: Path | None = display.folder
        self._display = display
        self._attentive: Attentive | None = display if isinstance(display, Attentive) else None
        self._place = folder / NOTE
        self._clock = clock
        self._under_way = UnderWay()
        self._written = 0.0

    def on_open(self, folder: Path) -> None:
        self.folder = folder
        self._display.on_open(folder)

    def recall(self, facts: Iterable[Fact]) -> None:
        self._display.recall(facts)

    def show(self, fact: Fact) -> None:
        self._display.show(fact)
        self._under_way.on_fact(fact)

    def tick(self) -> None:
        self._display.tick()
        now = self._clock()
        if now - self._written >= (EVERY_S if self._under_way.changed else AT_LEAST_EVERY_S):
            self._write(now)

    def close(self) -> None:
        self._display.close()

    def on_begin(self, order: str) -> None:
        self._under_way.begin(order, self._clock())
        if self._attentive is not None:
            self._attentive.on_begin(order)

    def on_retry(self, order: str, why: str) -> None:
        if self._attentive is not None:
            self._attentive.on_retry(order, why)

    def observe(self, activity: Activity) -> None:
        self._under_way.observe(activity)
        if self._attentive is not None:
            self._attentive.observe(activity)

    def _write(self, now: float) -> None:
        with contextlib.suppress(OSError):      # on a full disk the log ends the run, not this note
            replace_file(self._place, as_json(self._under_way.note(now)))
        self._written = now


def read_note(folder: Path, *, now: float) -> ActivityNote | None:
    """The activity of the run in this folder; None without a recent note."""
    try:
        known = json.loads(read_bounded(folder / NOTE, MOST_BYTES))
        note = ActivityNote(
            at=float(known["at"]),
            orders=tuple((str(order), float(at)) for order, at in known["orders"].items()),
            workers=tuple(WorkerNote(worker=each.pop("place"), **each) for each in known["workers"]),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):   # absent, or of another version
        return None
    return note if abs(now - note.at) <= STALE_S else None
