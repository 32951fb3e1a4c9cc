"""Hands the facts of a run to a sink: those that are there, and of a live run those that come until it ends."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from ...core.errors import UsageError
from ...memory.lock import is_locked
from ...memory.store import Entry, RunStore
from .sink import ExportedRun, Sink

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
