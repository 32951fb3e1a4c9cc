"""Connections to a run's database, and what SQLite's errors mean to a person."""

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from sqlite_utils import Database

from ..core.errors import StoreError
from .runs import DATABASE, UNFINISHED

_BUSY_S = 10.0
_CANNOT_WRITE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}

_MEANINGS = {
    sqlite3.SQLITE_BUSY: "is busy: another process holds its database; try again",
    sqlite3.SQLITE_LOCKED: "is busy: another connection holds its database; try again",
    sqlite3.SQLITE_READONLY: "cannot be written: its folder or disk is read-only",
    sqlite3.SQLITE_CANTOPEN: f"cannot be opened: look at the permissions of the folder and of {DATABASE}",
    sqlite3.SQLITE_PERM: f"cannot be opened: look at the permissions of the folder and of {DATABASE}",
    sqlite3.SQLITE_FULL: "cannot be written: the disk is full; free some space and resume it, no fact is lost",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk reports an error",
    sqlite3.SQLITE_CORRUPT: f"is damaged: {DATABASE} is cut off or overwritten; take a copy, or start anew",
    sqlite3.SQLITE_NOTADB: f"is damaged: {DATABASE} is not a database; take a copy, or start anew",
}


@contextlib.contextmanager
def told(folder: Path) -> Iterator[None]:
    """Turns errors of SQLite and sentences about "it" into StoreErrors that name the run."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        meaning = _MEANINGS.get(code, f"cannot be used: {error}")
        raise StoreError(f'the run "{folder.name}" in {folder.parent} {meaning}') from error


def make_database(folder: Path, fill: Callable[[Database], None]) -> None:
    """Make a run's database, which gets its name when `fill` is done with it: readers never meet half of one.

    What a process that was killed over it left there is removed; the caller holds the run's lock. Raises
    StoreError, and what SQLite raises.
    """
    try:
        for left in folder.glob(f"{DATABASE}*"):
            left.unlink()
        with contextlib.closing(Database(sqlite3.connect(folder / UNFINISHED), execute_plugins=False)) as db:
            fill(db)
            db.enable_wal()     # last: a full disk could leave the tables in the log, which is not renamed
        (folder / UNFINISHED).rename(folder / DATABASE)
    except OSError as error:
        raise StoreError(f'the run "{folder.name}" in {folder.parent} cannot be made: {error.strerror}') from error


def connect_writer(folder: Path) -> Database:
    """The one writing connection: a commit survives the death of the process, not of the machine."""
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
    """A short-lived connection that may write beside the writer. The database must exist."""
    return Database(_open(folder / DATABASE, "mode=rw"), execute_plugins=False)


def connect_reader(folder: Path) -> tuple[Database, "tempfile.TemporaryDirectory[str] | None"]:
    """A read-only connection, on a read-only disk too, and the folder of a copy where one had to be made.

    SQLite cannot read a log that a killed writer left on a disk where it may not rebuild the log's index:
    only then is the database copied.
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
