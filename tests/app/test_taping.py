"""A finished run as the file of a tape: another installation repeats it without a key, and says what has changed."""

import json
import lzma
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from memento.app import replay
from memento.app.recorded_runs import export_tape, find_recorded, recorded_facts, replay_settings, require_done
from memento.app.replay import read_tape, write_tape
from memento.cli import exit_code
from memento.core.errors import UsageError
from memento.core.events import Fact, HintGiven, ProposalMade, ReplayDiffered, RunStarted
from memento.core.values import Document
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock

from ..support.language_server import KEY, policy, serving
from ..support.program import PROGRAM
from ..support.story import STORY
from .conftest import Runs
from .served import SHORT, call, of

pytestmark = pytest.mark.quick

RUN = ["run", "hanoi-kinematic", *SHORT, "--name", "one", "--set", "k_macro=2", "--evaluator", "reference"]
SAME = ("elite", "fitness", "candidates", "model_calls", "tokens", "reference_fitness", "final_success", "hints")


def repeat(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """`memento run --replay` where no run of this installation is, no key and no secret."""
    clean = os.environ | {"XDG_STATE_HOME": str(folder / "state")}
    return subprocess.run(
        [*PROGRAM, "run", *arguments, "--workers", "2", "--display", "plain", "--json"],
        cwd=folder, env=clean, capture_output=True, text=True, timeout=120, check=False,
    )


def result_of(done: "subprocess.CompletedProcess[str]") -> dict:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def with_other_prompt(facts: tuple[Fact, ...], order: str) -> tuple[Fact, ...]:
    """The facts as if the prompt of this order had been another one."""
    def changed(fact: Fact) -> Fact:
        if not isinstance(fact, ProposalMade) or fact.order != order:
            return fact
        return replace(fact, call=replace(fact.call, prompt=Document("An older prompt.")))

    return tuple(map(changed, facts))


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_tape_repeats_a_run_of_a_language_model_elsewhere(
    runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(policy(1))
    async with serving() as service:
        whole = await call(runs, *RUN, "--model", service.model, "--initial", str(tmp_path / "mine.py"))
    tape, folder = tmp_path / "first.tape.xz", tmp_path / "elsewhere"
    folder.mkdir()
    assert exit_code(["export", "one", "--to", "tape", "--out", str(tape), "--runs", str(runs.folder)]) == 0
    text = lzma.decompress(tape.read_bytes()).decode()
    assert tape.stat().st_size < 100_000 and str(tmp_path) not in text and KEY not in text

    again = result_of(repeat(folder, "--replay", str(tmp_path / "first"), "--name", "again"))
    assert {key: again[key] for key in SAME} == {key: whole[key] for key in SAME}
    assert not of(facts_in(folder, "again"), ReplayDiffered)

    write_tape(with_other_prompt(read_tape(tape), "g1/macro/1"), tape)
    refused = repeat(folder, "--replay", str(tape), "--name", "strict")
    assert refused.returncode == 3
    assert "the prompt of the order g1/macro/1" in refused.stderr and "--replay-loosely" in refused.stderr
    done = repeat(folder, "--replay", str(tape), "--replay-loosely", "--name", "loose")
    loose = result_of(done)
    assert {key: loose[key] for key in SAME} == {key: whole[key] for key in SAME}
    assert "the prompt of g1/macro/1 is not the recorded one" in done.stderr
    [differed] = of(facts_in(folder, "loose"), ReplayDiffered)
    assert (differed.asked, differed.attempt) == ("g1/macro/1", 0)
    [started] = of(facts_in(folder, "loose"), RunStarted)
    assert started.settings["replay_loosely"] is True
    shown(folder, capsys)


def facts_in(folder: Path, name: str) -> tuple[Fact, ...]:
    with RunStore.read(folder / "runs" / name) as store:
        return tuple(store.facts())


def shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`show` and the report say that the replay went on by order."""
    runs, page = ("--runs", str(folder / "runs")), folder / "loose.html"
    capsys.readouterr()
    assert exit_code(["show", "loose", *runs]) == 0
    assert "by order, since prompts have changed, first that of g1/macro/1" in capsys.readouterr().out
    assert exit_code(["report", "loose", "--out", str(page), "--no-pictures", *runs]) == 0
    assert "recorded replies were repeated although prompts have changed since" in page.read_text()


def test_the_file_holds_facts_exactly(tmp_path: Path) -> None:
    facts = (*STORY, HintGiven(text="lone \ud800 surrogate"))
    size = write_tape(facts, tmp_path / "a.tape.xz")
    assert read_tape(tmp_path / "a.tape.xz") == facts and size == (tmp_path / "a.tape.xz").stat().st_size


def test_what_is_no_tape_is_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.tape.xz"
    write_tape(STORY, path)
    whole = path.read_bytes()
    for data, words in (
        (b"", "too early"), (b"hello", "not the tape of a run"), (whole[:-40], "not the tape"),
        (lzma.compress(b"[]"), "not the tape"), (lzma.compress(b'{"version": 9}'), "of version 9"),
        (lzma.compress(b'{"version": 1, "facts": [["Nothing", null, "{}"]], "texts": {}}'), "not the tape"),
        (lzma.compress(b'{"version": 1, "facts": [1], "texts": {}}'), "not the tape"),
        (lzma.compress(b'{"version": 1, "facts": [], "texts": {"program:00": "x"}}'), "not the tape"),
    ):
        path.write_bytes(data)
        with pytest.raises(UsageError, match=words):
            read_tape(path)
    path.write_bytes(whole)
    monkeypatch.setattr(replay, "LARGEST", len(whole))
    with pytest.raises(UsageError, match="holds more than"):
        read_tape(path)
    with pytest.raises(UsageError, match="more than"):
        write_tape(STORY, path)


def test_a_run_is_found_by_its_name_and_a_tape_by_its_file(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "runs" / "one", clock=SystemClock()) as store:
        store.append(STORY)
    tape = tmp_path / "two.tape.xz"
    write_tape(STORY, tape)
    assert find_recorded(tmp_path / "runs", "one") == tmp_path / "runs" / "one"
    for name in (tape, tmp_path / "two"):
        assert find_recorded(tmp_path / "runs", str(name)) == tape
    for name in ("three", "x" * 5000, str(tmp_path / "three.tape.xz")):
        with pytest.raises(UsageError):
            find_recorded(tmp_path / "runs", name)


def test_only_a_finished_run_has_a_tape_and_its_name_says_so(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "one", clock=SystemClock()) as store:
        store.append(STORY[:12])
    with pytest.raises(UsageError, match="is not done"):
        export_tape(tmp_path / "one", tmp_path / "one.tape.xz")
    with pytest.raises(UsageError, match=r"name it \*\.tape\.xz"):
        export_tape(tmp_path / "one", tmp_path / "one.json")


def test_a_tape_names_no_place_of_the_machine(tmp_path: Path) -> None:
    """The folder and the Python of whoever made the run are of no use to others."""
    [started] = [fact for fact in STORY if isinstance(fact, RunStarted)]
    options = {"python": "/elsewhere/me/bin/python", "measure": "success"}
    begun = replace(started, settings={**started.settings, "options": options}, place={"folder": "/elsewhere/me"})
    with RunStore.create(tmp_path / "one", clock=SystemClock()) as store:
        store.append([begun, *(fact for fact in STORY if fact is not started)])
    export_tape(tmp_path / "one", tmp_path / "one.tape.xz")
    [found] = [fact for fact in read_tape(tmp_path / "one.tape.xz") if isinstance(fact, RunStarted)]
    assert found.settings["options"] == {"python": None, "measure": "success"} and not found.place


def test_a_tape_that_would_import_something_asks_for_trust(tmp_path: Path) -> None:
    [started] = [fact for fact in STORY if isinstance(fact, RunStarted)]
    foreign = replace(started, settings={**started.settings, "domain": "evil:DOMAIN"})
    rest = [fact for fact in STORY if fact is not started]
    write_tape([foreign, *rest], tmp_path / "a.tape.xz")
    with pytest.raises(UsageError, match=r"would import 'evil:DOMAIN': add --trust"):
        replay_settings(tmp_path / "a.tape.xz")


@pytest.mark.parametrize("arguments", [["--replay-loosely"], ["--replay-loosely", "--estimate"]])
def test_going_on_loosely_is_about_a_replay(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["run", "hanoi-kinematic", *arguments]) == 2
    assert "--replay-loosely has no effect without --replay" in capsys.readouterr().err


def test_the_tapes_that_are_shipped_are_whole() -> None:
    folder = Path(__file__).resolve().parents[2] / "docs" / "results"
    tapes = sorted(folder.glob("*.tape.xz"))
    assert tapes
    for path in tapes:
        facts = recorded_facts(path)
        started = require_done(facts, path)
        assert of(facts, ProposalMade), "the replies of a model"
        assert started.settings["model"] != "offline"
        assert find_recorded(Path("runs"), str(path).removesuffix(".tape.xz")) == path
