"""The output of `show`: a made-up run word for word, and single items of it."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from memento.cli.show_candidate import describe_record
from memento.cli.show_reading import show_run
from memento.cli.show_run import describe_run
from memento.core.errors import UsageError
from memento.core.events import (
    EpisodeEnded,
    EvaluatorChosen,
    EvaluatorPoolScored,
    Fact,
    ProposalMade,
    ToolAnswered,
    VoteCast,
)
from memento.core.examined import EvaluatorTests, InvarianceResult, LadderResult
from memento.core.turns import Passage
from memento.core.values import Call, Document, Episode, EvaluatorCandidate, Program
from memento.memory.lookup import look_up, parents_of
from memento.memory.run_view import RunView
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock
from memento.tui import words

from ..support.story import STORY

pytestmark = pytest.mark.quick

GOLDEN = Path(__file__).parent / "golden" / "show.txt"
VOTE_CALL = Call(model="lab:m", prompt=Document("asked\x1b[31m"), reply=Document("answered"))
FACTS: tuple[Fact, ...] = tuple(
    replace(fact, order="eval/g0/judge/0", reason="it tells them apart", call=VOTE_CALL)
    if isinstance(fact, VoteCast) else fact for fact in STORY
)


def view_of_story(length: int = len(FACTS)) -> RunView:
    view = RunView()
    for place, fact in enumerate(FACTS[:length]):
        view.apply(fact, 2.5 * place)
    return view


def lines_of(view: RunView, *, live: bool = False, width: int = 80) -> list[str]:
    return [*describe_run(view, folder=Path("runs/x"), live=live, width=width)]


def test_the_story_on_one_screen_word_for_word() -> None:
    """After an intended change run `MEMENTO_GOLDEN=write pytest tests/cli`, and read the difference."""
    text = "\n".join(lines_of(view_of_story())) + "\n"
    if os.environ.get("MEMENTO_GOLDEN") == "write":
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_practice_is_counted_with_the_cpu_time_of_all_tools() -> None:
    view = view_of_story()
    tried = Episode(index=0, seed=1, steps=7, ended_by="horizon", success=False)
    for place, (episode, cpu_s) in enumerate([(tried, 1.23), (tried, 2.5), (None, 0.01)]):
        answer = ToolAnswered(order=f"g1/hill/0/tool{place}", answer=Passage("x"), episode=episode, cpu_s=cpu_s)
        view.apply(answer, 999.0)
    text = "\n".join(lines_of(view))
    assert "(2 for practice)" in text and "practice and compute used 3.7 s of CPU time" in text


def test_tests_of_evaluators_stand_beside_the_votes() -> None:
    """E* with its inversions, the judges' kappa and agreement with the tests, and who does worse than chance."""
    def tested(entry: EvaluatorCandidate, inversions: int, flaw: str = "") -> EvaluatorCandidate:
        ladder = LadderResult(name="staged", certain=True, pairs=10, inversions=inversions, tau=1 - inversions / 5)
        moved = InvarianceResult(name="episode 0, waiting first", change=0.3)
        tests = EvaluatorTests(ladders=(ladder,), invariances=(moved,), failures=4, flaw=flaw)
        return replace(entry, examination=replace(entry.examination, fault=None, tests=tests))

    entries = tuple(
        EvaluatorCandidate(id=f"eval/g0/{slot}", generation=0, slot=slot, program=Program("E")) for slot in range(3)
    )
    sound = tuple(tested(entry, slot) for slot, entry in enumerate(entries))
    view = RunView()
    view.apply(EvaluatorPoolScored(generation=0, pool=sound), 1.0)
    for seat, choice in enumerate((0, 0, 2)):
        view.apply(VoteCast(order=f"eval/g0/judge/{seat}", generation=0, seat=seat, choice=choice, reason="r"), 1.0)
    view.apply(EvaluatorChosen(generation=0, chosen=sound[0], votes={"0": 2, "2": 1}, final=True), 1.0)
    text = "\n".join(lines_of(view, width=120))
    assert "eval/g0/0 is E*; 3 of 3 valid, 1 ahead in the tests; 2 votes for #0, 1 vote for #2" in text
    assert "tests: 0 of 10 certain pairs inverted, tau 1.00; 1 of 1 invariance broken" in text
    assert "judges: kappa" in text and "2 of 3 votes as the tests (33 % by chance)" in text
    assert "worse than chance: judge 2 (0 of 1)" in text
    flat = tested(entries[2], 2, "flat").examination.tests
    assert flat is not None
    lines = words.test_lines(flat)
    assert lines[0] == "flaw: flat (out before the votes, unless all have a flaw)"
    assert "staged: 2 of 10 pairs inverted, Kendall's tau +0.60" in lines
    assert "  episode 0, waiting first: f +0.300" in lines


