"""The commands over a real, small run: what goes to stdout, what to stderr, and the exit codes."""

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, Popen

import pytest
import structlog
from memento.cli.log import log_to_stderr
from memento.domains import load as load_domain

from ..support.program import PROGRAM, RUN_KEYS, clean_environment

Call = Callable[..., "CompletedProcess[str]"]
Start = Callable[..., "Popen[str]"]
SMOKE = ("run", "hanoi-kinematic", "--preset", "smoke", "--workers", "1")
LONG = ("run", "hanoi-kinematic", "--preset", "smoke", "--workers", "1", "--set", "generations=500", "--name", "long")
DEADLINE_S = 40
POLICY_CLASS = f"class {load_domain('hanoi-kinematic').contract.class_name}"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, "CompletedProcess[str]"]:
    """A finished run, `runs/one`, and what it said."""
    folder = tmp_path_factory.mktemp("finished")
    done = subprocess.run(
        [*PROGRAM, *SMOKE, "--name", "one", "--json"], cwd=folder, env=clean_environment(), capture_output=True,
        text=True, timeout=DEADLINE_S, check=False,
    )
    return folder / "runs", done


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def test_json_is_the_last_line_and_talk_goes_to_stderr(finished: tuple[Path, "CompletedProcess[str]"]) -> None:
    _, done = finished
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    result = json.loads(done.stdout)
    assert list(result) == RUN_KEYS.split(", ")
    assert (result["status"], result["generations"], result["candidates"]) == ("done", 1, 3)
    assert "== policies" in done.stderr


def test_show_tells_the_run(finished: tuple[Path, "CompletedProcess[str]"], memento: Call) -> None:
    runs, done = finished
    elite = json.loads(done.stdout)["elite"]
    story = memento("show", "one", "--runs", runs)
    assert story.returncode == 0, story.stderr
    assert "hanoi-kinematic by memento" in story.stdout
    assert "\n  g1        0." in story.stdout
    one = memento("show", "one", elite, "--runs", runs, "--code")
    assert one.returncode == 0
    assert POLICY_CLASS in one.stdout
    assert memento("show", "--runs", runs).stdout.startswith("one  hanoi-kinematic by memento, offline; done")
    assert "against init/0" in memento("show", "one", "g1/macro/0", "--runs", runs).stdout
    assert "frozen as E*" in memento("show", "one", "eval/g0/0", "--runs", runs).stdout + memento(
        "show", "one", "eval/g0/1", "--runs", runs).stdout
    assert "votes for eval/g0/" in memento("show", "one", "eval/g0/judge/0", "--runs", runs).stdout
    wrong = memento("show", "one", "g1/makro/0", "--runs", runs)
    assert wrong.returncode == 2
    assert "g1/macro/0" in wrong.stderr


def test_the_shown_settings_repeat_the_run(
    finished: tuple[Path, "CompletedProcess[str]"], memento: Call, tmp_path: Path
) -> None:
    runs, done = finished
    text = memento("show", "one", "--settings", "--runs", runs).stdout
    (tmp_path / "again.toml").write_text(text)
    again = memento("run", "--config", "again.toml", "--json", "--display", "none")
    assert again.returncode == 0, again.stderr
    assert again.stderr == ""
    same = ["domain", "seed", "elite", "fitness", "initial_fitness", "reference_fitness", "episodes_run"]
    first, second = json.loads(done.stdout), json.loads(again.stdout)
    assert {key: first[key] for key in same} == {key: second[key] for key in same}


