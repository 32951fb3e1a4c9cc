"""Writes the tables of a run as Parquet files. Imports pyarrow when it is made."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ...core.errors import MementoError, UsageError, os_problem
from ...core.extras import require
from ...core.files import PARTIAL, replacing
from ...memory.store import Entry
from .rows import COLUMNS, METRIC, Row, Tables, extra_columns
from .sink import ExportedRun, Texts

EVERY_S: Final = 5.0    # at least, between two writings of the files of a live run
SHARE: Final = 10       # and at least so many times as long as the last writing took


class ParquetSink:
    """One file per table. Each writing replaces a file as a whole, so a reader or a kill never finds half of one."""

    def __init__(self, source: ExportedRun, folder: Path, texts: Texts) -> None:
        require("parquet", "memento export --to parquet")
        import pyarrow
        import pyarrow.parquet

        self._arrow: Any = pyarrow
        self._folder = folder
        self._texts = texts
        self._tables = Tables(source, texts)
        self._changed = False
        self._due = 0.0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in COLUMNS:
                for left in folder.glob(f".{name}.parquet.*{PARTIAL}"):     # by a process that was killed
                    left.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write into {folder}: {os_problem(error)}") from None
        self._require_same_run(source)

    @property
    def place(self) -> str:
        """The folder."""
        return str(self._folder)

    def take(self, entries: Sequence[Entry]) -> None:
        """Add facts to the tables."""
        for entry in entries:
            self._tables.apply(entry)
        self._changed = True

    def flush(self) -> None:
        """Write the files, unless that was done a moment ago. Raises MementoError."""
        if self._changed and time.monotonic() >= self._due:
            self._write()

    def close(self, *, complete: bool) -> None:
        """Write the files. Raises MementoError."""
        if self._changed:
            self._write()

    def _write(self) -> None:
        began = time.monotonic()
        try:
            for name in COLUMNS:
                with replacing(self._folder / f"{name}.parquet") as partial:
                    self._arrow.parquet.write_table(self._table(name), partial, compression="zstd")
        except OSError as error:
            raise MementoError(f"cannot write into {self._folder}: {os_problem(error)}") from None
        now = time.monotonic()
        self._changed, self._due = False, now + max(EVERY_S, SHARE * (now - began))

    def _table(self, name: str) -> Any:
        rows = self._tables.rows(name)
        kinds = {**COLUMNS[name], **extra_columns(name, self._texts)}
        kinds |= dict.fromkeys(sorted({key for row in rows for key in row if key.startswith(METRIC)}), "float")
        arrays = [self._arrow.array(_values(rows, key, kind), self._type(kind)) for key, kind in kinds.items()]
        return self._arrow.table(arrays, names=list(kinds))

    def _type(self, kind: str) -> Any:
        arrow = self._arrow
        return {
            "text": arrow.string(), "int": arrow.int64(), "float": arrow.float64(), "bool": arrow.bool_(),
            "time": arrow.timestamp("us", tz="UTC"), "texts": arrow.list_(arrow.string()),
            "ints": arrow.list_(arrow.int64()),
        }[kind]

    def _require_same_run(self, source: ExportedRun) -> None:
        """Raises UsageError if the files of another run are in the folder."""
        path = self._folder / "runs.parquet"
        if not path.exists():
            return
        try:
            known = self._arrow.parquet.read_table(path, columns=["run", "identity"]).to_pylist()
        except (OSError, self._arrow.ArrowException):
            raise UsageError(f"{path} is not of an export: choose another --out") from None
        if [row["identity"] for row in known] != [source.identity]:
            other = ", ".join(str(row["run"]) for row in known)
            raise UsageError(f"{self._folder} holds the export of another run ({other}): choose another --out")


def _values(rows: Sequence[Row], key: str, kind: str) -> list[object]:
    """A column. Times become whole microseconds."""
    values = [row.get(key) for row in rows]
    if kind != "time":
        return values
    return [round(value * 1_000_000) if isinstance(value, int | float) else None for value in values]
