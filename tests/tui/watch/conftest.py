"""Runs to watch: a recorded one that is done, and the same one half way, live."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from memento.core.events import Fact
from memento.memory.store import RunStore

from .recording import SetClock, begin, recorded


@pytest.fixture(scope="session")
def facts() -> list[tuple[float, Fact]]:
    return recorded()


@pytest.fixture
def done(tmp_path: Path, facts: list[tuple[float, Fact]]) -> Path:
    """The folder of a run that is done."""
    folder = tmp_path / "runs" / "first"
    begin(folder, facts, SetClock()).close()
    return folder


@dataclass
class LiveRun:
    """A run that this process writes, with the facts that are still to come."""

    store: RunStore
    clock: SetClock
    rest: list[tuple[float, Fact]]

    @property
    def folder(self) -> Path:
        return self.store.folder

    def go_on(self, many: int) -> None:
        from .recording import BEGAN

        for at, fact in self.rest[:many]:
            self.clock.at = BEGAN + at
            self.store.append([fact])
        del self.rest[:many]


@pytest.fixture
def live(tmp_path: Path, facts: list[tuple[float, Fact]]) -> Iterator[LiveRun]:
    """A run in the middle of its search."""
    clock, half = SetClock(), next(
        place for place, (_, fact) in enumerate(facts) if fact.order == "g2/macro/0" and "Scored" in type(fact).__name__
    )
    store = begin(tmp_path / "runs" / "live", facts[:half], clock)
    yield LiveRun(store, clock, facts[half:])
    store.close()