def test_an_exported_elite_can_be_evaluated(
    finished: tuple[Path, "CompletedProcess[str]"], memento: Call, tmp_path: Path
) -> None:
    runs, _ = finished
    assert memento("export", "one", "--out", "elite.py", "--runs", runs).returncode == 0
    assert POLICY_CLASS in (tmp_path / "elite.py").read_text()
    twice = memento("export", "one", "--out", "elite.py", "--runs", runs)
    assert twice.returncode == 2
    assert "exists already" in twice.stderr
    done = memento(
        "evaluate", "elite.py", "--domain", "hanoi-kinematic", "--episodes", "2", "--seed", "5", "--json",
        "--set", "hanoi-kinematic.horizon=60", "--randomisation", "none",
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert [episode["seed"] for episode in result["per_episode"]] == [5, 6]
    assert result["randomisation"] == "none"
    assert all(episode["steps"] <= 60 for episode in result["per_episode"])


def test_resuming_a_finished_run_gives_its_result_again(
    finished: tuple[Path, "CompletedProcess[str]"], memento: Call
) -> None:
    runs, done = finished
    again = memento("resume", "one", "--runs", runs, "--json")
    assert again.returncode == 0, again.stderr
    first, second = json.loads(done.stdout), json.loads(again.stdout)
    assert {**second, "wall_s": 0} == {**first, "run": str(runs / "one"), "wall_s": 0}


def test_a_taken_name_is_refused(finished: tuple[Path, "CompletedProcess[str]"], memento: Call) -> None:
    runs, _ = finished
    done = memento(*SMOKE, "--name", "one", "--runs", runs)
    assert done.returncode == 2
    assert "memento resume one" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_go_on_and_does(
    number: signal.Signals, memento_live: Start, memento: Call, tmp_path: Path
) -> None:
    live = memento_live(*LONG)
    database = tmp_path / "runs" / "long" / "run.sqlite"
    until(database.exists)
    time.sleep(2)
    live.send_signal(number)
    _, told = live.communicate(timeout=DEADLINE_S)
    assert live.returncode == 130, told
    assert told.splitlines()[-1].endswith("go on with: memento resume runs/long")
    assert "Traceback" not in told
    again = memento_live("resume", "long")
    until(lambda: memento("stop", "long").returncode == 0)
    _, told = again.communicate(timeout=DEADLINE_S)
    assert again.returncode == 0, told
    assert "resumed" in told


def test_a_live_run_pauses_goes_on_and_stops(memento_live: Start, memento: Call, tmp_path: Path) -> None:
    live = memento_live(*LONG, "--json")
    until(lambda: memento("pause", "long").returncode == 0)
    until(lambda: memento("resume", "long").returncode == 0)
    busy = memento("resume", "long")
    assert busy.returncode == 2 or "asked long to go on" in busy.stderr   # the request may not be taken up yet
    assert memento("stop", "long").returncode == 0
    out, told = live.communicate(timeout=DEADLINE_S)
    assert live.returncode == 0, told
    assert json.loads(out.splitlines()[-1])["status"] == "stopped"
    assert "paused" in told
    assert "continued" in told
    idle = memento("stop", "long")
    assert idle.returncode == 2
    assert "not live" in idle.stderr
    story = memento("show", "long")
    assert "memento resume" in story.stdout


def test_log_lines_never_go_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        log_to_stderr()
        structlog.get_logger("memento.test").info("quiet")
        structlog.get_logger("memento.test").warning("loud", about="something")
    finally:
        structlog.reset_defaults()
    told = capsys.readouterr()
    assert told.out == ""
    assert 'level=warning event=loud about=something' in told.err
    assert "quiet" not in told.err


def test_lists_and_doctor(memento: Call) -> None:
    assert "hanoi" in memento("domains").stdout
    assert "memento" in memento("methods").stdout
    models = memento("models", OPENAI_API_KEY="sk-secret-of-mine")
    assert "OPENAI_API_KEY, which is set" in models.stdout
    assert "ANTHROPIC_API_KEY, which is not set" in models.stdout
    doctor = memento("doctor", OPENAI_API_KEY="sk-secret-of-mine")
    assert doctor.returncode == 0, doctor.stderr
    assert "isolation" in doctor.stdout
    assert "secret" not in doctor.stdout + models.stdout


def test_a_reader_that_leaves_is_no_fault(finished: tuple[Path, "CompletedProcess[str]"], memento_live: Start) -> None:
    runs, _ = finished
    live = memento_live("show", "one", "g1/macro/0", "--runs", runs)
    assert live.stdout is not None
    live.stdout.close()
    live.stdout = None
    _, told = live.communicate(timeout=DEADLINE_S)
    assert live.returncode in (0, 1)      # 1 where typer noticed it first
    assert told == ""
