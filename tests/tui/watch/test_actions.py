"""Everything a person can do, by key, by mouse and by the command palette."""

import asyncio
import dataclasses
import sys
from pathlib import Path

import pytest
from memento.cli.terminal_ui import CliControls
from memento.core.events import RunStarted
from memento.memory.store import RunStore
from memento.tui.watch.rows import Rows
from memento.tui.watch.screens.candidate import CandidateScreen
from memento.tui.watch.screens.dialogs import ExportScreen
from textual.widgets import Input, TabbedContent

from .conftest import LiveRun
from .recording import SetClock, begin
from .watching import Recorded, press, settled, text_of, the, until, watching

pytestmark = pytest.mark.quick


@pytest.mark.slow
async def test_the_screens_are_reached_by_key_and_by_mouse(done: Path) -> None:
    async with watching(done) as pilot:
        for key, name in enumerate(("overview", "candidates", "evaluators", "lineage", "memory", "models", "log"), 1):
            await press(pilot, str(key))
            assert the(pilot).current_mode == name
        await pilot.click("RunHeader", offset=(10, 2))
        await settled(pilot)
        assert the(pilot).current_mode == "candidates"


@pytest.mark.slow
async def test_a_candidate_is_opened_by_key_and_by_mouse_and_walked(done: Path) -> None:
    async with watching(done) as pilot:
        await press(pilot, "2", "home", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, CandidateScreen)
        assert screen.candidate == "init/0"
        await press(pilot, "n")
        assert screen.candidate == "g1/hill/0"
        await press(pilot, "N", "N")
        assert screen.candidate == "g3/cross/0"
        assert "g3/cross/0" in text_of(pilot)
        await press(pilot, "escape")
        await pilot.click("#list", offset=(5, 4))
        await settled(pilot)
        assert pilot.app.screen.query_one(Rows).cursor == 3
        await pilot.click("#list", offset=(5, 4))
        await settled(pilot)
        assert isinstance(pilot.app.screen, CandidateScreen)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "tab", "word"),
    [("c", "code", "class"), ("f", "parent", "->"), ("l", "elite", "->"), ("m", "metrics", "moved by"),
     ("x", "episodes", "horizon"), ("w", "prompt", "proposer offline"), ("r", "reply", "proposer offline")],
)
async def test_the_parts_of_a_candidate(key: str, tab: str, word: str, done: Path) -> None:
    async with watching(done, size=(120, 60)) as pilot:
        await press(pilot, "2", "home", "down", "down", "enter", key)
        assert pilot.app.screen.query_one(TabbedContent).active == tab
        assert word in text_of(pilot)


@pytest.mark.slow
async def test_candidates_are_filtered_and_sorted(done: Path) -> None:
    async with watching(done) as pilot:
        await press(pilot, "2", "slash", *"macro-mut", "enter")
        rows = pilot.app.screen.query_one(Rows)
        assert rows.has_focus
        assert rows.count == 6
        assert "g1/hill/0" not in text_of(pilot)
        await press(pilot, "escape")
        assert rows.count == 19
        await press(pilot, "o", "o", "home")
        assert text_of(pilot).splitlines()[5].startswith("g3/cross/0"), "best first"


@pytest.mark.slow
async def test_the_lineage_of_the_elites_or_of_all(done: Path) -> None:
    async with watching(done) as pilot:
        await press(pilot, "4")
        few = pilot.app.screen.query_one(Rows).count
        await press(pilot, "a")
        assert pilot.app.screen.query_one(Rows).count == 19 > few
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, CandidateScreen)


@pytest.mark.slow
async def test_an_evaluator_and_a_vote_are_opened(done: Path) -> None:
    async with watching(done) as pilot:
        await press(pilot, "3", "enter")
        assert "class Evaluator" in text_of(pilot) or "def " in text_of(pilot) or "import" in text_of(pilot)
        await press(pilot, "escape", "tab", "enter", "r")
        assert "judge offline" in text_of(pilot)


@pytest.mark.slow
async def test_a_rejection_and_a_call_are_opened(done: Path) -> None:
    async with watching(done) as pilot:
        await press(pilot, "5", "enter")
        assert isinstance(pilot.app.screen, CandidateScreen)
        assert pilot.app.screen.candidate == "g3/hill/2"
        await press(pilot, "6", "enter")
        assert pilot.app.screen.candidate == "g3/cross/0"


