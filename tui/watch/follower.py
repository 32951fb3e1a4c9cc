"""Follows a run's log from another process, read-only and a piece at a time; nothing is read twice.

What a list shows needs no texts: programs, prompts and replies stay in the database until somebody opens
the candidate, and so do the long parts of facts of which a run has tens of thousands.
"""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import MementoError, StoreError
from ...core.values import Document, Program
from ...memory.codec import decode, references, revive
from ...memory.connect import connect_reader
from ...memory.errors import storage_errors
from ...memory.lock import is_locked
from ...memory.runs import DATABASE, is_run
from ...memory.schema import check_version
from ...memory.store import Entry

PIECE = 2000              # facts a piece
BODY = """CASE WHEN typeof(body) <> 'text' THEN body
    WHEN kind = 'CandidateScored' THEN json_remove(body, '$.candidate.episodes', '$.candidate.scores',
        '$.candidate.metrics', '$.candidate.fault.traceback')
    WHEN kind = 'EpisodeEnded' THEN json_remove(body, '$.episode.info', '$.episode.fault.traceback')
    ELSE body END"""
# Scores of single episodes are summed up in their candidate; there are as many of them as of episodes.
_FACTS = f"SELECT seq, at, kind, order_id, {BODY} FROM facts WHERE seq > ? AND kind <> 'EpisodeScored' " \
         "ORDER BY seq LIMIT ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What one look at the store gave.

    `fresh`: the entries are those of another run than before (or of the first): begin with an empty view.
    `trouble`: why nothing could be read, in a sentence; it may pass. `more`: there is more to read at once.
    """

    entries: tuple[Entry, ...] = ()
    fresh: bool = False
    more: bool = False
    last_seq: int = 0                   # of the log, read or not
    live: bool = False                  # whether a process writes the run
    asked: tuple[str, ...] = ()         # requests that the controller has not taken up yet
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
            if gone is not None:
                return Piece(trouble=gone)
            with storage_errors(self.folder):
                return self._read(limit)
        except (MementoError, OSError) as error:
            self.close()
            return Piece(trouble=str(error))

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
        last = int(connection.execute("SELECT coalesce(max(seq), 0) FROM facts").fetchone()[0])
        fresh = self._known != self._identity or last < self._seq
        if fresh:
            self._seq, self._known = 0, self._identity
        entries: tuple[Entry, ...] = ()
        more = False
        if last > self._seq:
            rows = connection.execute(_FACTS, (self._seq, limit)).fetchall()
            entries = tuple(decoded(connection, rows))
            more = len(rows) == limit
            self._seq = rows[-1][0] if more else last
        asked = connection.execute("SELECT kind FROM requests WHERE taken_at IS NULL ORDER BY id").fetchall()
        return Piece(
            entries=entries, fresh=fresh, more=more, last_seq=last, live=is_locked(self.folder),
            asked=tuple(row[0] for row in asked),
        )

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
            raise StoreError(f'the run "{self.folder.name}" {error}') from error
        made = [row[0] for row in self._connection.execute("SELECT value FROM meta ORDER BY key")]
        self._identity = (*place, *made)
        return self._connection


def decoded(connection: sqlite3.Connection, rows: list[Any]) -> Iterator[Entry]:
    """The facts of rows of (seq, at, kind, order, body), with stand-ins for their texts. Raises StoreError."""
    texts = [_text(row[4]) for row in rows]
    values = _Values(_examinations(connection, texts))
    for (seq, at, kind, order, _), body in zip(rows, texts, strict=True):
        yield Entry(seq=seq, at=at, fact=decode(kind, order, body, values))


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
    return {wanted[digest]: revive(wanted[digest], _text(content)) for digest, content in found}


class _Values(dict[str, Any]):
    """The values of references. A text is not read: its reference stands in for it."""

    def __missing__(self, reference: str) -> Document:
        if reference.startswith("program:"):
            return Program(reference)
        if reference.startswith("document:"):
            return Document(reference)
        raise KeyError(reference)


def _text(stored: str | bytes) -> str:
    return stored.decode("utf-8", "surrogatepass") if isinstance(stored, bytes) else stored


