"""The loop of the thread that reads a run: read, apply, report, wait. A slow disk blocks only this thread."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ...memory.activity import ActivityNote
from ...memory.noting import read_note
from ...memory.run_view import RunView
from ...memory.tail import Follower, LogPiece
from ..snapshot import RunSnapshot

SOONEST_S, LATEST_S = 0.2, 1.0      # between two reads: short after new facts, longer without
SLOWER = 1.5
REPORTED_EVERY_S = 0.6              # during the reading of a long log


def follow(
    folder: Path, report: Callable[[RunSnapshot], None], left: threading.Event, *,
    clock: Callable[[], float] = time.time,
) -> None:
    """Report the run in `folder` whenever there is something new, until `left` is set."""
    follower, reader, wait_s, reported_s = Follower(folder), _Reader(folder), SOONEST_S, 0.0
    try:
        while not left.is_set():
            piece = follower.look()
            reader.take(piece, read_note(folder, now=clock()))
            pressing = not piece.more or time.monotonic() - reported_s > REPORTED_EVERY_S
            if reader.changed and pressing:
                reported_s = time.monotonic()
                report(reader.snapshot())
            if piece.more:
                continue
            wait_s = SOONEST_S if piece.entries else min(LATEST_S, wait_s * SLOWER)
            left.wait(wait_s)
    finally:
        follower.close()


class _Reader:
    """The state of the run so far. After an error it keeps the last view, with the error as `trouble`."""

    def __init__(self, folder: Path) -> None:
        self.changed = True             # since the last snapshot
        self._view = RunView()
        self._current = RunSnapshot(folder=folder)

    def take(self, piece: LogPiece, note: ActivityNote | None) -> None:
        """Add the result of one read."""
        old = self._current
        if piece.trouble is not None:
            self._current = replace(
                old, trouble=piece.trouble, live=False, requests=(), stopping="", reading=False, note=None,
            )
        else:
            if piece.fresh:
                self._view = RunView()
            for entry in piece.entries:
                self._view.apply(entry.fact, entry.at)
            self._current = replace(
                old, trouble=None, live=piece.live, requests=piece.requests, stopping=piece.stopping,
                reading=piece.more, seq=piece.seq, last_seq=piece.last_seq, note=note if piece.live else None,
            )
        moved = bool(piece.entries) or piece.fresh
        self.changed = self.changed or moved or _beyond_facts(self._current) != _beyond_facts(old)

    def snapshot(self) -> RunSnapshot:
        """The current snapshot."""
        self.changed = False
        view = self._view.copy()
        return replace(self._current, run=view.status, slots=view.slots)


def _beyond_facts(snapshot: RunSnapshot) -> tuple[object, ...]:
    """The parts of a snapshot that can change without a new fact."""
    note = snapshot.note
    doing = None if note is None else (note.orders, note.workers)
    return snapshot.live, snapshot.requests, snapshot.stopping, snapshot.trouble, snapshot.reading, doing
