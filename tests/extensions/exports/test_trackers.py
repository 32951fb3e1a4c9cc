"""`memento export --to wandb` and `--to mlflow`, the real program with the real packages, without a network."""

import json
import os
import signal
import sqlite3
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from memento.extensions.exports.following import source_of
from memento.extensions.exports.points import Series, SeriesPoint
from memento.memory.store import RunStore

from ...cli.conftest import Finished
from ...support.program import PROGRAM

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]     # a busy machine takes half a minute to import them
LIMIT_S = 120

KILLED = """
import os, signal
import {module}
times = 0
before = {function}
def after(*arguments, **named):
    global times
    times += 1
    found = before(*arguments, **named)
    if times == {at}:
        os.kill(os.getpid(), signal.SIGKILL)
    return found
{function} = after
from memento.cli import main
main()
"""


def export(
    finished: Finished, cwd: Path, *arguments: str, program: Sequence[str] = PROGRAM, **environment: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*program, "export", "one", *arguments, "--runs", str(finished.runs)], cwd=cwd, check=False,
        env=os.environ | environment, capture_output=True, text=True, timeout=LIMIT_S,
    )


def kill_in_the_middle(finished: Finished, cwd: Path, *arguments: str, **where: object) -> None:
    done = export(finished, cwd, *arguments, program=[sys.executable, "-c", KILLED.format(**where)])
    assert done.returncode == -signal.SIGKILL, done.stderr


def points_of(finished: Finished) -> list[SeriesPoint]:
    series = Series()
    with RunStore.read(finished.runs / "one") as store:
        return [point for entry in store.facts_after(0) if (point := series.apply(entry)) is not None]


def test_mlflow_has_every_step_once_also_after_a_kill(finished: Finished, tmp_path: Path) -> None:
    pytest.importorskip("mlflow", reason="the extra mlflow is not installed")
    uri = f"sqlite:///{tmp_path / 'ml.db'}"
    target = ("--to", "mlflow", "--out", uri)
    kill_in_the_middle(
        finished, tmp_path, *target,
        module="mlflow.tracking, memento.extensions.exports.mlflow as ours; ours.BATCH = 10",
        function="mlflow.tracking.MlflowClient.log_batch", at=4,
    )
    done = export(finished, tmp_path, *target, "--with-programs")
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(tmp_path / "ml.db") as database:
        [(run, name, status, place)] = database.execute("SELECT run_uuid, name, status, artifact_uri FROM runs")
        params = dict(database.execute("SELECT key, value FROM params"))
        values = [*database.execute("SELECT key, step, value FROM metrics WHERE run_uuid = ?", [run])]
    assert (name, status) == ("one", "FINISHED")
    assert params["domain"] == "hanoi-kinematic" and "salt" not in params
    points = points_of(finished)
    assert sorted(values) == sorted(
        (name, point.step, value) for point in points for name, value in point.values.items()
    )
    assert {path.name for path in Path(place).iterdir()} == {"elite.py", "evaluator.py"}


def test_mlflow_without_a_server_is_one_sentence(finished: Finished, tmp_path: Path) -> None:
    pytest.importorskip("mlflow", reason="the extra mlflow is not installed")
    done = export(
        finished, tmp_path, "--to", "mlflow", "--out", "http://me:word@127.0.0.1:9", MLFLOW_HTTP_REQUEST_MAX_RETRIES="0"
    )
    assert "word" not in done.stderr
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1].startswith("memento: MLflow at http://127.0.0.1:9 fails")


def test_wandb_offline_has_every_step_once_also_after_a_kill(finished: Finished, tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="the extra wandb is not installed")
    target = ("--to", "wandb", "--out", "tracked")
    kill_in_the_middle(
        finished, tmp_path, *target, module="wandb.sdk.wandb_run", function="wandb.sdk.wandb_run.Run.log", at=3
    )
    identity = f"memento-{source_of(finished.runs / 'one').identity[:16]}"
    assert len([*(tmp_path / "tracked" / "wandb").glob(f"offline-run-*-{identity}")]) == 1
    done = export(finished, tmp_path, *target)
    assert done.returncode == 0, done.stderr
    [folder] = (tmp_path / "tracked" / "wandb").glob(f"offline-run-*-{identity}")
    records = [*read_records(folder / f"run-{identity}.wandb")]
    history = [
        {item.key or item.nested_key[0]: json.loads(item.value_json) for item in record.history.item}
        for record in records if record.HasField("history")
    ]
    points = points_of(finished)
    assert Counter(row["_step"] for row in history) == Counter(point.seq for point in points)
    for row, point in zip(history, points, strict=True):
        assert row[point.axis] == point.step
        assert {name: row[name] for name in point.values} == pytest.approx(point.values)
    [config] = [
        {update.key: json.loads(update.value_json) for update in record.run.config.update}
        for record in records if record.HasField("run")
    ]
    assert config["domain"] == "hanoi-kinematic" and "salt" not in config
    assert not [*folder.rglob("*.py")], "no programs without the flag"


def read_records(path: Path) -> Iterator[Any]:
    """The records of an offline run: blocks of 32 kB with chunks of (checksum, length, kind), after 7 bytes."""
    from wandb.proto import wandb_internal_pb2

    data, at, whole = path.read_bytes(), 7, b""
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        _, size, kind = struct.unpack("<IHB", data[at : at + 7])
        whole += data[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4):      # the only, or the last chunk of a record
            yield wandb_internal_pb2.Record.FromString(whole)
            whole = b""
