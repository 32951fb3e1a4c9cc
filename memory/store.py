"""The store of one run: an append-only log of facts in SQLite, and the requests that people leave for a live run.

One process writes (it holds the lock), any number read meanwhile. What `append` returned from survives
kill -9. The database is in WAL mode with synchronous=NORMAL: the loss of power may take the last commits,
never the log's integrity.
"""

import contextlib
import json
import os
import sqlite3
import tempfile
import threading
import time
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from ..core.errors import StoreError, UsageError, os_problem
from ..core.events import Fact, RunContinued, RunPaused, RunResumed, RunStarted
from ..core.ports import Clock
from ..core.values import JSON, Document
from .codec import Encoded, decode, digest_of, encode, references, revive
from .database import connect_guest, connect_reader, connect_writer, make_database
from .lock import WriterLock, holder, is_locked
from .migrations import begin, check_version, migrate
from .runs import is_run, never_begun, require_run
from .sqlite_library import Database
from .store_errors import storage_errors, store_error

_CHUNK = 1000  # facts read in one short transaction: a reader never holds the writer's log back
_REMEMBERED = 8_000_000  # characters of values that later facts probably refer to again
LAST_SECOND = 253_402_300_800  # since the epoch: the year 10000, of which no calendar knows
_UNREAD = "document:"  # what is left empty where texts are not wanted: prompts and replies


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A committed fact: its place in the log, from 1, and when it was committed (seconds since the epoch)."""

    seq: int
    at: float
    fact: Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A person's request to a run, such as kind "stop" or "pause"."""

    id: int
    at: float
    kind: str
    body: Mapping[str, JSON]


