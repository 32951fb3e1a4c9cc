"""`memento watch`, `memento-tui` and `memento run --tui` as a person types them, in a separate terminal."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from memento.memory.lock import is_locked
from memento.memory.store import RunStore

from ...support.program import PROGRAM
from ...support.terminal import ENOUGH_S, terminal

TUI = [sys.executable, "-c", "from memento.cli import main_tui; main_tui()"]


@pytest.fixture
def memento(tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Runs `memento ARGUMENTS` in a folder, without a terminal."""

    def call(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*PROGRAM, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=150,
            stdin=subprocess.DEVNULL,
        )

    return call


@pytest.mark.slow
def test_a_run_is_watched_in_a_terminal_and_left(done: Path) -> None:
    with terminal([*PROGRAM, "watch", "first"], done.parent.parent) as screen:
        screen.read("At a glance")
        screen.press("q")
        assert screen.end() == 0
    assert not is_locked(done)


@pytest.mark.slow
def test_memento_tui_takes_a_folder_of_runs(done: Path) -> None:
    with terminal([*TUI, str(done.parent)], done.parent.parent) as screen:
        screen.read("first")
        screen.press("q")
        assert screen.end() == 0


@pytest.mark.slow
def test_a_run_goes_on_when_the_program_that_watches_it_is_closed(tmp_path: Path) -> None:
    run = ["run", "hanoi-kinematic", "--preset", "smoke", "--evaluator", "reference", "--name", "seen", "--tui"]
    with terminal([*PROGRAM, *run], tmp_path) as screen:
        screen.read("seen")
        screen.press("q")
        assert screen.end() == 0
        assert "the run continues" in screen.shown or "done after" in screen.shown
    folder = tmp_path / "runs" / "seen"
    deadline = time.monotonic() + ENOUGH_S
    while is_locked(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    with RunStore.read(folder) as store:
        assert type([*store.facts()][-1]).__name__ == "StageEntered", "the run came to its end"


@pytest.mark.slow
def test_without_a_terminal_it_says_so_and_begins_nothing(memento, tmp_path: Path, done: Path) -> None:
    for arguments in (("watch",), ("watch", str(done)), ("run", "hanoi-kinematic", "--preset", "smoke", "--tui")):
        refused = memento(*arguments)
        assert refused.returncode == 2
        assert "needs a terminal" in refused.stderr
    assert [each.name for each in (tmp_path / "runs").iterdir()] == ["first"]


@pytest.mark.slow
def test_a_run_that_is_not_there_is_named(memento, done: Path) -> None:
    refused = memento("watch", "firts")
    assert refused.returncode == 2
    assert "did you mean 'first'" in refused.stderr


@pytest.mark.slow
def test_a_run_with_settings_that_cannot_be_is_refused_before_it_is_watched(memento, tmp_path: Path) -> None:
    refused = memento("run", "hanoi-kinematic", "--tui", "--workers", "0")
    assert refused.returncode == 2
    assert "workers" in refused.stderr
    assert not (tmp_path / "runs").exists()
