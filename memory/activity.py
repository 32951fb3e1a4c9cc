"""The current activity of a live run: its open orders and its workers' tasks. It is too short-lived for facts.

The controller keeps it (`UnderWay`) for its display, and writes it to a note for other processes (`memory/noting.py`).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

from ..core.events import AskedAgain, CandidateScored, EliteChanged, Fact, SpeculationEnded, StageEntered
from ..core.order_ids import SEARCH, owner_of, parse
from ..core.ports import Activity

NOTE = "activity.json"
STALE_S = 15.0            # an older note is ignored: its writer hangs, or was killed


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerNote:
    """The last task of one worker, as an `Activity`."""

    worker: int
    phase: str
    doing: str | None = None
    order: str | None = None
    steps: int = 0
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityNote:
    """The activity at a time (seconds since the epoch): open orders with their start times, and the workers."""

    at: float
    orders: tuple[tuple[str, float], ...] = ()
    workers: tuple[WorkerNote, ...] = ()


class UnderWay:
    """The orders that were started and not answered, and each worker's last task."""

    def __init__(self) -> None:
        self._orders: dict[str, float] = {}
        self._retried: dict[str, str] = {}
        self._workers: dict[int, WorkerNote] = {}
        self.changed = True             # since the last note

    def begin(self, order: str, at: float) -> None:
        """An agent started this order."""
        self._orders[order] = at
        self._retried.pop(order, None)
        self.changed = True

    def retry(self, order: str, why: str) -> None:
        """The model call of this order is tried again."""
        if order in self._orders:
            self._retried[order] = why

    def retry_words(self, order: str) -> str:
        """For which time the call of this order is tried, and what failed before; "" for the first time."""
        return self._retried.get(order, "")

    def observe(self, activity: Activity) -> None:
        """A worker changed its task."""
        self._workers[activity.worker] = WorkerNote(
            worker=activity.worker, phase=activity.phase, doing=activity.doing, order=activity.order,
            steps=activity.steps, node=activity.node,
        )
        self.changed = True

    def on_fact(self, fact: Fact) -> None:
        """Remove the order that a fact answers, and the orders that it ends without an answer."""
        match fact:
            case StageEntered():
                self._forget(lambda order: True)
            case CandidateScored(candidate=candidate):
                self._forget(lambda order: owner_of(order) == candidate.id)
            case EliteChanged():
                self._forget(lambda order: parse(order).stage == SEARCH and parse(order).generation <= fact.generation)
            case SpeculationEnded(kept=True, answered=False):
                return                  # the call continues, now for its slot
            case AskedAgain():
                return                  # the order stays open
        if fact.order is not None and self._orders.pop(fact.order, None) is not None:
            self._retried.pop(fact.order, None)
            self.changed = True

    def note(self, at: float) -> ActivityNote:
        """The current activity."""
        self.changed = False
        workers = tuple(worker for _, worker in sorted(self._workers.items()))
        return ActivityNote(at=at, orders=tuple(self._orders.items()), workers=workers)

    def _forget(self, over: Callable[[str], bool]) -> None:
        kept = {order: at for order, at in self._orders.items() if not over(order)}
        self.changed = self.changed or len(kept) < len(self._orders)
        self._orders = kept
        self._retried = {order: why for order, why in self._retried.items() if order in kept}


def as_json(note: ActivityNote) -> str:
    """The note as the JSON of its file."""
    workers = [
        {"place": each.worker, "phase": each.phase, "doing": each.doing, "order": each.order, "steps": each.steps,
         "node": each.node}
        for each in note.workers
    ]
    return json.dumps({"at": note.at, "orders": dict(note.orders), "workers": workers})
