"""Errors of a run's store, as a StoreError that names the run, the problem and the fix."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.errors import DISK_FULL, StoreError, os_problem
from .runs import DATABASE

_PROBLEMS = {
    sqlite3.SQLITE_BUSY: "is busy: another process holds its database; try again",
    sqlite3.SQLITE_LOCKED: "is busy: another connection holds its database; try again",
    sqlite3.SQLITE_READONLY: "cannot be written: its folder or disk is read-only",
    sqlite3.SQLITE_CANTOPEN: f"cannot be opened: check the permissions of the folder and of {DATABASE}",
    sqlite3.SQLITE_PERM: f"cannot be opened: check the permissions of the folder and of {DATABASE}",
    sqlite3.SQLITE_FULL: f"cannot be written: {DISK_FULL}",
    sqlite3.SQLITE_IOERR_SHMSIZE: f"cannot be written: {DISK_FULL}",
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
        code = getattr(error, "sqlite_errorcode", 0)
        problem = _PROBLEMS.get(code) or _PROBLEMS.get(code & 0xFF) or f"cannot be used: {error}"
        raise store_error(folder, problem) from error
    except OSError as error:
        raise store_error(folder, f"cannot be {doing}: {os_problem(error)}") from error


def store_error(folder: Path, problem: str, *, kind: type[StoreError] = StoreError) -> StoreError:
    """An error about the run in `folder`; `problem` continues the sentence after its name, as in "is damaged: …"."""
    return kind(f"the run {folder.name!r} in {folder.parent} {problem}")
