"""What `show` says: the story of a made-up run word for word, and one thing of it."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from memento.cli.show import show_run
from memento.cli.show_candidate import look_up, tell_item
from memento.cli.show_run import Standing, tell_story
from memento.core.errors import UsageError
from memento.core.events import EvaluatorChosen, Fact, ProposalMade, VoteCast
from memento.core.values import Call, Document
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock

from ..support.story import POOL, STORY

GOLDEN = Path(__file__).parent / "golden" / "show.txt"
STANDING = Standing(folder=Path("runs/x"), live=False, begun=0.0, worked_s=75.0)
TOLD_CALL = Call(model="lab:m", prompt=Document("asked\x1b[31m"), reply=Document("answered"))
FACTS: tuple[Fact, ...] = tuple(
    replace(fact, order="eval/g0/judge/0", reason="it tells them apart", call=TOLD_CALL)
    if isinstance(fact, VoteCast) else fact for fact in STORY
)


def test_the_story_on_one_screen_word_for_word() -> None:
    """After an intended change run `MEMENTO_GOLDEN=write pytest tests/cli`, and read it as a newcomer would."""
    told = "\n".join(tell_story(FACTS, STANDING, width=80)) + "\n"
    if os.environ.get("MEMENTO_GOLDEN") == "write":
        GOLDEN.write_text(told, encoding="utf-8")
    assert told == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [60, 80, 100])
def test_any_prefix_of_a_run_has_a_story_that_fits(width: int) -> None:
    for length in range(1, len(FACTS) + 1):
        for line in tell_story(FACTS[:length], STANDING, width=width):
            assert len(line) <= width
            assert line.isprintable()


@pytest.mark.parametrize(("live", "word"), [(False, "killed"), (True, "running")])
def test_only_the_lock_tells_a_killed_run(live: bool, word: str) -> None:
    told = [*tell_story(FACTS[:15], replace(STANDING, live=live), width=80)]
    assert told[0].endswith(word)
    assert any("memento resume runs/x" in line for line in told) is not live


def told_of(name: str, *parts: str, facts: Sequence[Fact] = FACTS) -> str:
    return "\n".join(tell_item(look_up(facts, name), parts=parts))


def test_policies_evaluators_and_votes_can_be_looked_at() -> None:
    assert "hill-climb" in told_of("g1/hill/0")
    assert "rejected by the climb" in told_of("g1/hill/1")
    assert "failed: crashed, ZeroDivisionError" in told_of("g1/macro/0")
    assert "2 of T_0" not in told_of("eval/g0/0")
    assert "frozen as E*" in told_of("eval/g0/0")
    assert "invalid: crashed" in told_of("eval/g0/1")
    assert "votes for eval/g0/0" in told_of("eval/g0/judge/0")
    assert told_of("init/0").startswith("init/0")


def test_parts_are_alone_and_in_order() -> None:
    assert told_of("g1/hill/0", "code") == "class Policy: ..."
    assert told_of("eval/g0/judge/0", "reply", "prompt") == "asked[31m\nanswered"
    assert told_of("eval/g0/judge/0", "code") == "eval/g0/judge/0 has no code"
    assert "no model was asked" in told_of("g1/hill/0", "prompt")


def test_metrics_and_code_stand_against_the_parents() -> None:
    policy = look_up(FACTS, "g1/cross/0")
    parent = replace(policy, id="parent", metrics={"lift": {"mean": 0.25}, "kind": {"most_common": {"a": 1}}})
    assert policy.program is not None
    grown = replace(policy.program, text="class Policy:\n    x = 1")
    item = replace(policy, program=grown, parent=parent, metrics={"lift": {"mean": 0.5}, "fell": {"rate": 1.0}})
    told = "\n".join(tell_item(item, parts=["metrics", "diff"]))
    assert "against parent" in told
    assert "0.500    0.250  +0.250" in told
    assert "--- parent\n+++ g1/cross/0" in told
    assert "-class Policy: ...\n+class Policy:" in told


def test_an_unknown_name_tells_the_nearest() -> None:
    with pytest.raises(UsageError, match="'g1/macro/0'"):
        look_up(FACTS, "g1/makro/0")


def test_a_try_that_gave_no_program_can_be_looked_at() -> None:
    again = tuple(
        replace(fact, order="init/1", call=TOLD_CALL) if isinstance(fact, ProposalMade) else fact
        for fact in STORY if not isinstance(fact, EvaluatorChosen)
    )
    assert told_of("init/1", "prompt", facts=again).startswith("asked")


def test_the_runs_of_a_folder_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, length in (("done", len(STORY)), ("gone", 15)):
        with RunStore.create(tmp_path / name, clock=SystemClock()) as store:
            store.append(STORY[:length])
    (tmp_path / "spoilt").mkdir()
    (tmp_path / "spoilt" / "run.sqlite").write_bytes(b"nothing of the kind" * 100)
    show_run(None, None, runs_dir=tmp_path, settings=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["done", "gone", "spoilt"]
    assert "; done" in lines[0]
    assert f"killed; g0 F 0.375 -> 0.375; memento resume {tmp_path / 'gone'}" in lines[1]
    assert "cannot be read" in lines[2]


def test_an_empty_folder_says_how_to_begin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_run(None, None, runs_dir=tmp_path / "none", settings=False)
    told = capsys.readouterr()
    assert told.out == ""
    assert "memento run hanoi" in told.err


def test_the_pool_is_the_storys(tmp_path: Path) -> None:
    assert look_up(FACTS, POOL[0].id).metrics == {}
