"""The data for the screen of one candidate: its record and those for comparison."""

from dataclasses import dataclass
from pathlib import Path

from ...core.order_ids import SEARCH, parse
from ...memory.lookup import Record, find, parents_of
from ...memory.store import RunStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """One record, with its parents and the elite for comparison; those without a program are left out."""

    record: Record
    parents: tuple[Record, ...] = ()
    elite: Record | None = None


def read_details(folder: Path, name: str, *, elite: str | None) -> Details:
    """The details of `name`. Raises MementoError if the store cannot be read."""
    with RunStore.read(folder) as store:
        record = find(store, name) or Record(id=name)
        best = find(store, elite) if elite is not None and elite != name and parse(name).stage == SEARCH else None
        return Details(
            record=record, parents=tuple(parents_of(store, record)),
            elite=best if best is not None and best.program is not None else None,
        )
