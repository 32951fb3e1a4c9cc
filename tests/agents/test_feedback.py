"""The feedback on candidates in prompts is bounded, fenced, and complete."""

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st
from memento.agents.feedback import (
    MAX_EPISODES,
    fault_text,
    faults_text,
    fenced,
    metrics_table,
    policy_feedback,
    rollouts_table,
)
from memento.core.metrics import aggregate
from memento.core.values import Fault, FaultKind, Score

from ..support.prompt_samples import EPISODES, candidate, episode

names = st.sampled_from(["mean", "rate", "count", "most_common", "…", "omitted", "a|b", "`" * 9, "x\n" * 90, "\ud800"])
leaves = st.none() | st.booleans() | st.integers() | st.floats() | names
json = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(names, inner), max_leaves=8)


@given(st.text(alphabet=st.sampled_from("`~a\n ")))
def test_nothing_gets_out_of_a_fence(text: str) -> None:
    block = fenced(text)
    opening, *inside, closing = block.split("\n")
    fence = re.match("`+", opening)[0]
    assert closing == fence
    assert len(fence) >= 3
    assert not any(fence in line for line in inside)
    assert "\n".join(inside) == text.rstrip()


def test_fitness_of_every_episode_is_shown() -> None:
    text = policy_feedback(candidate())
    assert "F = 0.4000" in text
    assert re.search(r"^2 +Track1 +0\.2000 +off the track$", text, re.MULTILINE)


def test_the_commonest_faults_come_first_with_their_count() -> None:
    def fault(message: str, trace: str = "") -> Fault:
        return Fault(kind=FaultKind.CRASHED, message=message, traceback=trace)

    faults = [fault("a"), fault("b", "first"), fault("b", "second"), fault("c"), fault("d")]
    assert faults_text(faults) == "2 × crashed: b\nfirst\n1 × crashed: a\n1 × crashed: c\n… and 1 other kinds"
    assert faults_text([]) == ""


def test_long_tracebacks_keep_head_and_tail() -> None:
    text = fault_text(Fault(kind=FaultKind.CRASHED, message="m", traceback="HEAD" + "x" * 9000 + "TAIL"))
    assert "HEAD" in text
    assert text.endswith("TAIL")
    assert len(text) < 1300


def test_many_episodes_are_truncated_with_a_note() -> None:
    table = rollouts_table([episode(index) for index in range(MAX_EPISODES + 6)])
    assert "… and 6 more" in table
    assert len(table.splitlines()) == MAX_EPISODES + 4


def test_evaluator_writers_see_successes() -> None:
    table = rollouts_table([EPISODES[0], episode(1, success=True), episode(2)])
    ends = [line.split("200")[1].strip() for line in table.splitlines() if "200" in line]
    assert ends == ["success", "horizon, with success", "horizon"]


def test_whole_numbers_stay_whole() -> None:
    table = metrics_table(aggregate([Score(fitness=0.0, metrics={"steps": 11999, "far_m": 1e12, "dist_m": 0.123456})]))
    assert re.search(r"^steps +11999 +11999 +11999$", table, re.MULTILINE)
    assert "1e+12" in table
    assert "0.1235" in table


@given(st.dictionaries(names, json))
@example({"mean": {"mean": None, "count": "\ud800"}})
@settings(deadline=None, max_examples=40)
def test_any_metrics_make_a_bounded_table(metrics: dict) -> None:
    for table in (metrics_table(metrics), metrics_table(aggregate([Score(fitness=0.0, metrics=metrics)]))):
        assert len(table) < 30_000
        table.encode()