@pytest.mark.slow
async def test_the_log_is_filtered_and_opens_what_a_fact_is_about(done: Path) -> None:
    async with watching(done) as pilot:
        await press(pilot, "7", "slash", *"episodeended g1/macro", "enter")
        rows = pilot.app.screen.query_one(Rows)
        await until(pilot, lambda: rows.count == 4)
        await settled(pilot)
        assert "g1/macro/1/e1" in text_of(pilot)
        await press(pilot, "enter")
        assert pilot.app.screen.candidate == "g1/macro/1"


@pytest.mark.slow
async def test_exporting_asks_where_and_writes(done: Path, tmp_path: Path) -> None:
    out = tmp_path / "policy.py"
    async with watching(done, controls=CliControls()) as pilot:
        await press(pilot, "2", "e")
        assert isinstance(pilot.app.screen, ExportScreen)
        pilot.app.screen.query_one(Input).value = str(out)
        await press(pilot, "enter")
        await until(pilot, out.exists)
        assert "class" in out.read_text()
        await press(pilot, "e")
        pilot.app.screen.query_one(Input).value = str(out)
        await press(pilot, "enter")
        await until(pilot, lambda: "exists already" in text_of(pilot))
        await press(pilot, "e", "escape")
        assert not isinstance(pilot.app.screen, ExportScreen)


@pytest.mark.slow
async def test_rendering_is_a_process_of_its_own(done: Path, tmp_path: Path) -> None:
    controls = Recorded(command=[sys.executable, "-c", f"open({str(tmp_path / 'film')!r}, 'w').write('film')"])
    async with watching(done, controls=controls) as pilot:
        await press(pilot, "2", "v", "enter")
        await until(pilot, (tmp_path / "film").exists)
        await until(pilot, lambda: "is rendered" in text_of(pilot))
        controls.command = [sys.executable, "-c", "import sys; print('no renderer here'); sys.exit(3)"]
        await press(pilot, "v", "enter")
        await until(pilot, lambda: "could not be rendered" in text_of(pilot))


@pytest.mark.slow
async def test_pause_continue_and_every_stop_are_rows_for_the_controller(live: LiveRun) -> None:
    def taken() -> list[str]:
        return [request.kind for request in live.store.take_requests()]

    async with watching(live.folder, controls=CliControls()) as pilot:
        for keys, kind in (
            (("p",), "pause"), (("s", "enter"), "stop-after-candidate"),
            (("s", "down", "enter"), "stop-after-generation"), (("s", "down", "down", "enter"), "stop"),
        ):
            await press(pilot, *keys)
            await until(pilot, lambda: the(pilot).snapshot.requests != ())
            assert taken() == [kind]
            await until(pilot, lambda: the(pilot).snapshot.requests == ())
        await press(pilot, "s", "escape")
        assert taken() == []


async def test_a_paused_run_is_asked_to_go_on(live: LiveRun) -> None:
    from memento.core.events import RunPaused

    live.store.append([RunPaused()])
    controls = Recorded()
    async with watching(live.folder, controls=controls) as pilot:
        await until(pilot, lambda: "paused" in text_of(pilot))
        await press(pilot, "p")
        assert controls.asked == [("live", "continue")]


@pytest.mark.slow
async def test_a_hint_is_written_in_a_dialog(live: LiveRun) -> None:
    controls = Recorded()
    async with watching(live.folder, controls=controls) as pilot:
        await press(pilot, "i", *"level", "enter")
        await until(pilot, lambda: controls.asked == [("live", "level")])
        await press(pilot, "i", "enter")
        assert len(controls.asked) == 1, "an empty hint is none"


async def test_a_hint_without_an_effect_is_refused_before_it_is_written(live: LiveRun) -> None:
    controls = Recorded()
    controls.refusal = "the run 'live' uses the offline model, which reads no prompt"
    async with watching(live.folder, controls=controls) as pilot:
        await press(pilot, "i")
        await until(pilot, lambda: "reads no prompt" in text_of(pilot))
        assert not isinstance(pilot.app.screen, ExportScreen)


