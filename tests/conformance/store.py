"""What every store of facts must do: inherit StoreContract and give it a `store` fixture."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.errors import StoreError
from memento.core.events import EpisodeScored, Fact, RunResumed, StageEntered, VoteCast
from memento.core.values import Score

from ..support.strategies import PATIENT, facts


class StoppedClock:
    """A clock that tells what it was set to."""

    def __init__(self, now: float = 1_700_000_000.5) -> None:
        self.time = now

    def now(self) -> float:
        return self.time

    def elapsed(self) -> float:
        return self.time


def stages(first: int, last: int) -> list[Fact]:
    return [StageEntered(stage=f"s{number}") for number in range(first, last)]


class StoreContract:
    """The fixture `store` is an empty store; `clock` is the StoppedClock it was made with."""

    @pytest.fixture
    def clock(self) -> StoppedClock:
        return StoppedClock()

    @pytest.fixture
    def store(self, clock: StoppedClock) -> Any:
        raise NotImplementedError

    def test_an_empty_store_has_no_facts(self, store: Any) -> None:
        assert list(store.facts()) == []
        assert store.last_seq == 0

    def test_facts_come_back_in_order(self, store: Any) -> None:
        for number in range(7):
            store.append(stages(3 * number, 3 * number + 3))
        assert list(store.facts()) == stages(0, 21)

    @settings(PATIENT, max_examples=40)  # one log that grows, examined in several subclasses: both are meant
    @given(batch=st.lists(facts, max_size=4))
    def test_any_fact_comes_back_exactly(self, store: Any, batch: list[Fact]) -> None:
        before = store.last_seq
        store.append(batch)
        again = [entry.fact for entry in store.facts_after(before)]
        assert again == batch
        assert repr(again) == repr(batch)

    def test_a_batch_with_a_bad_fact_leaves_nothing(self, store: Any) -> None:
        store.append(stages(0, 2))
        with pytest.raises(StoreError):
            store.append([*stages(2, 4), EpisodeScored(score=Score(fitness=float("nan")))])
        store.append(stages(2, 3))
        assert list(store.facts()) == stages(0, 3)
        assert [entry.seq for entry in store.facts_after(0)] == [1, 2, 3]

    def test_a_batch_whose_iteration_fails_leaves_nothing(self, store: Any) -> None:
        def failing() -> Any:
            yield RunResumed()
            raise OSError("no more")

        with pytest.raises(OSError, match="no more"):
            store.append(failing())
        assert list(store.facts()) == []

    def test_an_empty_batch_is_nothing(self, store: Any) -> None:
        store.append([])
        assert store.last_seq == 0

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
        assert store.last_seq == 6
