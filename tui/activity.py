"""What the workers of a live run do now, noted in a small file of its folder for whoever watches from elsewhere.

No fact tells it: it is worth nothing a second later. The note is written by the controller, at most once a
second, and taken away when it leaves; a reader heeds the time in it.
"""

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..core.events import CandidateScored, EliteChanged, Fact, StageEntered
from ..core.files import replace_file
from .display import Attentive, Display
from .live.slots import Activity

NOTE = "activity.json"
EVERY_S = 1.0
AT_LEAST_EVERY_S = 5.0
STALE_S = 15.0            # an older note is not believed: its writer hangs, or was killed


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerNote:
    """What one worker did. `place` is from 0; `steps` of the episode so far."""

    place: int
    phase: str
    doing: str | None = None
    order: str | None = None
    steps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityNote:
    """What was under way at a time (seconds since the epoch): open orders with when they began, and the workers."""

    at: float
    orders: tuple[tuple[str, float], ...] = ()
    workers: tuple[WorkerNote, ...] = ()


@contextlib.contextmanager
def noted(display: Display, folder: Path, *, clock: Callable[[], float] = time.time) -> Iterator[Display]:
    """The same display, and meanwhile a note of the activity in `folder`."""
    noting = _Noting(display, folder, clock)
    try:
        yield noting
    finally:
        with contextlib.suppress(OSError):
            (folder / NOTE).unlink(missing_ok=True)


def read_note(folder: Path, *, now: float) -> ActivityNote | None:
    """What is under way; None where nobody noted it lately."""
    try:
        said = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        note = ActivityNote(
            at=float(said["at"]),
            orders=tuple((str(order), float(at)) for order, at in said["orders"].items()),
            workers=tuple(WorkerNote(**each) for each in said["workers"]),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):   # gone, or of another version
        return None
    return note if abs(now - note.at) <= STALE_S else None


class _Noting:
    """A display that passes everything on and keeps the note."""

    def __init__(self, display: Display, folder: Path, clock: Callable[[], float]) -> None:
        self.folder: Path | None = display.folder
        self._display = display
        self._attentive: Attentive | None = display if isinstance(display, Attentive) else None
        self._place = folder / NOTE
        self._clock = clock
        self._orders: dict[str, float] = {}
        self._workers: dict[int, Activity] = {}
        self._changed = True
        self._written = 0.0

    def opened(self, folder: Path) -> None:
        self.folder = folder
        self._display.opened(folder)

    def recall(self, facts: Iterable[Fact]) -> None:
        self._display.recall(facts)

    def show(self, fact: Fact) -> None:
        self._display.show(fact)
        match fact:
            case StageEntered():
                self._forget(lambda order: True)
            case CandidateScored(candidate=candidate):
                self._forget(lambda order: order.startswith(f"{candidate.id}/"))
            case EliteChanged():        # what was withdrawn is never answered
                self._forget(lambda order: order.startswith(f"g{fact.generation}/"))
        if fact.order is not None and self._orders.pop(fact.order, None) is not None:
            self._changed = True

    def tick(self) -> None:
        self._display.tick()
        now = self._clock()
        if now - self._written >= (EVERY_S if self._changed else AT_LEAST_EVERY_S):
            self._write(now)

    def close(self) -> None:
        self._display.close()

    def begun(self, order: str) -> None:
        self._orders[order] = self._clock()
        self._changed = True
        if self._attentive is not None:
            self._attentive.begun(order)

    def observe(self, activity: Activity) -> None:
        self._workers[activity.worker] = activity
        self._changed = True
        if self._attentive is not None:
            self._attentive.observe(activity)

    def _forget(self, over: Callable[[str], bool]) -> None:
        self._orders = {order: at for order, at in self._orders.items() if not over(order)}
        self._changed = True

    def _write(self, now: float) -> None:
        workers = [
            {"place": each.worker, "phase": each.phase, "doing": each.doing, "order": each.order, "steps": each.steps}
            for _, each in sorted(self._workers.items())
        ]
        with contextlib.suppress(OSError):      # a full disk ends the run by its log, not by this
            replace_file(self._place, json.dumps({"at": now, "orders": self._orders, "workers": workers}))
        self._written, self._changed = now, False
