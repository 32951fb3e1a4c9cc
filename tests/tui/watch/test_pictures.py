"""Every screen as a picture, of a recorded run: 80 by 24, and the first ones 200 by 60, dark and light."""

from pathlib import Path

import pytest
from memento.memory.activity import ActivityNote, WorkerNote
from memento.memory.store import RunStore

from .conftest import LiveRun
from .recording import BEGAN
from .watching import press, same_picture, text_of, watching

SCREENS = {
    "run": (), "candidates": ("2",), "evaluators": ("3",), "lineage": ("4",), "memory": ("5",), "models": ("6",),
    "log": ("7",), "runs": ("0",), "help": ("question_mark",), "code": ("2", "end", "enter"),
    "diff": ("2", "end", "enter", "f"), "metrics": ("2", "end", "enter", "m"), "episodes": ("2", "end", "enter", "x"),
    "prompt": ("2", "end", "enter", "w"), "reply": ("2", "end", "enter", "r"),
}
LARGE = ("run", "candidates")


@pytest.mark.slow
@pytest.mark.parametrize("name", SCREENS)
async def test_a_screen_at_80_by_24(name: str, done: Path, tmp_path: Path) -> None:
    async with watching(done) as pilot:
        await press(pilot, *SCREENS[name])
        same_picture(pilot, f"{name}-80x24", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
async def test_a_screen_at_200_by_60(name: str, done: Path, tmp_path: Path) -> None:
    async with watching(done, size=(200, 60)) as pilot:
        await press(pilot, *SCREENS[name])
        same_picture(pilot, f"{name}-200x60", tmp_path)


@pytest.mark.slow
async def test_a_light_screen(done: Path, tmp_path: Path) -> None:
    async with watching(done) as pilot:
        await press(pilot, "2", "d")
        same_picture(pilot, "candidates-light-80x24", tmp_path)


async def test_a_live_run_with_its_workers(
    live: LiveRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = ActivityNote(
        at=BEGAN + 100,
        orders=(("g2/cross/0", BEGAN + 93.0), ("g2/macro/1/e0", BEGAN + 99.0)),
        workers=(
            WorkerNote(worker=0, phase="working", doing="roll", order="g2_macro_1_e0", steps=80),
            WorkerNote(worker=1, phase="idle"),
        ),
    )
    monkeypatch.setattr("memento.tui.watch.following.read_note", lambda folder, now: note)
    async with watching(live.folder) as pilot:
        assert "running" in text_of(pilot)
        assert "asked for g2/cross/0, 0:07" in text_of(pilot)
        assert "1 rolling out 2/2, 2 rolling out 0/2" in text_of(pilot)
        same_picture(pilot, "live-80x24", tmp_path)


async def test_a_damaged_store_says_so(done: Path) -> None:
    with RunStore.read(done):
        pass
    (done / "run.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 50)
    async with watching(done) as pilot:
        assert "damaged" in text_of(pilot)
