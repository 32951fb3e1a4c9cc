"""Runs thousands of candidates and samples memory, descriptors, processes (which must not grow) and the store's size.

    python -m memento.tests.benchmarks.long_run [--candidates 10000] [--json]

The kinematic domain with a horizon of a few steps, one episode per candidate, the offline model and the reference
evaluator: little is simulated, so that the controller and the sandbox dominate the cost. Each sample holds:

    controller_mb          resident memory of the controller
    workers_mb             of its workers and their warm processes together
    descriptors            open in the controller
    processes              the controller and its descendants, without programs
    store_mb               the database with its log, and the kept trajectories
    cpu_ms_per_candidate   CPU of the controller alone, since the last sample

After the last candidate the run is stopped, and the commands that a user would run next are timed: `memento show`,
and `memento resume` until its first new fact. Linux only: it reads /proc.
"""

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from memento.core.values import JSON
from memento.memory.runs import DATABASE, TRAJECTORIES

from .kills import kill_all
from .processes import left_of, levels

GENERATION = {"k_hc": 40, "k_macro": 40, "k_cross": 20}
SETTINGS = ("--preset", "smoke", "--evaluator", "reference", "--seed", "3", "--set", "hanoi-kinematic.horizon=20",
            *(word for key, value in GENERATION.items() for word in ("--set", f"{key}={value}")))
WORKERS = 2
NAME = "long"
TICKS = os.sysconf("SC_CLK_TCK")
PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20
START_S = 120.0
STALL_S = 300.0             # longest time without a new candidate
STOP_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The run at one moment."""

    candidates: int
    wall_s: float
    controller_mb: float
    workers_mb: float
    descriptors: int
    processes: int
    store_mb: float
    cpu_s: float            # of the controller, so far


def candidates_of(folder: Path) -> int:
    """How many candidates are in the log; 0 before there is one."""
    path = folder / DATABASE
    if not path.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10) as db:
            row = db.execute("SELECT count(*) FROM facts WHERE kind = 'CandidateScored'").fetchone()
        db.close()
    except sqlite3.OperationalError:    # its tables do not exist yet
        return 0
    return int(row[0])


def resident_mb(pid: int) -> float:
    """Resident memory of a process; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_MB
    except (OSError, IndexError):
        return 0.0


def cpu_s(pid: int) -> float:
    """CPU seconds of a process so far, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def size_mb(folder: Path) -> float:
    """The database with its log, and the trajectories."""
    total = 0
    for path in (*folder.glob(f"{DATABASE}*"), *(folder / TRAJECTORIES).glob("*")):
        try:
            total += path.stat().st_size
        except FileNotFoundError:       # deleted meanwhile
            continue
    return total / 1e6


def sample(pid: int, folder: Path, *, candidates: int, since_s: float) -> Sample:
    """Take a sample of a live controller."""
    near = [pid for level in levels(pid)[:2] for pid in level]
    return Sample(
        candidates=candidates, wall_s=round(time.monotonic() - since_s, 1),
        controller_mb=round(resident_mb(pid), 2), workers_mb=round(sum(map(resident_mb, near)), 1),
        descriptors=len(list(Path(f"/proc/{pid}/fd").iterdir())), processes=1 + len(near),
        store_mb=round(size_mb(folder), 3), cpu_s=round(cpu_s(pid), 2),
    )


def start(folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """`memento ARGUMENTS` over the runs in `folder`."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MEMENTO_")}
    with (folder / "errors.txt").open("a") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", "memento", *arguments, "--runs", str(folder)], env=environment,
            stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
        )