@pytest.mark.parametrize("width", [60, 80, 100])
def test_any_prefix_of_a_run_has_a_story_that_fits(width: int) -> None:
    for length in range(1, len(FACTS) + 1):
        for line in lines_of(view_of_story(length), width=width):
            assert len(line) <= width
            assert line.isprintable()


def test_a_run_on_a_cluster_names_its_nodes() -> None:
    view, nodes = RunView(), iter(["far (10.0.0.2)", "near (10.0.0.1)"])
    for place, fact in enumerate(FACTS):
        if isinstance(fact, EpisodeEnded):
            notes = replace(fact.episode.notes, node=next(nodes))
            fact = replace(fact, episode=replace(fact.episode, notes=notes, wall_s=60.0))
        view.apply(fact, 2.5 * place)
    lines = lines_of(view, width=120)
    assert any("on 2 nodes" in line for line in lines) and not any("at once" in line for line in lines)
    [row] = [line for line in lines if line.startswith("nodes")]
    assert row.endswith("far (10.0.0.2) 1 episode in 60 s, near (10.0.0.1) 1 episode in 60 s")


@pytest.mark.parametrize(("live", "word"), [(False, "killed"), (True, "running")])
def test_only_the_lock_shows_a_killed_run(live: bool, word: str) -> None:
    lines = lines_of(view_of_story(15), live=live)
    assert lines[0].endswith(word)
    assert any("memento resume runs/x" in line for line in lines) is not live


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with stored(tmp_path, FACTS) as store:
        yield store


def stored(folder: Path, facts: Sequence[Fact]) -> RunStore:
    store = RunStore.create(folder / "x", clock=SystemClock())
    store.append(facts)
    return store


def text_of(store: RunStore, name: str, *parts: str) -> str:
    record = look_up(store, name)
    parents = parents_of(store, record)
    return "\n".join(describe_record(record, parents[0] if parents else None, parts=parts))


def test_policies_evaluators_and_votes_can_be_looked_at(store: RunStore) -> None:
    assert "hill-climb" in text_of(store, "g1/hill/0")
    assert "rejected by the climb" in text_of(store, "g1/hill/1")
    assert "failed: crashed, ZeroDivisionError" in text_of(store, "g1/macro/0")
    assert "2 of T_0" not in text_of(store, "eval/g0/0")
    assert "frozen as E*" in text_of(store, "eval/g0/0")
    assert "invalid: crashed" in text_of(store, "eval/g0/1")
    assert "votes for eval/g0/0" in text_of(store, "eval/g0/judge/0")
    assert text_of(store, "init/0").startswith("init/0: no program")
    assert text_of(store, "p_0").startswith("init/1: the initial policy p_0")


def test_parts_are_alone_and_in_order(store: RunStore) -> None:
    assert text_of(store, "g1/hill/0", "code") == "class Policy: ..."
    assert text_of(store, "eval/g0/judge/0", "reply", "prompt") == "asked?[31m\nanswered"
    assert text_of(store, "eval/g0/judge/0", "code") == "eval/g0/judge/0 has no code"
    assert "has no model call" in text_of(store, "g1/hill/0", "prompt")


def test_metrics_and_code_stand_against_the_parents(store: RunStore) -> None:
    policy = look_up(store, "g1/cross/0")
    assert policy.program is not None
    parent = replace(policy, id="parent", metrics={"lift": {"mean": 0.25}, "kind": {"most_common": {"a": 1}}})
    grown = replace(policy.program, text="class Policy:\n    x = 1")
    record = replace(policy, program=grown, metrics={"lift": {"mean": 0.5}, "fell": {"rate": 1.0}})
    text = "\n".join(describe_record(record, parent, parts=["metrics", "diff"]))
    assert "against parent" in text
    assert "0.500    0.250  +0.250" in text
    assert "--- parent\n+++ g1/cross/0" in text
    assert "-class Policy: ...\n+class Policy:" in text


def test_an_unknown_name_gives_the_nearest(store: RunStore) -> None:
    with pytest.raises(UsageError, match="'g1/macro/0'"):
        look_up(store, "g1/makro/0")


def test_an_attempt_that_gave_no_program_can_be_looked_at(tmp_path: Path) -> None:
    again = [
        replace(fact, order="init/7", call=VOTE_CALL) if isinstance(fact, ProposalMade) else fact for fact in STORY
    ]
    with stored(tmp_path, again) as store:
        assert text_of(store, "init/7", "prompt").startswith("asked")


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
    output = capsys.readouterr()
    assert output.out == ""
    assert "memento run hanoi" in output.err
