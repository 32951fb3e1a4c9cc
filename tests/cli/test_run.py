"""`memento run`: what goes to stdout, what to stderr, and the exit codes."""

import json
import signal
from pathlib import Path

import pytest

from ..support.program import DEADLINE_S, LONG, RUN_KEYS, SMOKE, Call, Start, until
from .conftest import Finished

pytestmark = pytest.mark.quick


def test_json_is_the_last_line_and_all_else_goes_to_stderr(finished: Finished) -> None:
    done = finished.done
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    result = json.loads(done.stdout)
    assert list(result) == RUN_KEYS.split(", ")
    assert (result["status"], result["generations"], result["candidates"]) == ("done", 1, 3)
    assert "== policies" in done.stderr


@pytest.mark.slow
def test_the_shown_settings_repeat_the_run(finished: Finished, memento: Call, tmp_path: Path) -> None:
    text = memento("show", "one", "--settings", "--runs", finished.runs).stdout
    (tmp_path / "again.toml").write_text(text)
    again = memento("run", "--config", "again.toml", "--json", "--display", "none")
    assert again.returncode == 0, again.stderr
    assert again.stderr == ""
    same = ["domain", "seed", "elite", "fitness", "initial_fitness", "reference_fitness", "episodes_run"]
    first, second = json.loads(finished.done.stdout), json.loads(again.stdout)
    assert {key: first[key] for key in same} == {key: second[key] for key in same}


def test_a_taken_name_is_refused(finished: Finished, memento: Call) -> None:
    done = memento(*SMOKE, "--name", "one", "--runs", finished.runs)
    assert done.returncode == 2
    assert "memento resume one" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_resume_and_does(
    number: signal.Signals, memento_live: Start, memento: Call, tmp_path: Path
) -> None:
    live = memento_live(*LONG)
    until((tmp_path / "runs" / "long" / "run.sqlite").exists)
    until(lambda: "running" in memento("show").stdout)
    live.send_signal(number)
    _, errors = live.communicate(timeout=DEADLINE_S)
    assert live.returncode == 130, errors
    assert errors.splitlines()[-1].endswith("continue with: memento resume runs/long")
    assert "Traceback" not in errors
    again = memento_live("resume", "long")
    until(lambda: memento("stop", "long").returncode == 0)
    _, errors = again.communicate(timeout=DEADLINE_S)
    assert again.returncode == 0, errors
    assert "resumed" in errors


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--method", "random"], ["--method", "omit"]),
        (["--set", "k=1"], ["--set", "omit"]),
        (["--workers", "0"], ["--workers", "at least 1"]),
    ],
)
def test_a_replay_takes_no_settings_that_change_its_result(
    arguments: list[str], words: list[str], finished: Finished, memento: Call
) -> None:
    done = memento("run", "--replay", "one", "--runs", finished.runs, *arguments)
    assert done.returncode == 2
    assert all(word in done.stderr for word in words), done.stderr