def grow(
    folder: Path, *, candidates: int, samples: int, settings: Sequence[str] = SETTINGS
) -> tuple[list[Sample], int]:
    """Run until there are `candidates` candidates, then stop; returns the samples and the number of processes left."""
    generations = 2 + candidates // sum(GENERATION.values())
    arguments = [*settings, "--set", f"generations={generations}", "--workers", str(WORKERS)]
    process = start(folder, "run", "hanoi-kinematic", *arguments, "--name", NAME, "--display", "plain")
    since_s = news_s = time.monotonic()
    taken: list[Sample] = []
    known = 0
    try:
        while known < candidates:
            time.sleep(0.2)
            count = candidates_of(folder / NAME)
            now_s = time.monotonic()
            if count > known:
                known, news_s = count, now_s
            if process.poll() is not None or now_s - news_s > STALL_S:
                raise RuntimeError(f"the run ended or stalled: {(folder / 'errors.txt').read_text()[-2000:]}")
            if known >= max(1, len(taken) * candidates // samples):
                taken.append(sample(process.pid, folder / NAME, candidates=known, since_s=since_s))
        below = {pid for level in levels(process.pid) for pid in level}
        process.send_signal(signal.SIGTERM)    # works for background jobs too
        process.wait(timeout=STOP_S)
        return taken, len(left_of(below))
    finally:
        kill_all([process.pid])
        process.wait(timeout=STOP_S)


def timed_show(folder: Path) -> tuple[float, float]:
    """CPU seconds that `memento show` takes, and its peak memory in MB."""
    process = start(folder, "show", NAME)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError((folder / "errors.txt").read_text()[-2000:])
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def timed_resume(folder: Path) -> tuple[float, float, float]:
    """CPU and wall seconds from `memento resume` to the first new candidate, and the controller's memory in MB."""
    before = candidates_of(folder / NAME)
    begun_s = time.monotonic()
    process = start(folder, "resume", NAME, "--display", "plain")
    try:
        while candidates_of(folder / NAME) <= before:
            if process.poll() is not None or time.monotonic() - begun_s > STALL_S:
                raise RuntimeError(f"the run was not resumed: {(folder / 'errors.txt').read_text()[-2000:]}")
            time.sleep(0.02)
        return cpu_s(process.pid), time.monotonic() - begun_s, resident_mb(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)    # works for background jobs too
        process.wait(timeout=STOP_S)


def slope(samples: Sequence[Sample], name: str) -> float:
    """Growth of a figure per candidate, fitted to the later two thirds, when everything is loaded."""
    late = samples[len(samples) // 3:]
    return float(np.polyfit([each.candidates for each in late], [getattr(each, name) for each in late], 1)[0])


def measure(*, candidates: int, samples: int = 20, keep: Path | None = None) -> dict[str, JSON]:
    """All figures. The run is made in the folder `keep` and stays there, or is deleted."""
    with tempfile.TemporaryDirectory(prefix="memento-long-") as parent:
        folder = Path(parent) if keep is None else keep
        folder.mkdir(parents=True, exist_ok=True)
        taken, left = grow(folder, candidates=candidates, samples=samples)
        show_s, show_mb = timed_show(folder)
        resume_s, resume_wall_s, resume_mb = timed_resume(folder)
    first, last = taken[len(taken) // 3], taken[-1]
    spent = (last.cpu_s - first.cpu_s) / (last.candidates - first.candidates)
    return {
        "candidates": last.candidates, "wall_s": last.wall_s,
        "controller_kb_per_1000_candidates": round(slope(taken, "controller_mb") * 1024 * 1000, 1),
        "store_bytes_per_candidate": round(slope(taken, "store_mb") * 1e6),
        "descriptors": [first.descriptors, last.descriptors], "processes": [first.processes, last.processes],
        "processes_left": left, "cpu_ms_per_candidate": round(1e3 * spent, 2),
        "show_cpu_s": round(show_s, 2), "show_peak_mb": round(show_mb, 1),
        "resume_cpu_s": round(resume_s, 2), "resume_wall_s": round(resume_wall_s, 2),
        "resumed_controller_mb": round(resume_mb, 1), "samples": [asdict(each) for each in taken],
    }


def table(figures: Mapping[str, JSON]) -> str:
    """The figures as text."""
    rows = figures["samples"]
    assert isinstance(rows, list)
    head = list(Sample.__dataclass_fields__)
    lines = ["  ".join(f"{name:>13}" for name in head)]
    lines += ["  ".join(f"{row[name]!s:>13}" for name in head) for row in rows if isinstance(row, dict)]
    return "\n".join([*lines, "", *(f"{name.replace('_', ' ')}: {value}" for name, value in figures.items()
                                      if name != "samples")])


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--candidates", type=int, default=10_000)
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="make the run in this folder, and keep it")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    figures = measure(candidates=given.candidates, keep=given.keep)
    print(json.dumps(figures) if given.json else table(figures))


if __name__ == "__main__":
    main()
