"""`memento rank` with the real program: the same result on any number of workers, and after an interrupt."""

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from memento.cli import exit_code
from memento.memory.fresh_file import FILE

from ..support.program import Call, Start, until
from .conftest import Finished

RANK = ("rank", "one", "--programs", "3", "--json")


@pytest.fixture
def run(finished: Finished, tmp_path: Path) -> Path:
    """A finished run of this installation, for this test alone."""
    shutil.copytree(finished.runs, tmp_path / "runs", dirs_exist_ok=True)
    return tmp_path / "runs" / "one"


def printed(done: Any) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
def test_an_interrupted_ranking_goes_on_and_gives_the_same(memento: Call, memento_live: Start, run: Path) -> None:
    whole = printed(memento(*RANK, "--episodes", "4", "--workers", "2"))
    rows = whole["programs"]
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert (whole["rolled_out"], whole["best"]) == (12, rows[0]["candidate"])
    assert [row["fitness"] for row in rows] == sorted((row["fitness"] for row in rows), reverse=True)
    for row in rows:
        assert row["fitness"] == pytest.approx(sum(row["per_episode"]) / 4)
        assert row["fitness_interval"][0] <= row["fitness"] <= row["fitness_interval"][1]
        assert row["success_interval"][0] <= row["success_rate"] <= row["success_interval"][1]
        assert (row["difference"] is None) == row["returned"] == (row["candidate"] == whole["returned"])
    assert sum(row["initial"] for row in rows) == 1
    (run / FILE).unlink()
    process = memento_live(*RANK, "--episodes", "400", "--workers", "1")
    until(lambda: (run / FILE).exists() and (run / FILE).read_bytes().count(b"\n") > 3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=150)
    assert process.returncode == 130
    assert "interrupted, nothing is lost; the same command goes on" in err
    assert "Traceback" not in err
    known = (run / FILE).read_bytes().count(b"\n") - 1
    again = printed(memento(*RANK, "--episodes", "4", "--workers", "1"))
    assert again["rolled_out"] < 12 and known >= 3
    assert again == whole | {"rolled_out": again["rolled_out"]}
    others = printed(memento(*RANK, "--episodes", "1", "--seed", "4"))
    assert others["programs"][0]["per_episode"][0] not in rows[0]["per_episode"]


@pytest.mark.slow
def test_the_table_ends_with_a_command_that_exports_the_best(memento: Call, run: Path, tmp_path: Path) -> None:
    done = memento("rank", "one", "--programs", "2", "--episodes", "2")
    assert done.returncode == 0, done.stderr
    table = done.stdout.splitlines()
    assert "F search" in table[1] and "success" in table[1] and "F reference" in table[1]
    exported, command = table[-1].split(": ", 1)
    assert exported == "export the best"
    assert memento(*command.split()[1:]).returncode == 0
    assert (tmp_path / "best.py").exists()
    (run / FILE).write_text("rubbish\n")
    damaged = memento("rank", "one")
    assert damaged.returncode == 3
    assert damaged.stderr.startswith("memento: ") and "delete it" in damaged.stderr


@pytest.mark.slow
def test_bad_input_is_one_sentence(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, why in (
        (("--episodes", "0"), "--episodes must be from 1"), (("--programs", "1"), "--programs must be from 2"),
        (("--salt", "x"), "--salt cannot be 'x'"), (("--mixed-nodes",), "no effect without --cluster"),
    ):
        assert exit_code(["rank", str(run), *arguments]) == 2
        said = capsys.readouterr().err
        assert why in said and said.count("\n") == 1
        assert not (run / FILE).exists()
