"""The limit on the CPU time of a policy's calls: which episodes miss it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.call_times import SPARED, call_times
from memento.core.faults import Fault, FaultKind
from memento.core.step_limit import MARGIN, limit_in_words, with_step_limit
from memento.core.values import Episode, EpisodeNotes

LIMIT_MS = 20.0
SLOW_S = 1.01 * MARGIN * LIMIT_MS / 1000


def episode(calls_s: list[float], fault: Fault | None = None) -> Episode:
    return Episode(
        index=0, seed=1, steps=len(calls_s), ended_by="success", success=fault is None, fault=fault,
        notes=EpisodeNotes(times=call_times(calls_s, 5.0)),
    )


@given(st.integers(0, 400), st.integers(0, 40), st.floats(0.0, MARGIN * LIMIT_MS / 1000 - 1e-5))
def test_an_episode_fails_if_more_than_one_percent_and_two_calls_are_slow(fast: int, slow: int, each_s: float) -> None:
    found = with_step_limit(episode([each_s] * fast + [SLOW_S] * slow), LIMIT_MS)
    allowed = max(SPARED, (fast + slow) // 100)
    assert (found.fault is not None) == (slow > min(allowed, fast + slow - 1)) if slow else found.fault is None


def test_the_fault_says_what_was_measured_and_the_episode_counts_as_failed() -> None:
    found = with_step_limit(episode([0.06] * 50), LIMIT_MS)
    assert found.fault is not None
    assert found.fault.kind is FaultKind.TOO_SLOW
    assert "limit of 20 ms" in found.fault.message
    assert "took 60 ms and more (median 60 ms)" in found.fault.message
    assert (found.success, found.ended_by, found.scored_to_fault) == (False, "fault", True)
    assert "longer than 25 ms" in limit_in_words(LIMIT_MS)


def test_a_hiccup_a_slow_start_and_a_first_call_do_not_count() -> None:
    assert with_step_limit(episode([0.9, 0.001, 0.5, *[0.001] * 30]), LIMIT_MS).fault is None


@pytest.mark.parametrize("limit", [None, LIMIT_MS])
def test_without_a_limit_without_times_and_after_another_fault_nothing_changes(limit: float | None) -> None:
    crash = Fault(kind=FaultKind.CRASHED, message="raised")
    cases = [episode([]), episode([0.06] * 50, crash), *([episode([0.06] * 50)] if limit is None else [])]
    assert [with_step_limit(each, limit) for each in cases] == cases
