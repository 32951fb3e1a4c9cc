"""The machine's effects on a run: full and read-only disks, stopped processes, Ctrl-C, fewer layers than before."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from memento.core.errors import StoreError, UsageError
from memento.core.events import EpisodeEnded, RunResumed, RunStopped
from memento.core.ports import RollTask
from memento.domains import load
from memento.memory.store import RunStore
from memento.runtime.rollouts.pool import ProcessPool

from ..support.nightly import first_and_nightly
from ..support.processes import members_of, parents, wait_until_gone
from .conftest import Runs, verdicts

pytestmark = pytest.mark.quick

SEARCH = ("generations=2", "k_hc=4", "k_macro=4", "k_cross=2", "n_roll=2", "hanoi-kinematic.horizon=300")
QUICK = [
    "--preset", "smoke", "--evaluator", "reference", "--seed", "3", "--workers", "2", "--display", "none",
    *(word for setting in SEARCH for word in ("--set", setting)),
]
IN_A_NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
PYTHON = sys.executable


def can_mount() -> bool:
    """Whether this machine allows a private mount, which needs a user namespace or root."""
    if shutil.which("unshare") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        command = [*IN_A_NAMESPACE, f"mount -t tmpfs -o size=64k tmpfs {folder}"]
        return subprocess.run(command, capture_output=True, timeout=20).returncode == 0


own_disk = pytest.mark.skipif(not can_mount(), reason="no disk can be mounted here")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """An empty folder to mount something over."""
    folder = tmp_path / "disk"
    folder.mkdir()
    yield folder


def on_a_disk(folder: Path, script: str) -> "subprocess.CompletedProcess[str]":
    """Run a shell script that sees its own mounts."""
    return subprocess.run(
        [*IN_A_NAMESPACE, script], cwd=folder, env=os.environ | {"PY": PYTHON, "DISK": str(folder)},
        capture_output=True, text=True, timeout=55,
    )


def sentences(process: "subprocess.CompletedProcess[str]") -> list[str]:
    return [line for line in process.stderr.splitlines() if line.startswith("memento: ")]


# ----------------------------------------------------------------------------------------- the disk

FULL = """
mount -t tmpfs -o size={size} tmpfs "$DISK" || exit 99
"$PY" -m memento run hanoi-kinematic {options} --name one --runs "$DISK"
code=$?
"$PY" -m memento show one --runs "$DISK" | head -1
mount -o remount,size=200m "$DISK" || exit 99
"$PY" -m memento resume one --runs "$DISK" --json --display none || exit 98
"$PY" -m memento show one --runs "$DISK" | head -1
exit $code
"""


@own_disk
@pytest.mark.slow
@pytest.mark.parametrize("size", first_and_nightly("900k", "400k", "300k"))
def test_a_full_disk_ends_a_run_with_one_sentence_and_loses_nothing(small_disk: Path, size: str) -> None:
    options = " ".join([*QUICK, "--set", "keep_trajectories=true"])
    done = on_a_disk(small_disk, FULL.format(size=size, options=options))
    assert done.returncode == 3, done.stdout + done.stderr
    [sentence] = sentences(done)
    assert "the disk is full; free some space and resume" in sentence
    assert "Traceback" not in done.stderr
    first, result, last = done.stdout.splitlines()
    assert first.endswith((", failed", ", killed")), "the fact that it failed may have found room, or not"
    assert "done" in last
    assert '"status": "done"' in result


@pytest.mark.slow
async def test_a_trajectory_that_finds_no_room_is_a_sentence_and_no_retry(tmp_path: Path) -> None:
    """/dev/full refuses every byte with ENOSPC, wherever a disk cannot be mounted too."""
    domain = load("hanoi-kinematic")
    shelf = domain.shelf()
    assert shelf is not None
    folder = tmp_path / "trajectories"
    async with ProcessPool(
        domain="memento.domains.hanoi_kinematic:DOMAIN", splits={"search": domain.options({}, preset="smoke")},
        workers=1, trajectories=folder,
    ) as pool:
        [worker] = [pid for pid, parent in parents().items() if parent == os.getpid() and pid in _workers()]
        (folder / f".init_0_e0.npz.{worker}.partial").symlink_to("/dev/full")
        task = RollTask(order="init/0/e0", program=shelf.initial, split="search", index=0, seed=1)
        with pytest.raises(StoreError, match=r"init_0_e0.npz cannot be written .* the disk is full; free some space"):
            await pool.roll(task)
        episode = await pool.roll(task)     # the worker survives, and the disk has space again
        assert episode.trajectory == "init_0_e0"
        assert worker in parents()


def _workers() -> set[int]:
    found = set()
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"memento.runtime.rollouts.worker" in entry.read_bytes():
                found.add(int(entry.parent.name))
        except OSError:
            continue
    return found


READ_ONLY = """
mount -t tmpfs -o size=50m tmpfs "$DISK" || exit 99
"$PY" -m memento run hanoi-kinematic {options} --budget-calls 3 --name one --runs "$DISK" >&2 2> /dev/null || exit 97
mount -o remount,ro "$DISK" || exit 99
"$PY" -m memento show one --runs "$DISK" | head -1 || exit 96
"$PY" -m memento resume one --runs "$DISK" --budget-calls 50
code=$?
"$PY" -m memento run hanoi-kinematic --name two --runs "$DISK"
exit $((code * 10 + $?))
"""


@pytest.mark.slow
@own_disk
def test_a_run_on_a_read_only_disk_can_be_read_and_not_resumed(small_disk: Path) -> None:
    done = on_a_disk(small_disk, READ_ONLY.format(options=" ".join(QUICK)))
    assert done.returncode == 32, (done.returncode, done.stdout + done.stderr)
    resumed, begun = sentences(done)
    assert "cannot be written: Read-only file system" in resumed
    assert "cannot make a run in" in begun and "Read-only file system" in begun
    assert "out of budget" in done.stdout


FINISHED = """
mount -t tmpfs -o size=4m tmpfs "$DISK" || exit 99
cd "$DISK" && mkdir runs && cp -r {run} runs/one && rm -f runs/one/run.sqlite-*
dd if=/dev/zero of=fill bs=1k 2> /dev/null
for command in "show one" "rank one --episodes 2 --programs 2 --workers 1" "export one --to tape --out one.tape.xz"; do
    "$PY" -m memento $command > /dev/null; echo $?
