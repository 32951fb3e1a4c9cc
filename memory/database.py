"""The SQLite database of a run: its connections, for one writer and any number of readers."""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from ..core.files import require_regular
from .runs import DATABASE, UNFINISHED
from .sqlite_library import Database

_BUSY_S = 10.0
_CANNOT_WRITE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
_NO_ROOM = sqlite3.SQLITE_IOERR_SHMSIZE     # for the index of the write-ahead log


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
    _require_regular(folder, writing=True)
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
    """A read-only connection, which works on a read-only or full disk too, and the folder of a copy if one was needed.

    The database is copied only if a killed writer left a write-ahead log on a disk where SQLite cannot rebuild
    the index of that log.
    """
    path = folder / DATABASE
    try:
        return Database(_open(path, "mode=ro"), execute_plugins=False), None
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _CANNOT_WRITE and error.sqlite_errorcode != _NO_ROOM:
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


def _require_regular(folder: Path, *, writing: bool) -> None:
    """Raise OSError where a run's database, its log or its index is no regular file: SQLite would open it."""
    require_regular(folder / DATABASE, links=not writing)
    for end in ("-wal", "-shm", "-journal"):
        require_regular(folder / f"{DATABASE}{end}", links=False)


def _open(path: Path, mode: str) -> sqlite3.Connection:
    _require_regular(path.parent, writing=mode == "mode=rw")
    connection = sqlite3.connect(
        f"file:{quote(os.fsencode(path.absolute()))}?{mode}", uri=True, timeout=_BUSY_S, check_same_thread=False
    )
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
