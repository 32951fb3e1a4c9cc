"""What programs, model services and foreign runs say reaches a terminal without a character that it would obey."""

import sqlite3
from pathlib import Path

import pytest
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock

from ..support.program import PROGRAM
from ..support.story import STORY
from ..support.terminal import terminal

pytestmark = pytest.mark.quick

TITLE, CLEAR, HIDE = "\x1b]0;owned\x07", "\x1b[2J\x1b[1A", "\x1b[8m"
IN_JSON = "\\u001b]0;owned\\u0007\\u001b[8m\\u009b2J"
NAMES = ('"memento"', '"offline"', '"hanoi"', '"search"', '"g1/cross/0"', '"g1/macro/0"', '"eval/g0/0"', '"horizon"',
         '"rlimits"')
HOSTILE_POLICY = f"""
class FrankaPolicy:
    def __init__(self, seed=0):
        pass
    def reset(self, observation=None):
        pass
    def compute_action(self, observation):
        raise ValueError({TITLE + CLEAR + HIDE!r} + "a" + chr(10) + "  1  success")
"""


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A run whose log holds control characters in every name."""
    folder = tmp_path / "runs" / "one"
    with RunStore.create(folder, clock=SystemClock()) as store:
        store.append(STORY)
    with sqlite3.connect(folder / "run.sqlite") as database:
        for name in NAMES:
            database.execute("UPDATE facts SET body = replace(body, ?, ?)", (name, f'{name[:-1]}{IN_JSON}"'))
        database.execute("UPDATE facts SET order_id = order_id || ? WHERE order_id LIKE 'g1/%'", ("\x1b]0;owned\x07",))
    database.close()
    return folder


def shown_by(arguments: list[str], folder: Path) -> str:
    with terminal([*PROGRAM, *arguments], folder) as screen:
        screen.end()
        return screen.shown


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [
    ["show"], ["show", "one"], ["show", "one", "init/1"], ["show", "one", "g1/cross/0\x1b]0;owned\x07\x1b[8m\x9b2J"],
    ["show", "one", "nothing"], ["show", "one", "--settings"], ["show", "one", "init/1", "--code"],
])
def test_show_of_a_foreign_run(arguments: list[str], foreign: Path, tmp_path: Path) -> None:
    shown = shown_by(arguments, tmp_path)
    assert shown.replace("\r\n", "\n").replace("\n", "").replace("\t", "").isprintable(), repr(shown)
    assert "Traceback" not in shown


@pytest.mark.slow
def test_watch_of_a_foreign_run(foreign: Path, tmp_path: Path) -> None:
    with terminal([*PROGRAM, "watch", "one"], tmp_path) as screen:
        screen.read("owned")
        screen.press("7")
        screen.read("CandidateScored")
        while screen.process.poll() is None:    # a key during the change of screens may be lost
            screen.press("q")
            screen.wait(2.0)
        shown = screen.shown
    for payload in ("\x1b]0;owned", "\x1b[8m2J", "\x9b"):
        assert payload not in shown


@pytest.mark.slow
@pytest.mark.parametrize("command", ["evaluate", "render"])
def test_a_policy_that_raises_escape_sequences(command: str, tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_text(HOSTILE_POLICY)
    rest = {"evaluate": ["--episodes", "1", "--workers", "1"], "render": ["--out", "x.png", "--at", "start"]}[command]
    shown = shown_by([command, "policy.py", "--domain", "hanoi-kinematic", *rest], tmp_path)
    assert "ValueError" in shown
    assert "owned" in shown
    for payload in (TITLE, CLEAR, HIDE, "\x07", "\n  1  success"):
        assert payload not in shown.replace("\r", ""), repr(shown)


def test_an_error_of_the_command_line(tmp_path: Path) -> None:
    shown = shown_by(["show", f"x{TITLE}{CLEAR}"], tmp_path)
    assert shown.startswith("memento: ")
    assert "\x1b" not in shown
