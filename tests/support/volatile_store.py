"""A store in memory for tests: the interface of RunStore, lost with the process."""

import copy
import itertools
import threading
from collections.abc import Collection, Iterable, Iterator

from memento.core.events import Fact
from memento.core.ports import Clock
from memento.memory.codec import decode, encode, references, revive
from memento.memory.store import Entry


def round_trip(fact: Fact) -> Fact:
    """The fact as it comes back from a store."""
    kind, order, body, blobs = encode(fact)
    found = {ref: revive(ref, blobs[ref].content) for ref in references(body) if ref in blobs}
    return decode(kind, order, body, found)


class VolatileStore:
    """Keeps facts in a list. Refuses the same facts as a real store."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._opened = clock.now() - clock.elapsed()
        self._entries: list[Entry] = []
        self._mutex = threading.Lock()

    def append(self, facts: Iterable[Fact]) -> None:
        """Store these facts together, all or none. Raises StoreError if one cannot be stored exactly."""
        given = [copy.deepcopy(fact) for fact in facts]
        for fact in given:
            encode(fact)
        at = self._opened + self._clock.elapsed()
        with self._mutex:
            first = len(self._entries) + 1
            self._entries += [Entry(seq=seq, at=at, fact=fact) for seq, fact in enumerate(given, start=first)]

    def facts(self, *, only: Collection[type[Fact]] | None = None, about: str | None = None) -> Iterator[Fact]:
        """All facts in the order they were committed, or some of them as in `facts_after`."""
        return (entry.fact for entry in self.facts_after(0, only=only, about=about))

    def facts_after(
        self, seq: int, *, only: Collection[type[Fact]] | None = None, about: str | None = None
    ) -> Iterator[Entry]:
        """The facts after place `seq` (0 for all), of some classes `only`, `about` an order."""
        for place in itertools.count(seq):
            if place >= len(self._entries):
                return
            entry = self._entries[place]
            order = entry.fact.order or ""
            if (only is None or type(entry.fact) in only) and (
                about is None or order == about or order.startswith(f"{about}/")
            ):
                yield entry

    @property
    def last_seq(self) -> int:
        """The place of the last committed fact, 0 before the first."""
        return len(self._entries)
