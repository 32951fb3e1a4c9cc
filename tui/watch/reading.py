"""The loop of the thread that reads a run: looks, folds, tells, waits. A slow disk keeps nothing else waiting."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from ..activity import ActivityNote, read_note
from .fold import fold
from .follower import Follower, Piece
from .snapshot import Sight
from .view import RunView

SOONEST_S, LATEST_S = 0.2, 1.0      # between two looks: soon after something came, later when nothing does
SLOWER = 1.5
TOLD_EVERY_S = 0.6                  # while a long log is read


def follow(
    folder: Path, tell: Callable[[Sight], None], left: threading.Event, *, clock: Callable[[], float] = time.time
) -> None:
    """Tell of the run in `folder` whenever there is something new, until `left` is set."""
    follower, seeing, wait_s, told_s = Follower(folder), _Seeing(folder), SOONEST_S, 0.0
    try:
        while not left.is_set():
            piece = follower.look()
            news = seeing.take(piece, read_note(folder, now=clock()))
            pressing = not piece.more or time.monotonic() - told_s > TOLD_EVERY_S
            if news and pressing:
                told_s = time.monotonic()
                tell(seeing.sight)
            if piece.more:
                continue
            wait_s = SOONEST_S if piece.entries else min(LATEST_S, wait_s * SLOWER)
            left.wait(wait_s)
    finally:
        follower.close()


class _Seeing:
    """What was seen so far. What is in trouble keeps its last sight, and says so."""

    def __init__(self, folder: Path) -> None:
        self.sight = Sight(folder=folder)
        self._first = True

    def take(self, piece: Piece, note: ActivityNote | None) -> bool:
        """Whether there is something new to tell."""
        old = self.sight
        if piece.trouble is not None:
            new = Sight(
                folder=old.folder, view=old.view, trouble=piece.trouble, reading=False, last_seq=old.last_seq
            )
        else:
            view = fold(RunView() if piece.fresh else old.view, piece.entries) if self._moved(piece) else old.view
            new = Sight(
                folder=old.folder, view=view, live=piece.live, asked=piece.asked, reading=piece.more,
                last_seq=piece.last_seq, note=note if piece.live else None,
            )
        changed = self._first or self._moved(piece) or self._standing(new) != self._standing(old)
        self.sight, self._first = new, False
        return changed

    @staticmethod
    def _moved(piece: Piece) -> bool:
        return bool(piece.entries) or piece.fresh

    @staticmethod
    def _standing(sight: Sight) -> tuple[object, ...]:
        note = sight.note
        doing = None if note is None else (note.orders, note.workers)
        return sight.live, sight.asked, sight.trouble, sight.reading, doing