class RunStore:
    """One run's log. Made by `create`, `open` (both write) or `read`; a context manager that closes it."""

    def __init__(
        self,
        folder: Path,
        db: Database,
        *,
        lock: WriterLock | None = None,
        clock: Clock | None = None,
        copy: "tempfile.TemporaryDirectory[str] | None" = None,
    ) -> None:
        self.folder = folder
        self._db = db
        self._lock = lock
        self._clock = clock
        self._opened = (clock.now(), clock.elapsed()) if clock is not None else (0.0, 0.0)
        self._copy = copy
        self._values: dict[str, Any] = {}
        self._remembered = 0
        self._mutex = threading.RLock()
        self._last = 0 if lock is None else self.last_seq    # the place of the last fact that this writer knows

    # ------------------------------------------------------------------------------------ life

    @classmethod
    def create(cls, folder: str | os.PathLike[str], *, clock: Clock, run_id: str | None = None) -> "RunStore":
        """Begin a run in `folder`, which is made if it is missing. Raises UsageError, StoreError."""
        path = Path(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot make the run folder {path}: {os_problem(error)}") from error
        lock = _acquire(path, clock)
        try:
            if is_run(path) and not never_begun(path):
                raise UsageError(f"there is already a run in {path}: choose another name, or resume it")
            with storage_errors(path, doing="made"):
                about = {"run_id": run_id or path.name, "created": repr(clock.now())}
                make_database(path, lambda db: begin(db, about))
                db = connect_writer(path)
            return cls(path, db, lock=lock, clock=clock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, clock: Clock) -> "RunStore":
        """Go on writing a run. Raises UsageError where there is none, StoreError where it cannot be
        written: live in another process, damaged, read-only, by a newer version."""
        path = Path(folder)
        require_run(path)
        lock = _acquire(path, clock)
        try:
            with storage_errors(path), contextlib.ExitStack() as undo:
                db = connect_writer(path)
                undo.callback(db.close)
                _check(db, path, writing=True)
                migrate(db)
                undo.pop_all()
            return cls(path, db, lock=lock, clock=clock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> "RunStore":
        """Read a run, also while it is written and on a read-only disk. Raises UsageError, StoreError."""
        path = Path(folder)
        require_run(path)
        with storage_errors(path), contextlib.ExitStack() as undo:
            db, copy = connect_reader(path)
            undo.callback(db.close)
            _check(db, path, writing=False)
            undo.pop_all()
        return cls(path, db, copy=copy)

    def close(self) -> None:
        """Let go of the database and the lock. A second call does nothing."""
        with self._mutex:
            self._db.close()
            if self._lock is not None:
                self._lock.release()
            if self._copy is not None:
                self._copy.cleanup()

    def __enter__(self) -> "RunStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ----------------------------------------------------------------------------------- facts

    def append(self, facts: Iterable[Fact]) -> None:
        """Commit these facts together; all or none, and on disk when this returns. Raises StoreError."""
        at = self.now()
        rows = [encode(fact) for fact in facts]
        if not rows:
            return
        with self._mutex, storage_errors(self.folder):
            with self._db.atomic():
                _insert(self._db.conn, rows, at=at)     # first: it takes the right to write, so that nobody else does
                self._require_own_log(self._last + len(rows))
            self._last += len(rows)

    def now(self) -> float:
        """The time of a commit now, in seconds since the epoch: that of the clock when this store was opened, and
        what went by since. A clock that is set meanwhile makes a run neither longer nor shorter."""
        since_epoch, elapsed = self._opened
        return since_epoch + self._writing().elapsed() - elapsed

    def facts(
        self, *, only: Collection[type[Fact]] | None = None, about: str | None = None, texts: bool = True
    ) -> Iterator[Fact]:
        """All facts in the order they were committed, or some of them as in `facts_after`."""
        return (entry.fact for entry in self.facts_after(0, only=only, about=about, texts=texts))

    def facts_after(
        self, seq: int, *, only: Collection[type[Fact]] | None = None, about: str | None = None, texts: bool = True
    ) -> Iterator[Entry]:
        """The facts committed after place `seq` (0 for all). Ends at the last one: followers ask again.

        `only` picks classes; `about` an order and what belongs to it: g1/macro/7 also gives g1/macro/7/e3.
        Without `texts` prompts and replies are empty, which are most of a long log and decide nothing.
        Raises StoreError where the log is damaged.
        """
        whole = only is None and about is None
        while rows := self._rows(seq, only, about):
            values = self._fetch(rows, texts=texts)
            for number, at, kind, order, body in rows:
                if whole and number != seq + 1:
                    raise self._damage_error(f"fact {seq + 1} is missing")
                seq = number
                try:
                    entry = Entry(seq=number, at=time_of(at), fact=decode(kind, order, text_of(body), values))
                except StoreError as error:
                    raise self._damage_error(f"fact {number}: {error}") from error
                yield entry

    @property
    def last_seq(self) -> int:
        """The place of the last committed fact, 0 before the first."""
        with self._mutex, storage_errors(self.folder):
            return int(self._db.execute("SELECT coalesce(max(seq), 0) FROM facts").fetchone()[0])

    @property
    def identity(self) -> str:
        """64 hexadecimal digits of this run alone, from its first name and the time when it began."""
        with self._mutex, storage_errors(self.folder):
            query = "SELECT key, value FROM meta WHERE key IN ('run_id', 'created') ORDER BY key"
            return digest_of(json.dumps(self._db.execute(query).fetchall()))

    def _rows(self, seq: int, only: Collection[type[Fact]] | None, about: str | None) -> list[Any]:
        query = "SELECT seq, at, kind, order_id, body FROM facts WHERE seq > ?"
        arguments: list[Any] = [seq]
        if only is not None:
            query += " AND kind IN (SELECT value FROM json_each(?))"
            arguments.append(json.dumps([cls.__name__ for cls in only]))
        if about is not None:
            query += " AND (order_id = ? OR (order_id > ? AND order_id < ?))"
            arguments += [about, f"{about}/", f"{about}0"]  # "0" follows "/"
        with self._mutex, storage_errors(self.folder):
            return self._db.execute(f"{query} ORDER BY seq LIMIT {_CHUNK}", arguments).fetchall()

    def _fetch(self, rows: list[Any], *, texts: bool) -> Mapping[str, Any]:
        """The values of all references in these rows, from memory or from the database."""
        with self._mutex:
            try:
                wanted = {reference for row in rows for reference in references(text_of(row[4]))}
            except StoreError as error:
                raise self._damage_error(str(error)) from error
            unread = set() if texts else {reference for reference in wanted if reference.startswith(_UNREAD)}
            wanted -= unread
            if self._remembered > _REMEMBERED:
                self._values = {ref: self._values[ref] for ref in wanted if ref in self._values}
                self._remembered = 0
            missing: dict[str, list[str]] = {}
            for reference in wanted - self._values.keys():
                missing.setdefault(reference.partition(":")[2], []).append(reference)
            for digest, content in self._contents(missing):
                self._remembered += len(content)
                for reference in missing[digest]:
                    try:
                        self._values[reference] = revive(reference, text_of(content))
                    except StoreError as error:
                        raise self._damage_error(str(error)) from error
            return ChainMap(dict.fromkeys(unread, Document("")), self._values) if unread else self._values

    def _contents(self, digests: Collection[str]) -> list[Any]:
        if not digests:
            return []
        query = "SELECT digest, content FROM blobs WHERE digest IN (SELECT value FROM json_each(?))"
        with storage_errors(self.folder):
            return self._db.execute(query, [json.dumps(list(digests))]).fetchall()

    # -------------------------------------------------------------------------------- requests

    def request(self, kind: str, body: Mapping[str, JSON] | None = None, *, at: float) -> None:
        """Leave a request for the run's controller, from any process. Raises StoreError."""
        row = (at, kind, json.dumps(dict(body or {}), allow_nan=False))
        with self._mutex, storage_errors(self.folder), contextlib.ExitStack() as stack:
            db = self._db
            if self._lock is None:
                db = connect_guest(self.folder)
                stack.callback(db.close)
            with db.atomic():
                db.conn.execute("INSERT INTO requests (at, kind, body) VALUES (?, ?, ?)", row)

    def take_requests(self) -> tuple[Request, ...]:
        """The requests that nobody has taken yet, oldest first; they are taken now. Raises StoreError."""
        now = self.now()
        query = "SELECT id, at, kind, body FROM requests WHERE taken_at IS NULL ORDER BY id"
        with self._mutex, storage_errors(self.folder):
            rows = self._db.execute(query).fetchall()
            if rows:
                with self._db.atomic():
                    self._db.conn.executemany(
                        "UPDATE requests SET taken_at = ? WHERE id = ?", [(now, row[0]) for row in rows]
                    )
        return tuple(Request(id=row[0], at=row[1], kind=row[2], body=json.loads(row[3])) for row in rows)

    def requests(self, kind: str) -> tuple[Request, ...]:
        """All requests of this kind that were ever left, oldest first. Raises StoreError."""
        query = "SELECT id, at, kind, body FROM requests WHERE kind = ? ORDER BY id"
        with self._mutex, storage_errors(self.folder):
            rows = self._db.execute(query, [kind]).fetchall()
        return tuple(Request(id=row[0], at=row[1], kind=row[2], body=json.loads(row[3])) for row in rows)

    # --------------------------------------------------------------------------------- private

    def _writing(self) -> Clock:
        if self._clock is None:
            raise StoreError(f"the run {self.folder.name!r} was opened to read, not to write")
        return self._clock

    def _require_own_log(self, last: int) -> None:
        """Raises StoreError, within a commit, where the log does not end at place `last`: there is another writer."""
        if self.last_seq != last:
            raise store_error(
                self.folder, "is written by another process as well, which began after the lock file was removed: this "
                "process ends, and what it did not commit is done again by the other one"
            )

    def _damage_error(self, what: str) -> StoreError:
        return store_error(self.folder, f"is damaged: {what}")


def _acquire(folder: Path, clock: Clock) -> WriterLock:
    with storage_errors(folder, doing="written"):
        return WriterLock.acquire(folder, now=clock.now())


def _check(db: Database, folder: Path, *, writing: bool) -> None:
    try:
        check_version(db, writing=writing)
    except StoreError as error:
        raise store_error(folder, str(error), kind=type(error)) from error


def _insert(connection: sqlite3.Connection, rows: list[Encoded], *, at: float) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO blobs (digest, kind, content) VALUES (?, ?, ?)",
        [
            (reference.partition(":")[2], blob.kind, _storable(blob.content))
            for row in rows
            for reference, blob in row.blobs.items()
        ],
    )
    connection.executemany(
        "INSERT INTO facts (at, kind, order_id, body) VALUES (?, ?, ?, ?)",
        [(at, row.kind, row.order, _storable(row.body)) for row in rows],
    )


def _storable(text: str) -> str | bytes:
    """Lone surrogates, which a model's reply can hold, are no text to SQLite: such texts lie as bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def text_of(stored: str | bytes) -> str:
    """A text as it was before `_storable`. Raises StoreError."""
    try:
        return stored.decode("utf-8", "surrogatepass") if isinstance(stored, bytes) else stored
    except UnicodeDecodeError as error:
        raise StoreError(f"a text is not UTF-8: {error}") from error


def time_of(at: object) -> float:
    """The time of a fact, in seconds since the epoch. Raises StoreError for what is no time."""
    if not isinstance(at, int | float) or not 0 <= at < LAST_SECOND:
        raise StoreError(f"its time is {str(at)[:40]!r}")
    return at


def ask(folder: Path, kind: str) -> None:
    """Ask a live run to "stop" or to "pause". Raises UsageError for a run that is not live."""
    if not is_locked(folder):
        raise UsageError(f"the run {folder.name!r} is not live: there is nothing to {kind}")
    with RunStore.read(folder) as store:
        store.request(kind, at=time.time())


def end_pause(folder: Path) -> bool:
    """Ask a paused run to continue. Returns False if the run is not live. Raises UsageError if it is not paused."""
    if not is_locked(folder):
        return False
    with RunStore.read(folder) as store:
        marks = tuple(store.facts(only=(RunStarted, RunResumed, RunPaused, RunContinued)))
        if not marks or not isinstance(marks[-1], RunPaused):
            who = holder(folder) or "another process"
            raise UsageError(f"the run {folder.name!r} is live, {who} writes it: stop it first (memento stop {folder})")
        store.request("continue", at=time.time())
    return True
