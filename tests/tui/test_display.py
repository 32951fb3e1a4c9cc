"""What a person reads during a run: the lines, word for word, and a plausible time left."""

import io
import os
from dataclasses import replace
from pathlib import Path

import pytest
from memento.core.events import CandidateScored, EliteChanged, EpisodeEnded, Fact, RunStarted, StageEntered
from memento.core.values import Episode, Operator
from memento.tui.display import QUIET_S, PlainLines, open_display
from memento.tui.lines import isolation, lines_of, still_working
from memento.tui.view import ENOUGH_TO_JUDGE, View, after, recounted, time_left_s

from ..support.story import SETTINGS, STORY, candidate

GOLDEN = Path(__file__).parent / "golden" / "plain-lines.txt"


class Clock:
    """Every reading advances it by a second, unless a jump is set."""

    def __init__(self, step_s: float = 1.0) -> None:
        self.now_s = 0.0
        self.step_s = step_s

    def __call__(self) -> float:
        self.now_s += self.step_s
        return self.now_s


def test_the_whole_story_word_for_word() -> None:
    """After an intended change run `MEMENTO_GOLDEN=write pytest tests/tui`, and read it as a newcomer would."""
    view, told = View(), []
    for second, fact in enumerate(STORY):
        view = after(view, fact, now_s=float(second))
        told += lines_of(fact, view, now_s=float(second))
    if os.environ.get("MEMENTO_GOLDEN") == "write":
        GOLDEN.write_text("\n".join(told) + "\n", encoding="utf-8")
    assert "\n".join(told) + "\n" == GOLDEN.read_text(encoding="utf-8")


def test_lines_hold_no_control_characters_and_are_bounded() -> None:
    view = View()
    for fact in STORY:
        view = after(view, fact, now_s=0.0)
        for line in lines_of(fact, view, now_s=0.0):
            assert line.isprintable()
            assert len(line) < 230


def test_a_run_that_is_read_tells_no_time_left() -> None:
    view, told = View(), []
    for second, fact in enumerate(STORY):
        view = after(view, fact, now_s=float(second))
        told += lines_of(fact, view, now_s=None)
    assert not [line for line in told if " left" in line and "left:" not in line]


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


def test_what_models_cost_is_told_with_every_generation() -> None:
    last = [fact for fact in STORY if isinstance(fact, EliteChanged)][-1]
    for cost_usd, words in ((0.064, "31,500 tokens, $0.06 so far"), (None, "31,500 tokens, price unknown so far")):
        view = after(View(settings=SETTINGS, tokens=31_500, cost_usd=cost_usd), last, now_s=0.0)
        assert words in lines_of(last, view, now_s=0.0)[0]
        assert words in still_working(view, now_s=0.0)
    assert "tokens" not in lines_of(last, after(View(settings=SETTINGS), last, now_s=0.0), now_s=0.0)[0]


# -------------------------------------------------------------------------------------- the time left


def searching(done: int, *, seconds_each: float) -> tuple[View, float]:
    """A view `done` candidates into a search that began at 100 s."""
    facts: list[Fact] = [RunStarted(settings={**SETTINGS, "k_macro": 10, "final_episodes": 0}, versions={})]
    view = View()
    for fact in facts:
        view = after(view, fact, now_s=0.0)
    ended = Episode(index=0, seed=0, steps=1, ended_by="horizon", success=False, wall_s=1.0)
    view = after(view, EpisodeEnded(order="init/0/e0", episode=ended), now_s=50.0)
    view = after(view, StageEntered(stage="search"), now_s=100.0)
    for slot in range(done):
        one = replace(candidate(slot, Operator.MACRO, 0.1, "macro"), id=f"g1/macro/{slot}")
        view = after(view, CandidateScored(order=one.id, candidate=one), now_s=100.0 + (slot + 1) * seconds_each)
    return view, 100.0 + done * seconds_each


def test_no_time_is_told_before_there_is_a_rate() -> None:
    view, now_s = searching(ENOUGH_TO_JUDGE - 1, seconds_each=5.0)
    assert time_left_s(view, now_s=now_s) is None
    view, now_s = searching(ENOUGH_TO_JUDGE, seconds_each=5.0)
    assert time_left_s(view, now_s=now_s) is not None


@pytest.mark.parametrize("done", [3, 10, 25])
def test_the_time_left_is_the_rate_times_what_remains(done: int) -> None:
    view, now_s = searching(done, seconds_each=5.0)
    assert view.candidates_expected == 26
    assert time_left_s(view, now_s=now_s) == pytest.approx((26 - done) * 5.0)


def test_the_final_measure_counts_too() -> None:
    view, now_s = searching(26, seconds_each=5.0)
    view = replace(view, settings={**view.settings, "final_episodes": 6, "workers": 3})
    assert time_left_s(view, now_s=now_s) == pytest.approx(2 * 6 * 1.0 / 3)


def test_after_a_resume_the_rate_is_measured_anew() -> None:
    view, _ = searching(10, seconds_each=5.0)
    view = recounted(view, now_s=5000.0)
    assert time_left_s(view, now_s=5001.0) is None
    for slot in range(10, 14):
        one = replace(candidate(slot, Operator.MACRO, 0.1, "macro"), id=f"g1/macro/{slot}")
        view = after(view, CandidateScored(order=one.id, candidate=one), now_s=5000.0 + (slot - 9) * 2.0)
    assert time_left_s(view, now_s=5008.0) == pytest.approx((26 - 14) * 2.0)


# --------------------------------------------------------------------------------------- the displays


def test_plain_lines_go_to_the_stream() -> None:
    stream = io.StringIO()
    display = PlainLines(stream, clock=Clock())
    display.opened(Path("runs/x"))
    for fact in STORY:
        display.show(fact)
    assert stream.getvalue().startswith("run runs/x\nhanoi by memento")
    assert display.folder == Path("runs/x")


def test_a_quiet_while_is_broken_once() -> None:
    stream, clock = io.StringIO(), Clock(step_s=0.0)
    display = PlainLines(stream, clock=clock)
    for fact in STORY[:5]:
        display.show(fact)
    told = len(stream.getvalue())
    display.tick()
    assert len(stream.getvalue()) == told
    clock.now_s += QUIET_S
    display.tick()
    assert "1 episode, 2 model calls so far" in stream.getvalue()[told:]
    told = len(stream.getvalue())
    display.tick()
    assert len(stream.getvalue()) == told


def test_what_was_before_a_resume_is_not_told_again() -> None:
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
    display.opened(Path("a"))
    for fact in STORY:
        display.show(fact)
    display.tick()
    assert display.folder == Path("a")
    assert capsys.readouterr() == ("", "")
