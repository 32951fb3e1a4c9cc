"""A run folder from elsewhere: nothing that its log names is imported, started or contacted without --trust."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from memento.memory.runs import DATABASE

from ..support.program import PROGRAM

EVIL = "from pathlib import Path\nPath('imported').write_text('yes')\nDOMAIN = None\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run, made by the real program."""
    folder = tmp_path_factory.mktemp("own")
    arguments = ("run", "hanoi-kinematic", "--preset", "smoke", "--set", "hanoi-kinematic.horizon=10", "--name", "one",
                 "--display", "none")
    subprocess.run([*PROGRAM, *arguments], cwd=folder, check=True, timeout=120)
    return folder


@pytest.fixture
def foreign(made: Path, tmp_path: Path) -> Iterator[Path]:
    """The same with a domain of somebody else's in its log, whose module lies in the present folder."""
    shutil.copytree(made / "runs", tmp_path / "runs")
    (tmp_path / "evil.py").write_text(EVIL)
    change(tmp_path, '"domain":"hanoi-kinematic"', '"domain":"evil:DOMAIN"')
    yield tmp_path
    assert not (tmp_path / "imported").exists()


def change(folder: Path, old: str, new: str) -> None:
    with sqlite3.connect(folder / "runs" / "one" / DATABASE) as db:
        (body,) = db.execute("SELECT body FROM facts WHERE kind = 'RunStarted'").fetchone()
        text = body.decode() if isinstance(body, bytes) else body
        changed = text.replace(old, new)
        assert changed != text
        db.execute("UPDATE facts SET body = ? WHERE kind = 'RunStarted'", [changed])


def memento(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    variables = os.environ | {"PYTHONPATH": str(folder)} | environment
    command = [*PROGRAM, *arguments]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=120)


COMMANDS = [
    ("resume", "one"), ("run", "--replay", "one", "--name", "two"), ("render", "one", "--out", "film.gif"),
    ("rank", "one"),
]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_a_domain_in_the_log_is_not_imported(foreign: Path, arguments: tuple[str, ...]) -> None:
    if arguments[0] == "resume":        # a finished run imports nothing at all
        with sqlite3.connect(foreign / "runs" / "one" / DATABASE) as db:
            db.execute("DELETE FROM facts WHERE seq > 3")
    done = memento(foreign, *arguments)
    assert done.returncode == 2, done.stderr
    assert "did not write" in done.stderr and "import 'evil:DOMAIN'" in done.stderr and "--trust" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [
    ("show", "one"), ("show", "one", "p_0"), ("show",), ("report", "one", "--out", "r.html"),
    ("export", "one", "--out", "e.py"),
], ids=lambda arguments: " ".join(arguments[:2]))
def test_commands_that_read_load_nothing(foreign: Path, arguments: tuple[str, ...]) -> None:
    done = memento(foreign, *arguments)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_program_in_the_options_is_not_started(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "runs", tmp_path / "runs")
    program = tmp_path / "player"
    program.write_text("#!/bin/sh\ntouch started\n")
    program.chmod(0o755)
    change(tmp_path, '"domain":"hanoi-kinematic"', '"domain":"kitchen"')
    change(tmp_path, '"options":{', f'"options":{{"backend":"unity","unity_build":"{program}",')
    done = memento(tmp_path, "run", "--replay", "one", "--name", "two")
    assert done.returncode == 2 and f"start the program '{program}'" in done.stderr, done.stderr
    assert not (tmp_path / "started").exists()


@pytest.mark.slow
def test_ones_own_run_needs_no_trust_and_a_changed_one_does(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "runs", tmp_path / "runs")
    assert memento(tmp_path, "run", "--replay", "one", "--name", "two", "--display", "none").returncode == 0
    change(tmp_path, '"model":"offline"', '"model":"compatible:mistral@http://127.0.0.1:9/v1#x"')
    with sqlite3.connect(tmp_path / "runs" / "one" / DATABASE) as db:
        db.execute("DELETE FROM facts WHERE seq > 3")
    done = memento(tmp_path, "resume", "one", MISTRAL_API_KEY="planted")
    assert done.returncode == 2 and "send prompts and the key in MISTRAL_API_KEY" in done.stderr, done.stderr
    assert "http://127.0.0.1:9/v1" in done.stderr and "planted" not in done.stderr


@pytest.mark.slow
def test_without_a_place_for_the_secret_a_run_works_all_the_same(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    arguments = ("run", "hanoi-kinematic", "--preset", "smoke", "--set", "hanoi-kinematic.horizon=10", "--name", "one",
                 "--display", "none")
    assert memento(tmp_path, *arguments, XDG_STATE_HOME=str(blocked)).returncode == 0
    assert not (tmp_path / "runs" / "one" / "origin").exists()
