"""Which frames a critic is shown, and what is kept of its words."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.agents.critic import MAX_SAID, shortened
from memento.agents.critic_sheets import FRAMES, moment_of, rows_of
from memento.core.critique import MAX_WORDS
from memento.core.faults import Fault, FaultKind
from memento.core.values import Episode, Score

from ..support.strategies import json_values


def episode(ended_by: str = "horizon", fault: Fault | None = None) -> Episode:
    return Episode(index=0, seed=1, steps=200, ended_by=ended_by, success=False, fault=fault)


@given(st.integers(0, 5_000), st.integers(3, 14), st.data())
def test_the_frames_hold_the_ends_and_the_moment_and_are_closest_there(
    steps: int, count: int, data: st.DataObject
) -> None:
    moment = data.draw(st.none() | st.integers(0, steps))
    rows = rows_of(steps, moment, count)
    assert len(rows) == min(count, steps + 1)
    assert list(rows) == sorted({*rows})
    assert rows[0] == 0 and rows[-1] == steps
    if moment is None:
        gaps = {later - row for row, later in pairwise(rows)}
        assert not gaps or max(gaps) - min(gaps) <= 1
        return
    assert moment in rows
    if count >= 6 and steps >= count:
        near = max(1, steps // 40) * 2
        assert sum(abs(row - moment) <= near for row in rows) >= 3


@pytest.mark.parametrize(
    ("metrics", "row", "words"),
    [
        ({"first_drop_step": 40, "first_reach_step": 10, "first_lift_step": None}, 40, "first_drop_step"),
        ({"cubes": {"small_fell_at_step": 90, "large_fell_at_step": 70}}, 70, "cubes.large_fell_at_step"),
        ({"failed_at_s": 2.0, "time_of_failure_s": 3.0}, 40, "failed_at_s"),
        ({"drop_count": 3, "first_reach_step": 33, "first_lift_step": None}, 33, "the last event"),
        ({"first_seen": 5, "first_held": 60, "first_put": None}, 60, "first_held"),
        ({"first_seen": 5, "first_held": 60}, 150, "the lowest reward"),
        ({"failure_step": 900, "fell": True, "first_held": None}, 150, "the lowest reward"),
        ({}, 150, "the lowest reward"),
    ],
)
def test_the_moment_is_the_evaluators_failure_then_its_last_event_then_the_loss(
    metrics: dict, row: int, words: str
) -> None:
    rewards = [-1.0 if 140 <= step < 160 else 0.5 for step in range(200)]
    found = moment_of(episode(), Score(fitness=0.2, metrics=metrics), 200, step_s=0.05, rewards=rewards)
    assert found is not None
    assert found.row == row and words in found.why


def test_an_episode_that_broke_off_is_shown_at_its_end_unless_the_evaluator_says_more() -> None:
    crash = Fault(kind=FaultKind.CRASHED, message="x")
    event = Score(fitness=0.0, metrics={"first_reach_step": 3, "first_lift_step": None})
    for broken, word in ((episode("illegal"), "illegal"), (episode("fault", crash), "crashed")):
        found = moment_of(broken, event, 120)
        assert found is not None and found.row == 120 and word in found.why
    named = moment_of(episode("illegal"), Score(fitness=0.0, metrics={"fall_step": 7}), 120)
    assert named is not None and named.row == 7
    assert moment_of(episode(), Score(fitness=0.5), 120) is None
    assert moment_of(episode(), None, 120, rewards=[1.0] * 120) is None, "no loss is steeper than another"
    assert moment_of(episode(), None, 120, rewards=[float("nan")] * 120) is None


@given(
    st.dictionaries(st.text(max_size=12) | st.sampled_from(["first_fall_step", "first_x", "t_fail_s"]), json_values),
    st.integers(0, 300), st.none() | st.lists(st.floats(), max_size=300),
)
def test_no_metrics_and_rewards_break_the_rule(metrics: dict, steps: int, rewards: list[float] | None) -> None:
    found = moment_of(episode(), Score(fitness=0.0, metrics=metrics), steps, step_s=0.1, rewards=rewards)
    assert found is None or 0 <= found.row <= steps
    rows = rows_of(steps, None if found is None else found.row)
    assert len(rows) == min(FRAMES, steps + 1)


@given(st.text(max_size=4_000))
def test_a_critique_is_bounded_on_one_line_and_says_what_was_cut(text: str) -> None:
    said = shortened(text)
    assert len(said.split()) <= MAX_WORDS + 1 and len(said) <= MAX_SAID and "\n" not in said
    words = text.split()
    if len(words) > MAX_WORDS:
        assert said.endswith("…")


def test_a_critique_is_cut_at_a_word() -> None:
    assert shortened(" one\n two ") == "one two"
    assert shortened("word " * 200) == "word " * 120 + "…"
    long = shortened("abcdefghi" * 10 + " " + "abcdefghijklmnopqrst " * 100)
    assert long.endswith("abcdefghijklmnopqrst …") and len(long) <= MAX_SAID
