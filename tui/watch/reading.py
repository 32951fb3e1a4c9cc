"""The loop of the thread that reads a run: looks, folds, reports, waits. A slow disk keeps nothing else waiting."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ...memory.run_view import RunView
from ...memory.tail import Follower, Piece
from ..activity import ActivityNote, read_note
from ..snapshot import RunSnapshot

SOONEST_S, LATEST_S = 0.2, 1.0      # between two looks: soon after something came, later when nothing does
SLOWER = 1.5
REPORTED_EVERY_S = 0.6              # while a long log is read


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
    """What was read so far. A run in trouble keeps its last view, and says so."""

    def __init__(self, folder: Path) -> None:
        self.changed = True             # since the last snapshot
        self._view = RunView()
        self._standing = RunSnapshot(folder=folder)

    def take(self, piece: Piece, note: ActivityNote | None) -> None:
        """Add what one look gave."""
        old = self._standing
        if piece.trouble is not None:
            self._standing = replace(old, trouble=piece.trouble, live=False, requests=(), reading=False, note=None)
        else:
            if piece.fresh:
                self._view = RunView()
            for entry in piece.entries:
                self._view.apply(entry.fact, entry.at)
            self._standing = replace(
                old, trouble=None, live=piece.live, requests=piece.requests, reading=piece.more, seq=piece.seq,
                last_seq=piece.last_seq, note=note if piece.live else None,
            )
        moved = bool(piece.entries) or piece.fresh
        self.changed = self.changed or moved or _besides(self._standing) != _besides(old)

    def snapshot(self) -> RunSnapshot:
        """The run now."""
        self.changed = False
        view = self._view.copy()
        return replace(self._standing, run=view.status, slots=view.slots)


def _besides(snapshot: RunSnapshot) -> tuple[object, ...]:
    """What can change without a new fact."""
    note = snapshot.note
    doing = None if note is None else (note.orders, note.workers)
    return snapshot.live, snapshot.requests, snapshot.trouble, snapshot.reading, doing
