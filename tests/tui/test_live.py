"""The live screen: its text at given sizes, and a display that neither slows nor ends a run."""

import contextlib
import io
import os
import pty
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from memento.app.session import observer_for
from memento.core.events import (
    CandidateRejected,
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    Fact,
    ProposalMade,
)
from memento.core.ports import Attentive
from memento.core.values import Episode
from memento.runtime.rollouts.worker_slots import WorkerActivity
from memento.tui.display import PlainLines, Silence, open_display
from memento.tui.live import SHORTEST, RichDisplay, draw
from memento.tui.live_view import LiveView
from memento.tui.snapshot import RunSnapshot, search_slots
from rich.console import Console

from ..support.story import CALL, CLIMB_1, CLIMB_2, MACRO, PROGRAM, STORY

pytestmark = pytest.mark.quick

GOLDEN = Path(__file__).parent / "golden"
ENOUGH_S = 20.0


@dataclass(frozen=True)
class Doing:
    worker: int
    phase: str
    doing: str | None = None
    order: str | None = None
    steps: int = 0
    node: str | None = None


def made(order: str) -> ProposalMade:
    return ProposalMade(order=order, program=PROGRAM, summary="", call=CALL)


def rolled(order: str) -> EpisodeEnded:
    return EpisodeEnded(order=order, episode=Episode(index=0, seed=0, steps=9, ended_by="horizon", success=False))


def shown(live: LiveView, facts: Iterable[Fact]) -> LiveView:
    for fact in facts:
        live.on_fact(fact, 10.0)
    return live


def snapshot_of(live: LiveView) -> RunSnapshot:
    return RunSnapshot(
        folder=Path("runs/x"), run=live.view.status, slots=live.view.slots, live=True, reading=False,
        note=live.under_way.note(10.0),
    )


def searching() -> LiveView:
    """In the middle of generation 1: a climb accepted and one rolling out, a macro failed."""
    first = next(place for place, fact in enumerate(STORY) if isinstance(fact, EliteChanged)) + 1
    live = shown(LiveView(), STORY[:first])
    for order in ("g1/hill/0", "g1/macro/0"):
        live.under_way.begin(order, 10.0)
    shown(live, [made("g1/hill/0"), *STORY[first:first + 2], made("g1/macro/0")])
    shown(live, [CandidateScored(order=MACRO.id, candidate=MACRO), made("g1/hill/1")])
    live.under_way.begin("g1/hill/1/e0", 10.0)
    shown(live, [rolled("g1/hill/1/e0")])
    live.under_way.observe(Doing(0, "working", "roll", "g1/hill/1/e1", 412))
    live.under_way.observe(Doing(1, "environment", "score", "g1_macro_0_e0"))
    live.under_way.observe(Doing(2, "idle"))
    return live


def text_of(live: LiveView, width: int, height: int, now: float = 75.0) -> str:
    console = Console(file=io.StringIO(), width=width, height=height, color_system=None)
    console.print(draw(snapshot_of(live), began=0.0, now=now, width=width, height=height))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (60, 14)])
def test_the_screen_word_for_word(width: int, height: int) -> None:
    """After an intended change run `MEMENTO_GOLDEN=write pytest tests/tui`, and look at the difference."""
    golden = GOLDEN / f"screen-{width}x{height}.txt"
    text = text_of(searching(), width, height)
    if os.environ.get("MEMENTO_GOLDEN") == "write":
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [30, 60, 80, 200])
@pytest.mark.parametrize("height", [6, 10, 24])
def test_every_moment_fits_and_never_scrolls(width: int, height: int) -> None:
    for length in range(len(STORY) + 1):
        lines = text_of(shown(LiveView(), STORY[:length]), width, height).splitlines()
        assert len(lines) <= max(height, SHORTEST)
        assert all(len(line) <= width and line.isprintable() for line in lines)


def test_a_short_screen_keeps_the_stage_and_what_ctrl_c_does() -> None:
    text = text_of(searching(), 80, 6)
    assert "generation 1 of 2" in text
    assert "Ctrl-C stops, nothing is lost" in text


def test_slots_go_their_way() -> None:
    live = shown(LiveView(), STORY[:13])
    states = []

    def state() -> str:
        return next(slot.state for slot in search_slots(snapshot_of(live)) if slot.id == "g1/hill/1")

    for step in (
        lambda: live.under_way.begin("g1/hill/1", 0.0), lambda: live.on_fact(made("g1/hill/1"), 0.0),
        lambda: live.under_way.begin("g1/hill/1/e0", 0.0),
        lambda: live.on_fact(CandidateScored(order=CLIMB_2.id, candidate=CLIMB_2), 0.0),
        lambda: live.on_fact(next(fact for fact in STORY if isinstance(fact, CandidateRejected)), 0.0),
    ):
        step()
        states.append(state())
    assert states == ["asked", "proposed", "rolling", "scored", "rejected"]
    pruned = replace(CLIMB_1, bound=0.3)
    live.on_fact(CandidateScored(order=pruned.id, candidate=pruned), 0.0)
    assert live.view.slots.candidates[pruned.id].state == "pruned"


def test_what_was_begun_for_the_next_generation_stays() -> None:
    ended = next(fact for fact in STORY if isinstance(fact, EliteChanged) and fact.generation == 1)
    live = shown(searching(), [made("g2/random/0"), ended])
    assert {*live.view.slots.candidates} == {"g2/random/0", ended.candidate}


