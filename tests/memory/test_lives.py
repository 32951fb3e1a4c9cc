"""A run's store across processes: kills, two writers, readers during writes, and what survives."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from memento.core.errors import StoreError
from memento.core.events import ProposalMade, RunResumed
from memento.core.values import Call, Document, Program
from memento.memory.lock import holder
from memento.memory.run_status import status_of
from memento.memory.runs import DATABASE, is_run
from memento.memory.store import RunStore

from ..conformance.store import StoppedClock, stages
from ..support.processes import start_process

APPEND_FOR_EVER = """
import sys, time
from memento.core.events import ProposalMade, StageEntered
from memento.core.values import Call, Document, Program
from memento.memory.store import RunStore

class Clock:
    now = staticmethod(time.time)
    elapsed = staticmethod(time.monotonic)

with RunStore.open(sys.argv[1], clock=Clock()) as store:
    number = store.last_seq
    print("open", flush=True)
    while True:
        program = Program(f"# {number}\\n" + "x = 1\\n" * 500)
        call = Call(model="m", prompt=Document(f"p{number}"), reply=program)
        store.append([StageEntered(stage=str(number)), ProposalMade(program=program, summary=str(number), call=call)])
        number += 2
        print(number, flush=True)
"""


BEGIN_MANY = """
import sys, time
from pathlib import Path
from memento.memory.store import RunStore

class Clock:
    now = staticmethod(time.time)
    elapsed = staticmethod(time.monotonic)

for number in range(int(sys.argv[2])):
    RunStore.create(Path(sys.argv[1]) / str(number), clock=Clock()).close()
"""


def start_writer(folder: Path) -> "subprocess.Popen[str]":
    process = start_process([sys.executable, "-c", APPEND_FOR_EVER, str(folder)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


def kill(process: "subprocess.Popen[str]") -> list[str]:
    process.send_signal(signal.SIGKILL)
    out, _ = process.communicate(timeout=20)
    return out.split()


@pytest.fixture
def folder() -> Iterator[Path]:
    # Not tmp_path: another pytest that starts closes the folder above it to other users, and some
    # tests read as one.
    with tempfile.TemporaryDirectory(prefix="memento-test-") as parent:
        folder = Path(parent) / "run"
        RunStore.create(folder, clock=StoppedClock()).close()
        yield folder


def check_whole(folder: Path, announced: int) -> int:
    """Everything that was announced is in the log, in pairs, and no pair is incomplete."""
    with RunStore.read(folder) as store:
        facts = list(store.facts())
        assert store._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert len(facts) >= announced
    assert len(facts) % 2 == 0
    assert [fact.stage for fact in facts[::2]] == [str(n) for n in range(0, len(facts), 2)]
    assert [fact.summary for fact in facts[1::2]] == [str(n) for n in range(0, len(facts), 2)]
    return len(facts)


@pytest.mark.slow
def test_a_killed_writer_loses_nothing_it_committed(folder):
    draw, total = random.Random(7), 0
    for _ in range(8):
        writer = start_writer(folder)
        time.sleep(draw.uniform(0.0, 0.4))
        announced = kill(writer)
        total = check_whole(folder, int(announced[-1]) if announced else total)
    assert total > 20
    with RunStore.open(folder, clock=StoppedClock()) as store:  # the dead hold no lock
        store.append([RunResumed()])
        assert store.last_seq == total + 1


def meta_of(folder: Path) -> dict[str, str]:
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        return dict(database.execute("SELECT key, value FROM meta"))


@pytest.mark.slow
def test_a_run_that_is_seen_can_be_read_from_its_first_moment(tmp_path):
    """Viewers and comparisons look for a run's database while another process makes it."""
    count, deadline_s = 30, time.monotonic() + 60
    start_process([sys.executable, "-c", BEGIN_MANY, str(tmp_path), str(count)])
    for number in range(count):
        while not is_run(tmp_path / str(number)):
            assert time.monotonic() < deadline_s
        with RunStore.read(tmp_path / str(number)) as store:
            assert store.last_seq >= 0
        assert meta_of(tmp_path / str(number))["run_id"] == str(number)