async def test_a_run_that_is_over_cannot_be_asked_and_the_footer_does_not_offer_it(done: Path, live: LiveRun) -> None:
    controls = Recorded()
    async with watching(done, controls=controls) as pilot:
        assert "pause" not in text_of(pilot).splitlines()[-1]
        await press(pilot, "p", "s", "i")
        await until(pilot, lambda: "not live" in text_of(pilot))
        assert controls.asked == []
        assert not isinstance(pilot.app.screen, ExportScreen)
        await press(pilot, "2")
        assert "open" in text_of(pilot).splitlines()[-1], "Enter opens a row"
        the(pilot).watch_run(live.folder)
        await until(pilot, lambda: "pause" in text_of(pilot).splitlines()[-1])


@pytest.mark.slow
async def test_the_palette_and_the_help(done: Path) -> None:
    async with watching(done) as pilot:
        await press(pilot, "ctrl+p", *"go to lineage")
        await asyncio.sleep(0.5)
        await press(pilot, "enter")
        await until(pilot, lambda: the(pilot).current_mode == "lineage")
        await press(pilot, "question_mark")
        assert "withdrawn" not in text_of(pilot)
        await press(pilot, "end")
        assert "withdrawn" in text_of(pilot)
        await press(pilot, "escape")
        assert "withdrawn" not in text_of(pilot)


async def test_the_palette_knows_every_control(done: Path) -> None:
    async with watching(done) as pilot:
        titles = {command.title for command in pilot.app.get_system_commands(pilot.app.screen)}
        assert {"Pause or continue", "Stop…", "Open the elite", "Export the elite", "Render the elite"} <= titles


@pytest.mark.slow
async def test_runs_are_listed_compared_and_chosen(done: Path, facts: list) -> None:
    begin(done.parent / "second", facts[:30], SetClock()).close()
    (done.parent / "third").mkdir()
    (done.parent / "third" / "run.sqlite").write_bytes(b"nothing of the kind" * 100)
    async with watching(None, runs=done.parent) as pilot:
        await until(pilot, lambda: pilot.app.screen.query_one(Rows).count == 3)
        seen = text_of(pilot)
        assert "killed" in seen
        assert "unreadable" in seen
        await press(pilot, "1")
        await until(pilot, lambda: "choose a run first" in text_of(pilot))
        names = [run.folder.name for run in pilot.app.screen._runs]
        pilot.app.screen.query_one(Rows).cursor = names.index("first")
        await press(pilot, "space")
        assert "● first" in text_of(pilot).splitlines()[-2]
        assert "● second" not in text_of(pilot).splitlines()[-2]
        await press(pilot, "enter")
        await until(pilot, lambda: the(pilot).snapshot is not None and not the(pilot).snapshot.reading)
        assert the(pilot).current_mode == "overview"


@pytest.mark.slow
async def test_curves_of_two_tasks_are_never_in_one_picture(done: Path, facts: list) -> None:
    other = [(at, dataclasses.replace(fact, settings={**fact.settings, "domain": "kitchen"})
              if isinstance(fact, RunStarted) else fact) for at, fact in facts]
    begin(done.parent / "other", other, SetClock()).close()
    async with watching(None, runs=done.parent) as pilot:
        rows = pilot.app.screen.query_one(Rows)
        await until(pilot, lambda: rows.count == 2)
        names = [run.folder.name for run in pilot.app.screen._runs]
        for name, task in (("first", "hanoi-kinematic"), ("other", "kitchen")):
            rows.cursor = names.index(name)
            await settled(pilot)
            assert text_of(pilot).splitlines()[-2].split() == ["●", name]
            assert f"fitness in {task}" in text_of(pilot)
        rows.cursor = names.index("first")
        await press(pilot, "space")
        rows.cursor = names.index("other")
        await press(pilot, "space")
        await until(pilot, lambda: "has another task" in text_of(pilot))
        assert pilot.app.screen._compared == ["first"]


async def test_leaving_leaves_the_run_alone(live: LiveRun) -> None:
    async with watching(live.folder) as pilot:
        await pilot.press("q")
    live.go_on(3)
    with RunStore.read(live.folder) as store:
        assert store.last_seq == live.store.last_seq
