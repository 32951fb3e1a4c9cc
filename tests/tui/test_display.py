"""The plain lines of a live run, word for word, and the estimate of the time left."""

import io
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.events import (
    CandidateScored,
    ConstantsTried,
    EliteChanged,
    EpisodeEnded,
    Fact,
    ProposalMade,
    RunResumed,
    RunStarted,
    StageEntered,
)
from memento.core.values import Episode, Operator, Usage
from memento.memory.run_status import ENOUGH_TO_JUDGE, RunStatus, time_left_s
from memento.memory.run_view import RunView
from memento.tui import display as display_module
from memento.tui.display import QUIET_S, PlainLines, open_display
from memento.tui.lines import lines_of, still_working
from memento.tui.words import isolation

from ..support.story import CALL, PROGRAM, SETTINGS, STORY, candidate

pytestmark = pytest.mark.quick

GOLDEN = Path(__file__).parent / "golden" / "plain-lines.txt"


class Clock:
    """Every call advances it by a second; `jump` sets it forward."""

    def __init__(self, step_s: float = 1.0) -> None:
        self.now_s = 0.0
        self.step_s = step_s

    def __call__(self) -> float:
        self.now_s += self.step_s
        return self.now_s


def story() -> Iterator[tuple[float, Fact, RunView]]:
    """Every fact of it with its second and the view that holds it."""
    view = RunView()
    for second, fact in enumerate(STORY):
        view.apply(fact, float(second))
        yield float(second), fact, view


def view_with(*facts: Fact) -> RunView:
    view = RunView()
    for fact in (RunStarted(settings=SETTINGS, versions={}), *facts):
        view.apply(fact, 0.0)
    return view


def test_the_whole_story_word_for_word() -> None:
    """After an intended change run `MEMENTO_GOLDEN=write pytest tests/tui`, and read the difference."""
    lines = [line for second, fact, view in story() for line in lines_of(fact, view, now=second)]
    if os.environ.get("MEMENTO_GOLDEN") == "write":
        GOLDEN.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert "\n".join(lines) + "\n" == GOLDEN.read_text(encoding="utf-8")


def test_lines_hold_no_control_characters_and_are_bounded() -> None:
    for second, fact, view in story():
        for line in lines_of(fact, view, now=second):
            assert line.isprintable()
            assert len(line) < 230


def test_a_run_that_is_read_has_no_time_left() -> None:
    lines = [line for _, fact, view in story() for line in lines_of(fact, view, now=None)]
    assert not [line for line in lines if " left" in line and "left:" not in line]


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        (("rlimits", "landlock", "seccomp"), None),
        (("rlimits", "landlock"), "use the network"),
        (("rlimits", "seccomp"), "reach your files"),
        ((), "reach your files and use the network"),
    ],
)
def test_missing_isolation_is_said_loudly(layers: tuple[str, ...], words: str | None) -> None:
    line = isolation(layers)
    assert ("NOT ISOLATED" in line) == (words is not None)
    assert words is None or words in line


def test_the_final_measure_counts_its_own_episodes() -> None:
    status = RunStatus(stage="final", settings={"final_episodes": 8, "budget_episodes": 128})
    status.episodes, status.search_episodes = 41, 36
    assert "5 of 16 held-out episodes" in still_working(status, now=0.0)


def test_what_models_cost_is_shown_with_every_generation() -> None:
    last = [fact for fact in STORY if isinstance(fact, EliteChanged)][-1]
    for cost_usd, words in ((0.064, "31,500 tokens, $0.06 so far"), (None, "31,500 tokens, price unknown so far")):
        usage = Usage(input_tokens=31_000, output_tokens=500, cost_usd=cost_usd)
        made = ProposalMade(order="init/0", program=PROGRAM, summary="", call=replace(CALL, usage=usage))
        view = view_with(made, last)
        assert words in lines_of(last, view, now=0.0)[0]
        assert words in still_working(view.status, now=0.0)
    assert "tokens" not in lines_of(last, view_with(last), now=0.0)[0]


# -------------------------------------------------------------------------------------- the time left


