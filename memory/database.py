"""The SQLite database of a run: connections, tables as numbered migrations, and its errors in plain words."""

import contextlib
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from ..core.errors import DISK_FULL, RunRefused, StoreError, os_problem
from .runs import DATABASE, UNFINISHED

# Errors of a run's store, as a StoreError that names the run, the problem and the fix.


_PROBLEMS = {
    sqlite3.SQLITE_BUSY: "is busy: another process holds its database; try again",
    sqlite3.SQLITE_LOCKED: "is busy: another connection holds its database; try again",
    sqlite3.SQLITE_READONLY: "cannot be written: its folder or disk is read-only",
    sqlite3.SQLITE_CANTOPEN: f"cannot be opened: check the permissions of the folder and of {DATABASE}",
    sqlite3.SQLITE_PERM: f"cannot be opened: check the permissions of the folder and of {DATABASE}",
    sqlite3.SQLITE_FULL: f"cannot be written: {DISK_FULL}",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk reports an error",
    sqlite3.SQLITE_CORRUPT: f"is damaged: {DATABASE} is cut off or overwritten; restore a copy, or start a new run",
    sqlite3.SQLITE_NOTADB: f"is damaged: {DATABASE} is not a database; restore a copy, or start a new run",
}


@contextmanager
def storage_errors(folder: Path, *, doing: str = "opened") -> Iterator[None]:
    """Turn errors of SQLite and of the system into StoreErrors about the run in `folder`.

    `doing` completes "the run cannot be …" for an error of the system, such as "written".
    """
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise store_error(folder, _PROBLEMS.get(code, f"cannot be used: {error}")) from error
    except OSError as error:
        raise store_error(folder, f"cannot be {doing}: {os_problem(error)}") from error


def store_error(folder: Path, problem: str, *, kind: type[StoreError] = StoreError) -> StoreError:
    """An error about the run in `folder`; `problem` continues the sentence after its name, as in "is damaged: …"."""
    return kind(f"the run {folder.name!r} in {folder.parent} {problem}")


# sqlite_utils, imported without pandas.
#
# sqlite_utils imports pandas where it is installed, only to know one more type of column. That takes 0.7 s of each
# command, and no table here has such a column.


_hidden = "pandas" not in sys.modules
if _hidden:
    sys.modules["pandas"] = None  # type: ignore[assignment]  # how Python says that a module cannot be imported
try:
    from sqlite_utils import Database, Migrations
finally:
    if _hidden:
        del sys.modules["pandas"]

__all__ = ["Database", "Migrations"]


_BUSY_S = 10.0
_CANNOT_WRITE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}


def make_database(folder: Path, fill: Callable[[Database], None]) -> None:
    """Make a run's database. It gets its name after `fill` has returned, so that readers never see half of one.

    Leftovers of a process that was killed here are removed; the caller holds the run's lock. Raises OSError and
    the exceptions of SQLite.
    """
    for left in folder.glob(f"{DATABASE}*"):
        left.unlink()
    with contextlib.closing(Database(sqlite3.connect(folder / UNFINISHED), execute_plugins=False)) as db:
        fill(db)
        db.enable_wal()     # last: a full disk could leave the tables in the log, which is not renamed
    (folder / UNFINISHED).rename(folder / DATABASE)


def connect_writer(folder: Path) -> Database:
    """The only writing connection: a commit survives a crash of the process, not of the machine."""
    connection = sqlite3.connect(folder / DATABASE, timeout=_BUSY_S, check_same_thread=False)
    try:
        db = Database(connection, execute_plugins=False)
        db.enable_wal()
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return db


def connect_guest(folder: Path) -> Database:
    """A short-lived connection that may write while the writer does. The database must exist."""
    return Database(_open(folder / DATABASE, "mode=rw"), execute_plugins=False)


def connect_reader(folder: Path) -> tuple[Database, "tempfile.TemporaryDirectory[str] | None"]:
    """A read-only connection, which works on a read-only disk too, and the folder of a copy if one was needed.

    The database is copied only if a killed writer left a write-ahead log on a disk where SQLite cannot rebuild
    the index of that log.
    """
    path = folder / DATABASE
    try:
        return Database(_open(path, "mode=ro"), execute_plugins=False), None
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _CANNOT_WRITE:
            raise
    log = path.with_name(f"{DATABASE}-wal")
    if not log.exists() or log.stat().st_size == 0:
        return Database(_open(path, "mode=ro&immutable=1"), execute_plugins=False), None
    copy = tempfile.TemporaryDirectory(prefix="memento-")
    try:
        for source in (log, path):
            shutil.copyfile(source, Path(copy.name) / source.name)
        return Database(_open(Path(copy.name) / DATABASE, "mode=rw"), execute_plugins=False), copy
    except BaseException:
        copy.cleanup()
        raise


def _open(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?{mode}", uri=True, timeout=_BUSY_S, check_same_thread=False
    )
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


# The tables of a run's database, as numbered migrations.


def _first(db: Database) -> None:
    db.execute(
        "CREATE TABLE facts (seq INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, order_id TEXT, "
        "body TEXT NOT NULL)"
    )
    db.execute(
        "CREATE TABLE blobs (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, "
        "content TEXT NOT NULL)"
    )
    db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    db.execute(
        "CREATE TABLE requests (id INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, "
        "body TEXT NOT NULL, taken_at REAL)"
    )
    # Viewers query a few kinds of facts in a long log, or the facts of one candidate.
    db.execute("CREATE INDEX facts_by_kind ON facts (kind)")
    db.execute("CREATE INDEX facts_by_order ON facts (order_id)")


# Numbered, applied in this order, never changed once released: a new version appends.
STEPS = (("0001 facts, blobs, meta, requests", _first),)

migrations = Migrations("memento.run")
for _name, _step in STEPS:
    migrations(name=_name)(_step)


def begin(db: Database, about: Mapping[str, str]) -> None:
    """Make the tables of a new run and store its initial metadata."""
    migrate(db)
    with db.atomic():
        db.conn.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", about.items())


def migrate(db: Database) -> None:
    """Bring the tables up to this version."""
    migrations.apply(db)
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('schema_version', ?)", [str(len(STEPS))])
    db.commit()


def check_version(db: Database, *, writing: bool) -> None:
    """Raises StoreError for a database that is not a run, is from a newer version or, to read, from an older one."""
    applied = [migration.name for migration in migrations.applied(db)]
    if not applied:
        raise StoreError("is not a run, or its database is damaged: it has no tables")
    known = [name for name, _ in STEPS]
    newer = [name for name in applied if name not in known]
    if newer:
        raise RunRefused(f"was made by a newer version of MEMENTO (it has {newer[-1]!r}): update MEMENTO")
    if not writing and migrations.pending(db):
        raise StoreError("was made by an older version of MEMENTO: memento resume brings it up to date")
