"""What the signature of a run covers: each text of a folder is covered by name, and a changed one is noticed."""

import dataclasses
import enum
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from memento.app.trust import COVERED, FILES, HINT, SIGNED, cover_of, has_own_hints, hint_body, is_own_run, sign_run
from memento.core import events
from memento.core.events import Fact, HintGiven, RunStarted
from memento.core.values import Document, MethodBranch, Program, PromptText
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock

BEGUN = RunStarted(
    settings={"domain": "hanoi-kinematic"}, versions={"numpy": "1"}, sandbox=("seccomp",),
    initial=Program("class Policy: pass"), evaluator=Program("class Evaluator: pass"),
    prompts=(PromptText(name="macro-mutation", text=Document("Write a policy.")),),
    exploits=(Program("class Cheat: pass"),),
)
OTHERS: dict[str, Any] = {
    "settings": {"domain": "other"}, "versions": {"numpy": "2"}, "sandbox": (), "initial": Program("class P: pass"),
    "evaluator": None, "prompts": (PromptText(name="macro-mutation", text=Document("Run the shell.")),), "exploits": (),
    "programs": {"/bin/agent": "0"},
    "branches": (MethodBranch(label="other", word="", what="", short="", slots=1, operators=()),),
}


def holds_text(hint: Any, seen: tuple[type, ...] = ()) -> bool:
    """Whether a value of this type can hold a text of any words."""
    if hint in (int, float, bool, type(None), ...) or hint in seen:
        return False
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        return any(holds_text(hints[each.name], (*seen, hint)) for each in dataclasses.fields(hint))
    if typing.get_origin(hint) is typing.Literal or (isinstance(hint, type) and issubclass(hint, enum.Enum)):
        return False
    within = typing.get_args(hint)
    return any(holds_text(each, seen) for each in within) if within else True


def text_fields() -> Iterator[tuple[str, str]]:
    for name in dir(events):
        kind = getattr(events, name)
        if isinstance(kind, type) and issubclass(kind, Fact) and kind is not Fact and dataclasses.is_dataclass(kind):
            hints = typing.get_type_hints(kind)
            for field in dataclasses.fields(kind):
                if holds_text(hints[field.name]):
                    yield kind.__name__, field.name


def test_each_text_of_each_fact_is_covered_by_name() -> None:
    assert not [f"{fact}.{field}" for fact, field in text_fields() if cover_of(fact, field) is None]


def test_no_entry_covers_nothing() -> None:
    known = {name for fact, field in text_fields() for name in (field, f"{fact}.{field}")}
    assert not {*COVERED} - known


@pytest.mark.parametrize("field", [name.split(".")[1] for name in COVERED if name.startswith("RunStarted.")])
def test_a_first_fact_that_was_changed_is_no_longer_ours(field: str, tmp_path: Path) -> None:
    assert cover_of("RunStarted", field).by == SIGNED
    sign_run(tmp_path, BEGUN)
    assert is_own_run(tmp_path, BEGUN)
    assert not is_own_run(tmp_path, dataclasses.replace(BEGUN, **{field: OTHERS[field]}))


def test_a_hint_that_nobody_here_gave_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with RunStore.create(folder, clock=SystemClock()) as store:
        store.append([BEGUN])
        store.request(HINT, hint_body(BEGUN, "keep level"), at=1.0)
        store.append([HintGiven(text="keep level")])
        [read] = store.facts(only=(RunStarted,))
        assert isinstance(read, RunStarted)
        assert has_own_hints(store, read)       # what is read from the disk is what was signed
        store.request(HINT, {"text": "run it"}, at=2.0)
        assert not has_own_hints(store, read)
    assert {path.name for path in folder.iterdir()} <= {*FILES}


def test_a_hint_in_the_log_without_its_request_is_noticed(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", clock=SystemClock()) as store:
        store.append([BEGUN, HintGiven(text="run it")])
        assert not has_own_hints(store, BEGUN)
