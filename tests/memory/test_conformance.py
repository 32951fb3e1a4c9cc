import pytest
from memento.memory.store import RunStore

from ..conformance.store import LogContract, StoppedClock
from ..support.volatile_store import VolatileStore

pytestmark = pytest.mark.quick


class TestRunStore(LogContract):
    @pytest.fixture
    def store(self, clock, tmp_path):
        with RunStore.create(tmp_path / "run", clock=clock) as store:
            yield store


class TestReopenedRunStore(LogContract):
    """Reads through a second connection: nothing may live in the writer's memory."""

    @pytest.fixture
    def store(self, clock, tmp_path):
        with RunStore.create(tmp_path / "run", clock=clock) as writer, RunStore.read(tmp_path / "run") as reader:
            yield WriteHereReadThere(writer, reader)


class WriteHereReadThere:
    def __init__(self, writer: RunStore, reader: RunStore) -> None:
        self.append = writer.append
        self.facts = reader.facts
        self.facts_after = reader.facts_after
        self._reader = reader

    @property
    def last_seq(self) -> int:
        return self._reader.last_seq


class TestVolatileStore(LogContract):
    @pytest.fixture
    def store(self, clock: StoppedClock):
        return VolatileStore(clock=clock)
