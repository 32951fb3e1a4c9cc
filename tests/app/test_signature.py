"""What the signature of a run covers: each text of a folder is covered by name, and a changed one is noticed."""

import dataclasses
import enum
import json
import lzma
import typing
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from memento.agents.critic_sheets import SHEETS
from memento.app.replay import write_tape
from memento.app.trust import (
    ARCHIVES,
    COVERED,
    FILES,
    HINT,
    SIGNED,
    cover_of,
    has_own_hints,
    hint_body,
    is_own_run,
    model_origin,
    sign_run,
    trusted_settings,
)
from memento.core import events
from memento.core.errors import UsageError
from memento.core.events import Fact, HintGiven, RunResumed, RunStarted
from memento.core.values import Document, MethodBranch, Program, PromptText
from memento.evidence.archive import _Content
from memento.evidence.folder import JOURNAL, MEASURES, PLAN
from memento.extensions.rl.checkpoints import PREFIX
from memento.extensions.rl.log import LOG, BaselineLog
from memento.extensions.rl.run import STOP
from memento.memory import fresh_file
from memento.memory.activity import NOTE
from memento.memory.lock import HOLDER, LOCK
from memento.memory.origin import SIGNATURE
from memento.memory.runs import DATABASE, TRAJECTORIES, UNFINISHED, WHAT_IFS
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock
from memento.settings import build_settings, settings_in

from ..evidence.logs import comparison

BEGUN = RunStarted(
    settings={"domain": "hanoi-kinematic"}, versions={"numpy": "1"}, sandbox=("seccomp",),
    initial=Program("class Policy: pass"), evaluator=Program("class Evaluator: pass"),
    prompts=(PromptText(name="macro-mutation", text=Document("Write a policy.")),),
    exploits=(Program("class Cheat: pass"),),
)
OTHERS: dict[str, Any] = {
    "settings": {"domain": "other"}, "versions": {"numpy": "2"}, "sandbox": (), "initial": Program("class P: pass"),
    "evaluator": None, "prompts": (PromptText(name="macro-mutation", text=Document("Run the shell.")),), "exploits": (),
    "programs": {"/bin/agent": "0"}, "place": {"folder": "/elsewhere"},
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
        assert not uncovered(folder)


def uncovered(folder: Path) -> set[str]:
    """The entries of a folder that no name in FILES covers."""
    return {path.name for path in folder.iterdir() if not any(fnmatch(path.name, name) for name in FILES)}


def test_each_file_of_a_comparison_and_a_baseline_is_covered_by_name(tmp_path: Path) -> None:
    """Those that are written here; the others by the names that their modules give them."""
    made = comparison(tmp_path / "comparison", methods=["memento"], seeds="1")
    made.note(at=1.0, job="x", event="begun")
    assert not uncovered(made.path)
    (tmp_path / "baseline").mkdir()
    BaselineLog(tmp_path / "baseline").add("started", {})
    assert not uncovered(tmp_path / "baseline")
    others = (DATABASE, UNFINISHED, LOCK, HOLDER, NOTE, SIGNATURE, fresh_file.FILE, TRAJECTORIES, SHEETS, WHAT_IFS,
              PLAN, MEASURES, JOURNAL, LOG, STOP)
    assert {*others} <= {*FILES}
    assert f"{PREFIX}*" in FILES


def test_each_part_of_a_tape_and_of_an_archive_is_covered_by_name(tmp_path: Path) -> None:
    write_tape([BEGUN], tmp_path / "run.tape.xz", own=True)
    tape = json.loads(lzma.decompress((tmp_path / "run.tape.xz").read_bytes()))
    parts = {*(f"tape.{name}" for name in tape), *(f"evidence.{each.name}" for each in dataclasses.fields(_Content))}
    assert parts == {*ARCHIVES}


def test_a_hint_in_the_log_without_its_request_is_noticed(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", clock=SystemClock()) as store:
        store.append([BEGUN, HintGiven(text="run it")])
        assert not has_own_hints(store, BEGUN)


@pytest.mark.parametrize("changed", ["", "model", "origin"])
def test_a_later_resume_asks_for_trust_only_where_another_changed_the_model(changed: str, tmp_path: Path) -> None:
    """The log names the model, so its change is signed as the settings are."""
    agent = tmp_path / "agent.sh"
    agent.write_text("#!/bin/sh\n")
    model = f"command:{agent}"
    begun = dataclasses.replace(BEGUN, settings=build_settings({"domain": "hanoi-kinematic"}, environment={}).as_json())
    resumed = RunResumed(model=model, origin=model_origin(begun, model))
    given = {"model": f"command:{tmp_path / 'other.sh'}", "origin": "0"}
    facts = (begun, resumed if not changed else dataclasses.replace(resumed, **{changed: given[changed]}))
    with RunStore.create(tmp_path / "run", clock=SystemClock()) as store:
        store.append(facts)
        sign_run(store.folder, begun)
        settings = settings_in(facts)
        assert settings is not None

        def ask(model: str = "") -> None:
            trusted_settings(store.folder, begun, settings, trusted=False, models=True, store=store, model=model)

        if not changed:
            ask()
            agent.write_text("#!/bin/sh\n# another\n")
        with pytest.raises(UsageError, match=r"the other model, or its program as .* of the run 'run'.*--trust"):
            ask()
        ask(model)      # who names it again means it
