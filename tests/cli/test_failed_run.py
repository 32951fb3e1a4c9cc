"""A run that failed says why, in the list of runs and in its own story; what it did can be looked at."""

from pathlib import Path

import pytest
from memento.cli import exit_code
from memento.core.errors import StoreError
from memento.core.events import RunResumed, RunStarted, RunStopped
from memento.memory.run_status import RunStatus, state_of
from memento.models.command_model import ATTEMPT, ORDER, PROMPT_FILE, ROLE
from memento.settings.sources import from_environment
from memento.tui.words import ended_words, programs_asked

CRASHES = '''class FrankaPolicy:
    def __init__(self, *given, **named):
        pass

    def reset(self, *given, **named):
        pass

    def compute_action(self, observation):
        print("the names are", sorted(observation)[:1])
        return observation["observatoin"]
'''
SMALL = ("run", "hanoi-kinematic", "--preset", "smoke", "--evaluator", "reference", "--display", "plain",
         "--workers", "1", "--set", "hanoi-kinematic.horizon=10")


def script(folder: Path, body: str) -> Path:
    file = folder / "answer.sh"
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o700)
    return file


def status_after(*facts) -> RunStatus:
    status = RunStatus()
    for second, fact in enumerate((RunStarted(settings={}, versions={}), *facts)):
        status.apply(fact, float(second))
    return status


def test_the_state_has_the_sentence_until_the_run_goes_on() -> None:
    failed = status_after(RunStopped(reason="failed", why="lab:m refused the key (HTTP 401)"))
    state = state_of(failed.status, live=False)
    assert ended_words(failed, state) == "failed: lab:m refused the key (HTTP 401)"
    again = status_after(RunStopped(reason="failed", why="lab:m refused the key (HTTP 401)"), RunResumed())
    assert ended_words(again, state_of(again.status, live=True)) == "running"
    killed = status_after()
    assert ended_words(killed, state_of(killed.status, live=False)) == "killed"


@pytest.mark.slow
def test_a_given_policy_that_crashes_shows_its_traceback_and_its_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.py").write_text(CRASHES)
    assert exit_code([*SMALL, "--initial", "bad.py", "--name", "one"]) == 3
    said = capsys.readouterr().err
    for words in ("line 10, in compute_action", "KeyError: 'observatoin'", "printed last:", "the names are ["):
        assert words in said
    assert exit_code(["show"]) == 0
    listed = capsys.readouterr().out
    assert "failed: the given initial policy does not work" in listed and "resume" not in listed
    assert exit_code(["show", "one"]) == 0
    assert "when its cause is fixed: memento resume" in capsys.readouterr().out
    assert exit_code(["show", "one", "init/0"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("init/0: failed: crashed, KeyError") and "the names are [" in shown
    assert exit_code(["show", "one", "init/7"]) == 2
    assert "unknown candidate 'init/7': did you mean 'init/0'?" in capsys.readouterr().err


@pytest.mark.slow
def test_a_model_that_never_answers_ends_the_run_with_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    script(tmp_path, "echo no credit left >&2; exit 7")
    assert exit_code([*SMALL, "--model", "command:./answer.sh", "--name", "one"]) == 3
    said = capsys.readouterr().err
    assert "answer.sh runs with your rights" in said
    assert "answer.sh ended with code 7; it said: no credit left (3 times, and it never answered)" in said
    assert exit_code(["show"]) == 0
    assert "answer.sh ended with code 7" in capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    script(tmp_path, 'echo "I write no programs today."')     # what failed is fixed: now replies cannot be used
    assert exit_code(["resume", "one", "--display", "none", "--trust"]) == 3     # another program: it asks
    assert exit_code(["show"]) == 0
    assert "failed: no working initial policy" in capsys.readouterr().out


def test_programs_are_named_wherever_they_are_asked() -> None:
    named = {"model": "offline,command:./a.sh", "evaluator_model": None, "judges": ["command:b -p", "offline"]}
    assert programs_asked(named) == ["offline,command:./a.sh", "command:b -p"]
    assert programs_asked({"model": "compatible:lab@http://h/v1#command:x"}) == []


def test_what_a_program_is_told_is_no_setting_of_a_run_that_it_starts() -> None:
    assert from_environment(dict.fromkeys((PROMPT_FILE, ROLE, ORDER, ATTEMPT), "x")) == {}
    assert issubclass(StoreError, Exception)