@pytest.mark.parametrize("index", ["kept", "lost"])
def test_a_killed_run_can_be_read_where_nothing_may_be_written(folder, index):
    writer = start_writer(folder)
    assert writer.stdout is not None
    announced = int(writer.stdout.readline())
    kill(writer)
    assert (folder / "run.sqlite-wal").stat().st_size > 0
    if index == "lost":
        (folder / "run.sqlite-shm").unlink()
    assert read_as_nobody(folder) >= announced


def test_a_finished_run_can_be_read_where_nothing_may_be_written(folder):
    with RunStore.open(folder, clock=StoppedClock()) as store:
        store.append(stages(0, 5))
    assert not (folder / "run.sqlite-wal").exists()
    assert read_as_nobody(folder) == 5


def test_a_live_run_can_be_read_by_who_may_not_write(folder):
    with RunStore.open(folder, clock=StoppedClock()) as store:
        store.append(stages(0, 5))
        assert read_as_nobody(folder) == 5
        store.append(stages(5, 7))
        assert read_as_nobody(folder) == 7


READ_ONLY = """
import os, sys
from pathlib import Path
import memento.memory.store as store
from memento.core.errors import StoreError
folder = Path(sys.argv[1])
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
try:
    (folder / "probe").touch()
except OSError:
    pass
else:
    sys.exit("the folder is writable")
class Clock:
    def now(self): return 0.0
    elapsed = now
try:
    store.RunStore.open(folder, clock=Clock())
except StoreError as error:
    assert "cannot be written" in str(error) or "is live" in str(error), error
else:
    sys.exit("opened for writing")
with store.RunStore.read(folder) as reader:
    print(sum(1 for _ in reader.facts()))
    try:
        reader.request("stop", at=0.0)
    except StoreError as error:
        assert "cannot be" in str(error), error
    else:
        sys.exit("left a request")
"""


def read_as_nobody(folder: Path) -> int:
    """How many facts a process reads that cannot write to the folder."""
    before = {path: path.stat().st_mode for path in [folder, *folder.iterdir()]}
    folder.parent.chmod(0o755)
    try:
        for path in [*folder.iterdir(), folder]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        process = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(folder)], capture_output=True, text=True, timeout=30, check=False
        )
    finally:
        for path, mode in before.items():
            path.chmod(mode)
    assert process.returncode == 0, process.stderr
    return int(process.stdout)


@pytest.mark.slow
def test_a_second_writer_is_refused_with_the_holder(folder):
    writer = start_writer(folder)
    try:
        with pytest.raises(StoreError, match=rf"'run' is live: process {writer.pid} on .+ since 20\d\d-"):
            RunStore.open(folder, clock=StoppedClock())
        living = holder(folder)
        assert living is not None and living.pid == writer.pid
        with pytest.raises(StoreError, match="is live"):
            RunStore.create(folder, clock=StoppedClock())
    finally:
        kill(writer)
    assert holder(folder) is None
    RunStore.open(folder, clock=StoppedClock()).close()


def test_a_second_writer_in_the_same_process_is_refused(folder):
    with RunStore.open(folder, clock=StoppedClock(1_700_000_000)):
        with pytest.raises(StoreError, match=rf"process {os.getpid()} on .+ since 2023-11-14 22:13:20 UTC"):
            RunStore.open(folder, clock=StoppedClock())
        assert holder(folder) is not None
        # The query for the holder must not release the lock: closing any descriptor drops a POSIX lock.
        code = "import sys, pathlib, memento.memory.lock as lock; print(lock.is_locked(pathlib.Path(sys.argv[1])))"
        command = [sys.executable, "-c", code, str(folder)]
        asked = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        assert asked.stdout == "True\n"
    assert holder(folder) is None