def searching(done: int, *, seconds_each: float, **changes: int) -> tuple[RunStatus, float]:
    """The status `done` candidates into a search that began at 100 s."""
    status = RunStatus()
    settings = {**SETTINGS, "k_macro": 10, "final_episodes": 0, **changes}
    status.apply(RunStarted(settings=settings, versions={}), 0.0)
    ended = Episode(index=0, seed=0, steps=1, ended_by="horizon", success=False, wall_s=1.0)
    status.apply(EpisodeEnded(order="init/0/e0", episode=ended), 50.0)
    status.apply(StageEntered(stage="search"), 100.0)
    for slot in range(done):
        score(status, slot, at=100.0 + (slot + 1) * seconds_each)
    return status, 100.0 + done * seconds_each


def score(status: RunStatus, slot: int, *, at: float) -> None:
    one = replace(candidate(slot, Operator.MACRO, 0.1, "macro"), id=f"g1/macro/{slot}")
    status.apply(CandidateScored(order=one.id, candidate=one), at)


def test_no_time_is_estimated_before_there_is_a_rate() -> None:
    status, now = searching(ENOUGH_TO_JUDGE - 1, seconds_each=5.0)
    assert time_left_s(status, now=now) is None
    status, now = searching(ENOUGH_TO_JUDGE, seconds_each=5.0)
    assert time_left_s(status, now=now) is not None


@given(done=st.integers(0, 200), each_s=st.floats(0.01, 1000), generations=st.integers(1, 500))
def test_a_time_left_follows_a_result_and_is_at_most_ten_times_what_was_measured(
    done: int, each_s: float, generations: int
) -> None:
    status, now = searching(done, seconds_each=each_s, generations=generations, final_episodes=10)
    left_s = time_left_s(status, now=now)
    assert left_s is None or (done and left_s <= 10 * done * each_s * (1 + 1e-9))
    if done == 200 and status.candidates_expected <= 400:
        assert left_s is not None


@pytest.mark.parametrize("done", [3, 10, 25])
def test_the_time_left_is_the_rate_times_what_remains(done: int) -> None:
    status, now = searching(done, seconds_each=5.0)
    assert status.candidates_expected == 26
    assert time_left_s(status, now=now) == pytest.approx((26 - done) * 5.0)


def test_the_episodes_of_tuning_count_in_what_is_announced_and_in_the_time_left() -> None:
    status, now = searching(10, seconds_each=5.0, k_tune=1, tune_episodes=30, generations=2, n_roll=3)
    remaining = status.candidates_expected - 10
    assert time_left_s(status, now=now) == pytest.approx(50.0 * (remaining * 3 + 60) / 30), "none of them was tried yet"
    status.apply(ConstantsTried(order="g1/tune/0/v0", point=(0.5,), fitnesses=(0.1,) * 60), now)
    assert time_left_s(status, now=now) == pytest.approx(50.0 * remaining / 10), "candidates are what is left"
    view = view_with(RunStarted(settings=status.settings, versions={}))
    [*_, line] = lines_of(StageEntered(stage="search"), view, now=0.0)
    assert "1 tuning over 30 episodes" in line


def test_the_final_measure_counts_too() -> None:
    status, now = searching(26, seconds_each=5.0, final_episodes=6, workers=3)
    assert time_left_s(status, now=now) == pytest.approx(2 * 6 * 1.0 / 3)


def test_after_a_resume_the_rate_is_measured_again() -> None:
    status, _ = searching(10, seconds_each=5.0)
    status.apply(RunResumed(), 5000.0)
    assert time_left_s(status, now=5001.0) is None
    for slot in range(10, 14):
        score(status, slot, at=5000.0 + (slot - 9) * 2.0)
    assert time_left_s(status, now=5008.0) == pytest.approx((26 - 14) * 2.0)


# --------------------------------------------------------------------------------------- the displays


def test_plain_lines_go_to_the_stream() -> None:
    stream = io.StringIO()
    display = PlainLines(stream, clock=Clock())
    display.on_open(Path("runs/x"))
    for fact in STORY:
        display.show(fact)
    assert stream.getvalue().startswith("run runs/x\nhanoi by memento")
    assert display.folder == Path("runs/x")


def test_a_quiet_while_is_broken_once() -> None:
    stream, clock = io.StringIO(), Clock(step_s=0.0)
    display = PlainLines(stream, clock=clock)
    for fact in STORY[:5]:
        display.show(fact)
    written = len(stream.getvalue())
    display.tick()
    assert len(stream.getvalue()) == written
    clock.now_s += QUIET_S
    display.tick()
    assert "1 episode, 1 model call so far" in stream.getvalue()[written:]
    written = len(stream.getvalue())
    display.tick()
    assert len(stream.getvalue()) == written


