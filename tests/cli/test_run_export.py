"""`memento export --to`, the real program: a finished run, a live one, and an export that is killed."""

import signal
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
from memento.cli import exit_code

from ..support.processes import start_process
from ..support.program import DEADLINE_S, LONG, PROGRAM, Call, Start, until
from .conftest import Finished

pytestmark = pytest.mark.quick

REFUSED = {
    "export x": "give --out FILE.py",
    "export x g1/hill/0 --to parquet": "omit 'g1/hill/0'",
    "export x --out y.py --with-programs": "have an effect with --to only",
    "export x --to parquet --out y": "no run 'x'",
}
TABLES = {"runs", "generations", "candidates", "episodes", "calls"}


@pytest.mark.parametrize("line", REFUSED)
def test_what_cannot_be_exported_is_refused(line: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert exit_code([*line.split(), "--runs", str(tmp_path)]) == 2
    assert REFUSED[line] in capsys.readouterr().err


def rows_of(folder: Path, table: str) -> list[dict[str, Any]]:
    from pyarrow import parquet

    return parquet.read_table(folder / f"{table}.parquet").to_pylist()


def counted(database: Path, kind: str) -> int:
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        return connection.execute("SELECT count(*) FROM facts WHERE kind = ?", [kind]).fetchone()[0]


@pytest.mark.slow
def test_a_finished_run_as_parquet(finished: Finished, memento: Call, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    export = ("export", "one", "--to", "parquet", "--out", "tables", "--runs", finished.runs)
    for _ in range(2):      # a second export replaces the files
        assert memento(*export).returncode == 0
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {f"{name}.parquet" for name in TABLES}
    [run] = rows_of(tmp_path / "tables", "runs")
    assert (run["run"], run["domain"], run["status"]) == ("one", "hanoi-kinematic", "done")
    database = finished.runs / "one" / "run.sqlite"
    assert len(rows_of(tmp_path / "tables", "episodes")) == counted(database, "EpisodeEnded")
    assert len(rows_of(tmp_path / "tables", "candidates")) == counted(database, "CandidateScored") + 1
    assert "program" not in rows_of(tmp_path / "tables", "candidates")[0]
    assert memento(*export, "--with-programs").returncode == 0
    assert all("class " in row["program"] for row in rows_of(tmp_path / "tables", "candidates"))


@pytest.mark.slow
def test_a_folder_with_another_runs_export_is_refused(finished: Finished, memento: Call, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    from pyarrow import parquet

    (tmp_path / "tables").mkdir()
    other = arrow.table({"run": ["other"], "identity": ["0"]})
    parquet.write_table(other, tmp_path / "tables" / "runs.parquet")
    done = memento("export", "one", "--to", "parquet", "--out", "tables", "--runs", finished.runs)
    assert done.returncode == 2 and "another run (other)" in done.stderr


@pytest.mark.slow
def test_a_live_run_is_followed_to_its_end_also_after_a_kill(
    memento_live: Start, memento: Call, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    run = memento_live(*LONG)
    tables, database = tmp_path / "tables", tmp_path / "runs" / "long" / "run.sqlite"
    until(lambda: database.exists() and counted(database, "CandidateScored") > 0)

    def start() -> Any:
        command = [*PROGRAM, "export", "long", "--to", "parquet", "--out", "tables"]
        return start_process(command, cwd=tmp_path, stderr=subprocess.PIPE)

    killed = start()
    until(lambda: (tables / "calls.parquet").exists())
    killed.send_signal(signal.SIGKILL)
    killed.wait(timeout=DEADLINE_S)
    before = {row["candidate"] for row in rows_of(tables, "candidates")}
    interrupted = start()
    assert "following long until it ends" in interrupted.stderr.readline()
    interrupted.send_signal(signal.SIGTERM)
    assert interrupted.wait(timeout=DEADLINE_S) == 130
    assert "the same command continues" in interrupted.stderr.read()
    again = start()
    assert "following" in again.stderr.readline()
    assert memento("stop", "long").returncode == 0
    assert run.wait(timeout=DEADLINE_S) == 0
    assert again.wait(timeout=DEADLINE_S) == 0, "the export ends with the run"
    candidates = [row["candidate"] for row in rows_of(tables, "candidates")]
    assert len(candidates) == len({*candidates}) and before <= {*candidates}
    assert len(rows_of(tables, "episodes")) == counted(database, "EpisodeEnded")
    assert not [path for path in tables.iterdir() if path.suffix == ".partial"]
    [state] = rows_of(tables, "runs")
    assert state["status"] == "stopped"
