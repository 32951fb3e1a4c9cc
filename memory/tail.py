"""Reads a run's log beside its writer: read-only, a piece at a time, and no more than a view of the run needs.

A view needs no texts: programs, prompts and replies stay in the database until somebody opens the candidate, and so
do the long parts of facts of which a run has tens of thousands. All SQL on facts outside `store` is here.
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
    FinalMeasured,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStarted,
    RunStopped,
    StageEntered,
)
from ..core.order_ids import owner_of
from ..core.values import Document, Program
from .codec import decode, references, revive
from .connect import connect_reader
from .errors import storage_errors, store_error
from .lock import is_locked
from .run_view import RunView, view_of
from .runs import DATABASE, is_run
from .schema import check_version
from .store import Entry, RunStore, text_of, time_of

PIECE = 2000              # facts per piece
OUTLINE = (RunStarted, RunResumed, RunPaused, RunContinued, RunStopped, StageEntered, EliteChanged, FinalMeasured)
_BODY = """CASE WHEN typeof(body) <> 'text' THEN body
    WHEN kind = 'CandidateScored' THEN json_remove(body, '$.candidate.episodes', '$.candidate.scores',
        '$.candidate.metrics', '$.candidate.fault.traceback')
    WHEN kind = 'EpisodeEnded' THEN json_remove(body, '$.episode.info', '$.episode.fault.traceback')
    ELSE body END"""
# Scores of single episodes are summed up in their candidate; only the failed ones are counted.
_FACTS = f"SELECT seq, at, kind, order_id, {_BODY} FROM facts WHERE seq > ? " \
         "AND (kind <> 'EpisodeScored' OR instr(body, '\"fault\":{') > 0) ORDER BY seq LIMIT ?"


def read_view(folder: Path) -> RunView:
    """The view of a run from its whole log, in one pass. Raises UsageError, StoreError."""
    return view_of(read_entries(folder))


def read_outline(folder: Path) -> RunView:
    """The view of a run from its few facts about status, stages and elites. Raises UsageError, StoreError."""
    with RunStore.read(folder) as store:
        return view_of(store.facts_after(0, only=OUTLINE))


def read_entries(folder: Path) -> Iterator[Entry]:
    """The facts of the log as a view needs them: without texts, and without the scores of single episodes.

    Raises StoreError where the log is damaged or cannot be read.
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
    """The ids of all candidates, evaluators and votes that the log is about. Raises StoreError."""
    with storage_errors(folder), closing(_open(folder)) as connection:
        rows = connection.execute("SELECT DISTINCT order_id FROM facts WHERE order_id IS NOT NULL").fetchall()
    return {owner_of(row[0]) for row in rows}


def matching(folder: Path, words: tuple[str, ...], *, after: int = 0) -> list[int]:
    """The places of the facts after a place whose kind or order has all these words (in any case)."""
    test = "".join(" AND (kind LIKE ? OR coalesce(order_id, '') LIKE ?)" for _ in words)
    arguments: list[object] = [after]
    for word in words:
        arguments += [f"%{word}%"] * 2
    with storage_errors(folder), closing(_open(folder)) as connection:
        return [row[0] for row in connection.execute(f"SELECT seq FROM facts WHERE seq > ?{test} ORDER BY seq",
                                                     arguments)]


