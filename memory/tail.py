"""Reads a run's log next to its writer: read-only, piece by piece, and only the parts that a view of the run needs.

A view needs no texts: programs, prompts and replies stay in the database until a candidate is opened, and so do the
long parts of the most frequent facts. All SQL on facts outside `store` is here.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import MementoError, StoreError
from ..core.events import (
    EliteChanged,
    EliteChosen,
    EliteConfirmed,
    EvaluatorMoved,
    FinalMeasured,
    RobustMeasured,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStarted,
    RunStopped,
    SaturationChecked,
    StageEntered,
)
from ..core.order_ids import owner_of
from ..core.turns import Passage
from ..core.values import Document, Program
from .card import PROGRAMS, Card, card_of, measured_names
from .codec import decode, references, revive
from .database import connect_reader
from .lock import is_locked
from .migrations import check_version
from .run_view import RunView, view_of
from .runs import DATABASE, is_run
from .store import Entry, RunStore, text_of, time_of
from .store_errors import storage_errors, store_error

PIECE = 2000              # facts per piece
OUTLINE = (
    RunStarted, RunResumed, RunPaused, RunContinued, RunStopped, StageEntered, EliteChanged, EliteConfirmed,
    EliteChosen, SaturationChecked, EvaluatorMoved, FinalMeasured, RobustMeasured,
)
_BODY = """CASE WHEN typeof(body) <> 'text' THEN body
    WHEN kind = 'CandidateScored' THEN json_remove(body, '$.candidate.episodes', '$.candidate.scores',
        '$.candidate.metrics', '$.candidate.fault.traceback')
    WHEN kind = 'EpisodeEnded' THEN json_remove(body, '$.episode.info', '$.episode.fault.traceback')
    ELSE body END"""
# A candidate's fact sums up the scores of its episodes, so only failed scores are read, to count them.
_STOP = "SELECT kind FROM requests WHERE kind LIKE 'stop%' AND (taken_at IS NULL OR taken_at >= (SELECT " \
        "coalesce(max(at), 0) FROM facts WHERE kind IN ('RunStarted', 'RunResumed'))) ORDER BY id DESC LIMIT 1"
_FACTS = f"SELECT seq, at, kind, order_id, {_BODY} FROM facts WHERE seq > ? " \
         "AND (kind <> 'EpisodeScored' OR instr(body, '\"fault\":{') > 0) ORDER BY seq LIMIT ?"


def read_view(folder: Path) -> RunView:
    """The view of a run from its whole log, in one pass. Raises UsageError, StoreError."""
    return view_of(read_entries(folder))


def read_outline(folder: Path) -> RunView:
    """The view of a run from only its facts about status, stages and elites. Raises UsageError, StoreError."""
    with RunStore.read(folder) as store:
        return view_of(store.facts_after(0, only=OUTLINE))


def read_card(store: RunStore, view: RunView) -> Card:
    """The card of the run in `store`, of which `view` is the view. Raises StoreError."""
    measured = [fact for name in measured_names(view.status) for fact in store.facts(about=name, texts=False)]
    return card_of(view, measured, store.facts(only=PROGRAMS, texts=False))


def read_entries(folder: Path) -> Iterator[Entry]:
    """The facts of the log for a view: without texts, and without the scores of single episodes.

    Raises StoreError if the log is damaged or cannot be read.
    """
    follower = Follower(folder)
    try:
        follower.require_whole()
        while True:
            piece = follower.read()
            yield from piece.entries
            if not piece.more:
                return
    finally:
        follower.close()


def read_names(folder: Path) -> set[str]:
    """The ids of all candidates, evaluators and votes in the log. Raises StoreError."""
    with storage_errors(folder), closing(_open(folder)) as connection:
        rows = connection.execute("SELECT DISTINCT order_id FROM facts WHERE order_id IS NOT NULL").fetchall()
    return {owner_of(row[0]) for row in rows}


def matching(folder: Path, words: tuple[str, ...], *, after: int = 0) -> list[int]:
    """The sequence numbers above `after` of the facts whose kind or order contains all these words, in any case."""
    test = "".join(" AND (kind LIKE ? OR coalesce(order_id, '') LIKE ?)" for _ in words)
    arguments: list[object] = [after]
    for word in words:
        arguments += [f"%{word}%"] * 2
    with storage_errors(folder), closing(_open(folder)) as connection:
        return [row[0] for row in connection.execute(f"SELECT seq FROM facts WHERE seq > ?{test} ORDER BY seq",
                                                     arguments)]


def window(folder: Path, places: list[int]) -> list[Entry]:
    """The facts with these sequence numbers, without texts. Raises StoreError."""
    marks = ",".join("?" * len(places))
    with storage_errors(folder), closing(_open(folder)) as connection:
        rows = connection.execute(
            f"SELECT seq, at, kind, order_id, {_BODY} FROM facts WHERE seq IN ({marks}) ORDER BY seq", places
        ).fetchall()
        return [*_entries_of(connection, rows)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPiece:
    """The result of one read of the store.

    `fresh`: the entries belong to the first or to another run than before: begin with an empty view.
    `trouble`: one sentence on why reading failed, perhaps temporarily. `more`: more entries can be read at once.
    """

    entries: tuple[Entry, ...] = ()
    fresh: bool = False
    more: bool = False
    seq: int = 0                        # the last sequence number that was read
    last_seq: int = 0                   # of the log, read or not
    live: bool = False                  # whether a process writes the run
    requests: tuple[str, ...] = ()      # pending requests to the controller
    stopping: str = ""                  # the last request to stop since a process works on it, taken or not
    trouble: str | None = None


class Follower:
    """One run's log, read piece by piece. For one thread; the caller must `close` it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._connection: sqlite3.Connection | None = None
        self._copy: Any = None
        self._identity: tuple[object, ...] | None = None     # of the open file
        self._known: tuple[object, ...] | None = None        # of the run of the last piece
        self._seq = 0

    def look(self, limit: int = PIECE) -> LogPiece:
        """The next facts, at most `limit`. Reports problems with the store as `trouble` instead of raising."""
        try:
            gone = self._gone()
            return LogPiece(trouble=gone) if gone is not None else self.read(limit)
        except (MementoError, OSError) as error:
            self.close()
            return LogPiece(trouble=str(error))

    def read(self, limit: int = PIECE) -> LogPiece:
        """The next facts, at most `limit`. Raises UsageError, StoreError, OSError."""
        with storage_errors(self.folder):
            return self._read(limit)

    def require_whole(self) -> None:
        """Raises StoreError if a fact is missing."""
        with storage_errors(self.folder):
            connection = self._open()
            if connection.execute("SELECT count(*) FROM facts").fetchone()[0] != _last_seq(connection):
                hole = "SELECT min(seq) FROM (SELECT 0 AS seq UNION SELECT seq FROM facts) AS known " \
                       "WHERE NOT EXISTS (SELECT 1 FROM facts WHERE facts.seq = known.seq + 1)"
                raise self._damage_error(f"fact {connection.execute(hole).fetchone()[0] + 1} is missing")

    def close(self) -> None:
        """Close the database; a later read opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    def _gone(self) -> str | None:
        """The problem if the run is not there, or no longer."""
        if not is_run(self.folder):
            self.close()
            what = "has no run in it" if self.folder.is_dir() else "is gone"
            return f"{self.folder.name} {what}: waiting for a run in {self.folder}"
        return None

    def _read(self, limit: int) -> LogPiece:
        connection = self._open()
        last = _last_seq(connection)
        fresh = self._known != self._identity or last < self._seq
        if fresh:
            self._seq, self._known = 0, self._identity
        entries: tuple[Entry, ...] = ()
        more = False
        if last > self._seq:
            rows = connection.execute(_FACTS, (self._seq, limit)).fetchall()
            try:
                entries = tuple(_entries_of(connection, rows))
            except StoreError as error:
                raise self._damage_error(str(error)) from error
            more = len(rows) == limit
            self._seq = rows[-1][0] if more else last
        requests = connection.execute("SELECT kind FROM requests WHERE taken_at IS NULL ORDER BY id").fetchall()
        stop = connection.execute(_STOP).fetchone()
        return LogPiece(
            entries=entries, fresh=fresh, more=more, seq=self._seq, last_seq=last, live=is_locked(self.folder),
            requests=tuple(row[0] for row in requests), stopping="" if stop is None else stop[0],
        )

    def _damage_error(self, what: str) -> StoreError:
        return StoreError(f"the run {self.folder.name!r} in {self.folder.parent} is damaged: {what}")

    def _open(self) -> sqlite3.Connection:
        """The connection to the current file, which is another one if the run was replaced."""
        status = (self.folder / DATABASE).stat()
        place = (status.st_dev, status.st_ino)
        if self._connection is not None and self._identity is not None and self._identity[:2] == place:
            return self._connection
        self.close()
        db, self._copy = connect_reader(self.folder)
        self._connection = db.conn
        try:
            check_version(db, writing=False)
        except StoreError as error:
            raise store_error(self.folder, str(error), kind=type(error)) from error
        made = [row[0] for row in self._connection.execute("SELECT value FROM meta ORDER BY key")]
        self._identity = (*place, *made)
        return self._connection


def _open(folder: Path) -> sqlite3.Connection:
    db, copy = connect_reader(folder)
    if copy is not None:
        db.close()
        copy.cleanup()
        raise StoreError("the log lies on a disk that cannot be written, as a killed process left it")
    connection: sqlite3.Connection = db.conn
    return connection


def _last_seq(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(seq), 0) FROM facts").fetchone()[0])


def _entries_of(connection: sqlite3.Connection, rows: list[Any]) -> Iterator[Entry]:
    """The facts of rows of (seq, at, kind, order, body), with stand-ins for their texts. Raises StoreError."""
    texts = [text_of(row[4]) for row in rows]
    values = _Values(_examinations(connection, texts))
    for (seq, at, kind, order, _), body in zip(rows, texts, strict=True):
        yield Entry(seq=seq, at=time_of(at), fact=decode(kind, order, body, values))


def _examinations(connection: sqlite3.Connection, texts: list[str]) -> dict[str, Any]:
    """The results of evaluators on T_0, which lists show."""
    named = {each for text in texts if '"examination:' in text for each in references(text)}
    by_digest = {each.partition(":")[2]: each for each in named if each.startswith("examination:")}
    if not by_digest:
        return {}
    found = connection.execute(
        "SELECT digest, content FROM blobs WHERE digest IN (SELECT value FROM json_each(?))",
        [json.dumps(list(by_digest))],
    )
    return {by_digest[digest]: revive(by_digest[digest], text_of(content)) for digest, content in found}


class _Values(dict[str, Any]):
    """The values of references. A text is not read: its reference stands in for it."""

    def __missing__(self, reference: str) -> Document:
        if reference.startswith("program:"):
            return Program(reference)
        if reference.startswith("passage:"):
            return Passage(reference)
        if reference.startswith("document:"):
            return Document(reference)
        raise KeyError(reference)
