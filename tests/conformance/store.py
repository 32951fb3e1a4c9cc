"""The contract of every store of facts: inherit StoreContract, or LogContract, and define the `store` fixture."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.errors import StoreError
from memento.core.events import EpisodeScored, Fact, RunResumed, StageEntered, VoteCast
from memento.core.values import Score

from ..support.strategies import PATIENT, facts


class StoppedClock:
    """A clock that shows a fixed time."""

    def __init__(self, now: float = 1_700_000_000.5) -> None:
        self.time = now

    def now(self) -> float:
        return self.time

    def elapsed(self) -> float:
        return self.time


def stages(first: int, last: int) -> list[Fact]:
    return [StageEntered(stage=f"s{number}") for number in range(first, last)]


class StoreContract:
    """`core.ports.Store`. The fixture `store` is an empty store; `clock` is its StoppedClock."""

    @pytest.fixture
    def clock(self) -> StoppedClock:
        return StoppedClock()

    @pytest.fixture
    def store(self, clock: StoppedClock) -> Any:
        raise NotImplementedError

    def test_an_empty_store_has_no_facts(self, store: Any) -> None:
        assert list(store.facts()) == []

    def test_facts_come_back_in_order(self, store: Any) -> None:
        for number in range(7):
            store.append(stages(3 * number, 3 * number + 3))
        assert list(store.facts()) == stages(0, 21)

    @settings(PATIENT, max_examples=40)  # one growing log, several subclasses: both intended
    @given(batch=st.lists(facts, max_size=4))
    def test_any_fact_comes_back_exactly(self, store: Any, batch: list[Fact]) -> None:
        before = len([*store.facts()])
        store.append(batch)
        again = [*store.facts()][before:]
        assert again == batch
        assert repr(again) == repr(batch)

    def test_a_batch_with_a_bad_fact_leaves_nothing(self, store: Any) -> None:
        store.append(stages(0, 2))
        with pytest.raises(StoreError):
            store.append([*stages(2, 4), EpisodeScored(score=Score(fitness=float("nan")))])
        store.append(stages(2, 3))
        assert list(store.facts()) == stages(0, 3)

    def test_a_batch_whose_iteration_fails_leaves_nothing(self, store: Any) -> None:
        def failing() -> Any:
            yield RunResumed()
            raise OSError("no more")

        with pytest.raises(OSError, match="no more"):
            store.append(failing())
        assert list(store.facts()) == []

    def test_an_empty_batch_changes_nothing(self, store: Any) -> None:
        store.append([])
        assert list(store.facts()) == []

    def test_the_store_keeps_values_not_references(self, store: Any) -> None:
        metrics: dict[str, Any] = {"reached": 1}
        store.append([EpisodeScored(score=Score(fitness=0.5, metrics=metrics))])
        metrics["reached"] = 2
        (fact,) = store.facts()
        assert fact.score.metrics == {"reached": 1}

    def test_facts_can_be_appended_while_reading(self, store: Any) -> None:
        store.append(stages(0, 3))
        for number, _ in enumerate(store.facts()):
            if number < 3:
                store.append(stages(number, number + 1))
        assert len([*store.facts()]) == 6

    def test_batches_of_several_threads_do_not_mix(self, store: Any) -> None:
        def append(first: int) -> None:
            for number in range(first, first + 60, 3):
                store.append(stages(number, number + 3))

        def read() -> None:
            while len([*store.facts()]) < 120:
                pass

        with ThreadPoolExecutor(3) as threads:
            for done in [threads.submit(append, 0), threads.submit(append, 100), threads.submit(read)]:
                done.result(timeout=60)
        numbers = [int(fact.stage[1:]) for fact in store.facts()]
        batches = [numbers[place : place + 3] for place in range(0, 120, 3)]
        assert all(batch == [*range(batch[0], batch[0] + 3)] for batch in batches)
        for thread in (0, 100):
            firsts = [batch[0] for batch in batches if batch[0] // 100 == thread // 100]
            assert firsts == [*range(thread, thread + 60, 3)], "in the order of the thread's commits"


class LogContract(StoreContract):
    """The additions of RunStore: entries with place and date, new entries, entries of a class or an order."""

    def test_an_empty_log_has_no_last_place(self, store: Any) -> None:
        assert store.last_seq == 0
        store.append([])
        assert store.last_seq == 0

    def test_places_are_counted_from_one_and_skip_nothing(self, store: Any) -> None:
        store.append(stages(0, 2))
        with pytest.raises(StoreError):
            store.append([EpisodeScored(score=Score(fitness=float("nan")))])
        store.append(stages(2, 3))
        assert [entry.seq for entry in store.facts_after(0)] == [1, 2, 3]

    def test_followers_get_what_is_new(self, store: Any) -> None:
        store.append(stages(0, 5))
        seen = [entry.seq for entry in store.facts_after(3)]
        assert seen == [4, 5]
        store.append(stages(5, 6))
        assert [entry.fact for entry in store.facts_after(seen[-1])] == stages(5, 6)
        assert list(store.facts_after(6)) == []

    def test_entries_are_dated(self, store: Any, clock: StoppedClock) -> None:
        store.append([RunResumed()])
        clock.time += 60
        store.append([RunResumed(), RunResumed()])
        first, second, third = (entry.at for entry in store.facts_after(0))
        assert second - first == 60
        assert second == third

    def test_some_classes_only(self, store: Any) -> None:
        vote = VoteCast(generation=0, seat=1, choice=None, reason="")
        store.append([*stages(0, 2), vote, *stages(2, 4), vote])
        assert list(store.facts(only=[VoteCast])) == [vote, vote]
        assert [entry.seq for entry in store.facts_after(3, only=(VoteCast,))] == [6]
        assert list(store.facts(only=[])) == []

    def test_about_one_order(self, store: Any) -> None:
        orders = ["g1/macro/7", "g1/macro/70", "g1/macro/7/e3", "g1/macro/7/e3/score", "g1/macro/8", None]
        store.append([RunResumed(order=order) for order in orders])
        store.append([StageEntered(order="g1/macro/7", stage="search")])
        assert [entry.seq for entry in store.facts_after(0, about="g1/macro/7")] == [1, 3, 4, 7]
        assert [entry.seq for entry in store.facts_after(1, about="g1/macro/7", only=[RunResumed])] == [3, 4]
