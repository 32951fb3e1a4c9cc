"""Facts say themselves what others need to know: no call, rollout or text of a new fact is forgotten."""

import dataclasses
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core import events
from memento.core.events import (
    EliteChanged,
    EpisodeEnded,
    Fact,
    FinalMeasured,
    HintGiven,
    Order,
    ProposalFailed,
    RobustMeasured,
    RunStarted,
    SpeculationEnded,
    StageEntered,
    ToolAnswered,
)
from memento.core.values import Call, Episode, Exploit, Probe
from memento.memory.codec import encode

from ..support.strategies import FACT_CLASSES, PATIENT, instances, of

pytestmark = pytest.mark.quick

each_class = pytest.mark.parametrize("cls", FACT_CLASSES, ids=lambda cls: cls.__name__)


def held(fact: Fact, kind: type) -> Iterator[object]:
    """The values of a kind that are fields of the fact, or in a tuple that is one."""
    for field in dataclasses.fields(fact):
        value = getattr(fact, field.name)
        yield from (each for each in (value if isinstance(value, tuple) else (value,)) if isinstance(each, kind))


def test_the_package_exports_every_order_and_fact() -> None:
    assert {cls.__name__ for cls in FACT_CLASSES} <= {*events.__all__}
    assert all(issubclass(getattr(events, name), Fact | Order) for name in events.__all__ if name != "RULES")


@each_class
@settings(PATIENT, max_examples=6)
@given(st.data())
def test_calls_and_rollouts_in_a_fact_are_reported(cls: type[Fact], data: st.DataObject) -> None:
    fact = data.draw(instances(cls))
    calls = [*held(fact, Call)]
    assert Counter(map(repr, fact.calls)) == Counter(map(repr, calls))
    if calls:
        assert fact.calls[-1] == (getattr(fact, "call", None) or calls[-1]), "the oldest first"
        assert fact.replayed, "a replay needs the answers"
    if fact.call_failure is not None or fact.hints_known or fact.withdraws_call:
        assert fact.replayed, "a replay needs to know it"
    episodes = [*held(fact, Episode), *(probe.episode for probe in held(fact, Probe) if isinstance(probe, Probe))]
    episodes += [each.probe.episode for each in held(fact, Exploit) if isinstance(each, Exploit)]
    assert [*fact.recorded] == episodes
    if fact.unanswered:
        assert getattr(fact, "call", None) is None


def test_a_tape_also_has_what_a_replay_repeats_or_compares() -> None:
    """Without a call: the settings, the hints, the answers of tools, and the results."""
    calls = {cls for cls in FACT_CLASSES if "calls" in vars(cls) or issubclass(cls, ProposalFailed)}
    assert {cls for cls in FACT_CLASSES if cls.replayed} - calls == {
        RunStarted, StageEntered, HintGiven, ToolAnswered, SpeculationEnded, EliteChanged, FinalMeasured,
        RobustMeasured,
    }


@pytest.mark.parametrize("cls", [EpisodeEnded, ToolAnswered])
@settings(PATIENT, max_examples=10)
@given(st.data())
def test_a_tape_does_not_name_a_node(cls: type[EpisodeEnded | ToolAnswered], data: st.DataObject) -> None:
    episode = data.draw(of(Episode))
    assert isinstance(episode, Episode)
    named = dataclasses.replace(episode, notes=dataclasses.replace(episode.notes, node="rack-7"))
    fact = dataclasses.replace(data.draw(instances(cls)), episode=named)  # type: ignore[type-var]
    kept = fact.portable()
    assert "rack-7" in encode(fact).body
    assert "rack-7" not in encode(kept).body
    assert kept.rollout is not None
    assert dataclasses.replace(kept.rollout, notes=named.notes) == named, "and all else stays"