def test_a_new_generation_begins_with_empty_lanes() -> None:
    ended = next(fact for fact in STORY if isinstance(fact, EliteChanged) and fact.generation == 1)
    live = shown(searching(), [ended])
    lanes = [line for line in text_of(live, 80, 24).splitlines() if line.startswith(("climb", "macro"))]
    assert [line.split() for line in lanes] == [["climb", "·", "·"], ["macro", "·"]]
    assert [elite.fitness for elite in live.view.slots.elites] == [0.375, 0.45]


# --------------------------------------------------------------------------------------- the display


class Terminal:
    """A pseudo-terminal whose output is read by a thread, as a terminal does, unless it `reads` not."""

    def __init__(self, *, reads: bool = True) -> None:
        self._ours, theirs = pty.openpty()
        self.stream = os.fdopen(theirs, "w", encoding="utf-8")
        self.seen = b""
        self._there = True
        if reads:
            self.read_on()

    def read_on(self) -> None:
        if self._there:
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while more := os.read(self._ours, 65536):
                self.seen += more

    def hang_up(self) -> None:
        self._there = False
        os.close(self._ours)

    def wait_for(self, text: bytes) -> None:
        deadline = time.monotonic() + ENOUGH_S
        while text not in self.seen:
            assert time.monotonic() < deadline, "waited in vain"
            time.sleep(0.02)


@pytest.fixture
def terminal_of() -> Iterator[Callable[..., Terminal]]:
    """Makes terminals, and takes them away when no display draws any more."""
    made: list[Terminal] = []

    def make(*, reads: bool = True) -> Terminal:
        made.append(Terminal(reads=reads))
        return made[-1]

    yield make
    for terminal in made:
        terminal.read_on()
    for thread in threading.enumerate():
        if thread.name == "display":
            thread.join(ENOUGH_S)
            assert not thread.is_alive()
    for terminal in made:
        with contextlib.suppress(OSError):
            terminal.stream.close()


def fed(display: RichDisplay) -> None:
    display.on_open(Path("runs/x"))
    for fact in STORY:
        display.show(fact)
    display.on_begin("g1/hill/0")
    display.observe(Doing(0, "working", "roll", "g1/hill/0/e0", 3))
    display.tick()


@pytest.fixture(autouse=True)
def a_capable_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")


def test_it_draws_keeps_what_matters_and_gives_the_cursor_back(terminal_of: Callable[..., Terminal]) -> None:
    terminal = terminal_of()
    display = RichDisplay(terminal.stream)
    fed(display)
    display.close()
    terminal.wait_for(b"\x1b[?25h")
    assert b"MEMENTO" in terminal.seen
    assert b"new elite from crossover" in terminal.seen
    assert terminal.seen.rindex(b"\x1b[?25h") > terminal.seen.rindex(b"\x1b[?25l"), "the cursor is shown again"


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch, terminal_of: Callable[..., Terminal]) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = terminal_of()
    display = RichDisplay(terminal.stream)
    fed(display)
    display.close()
    terminal.wait_for(b"\x1b[?25h")
    assert b"MEMENTO" in terminal.seen
    assert not any(f"\x1b[{code}m".encode() in terminal.seen for code in (31, 32, 33, 36, "1;36", "1;32"))


@pytest.mark.slow
def test_a_terminal_that_takes_nothing_holds_up_nobody(terminal_of: Callable[..., Terminal]) -> None:
    terminal = terminal_of(reads=False)
    display = RichDisplay(terminal.stream)
    for _ in range(400):
        fed(display)
    display.close()
    assert any(thread.name == "display" for thread in threading.enumerate()), "it hangs in a write, alone"


def test_a_terminal_that_goes_away_ends_nothing(terminal_of: Callable[..., Terminal]) -> None:
    terminal = terminal_of(reads=False)
    display = RichDisplay(terminal.stream)
    terminal.hang_up()
    fed(display)
    display.close()
    fed(display)


@pytest.mark.parametrize(
    ("kind", "terminal", "environment", "expected"),
    [
        ("rich", True, {"TERM": "xterm"}, RichDisplay),
        ("rich", True, {"TERM": "dumb"}, PlainLines),
        ("rich", True, {}, PlainLines),
        ("rich", False, {"TERM": "xterm"}, PlainLines),
        ("plain", True, {"TERM": "xterm"}, PlainLines),
        ("none", True, {"TERM": "xterm"}, Silence),
    ],
)
def test_rich_is_plain_where_it_cannot_draw(
    kind: str, terminal: bool, environment: dict[str, str], expected: type, terminal_of: Callable[..., Terminal]
) -> None:
    stream = terminal_of().stream if terminal else io.StringIO()
    display = open_display(kind, stream, environment=environment)
    assert isinstance(display, expected)
    assert isinstance(display, Attentive) == (expected is not Silence)


# ---------------------------------------------------------------------------------------- the wiring


class Hearing(Silence):
    """An attentive display that records its calls."""

    def __init__(self) -> None:
        self.heard: list[object] = []

    def on_begin(self, order: str) -> None:
        self.heard.append(order)

    def on_retry(self, order: str, why: str) -> None:
        self.heard.append(why)

    def observe(self, activity: object) -> None:
        self.heard.append(activity)


def test_an_attentive_display_hears_of_the_workers_as_others_do() -> None:
    display, seen_by_others = Hearing(), list[object]()
    idle = WorkerActivity(worker=0, phase="idle")
    observer_for(seen_by_others.append, display)(idle)
    assert display.heard == seen_by_others == [idle]
    assert observer_for(print, Silence()) is print