def window(folder: Path, places: list[int]) -> list[Entry]:
    """The facts at these places, without texts. Raises StoreError."""
    marks = ",".join("?" * len(places))
    with storage_errors(folder), closing(_open(folder)) as connection:
        rows = connection.execute(
            f"SELECT seq, at, kind, order_id, {_BODY} FROM facts WHERE seq IN ({marks}) ORDER BY seq", places
        ).fetchall()
        return [*_decoded(connection, rows)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What one look at the store gave.

    `fresh`: the entries are those of another run than before (or of the first): begin with an empty view.
    `trouble`: why nothing could be read, in a sentence; it may pass. `more`: there is more to read at once.
    """

    entries: tuple[Entry, ...] = ()
    fresh: bool = False
    more: bool = False
    seq: int = 0                        # the last place that was read
    last_seq: int = 0                   # of the log, read or not
    live: bool = False                  # whether a process writes the run
    requests: tuple[str, ...] = ()      # those that the controller has not taken up yet
    trouble: str | None = None


class Follower:
    """One run's log, read piece by piece. For one thread; `close` it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._connection: sqlite3.Connection | None = None
        self._copy: Any = None
        self._identity: tuple[object, ...] | None = None     # of the open file
        self._known: tuple[object, ...] | None = None        # of the run that was given out last
        self._seq = 0

    def look(self, limit: int = PIECE) -> Piece:
        """The next facts, at most `limit`. Never raises for what can be wrong with a store."""
        try:
            gone = self._gone()
            return Piece(trouble=gone) if gone is not None else self.read(limit)
        except (MementoError, OSError) as error:
            self.close()
            return Piece(trouble=str(error))

    def read(self, limit: int = PIECE) -> Piece:
        """The next facts, at most `limit`. Raises UsageError, StoreError, OSError."""
        with storage_errors(self.folder):
            return self._read(limit)

    def require_whole(self) -> None:
        """Raises StoreError where a fact is missing."""
        with storage_errors(self.folder):
            connection = self._open()
            if connection.execute("SELECT count(*) FROM facts").fetchone()[0] != _last_seq(connection):
                hole = "SELECT min(seq) FROM (SELECT 0 AS seq UNION SELECT seq FROM facts) AS known " \
                       "WHERE NOT EXISTS (SELECT 1 FROM facts WHERE facts.seq = known.seq + 1)"
                raise self._damaged(f"fact {connection.execute(hole).fetchone()[0] + 1} is missing")

    def close(self) -> None:
        """Let go of the database; a later look opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    def _gone(self) -> str | None:
        """What is wrong where the run is not there (any more)."""
        if not is_run(self.folder):
            self.close()
            what = "has no run in it" if self.folder.is_dir() else "is gone"
            return f"{self.folder.name} {what}: waiting for a run in {self.folder}"
        return None

    def _read(self, limit: int) -> Piece:
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
                entries = tuple(_decoded(connection, rows))
            except StoreError as error:
                raise self._damaged(str(error)) from error
            more = len(rows) == limit
            self._seq = rows[-1][0] if more else last
        requests = connection.execute("SELECT kind FROM requests WHERE taken_at IS NULL ORDER BY id").fetchall()
        return Piece(
            entries=entries, fresh=fresh, more=more, seq=self._seq, last_seq=last, live=is_locked(self.folder),
            requests=tuple(row[0] for row in requests),
        )

    def _damaged(self, what: str) -> StoreError:
        return StoreError(f"the run {self.folder.name!r} in {self.folder.parent} is damaged: {what}")

    def _open(self) -> sqlite3.Connection:
        """The connection to the file that is there now: it is another one where the run was replaced."""
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


def _decoded(connection: sqlite3.Connection, rows: list[Any]) -> Iterator[Entry]:
    """The facts of rows of (seq, at, kind, order, body), with stand-ins for their texts. Raises StoreError."""
    texts = [text_of(row[4]) for row in rows]
    values = _Values(_examinations(connection, texts))
    for (seq, at, kind, order, _), body in zip(rows, texts, strict=True):
        yield Entry(seq=seq, at=time_of(at), fact=decode(kind, order, body, values))


def _examinations(connection: sqlite3.Connection, texts: list[str]) -> dict[str, Any]:
    """The outcomes of evaluators on T_0, which are shown in lists."""
    named = {each for text in texts if '"examination:' in text for each in references(text)}
    wanted = {each.partition(":")[2]: each for each in named if each.startswith("examination:")}
    if not wanted:
        return {}
    found = connection.execute(
        "SELECT digest, content FROM blobs WHERE digest IN (SELECT value FROM json_each(?))",
        [json.dumps(list(wanted))],
    )
    return {wanted[digest]: revive(wanted[digest], text_of(content)) for digest, content in found}


class _Values(dict[str, Any]):
    """The values of references. A text is not read: its reference stands in for it."""

    def __missing__(self, reference: str) -> Document:
        if reference.startswith("program:"):
            return Program(reference)
        if reference.startswith("document:"):
            return Document(reference)
        raise KeyError(reference)