@pytest.mark.parametrize(("order", "words"), [
    ("choice/2/e5", "choosing among the best programs on fresh episodes"),
    ("confirm/g1/candidate/e0", "comparing the best program with the elite on fresh episodes"),
    ("starts/g1/e3", "trying the elite on further starts"),
])
def test_the_progress_line_says_what_is_under_way(order: str, words: str) -> None:
    stream, clock = io.StringIO(), Clock(step_s=0.0)
    display = PlainLines(stream, clock=clock)
    for fact in (STORY[0], StageEntered(stage="search"), *STORY[2:4]):
        display.show(fact)
    display.recall([STORY[4]])
    display.on_begin(order)
    clock.now_s += QUIET_S
    display.tick()
    assert f"   … {words}, " in stream.getvalue()


def test_a_start_says_every_half_minute_what_it_waits_for_and_why() -> None:
    stream, clock = io.StringIO(), Clock(step_s=0.0)
    display = PlainLines(stream, clock=clock)
    display.show(STORY[0])
    clock.now_s += QUIET_S
    display.tick()
    assert stream.getvalue().splitlines()[-1] == (
        "   … starting: the clients of models and the workers, for 30 s  [00:00]"
    )
    display.show(STORY[1])
    display.on_begin("init/0")
    written = len(stream.getvalue())
    for second in range(120):
        if second == 70:
            display.on_retry("init/0", "attempt 3 of 6, since lab:m sent nothing for 10 s")
        clock.now_s += 1.0
        display.tick()
    lines = stream.getvalue()[written:].splitlines()
    assert lines == [
        f"   … waiting for 1 answer; the oldest is init/0, for {after}" for after in (
            "30 s  [00:01]", "60 s  [00:01]", "2 min; attempt 3 of 6, since lab:m sent nothing for 10 s  [00:02]",
            "2 min; attempt 3 of 6, since lab:m sent nothing for 10 s  [00:02]",
        )
    ]


def test_a_thread_says_that_it_starts_while_the_controller_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display_module, "BEAT_S", 0.01)
    stream, clock = io.StringIO(), Clock(step_s=0.0)
    display = PlainLines(stream, clock=clock)
    display.on_open(Path("runs/x"))
    display.show(STORY[0])
    clock.now_s += QUIET_S
    deadline = time.monotonic() + 30
    while "… starting" not in stream.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)        # no tick: the loop that would call it stands still
    display.close()
    assert stream.getvalue().count("… starting") == 1


def test_a_search_that_waits_says_for_what_and_then_less_and_less() -> None:
    stream, clock = io.StringIO(), Clock(step_s=0.0)
    display = PlainLines(stream, clock=clock)
    for fact in (STORY[0], StageEntered(stage="search")):
        display.show(fact)
    display.on_begin("g1/hill/0")
    written = len(stream.getvalue())
    for _ in range(3600):
        clock.now_s += 1.0
        display.tick()
    lines = stream.getvalue()[written:].splitlines()
    assert lines[0] == "   … waiting for 1 answer; the oldest is g1/hill/0, for 30 s  [00:00]"
    assert len(lines) == 6, "after 30, 90, 210, … seconds"
    display.show(STORY[2])
    clock.now_s += QUIET_S
    display.tick()
    assert len(stream.getvalue()[written:].splitlines()) > 6, "as soon as before once something happened"


def test_what_was_before_a_resume_is_not_shown_again() -> None:
    stream = io.StringIO()
    display = PlainLines(stream, clock=Clock())
    display.recall(STORY[:20])
    assert stream.getvalue() == ""
    display.show(STORY[20])
    assert "rejected" in stream.getvalue()


def test_a_closed_pipe_does_not_end_the_run() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    display = PlainLines(Closed(), clock=Clock())
    for fact in STORY:
        display.show(fact)


def test_silence_only_remembers_the_folder(capsys: pytest.CaptureFixture[str]) -> None:
    display = open_display("none", io.StringIO(), environment={})
    display.on_open(Path("a"))
    for fact in STORY:
        display.show(fact)
    display.tick()
    assert display.folder == Path("a")
    assert capsys.readouterr() == ("", "")
