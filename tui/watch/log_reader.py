"""Pages of a long log: which facts match a filter, and any window of them. Each call opens and closes the store."""

import sqlite3
from contextlib import closing
from pathlib import Path

from ...core.errors import StoreError
from ...memory.connect import connect_reader
from ...memory.errors import storage_errors
from ...memory.store import Entry
from .follower import BODY, decoded


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
            f"SELECT seq, at, kind, order_id, {BODY} FROM facts WHERE seq IN ({marks}) ORDER BY seq", places
        ).fetchall()
        return [*decoded(connection, rows)]


def _open(folder: Path) -> sqlite3.Connection:
    db, copy = connect_reader(folder)
    if copy is not None:
        db.close()
        copy.cleanup()
        raise StoreError("the log lies on a disk that cannot be written, as a killed process left it")
    connection: sqlite3.Connection = db.conn
    return connection