done
rm fill
"$PY" -m memento rank one --episodes 2 --programs 2 --workers 1 > /dev/null 2>&1; echo $?
"""


@own_disk
@pytest.mark.slow
def test_a_finished_run_on_a_full_disk_is_shown_and_measured_later(small: Runs, small_disk: Path) -> None:
    done = on_a_disk(small_disk, FINISHED.format(run=small.folder / "one"))
    assert done.stdout.split() == ["0", "3", "2", "0"], done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "words"), [
    (lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]), "is damaged: run.sqlite is cut off"),
    (lambda path: path.write_bytes(b"Lorem ipsum " * 1000), "is damaged: run.sqlite is not a database"),
], ids=["truncated", "overwritten"])
@pytest.mark.parametrize("command", ["show", "resume"])
def test_a_damaged_store_is_reported_by_every_command(small: Runs, tmp_path: Path, damage, words, command) -> None:
    shutil.copytree(small.folder, tmp_path / "damaged")
    damage(tmp_path / "damaged" / "one" / "run.sqlite")
    for left in (tmp_path / "damaged" / "one").glob("run.sqlite-*"):
        left.unlink()
    process = Runs(tmp_path / "damaged").start(command, "one")
    _, errors = process.communicate(timeout=150)
    assert process.returncode == 3
    assert words in errors and errors.count("\n") == 1


# ------------------------------------------------------------------------------------- stopped processes


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """A folder with one finished run, to compare with."""
    runs = Runs(tmp_path_factory.mktemp("whole") / "runs")
    runs.call("run", "hanoi-kinematic", *QUICK, "--name", "one")
    return runs


def until_search(runs: Runs, name: str, process: "subprocess.Popen[str]") -> None:
    """Wait until some episodes are in the log."""
    runs.await_first_fact(name)
    deadline_s = time.monotonic() + 30
    while sum(isinstance(fact, EpisodeEnded) for fact in runs.facts(name)) < 6:
        assert process.poll() is None and time.monotonic() < deadline_s
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("which", first_and_nightly("everything", "controller", "workers"))
def test_a_process_that_is_stopped_and_continued_changes_nothing(runs: Runs, small: Runs, which: str) -> None:
    process = runs.start("run", "hanoi-kinematic", *QUICK, "--name", "one", "--json")
    until_search(runs, "one", process)
    workers = {pid for pid, parent in parents().items() if parent == process.pid}
    stopped = {"controller": {process.pid}, "workers": workers, "everything": {process.pid, *members_of(process.pid)}}
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in stopped[which]:
            with contextlib.suppress(ProcessLookupError):       # a program may have ended in the meantime
                os.kill(pid, number)
        if number == signal.SIGSTOP:
            time.sleep(1.5)
    assert runs.finish(process)["status"] == "done"
    assert verdicts(runs.facts("one")) == verdicts(small.facts("one"))
    wait_until_gone(workers)


LEAPS = """
import random, time
draw, real = random.Random(3), time.time
time.time = lambda: real() + draw.choice([0.0, -3600.0, 3650 * 86400.0, -3650 * 86400.0])
from memento.cli import main
main()
"""


@pytest.mark.slow
def test_a_clock_that_leaps_by_years_changes_no_decision(runs: Runs, small: Runs) -> None:
    done = subprocess.run(
        [PYTHON, "-c", LEAPS, "run", "hanoi-kinematic", *QUICK, "--name", "one", "--runs", str(runs.folder), "--json"],
        capture_output=True, text=True, timeout=150,
    )
    assert done.returncode == 0 and json.loads(done.stdout)["status"] == "done", done.stderr
    assert verdicts(runs.facts("one")) == verdicts(small.facts("one"))
    shown, _ = runs.start("show", "one").communicate(timeout=60)
    assert "done" in shown.splitlines()[0]


@pytest.mark.slow
def test_a_second_controller_is_refused_with_the_holder_of_the_run(runs: Runs) -> None:
    process = runs.start("run", "hanoi-kinematic", *QUICK, "--name", "one", "--json")
    until_search(runs, "one", process)
    process.send_signal(signal.SIGSTOP)         # alive, for as long as the second takes
    try:
        second = runs.start("resume", "one", "--budget-calls", "99")
        _, errors = second.communicate(timeout=150)
        with pytest.raises(StoreError, match=f"process {process.pid} on "):
            RunStore.open(runs.folder / "one", clock=_Clock())
    finally:
        process.send_signal(signal.SIGCONT)
    assert second.returncode == 2
    assert "is live" in errors and errors.count("\n") == 1
    assert runs.finish(process)["status"] == "done"


class _Clock:
    now = staticmethod(time.time)
    elapsed = staticmethod(time.monotonic)


# ------------------------------------------------------------------------------------------------ Ctrl-C


@pytest.mark.slow
def test_one_interrupt_stops_cleanly_and_leaves_a_fact(runs: Runs, small: Runs) -> None:
    process = runs.start("run", "hanoi-kinematic", *QUICK, "--name", "one")
    until_search(runs, "one", process)
    below = members_of(process.pid)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "memento resume" in errors and "Traceback" not in errors
    assert runs.facts("one")[-1] == RunStopped(reason="stopped")
    wait_until_gone(below)
    shown, _ = runs.start("show", "one").communicate(timeout=30)
    assert "stopped" in shown.splitlines()[0]
    assert runs.call("resume", "one", "--display", "none")["status"] == "done"
    assert verdicts(runs.facts("one")) == verdicts(small.facts("one"))


@pytest.mark.slow
def test_a_second_interrupt_ends_at_once_though_the_first_waits(runs: Runs) -> None:
    process = runs.start("run", "hanoi-kinematic", *QUICK, "--name", "one")
    until_search(runs, "one", process)
    below = members_of(process.pid)
    workers = {pid for pid, parent in parents().items() if parent == process.pid}
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)    # a clean stop waits for them, and kills them at its deadline
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    began_s = time.monotonic()
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "memento resume" in errors and "Traceback" not in errors
    assert time.monotonic() - began_s < 10
    for pid in workers:
        if pid in parents():
            os.kill(pid, signal.SIGCONT)
    wait_until_gone(below)
    assert runs.call("resume", "one", "--display", "none")["status"] == "done"


# ------------------------------------------------------------------------------- another machine's layers

ELSEWHERE = """
import memento.app.cluster
memento.app.cluster.live_layers = lambda: ("rlimits", "environment", "pdeathsig")
from memento.cli import main
main()
"""


def resumed_elsewhere(runs: Runs, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """`memento resume` on a machine without Landlock and seccomp."""
    return subprocess.run(
        [PYTHON, "-c", ELSEWHERE, "resume", "one", "--runs", str(runs.folder), "--display", "plain", *arguments],
        capture_output=True, text=True, timeout=55,
    )


@pytest.mark.slow
def test_a_run_that_goes_on_with_fewer_layers_says_so_and_its_result_too(runs: Runs) -> None:
    runs.call("run", "hanoi-kinematic", *QUICK, "--name", "one", "--budget-calls", "5")
    done = resumed_elsewhere(runs, "--budget-calls", "500", "--json")
    assert done.returncode == 0, done.stderr
    assert "isolation lost" in done.stderr and "landlock, seccomp" in done.stderr
    assert "NOT ISOLATED" in done.stderr
    resumed = [fact for fact in runs.facts("one") if isinstance(fact, RunResumed)]
    assert resumed[-1].sandbox == ("rlimits", "environment", "pdeathsig")
    assert '"sandbox": ["rlimits", "environment", "pdeathsig"]' in done.stdout
    shown, _ = runs.start("show", "one").communicate(timeout=30)
    assert "NOT ISOLATED" in shown


@pytest.mark.slow
@pytest.mark.parametrize("asked", first_and_nightly("at the start", "at the resume"))
def test_a_run_that_requires_the_sandbox_is_not_resumed_without_it(runs: Runs, asked: str) -> None:
    flag = ["--require-sandbox"]
    runs.call("run", "hanoi-kinematic", *QUICK, "--name", "one", "--budget-calls", "5",
              *(flag if asked == "at the start" else []))
    before = runs.facts("one")
    done = resumed_elsewhere(runs, "--budget-calls", "500", *(flag if asked == "at the resume" else []))
    assert done.returncode == 2
    assert "--require-sandbox: generated code cannot be isolated here (landlock, seccomp missing)" in done.stderr
    assert runs.facts("one") == before, "refused before anything is done"


def test_the_refusal_is_a_usage_error() -> None:
    from memento.app.isolation import require_sandbox

    require_sandbox(("landlock", "seccomp", "rlimits"))
    with pytest.raises(UsageError, match="seccomp missing"):
        require_sandbox(("landlock",))