def test_a_forked_child_does_not_keep_the_lock(folder):
    code = (
        "import os, sys, time\n"
        "from memento.memory.store import RunStore\n"
        "class Clock:\n    def now(self): return 0.0\n    elapsed = now\n"
        "store = RunStore.open(sys.argv[1], clock=Clock())\n"
        "child = os.fork()\n"
        "if child == 0:\n    time.sleep(30); os._exit(0)\n"
        "print(child, flush=True); time.sleep(30)\n"
    )
    parent = start_process([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    try:
        parent.kill()
        parent.wait(20)
        os.kill(child, 0)  # it lives
        RunStore.open(folder, clock=StoppedClock()).close()
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_follower_sees_every_fact_once_while_another_process_writes(folder):
    writer = start_writer(folder)
    seen: list[int] = []
    try:
        with RunStore.read(folder) as reader:
            deadline = time.monotonic() + 20
            while len(seen) < 300 and time.monotonic() < deadline:
                seen += [entry.seq for entry in reader.facts_after(seen[-1] if seen else 0)]
                assert len(seen) % 2 == 0, "half a commit was seen"
    finally:
        kill(writer)
    assert len(seen) >= 300
    assert seen == list(range(1, len(seen) + 1))


def test_requests_reach_the_writer_once(folder):
    with RunStore.open(folder, clock=StoppedClock()) as store:
        assert store.take_requests() == ()
        with RunStore.read(folder) as reader:
            reader.request("pause", at=5.0)
            reader.request("stop", {"reason": "tired"}, at=6.0)
            with pytest.raises(StoreError, match="opened to read"):
                reader.take_requests()
            with pytest.raises(StoreError, match="opened to read"):
                reader.append([RunResumed()])
        first, second = store.take_requests()
        assert (first.kind, first.at, dict(first.body)) == ("pause", 5.0, {})
        assert (second.kind, dict(second.body)) == ("stop", {"reason": "tired"})
        assert store.take_requests() == ()
    with RunStore.open(folder, clock=StoppedClock()) as store:
        assert store.take_requests() == ()


def test_reading_takes_statements_in_proportion_to_the_log(folder):
    """A log of 100,000 facts is read in chunks: a statement for each fact would show here."""
    with RunStore.open(folder, clock=StoppedClock()) as store:
        for first in range(0, 10_000, 500):
            texts = [Document(str(number)) for number in range(first, first + 500)]
            calls = [Call(model="m", prompt=text, reply=text) for text in texts]
            store.append([ProposalMade(program=Program("p"), summary="", call=call) for call in calls])
    counts = []
    for start in (9_000, 5_000, 0):
        statements: list[str] = []
        with RunStore.read(folder) as reader:
            reader._db.conn.set_trace_callback(statements.append)
            assert sum(1 for _ in reader.facts_after(start)) == 10_000 - start
        counts.append(len(statements))
    assert counts == [3, 11, 21]


def test_a_store_knows_its_birth(tmp_path):
    RunStore.create(tmp_path / "r", clock=StoppedClock(12.25), run_id="r-7").close()
    assert meta_of(tmp_path / "r") == {"run_id": "r-7", "created": "12.25", "schema_version": "1"}


def test_closing_twice_is_not_an_error(folder):
    store = RunStore.open(folder, clock=StoppedClock())
    store.close()
    store.close()
    with pytest.raises(StoreError, match="cannot be used"):
        store.append([RunResumed()])


def test_the_holder_note_is_json(folder):
    with RunStore.open(folder, clock=StoppedClock(3.0)):
        note = json.loads((folder / "holder.json").read_text())
        assert note["pid"] == os.getpid() and note["since"] == 3.0
    assert not (folder / "holder.json").exists()


class LeapingClock:
    """A wall clock that the test sets, over a monotonic one."""

    def __init__(self) -> None:
        self.wall, self.steady = 1_700_000_000.0, 50.0

    def now(self) -> float:
        return self.wall

    def elapsed(self) -> float:
        return self.steady

    def wait(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


@pytest.mark.parametrize("leap_s", [86_400.0 * 365, -86_400.0 * 365, 0.0])
def test_a_clock_that_is_set_makes_a_run_neither_longer_nor_shorter(tmp_path, leap_s):
    clock = LeapingClock()
    with RunStore.create(tmp_path / "run", clock=clock) as store:
        store.append(stages(0, 1))
        clock.wait(10)
        clock.wall += leap_s
        store.append(stages(1, 2))
        clock.wait(5)
        store.append(stages(2, 3))
    clock.wall -= 2 * leap_s
    clock.wait(1000)
    with RunStore.open(tmp_path / "run", clock=clock) as store:
        store.append([RunResumed()])
        clock.wait(7)
        clock.wall += leap_s
        store.append(stages(3, 4))
        entries = list(store.facts_after(0))
    assert status_of(entries).active_s == pytest.approx(22)
    assert [entry.at for entry in entries[:3]] == [1_700_000_000.0, 1_700_000_010.0, 1_700_000_015.0]


def test_prompts_and_replies_need_not_be_read(folder):
    made = [
        ProposalMade(
            order=f"g1/macro/{number}", program=Program(f"p{number % 3}"), summary="s",
            call=Call(model="m", prompt=Document(f"q{number}"), reply=Document(f"p{number % 3}")),
        )
        for number in range(5)
    ]
    with RunStore.open(folder, clock=StoppedClock()) as store:
        store.append(made)
    with RunStore.read(folder) as reader:
        assert list(reader.facts(texts=False)) == [
            replace(fact, call=replace(fact.call, prompt=Document(""), reply=Document(""))) for fact in made
        ]
        assert list(reader.facts()) == made, "texts that were omitted before are returned on request"
        assert [fact.program for fact in reader.facts(texts=False)] == [fact.program for fact in made]


@pytest.mark.slow
def test_a_reader_does_not_remember_a_whole_log(folder):
    with RunStore.open(folder, clock=StoppedClock()) as store:
        for first in range(0, 6_000, 500):
            texts = [Document(f"{number}" * 1000) for number in range(first, first + 500)]
            store.append([
                ProposalMade(program=Program("p"), summary="", call=Call(model="m", prompt=text, reply=text))
                for text in texts
            ])
    with RunStore.read(folder) as reader:
        most = max(sum(len(value.text) for value in reader._values.values()) for _ in reader.facts_after(0))
        assert 4_000_000 < most < 16_000_000        # of some 24 million


APPEND_AT_EACH_LINE = """
import sys, time
from memento.core.events import StageEntered
from memento.memory.store import RunStore

class Clock:
    now = staticmethod(time.time)
    elapsed = staticmethod(time.monotonic)

with RunStore.open(sys.argv[1], clock=Clock()) as store:
    for number, _ in enumerate(sys.stdin):
        store.append([StageEntered(stage=str(number))])
        print(store.last_seq, flush=True)
"""


def test_two_writers_after_the_lock_file_was_removed(folder: Path) -> None:
    """The first ends with one sentence and commits nothing more; the second goes on."""
    first = start_process(
        [sys.executable, "-c", APPEND_AT_EACH_LINE, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert first.stdin is not None
    assert first.stdout is not None
    for number in range(3):
        first.stdin.write("\n")
        first.stdin.flush()
        assert int(first.stdout.readline()) == number + 1
    (folder / "lock").unlink()
    with RunStore.open(folder, clock=StoppedClock()) as second:
        second.append([RunResumed()])
        _, errors = first.communicate("\n", timeout=30)
        assert "StoreError: the run 'run' in" in errors
        assert "is written by another process as well" in errors
        second.append([RunResumed()])
        assert second.last_seq == 5, "the first committed nothing more"
    with RunStore.read(folder) as store:
        assert [type(fact) for fact in store.facts()][3:] == [RunResumed, RunResumed]
