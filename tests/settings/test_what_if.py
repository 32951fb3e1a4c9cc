"""What a what-if may change, and what is refused in one sentence; experiments in files."""

from pathlib import Path

import pytest
from memento.core.errors import UsageError
from memento.settings import Settings, build_settings, parse_assignments
from memento.settings.model import OPTIONS, PARAMETERS, TABLES
from memento.settings.sources import GivenValue
from memento.settings.what_if import (
    CALLS,
    SHOWN,
    asking_settings,
    changed_settings,
    plan_of_file,
    plan_of_flags,
)

RECORDED = build_settings(
    {
        "domain": "hanoi-kinematic", "preset": "smoke", "model": "openai:gpt-5.2", "budget_calls": 9,
        "judges": ["anthropic:claude-opus-4-5"],
    },
    assignments=["sampling.temperature=0.5", "sampling.judge.temperature=0.1", "prices.x={input=1,output=2}"],
    environment={},
)


def changed(*assignments: str) -> Settings:
    return changed_settings(RECORDED, parse_assignments(assignments))


def test_every_other_setting_is_refused() -> None:
    assert {*Settings.model_fields} >= SHOWN | CALLS
    tables = {OPTIONS, PARAMETERS, *TABLES}
    for key in sorted({*Settings.model_fields} - SHOWN - CALLS - tables - {"replay", "replay_loosely"}):
        with pytest.raises(UsageError, match=f"'{key}' cannot change in a what-if"):
            changed_settings(RECORDED, {key: GivenValue(value=getattr(RECORDED, key), origin="--set")})


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("budget.judge.calls=3", "cannot change in a what-if"), ("sampling.judge.temperature=1", "cannot change"),
        ("hanoi-kinematic.horizon=3", "cannot change"), ("replay=one", "unknown setting 'replay'"),
        ("memory_detial=none", "did you mean 'memory_detail'"), ("memory_detail=some", "input should be"),
        ("practice_episodes=2", "no effect without proposer_turns"), ("sampling.warmth=2", "warmth"),
    ],
)
def test_what_cannot_change_is_one_sentence(given: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        changed(given)


def test_the_rest_is_as_recorded_but_for_its_budgets() -> None:
    plain = changed()
    recorded = RECORDED.as_json() | {"budget_calls": None, "prices": {}}
    assert plain.as_json() == recorded
    assert plain.provenance is RECORDED.provenance
    other = changed("memory.detail=none", "sampling.proposer.thinking=low", "budget_calls=4")
    assert (other.memory_detail, other.budget_calls) == ("none", 4)
    assert other.as_json()["sampling"] | {"proposer": None} == RECORDED.as_json()["sampling"] | {"proposer": None}
    assert other.sampling["proposer"].thinking == "low"
    asked = asking_settings(other)
    assert (asked.judges, {*asked.sampling}) == ((), {"all", "proposer"})
    assert asked.memory_detail == "none"


def test_another_model_is_called_as_the_command_says() -> None:
    other = changed("model=anthropic:claude-opus-4-5", "sampling.temperature=1")
    assert [each.temperature for each in other.sampling.values()] == [1.0]
    assert other.provenance.trusted


def test_a_plan_of_flags_has_the_control_first() -> None:
    states = [("one", "g1/*/*")]
    plan = plan_of_flags(states, ["memory_detail=none"], model="lab:x", draws=3, control=True)
    assert [arm.name for arm in plan.arms] == ["recorded", "memory_detail=none, model=lab:x"]
    assert [arm.name for arm in plan_of_flags(states, [], model=None, draws=3, control=False).arms] == ["recorded"]
    for given, why in (
        ({"assignments": ["model=a"], "model": "b", "draws": 1, "control": False}, "twice"),
        ({"assignments": [], "model": None, "draws": 1, "control": True}, "--control has no effect"),
        ({"assignments": [], "model": None, "draws": 0, "control": False}, "-n must be from 1"),
    ):
        with pytest.raises(UsageError, match=why):
            plan_of_flags(states, **given)      # type: ignore[arg-type]


FILE = """
title = "Memory?"
draws = 4

[[states]]
run = "one"
candidates = ["g*/hill/*", "g2/macro/0"]

[[arms]]
name = "recorded"

[[arms]]
name = "other"
set = { memory = { detail = "none" }, prompts = "mine", sampling = { proposer = { temperature = 0.2 } } }
"""


def test_an_experiment_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.toml"
    path.write_text(FILE)
    with pytest.raises(UsageError, match=r"did not write the file 'memory.toml'.*read .*mine'.*--trust"):
        plan_of_file(path)
    monkeypatch.chdir(tmp_path)
    assert plan_of_file(path) == plan_of_file(path, trusted=True)
    plan = plan_of_file(path)
    assert (plan.title, plan.draws) == ("Memory?", 4)
    assert plan.states == (("one", "g*/hill/*"), ("one", "g2/macro/0"))
    assert {key: entry.value for key, entry in plan.arms[1].given.items()} == {
        "memory.detail": "none", "prompts": str(tmp_path / "mine"), "sampling.proposer.temperature": 0.2,
    }


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("draws = 4", "draws = true", "whole number"), ("draws = 4", "draws = 0", "draws must be from 1"),
        ("draws = 4", "drawn = 4", "did you mean 'draws'"), ("[[states]]", "[[state]]", "did you mean 'states'"),
        ("candidates =", "candidate =", "did you mean 'candidates'"), ('run = "one"', "run = 1", "write them as"),
        ('name = "other"', 'name = "recorded"', "twice"), ("set = {", "sets = {", "did you mean 'set'"),
        ('name = "other"', "name = 3", "write them as"), ("[[arms]]", "[arms]", "is not TOML"),
    ],
)
def test_a_wrong_experiment_is_one_sentence(tmp_path: Path, old: str, new: str, why: str) -> None:
    path = tmp_path / "memory.toml"
    path.write_text(FILE.replace(old, new))
    with pytest.raises(UsageError, match=why):
        plan_of_file(path, trusted=True)
    with pytest.raises(UsageError, match="cannot read"):
        plan_of_file(tmp_path / "none.toml")
