"""The state of a resumed run from its log: complete, and no fact stays in memory."""

import gc
import io
from collections.abc import Iterable
from pathlib import Path

import pytest
from memento.app.cluster import Machines
from memento.app.history import outline_of, past_use
from memento.app.session import Session, Work
from memento.core.errors import StoreError
from memento.core.events import Fact, RunResumed, RunStarted, RunStopped, StageEntered
from memento.domains import load
from memento.memory.run_status import status_of
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock
from memento.settings import Settings, build_settings
from memento.tui.display import open_display

from ..support.realistic_log import EPISODES, generation

GENERATIONS = 30
HERE = Machines(layers=(), isolated=False)


@pytest.fixture
def settings() -> Settings:
    return build_settings({"domain": "hanoi-kinematic", "preset": "smoke", "evaluator": "reference"}, environment={})


@pytest.fixture
def store(tmp_path: Path, settings: Settings) -> Iterable[RunStore]:
    with RunStore.create(tmp_path / "run", clock=SystemClock()) as store:
        store.append([RunStarted(settings=settings.as_json(), versions={}), StageEntered(stage="search")])
        for number in range(1, GENERATIONS + 1):
            store.append(generation(number, number / 100))
        store.append([RunStopped(reason="budget")])
        yield store


def test_the_outline_is_that_of_the_last_session(store: RunStore) -> None:
    assert (outline_of(store).done, outline_of(store).left) == (False, "budget")
    store.append([RunResumed(budgets={"budget_calls": 9})])
    outline = outline_of(store)
    assert (outline.left, outline.settings.budget_calls) == (None, 9)
    assert outline.started.settings["domain"] == "hanoi-kinematic"
    store.append([StageEntered(stage="done")])
    assert outline_of(store).done


def test_a_run_without_a_fact_is_refused(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", clock=SystemClock()) as store, pytest.raises(StoreError, match="killed"):
        outline_of(store)


def test_the_use_of_earlier_sessions(store: RunStore) -> None:
    use = past_use(store)
    spent = use.spending.by_role()
    status = status_of(store.facts_after(0))
    assert spent["proposer"].calls == status.spending.total.calls == GENERATIONS * 10
    assert use.status.active_s == status.active_s


class Counting:
    """A display that counts the facts in memory while a run is recalled."""

    def __init__(self) -> None:
        self.most = self.seen = 0
        self.shown: list[Fact] = []

    def recall(self, facts: Iterable[Fact]) -> None:
        for _ in facts:
            self.seen += 1
            if self.seen % 500 == 0:
                self.most = max(self.most, sum(isinstance(each, Fact) for each in gc.get_objects()))

    def show(self, fact: Fact) -> None:
        self.shown.append(fact)


@pytest.mark.slow
def test_no_fact_stays_in_memory(store: RunStore, settings: Settings) -> None:
    before = sum(isinstance(each, Fact) for each in gc.get_objects())
    started = outline_of(store).started
    domain = load("hanoi-kinematic")
    work = Work(settings=settings, domain=domain, started=started, machines=HERE, models=None, workers=1)
    session = Session(work, store)
    display = Counting()
    session.resume(RunResumed(), display)
    assert display.seen == store.last_seq - 1 > GENERATIONS * 10 * (2 + 2 * EPISODES)
    assert display.most - before < 20
    assert [type(fact) for fact in display.shown] == [RunResumed]
    assert [type(fact) for fact in store.facts()][-1] is RunResumed
    assert session._use.status.candidates == GENERATIONS * 10
    assert session._use.status.status == "running"


@pytest.mark.parametrize("kind", ["plain", "rich", "none"])
def test_a_display_need_not_read_the_past(store: RunStore, settings: Settings, kind: str) -> None:
    started = outline_of(store).started
    domain = load("hanoi-kinematic")
    work = Work(settings=settings, domain=domain, started=started, machines=HERE, models=None, workers=1)
    session = Session(work, store)
    session.resume(RunResumed(), open_display(kind, io.StringIO(), environment={}))
    assert session._use.status.candidates == GENERATIONS * 10
