"""What an export writes to, and what it may write."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

from ...core.errors import UsageError
from ...core.events import EvaluatorChosen
from ...core.text import printable
from ...core.values import JSON, Program
from ...memory.lock import is_locked
from ...memory.lookup import last_elite, look_up
from ...memory.store import Entry, RunStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedRun:
    """The run that is exported. `identity` is 64 hexadecimal digits that stay if the folder is moved or copied."""

    folder: Path
    identity: str

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.resolve().name


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Which long texts leave the log. Programs are policies; prompts also stands for replies."""

    programs: bool = False
    prompts: bool = False


class Sink(Protocol):
    """Writes facts in the form of one tool.

    It always receives the whole log, from the first fact on. A second export of the same run adds what is new, also if
    the first one was killed: a sink knows, or finds out, what has arrived.
    """

    @property
    def place(self) -> str:
        """Where it writes to, for messages."""

    def take(self, entries: Sequence[Entry]) -> None:
        """Add facts, oldest first. Raises MementoError if the destination fails."""

    def flush(self) -> None:
        """Write what was taken; it may wait for more if it wrote a moment ago. Raises MementoError."""

    def close(self, *, complete: bool) -> None:
        """Write everything, and release what is open. `complete`: the run has no writer any more, and all facts were
        taken. Raises MementoError."""


# Hands the facts of a run to a sink: those that are there, and of a live run those that come until it ends.


POLL_S: Final = 1.0     # between looks at a live log
PIECE: Final = 500      # facts that a sink takes at a time


def source_of(folder: Path) -> ExportedRun:
    """The run in this folder. Raises UsageError, StoreError."""
    with RunStore.read(folder) as store:
        return ExportedRun(folder=folder, identity=store.identity)


def follow(source: ExportedRun, sink: Sink, *, texts: bool, stopped: Callable[[], bool]) -> bool:
    """Hand over all facts until the run has no writer any more; returns False if `stopped` ended it before.

    `texts`: also read prompts and replies. The caller closes the sink. Raises UsageError if another run took the
    folder, StoreError, and what the sink raises.
    """
    seq = 0
    while True:
        live = is_locked(source.folder)     # before the read: what its writer committed by then is read below
        with RunStore.read(source.folder) as store:
            if store.identity != source.identity:
                raise UsageError(f"another run took the folder {source.folder}: export it again")
            for entries in _pieces(store.facts_after(seq, texts=texts)):
                sink.take(entries)
                seq = entries[-1].seq
                if stopped():
                    return False
        sink.flush()
        if not live:
            return True
        if stopped():
            return False
        time.sleep(POLL_S)


def _pieces(entries: Iterable[Entry]) -> Iterator[Sequence[Entry]]:
    iterator = iter(entries)
    while piece := tuple(islice(iterator, PIECE)):
        yield piece


# Values of a run as other tools take them: flat names, plain numbers, no secrets. Pure.


HIDDEN: Final = frozenset({"salt"})     # whoever knows it can compute the seeds of all episodes
_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]")


def shown_settings(settings: Mapping[str, JSON]) -> dict[str, JSON]:
    """The settings under dotted names, such as options.horizon, without the salt. Settings never hold keys."""
    return {name: value for key, part in settings.items() if key not in HIDDEN for name, value in _flat(key, part)}


def metric_numbers(metrics: Mapping[str, JSON]) -> dict[str, float]:
    """The numbers of metrics, one candidate's (its means and rates) or one episode's, by a name for a column."""
    found = {}
    for name, value in metrics.items():
        if isinstance(value, dict):
            value = value.get("mean", value.get("rate"))
        if isinstance(value, bool | int | float):
            found[column(name)] = float(value)
    return found


def column(name: str) -> str:
    """A name that every tool takes: letters, digits, dots, dashes and underscores."""
    return _NAME.sub("_", name)


def text(given: str) -> str:
    """A text of a model or a program as valid UTF-8, without control characters."""
    return printable(given)


def without_user(url: str) -> str:
    """A URL for messages, without the user and password that it may hold."""
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"


def _flat(name: str, value: JSON) -> list[tuple[str, JSON]]:
    if isinstance(value, dict) and value:
        return [pair for key, part in value.items() for pair in _flat(f"{name}.{key}", part)]
    return [(name, value)]


# The programs of a run that an export may add as files: its elite, and its frozen evaluator.


def program_files(folder: Path) -> dict[str, str]:
    """The texts by the name of a file; what the run does not have yet is left out. Raises StoreError."""
    found: dict[str, Program | None] = {}
    with RunStore.read(folder) as store:
        elite = last_elite(store)
        if elite is not None:
            found["elite.py"] = look_up(store, elite).program
        for fact in store.facts(only=(EvaluatorChosen,)):
            if isinstance(fact, EvaluatorChosen) and fact.final:
                found["evaluator.py"] = fact.chosen.program
    return {name: text(program.text) for name, program in found.items() if program is not None}
