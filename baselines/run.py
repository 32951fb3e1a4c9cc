"""One run of a baseline: a new one, or one that continues; the training, then the final measure, then the result."""

import asyncio
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from ..core.errors import StoreError, UsageError, os_problem
from ..core.extras import require
from ..core.ports import Clock
from ..core.version import __version__
from ..domains import require_installed
from ..memory.lock import WriterLock, is_locked
from ..memory.runs import new_run
from .log import BaselineLog, BaselineRecord, TrainingProgress, read_record, recorded_settings
from .measure import measure
from .settings import METHOD, MOST_STEPS, BaselineSettings

EXTRA: Final = "rl"
STOP: Final = "stop-requested"      # a file in the folder of a run
ASKED_S: Final = 1.0                # between two looks for it
PACKAGES: Final = ("stable-baselines3", "torch", "gymnasium", "numpy", "mujoco", "robosuite", "gymnasium-robotics")


def begin(settings: BaselineSettings, runs_dir: Path, name: str | None, clock: Clock) -> Path:
    """Make the folder of a new run and write its settings. Raises UsageError, also if a package is missing."""
    require(EXTRA, f"memento baseline {METHOD}")
    require_installed(settings.domain)
    label = f"{METHOD}-{settings.domain.replace(':', '-').replace('/', '-')}"
    folder = new_run(runs_dir, name, clock, label=label, seed=settings.seed)
    BaselineLog(folder).add("started", {"settings": settings.as_json(), "versions": _versions()})
    return folder


def plan_again(folder: Path, steps: int) -> None:
    """Change the steps of a run, to fewer or more in all: `work` then trains up to there, and measures again.

    Raises UsageError if it has done more already, or if another process works on it; StoreError.
    """
    record = read_record(folder)
    if steps == recorded_settings(record).steps:
        return
    if is_locked(folder):
        raise UsageError(f"the run {folder.name!r} is live: stop it first to change its steps")
    if not max(1, record.checkpoint) <= steps <= MOST_STEPS:
        raise UsageError(f"--steps must be from {max(1, record.checkpoint)}, where {folder.name} is, to {MOST_STEPS}")
    BaselineLog(folder).add("planned", {"steps": steps})


def ask_to_stop(folder: Path) -> None:
    """Ask the process that works on a run to stop, as Ctrl-C does. Raises UsageError if there is none, StoreError."""
    if not is_locked(folder):
        raise UsageError(f"the run {folder.name!r} is not live: there is nothing to stop")
    try:
        (folder / STOP).touch()
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {os_problem(error)}") from error


def work(
    folder: Path, clock: Clock, *, report: Callable[[TrainingProgress], None], play: Callable[[int, int], None],
    stopped: Callable[[], bool],
) -> BaselineRecord:
    """Train from where the run is, and measure; a run that is done is only read.

    `report` gets the progress of the training, `play` the number of each unseen episode, from 1, and their count.
    The result is None in the record if `stopped` ended the training or the measure. Raises UsageError if a package is
    missing or another process works on the run, and StoreError, RolloutError.
    """
    record = read_record(folder)
    if record.result is not None:
        return record
    require(EXTRA, f"memento baseline {METHOD}")
    settings = recorded_settings(record)
    require_installed(settings.domain)
    try:
        lock = WriterLock.acquire(folder, now=clock.now())
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {os_problem(error)}") from error
    try:
        from .training import train

        stopped = _or_asked(folder, stopped)
        act = train(settings, folder, report=report, stopped=stopped)
        if act is not None:
            found = asyncio.run(measure(settings, act, folder, play=play, stopped=stopped))
            if found is not None:
                BaselineLog(folder).add("measured", found.as_json())
        return read_record(folder)
    finally:
        lock.release()


def _or_asked(folder: Path, stopped: Callable[[], bool]) -> Callable[[], bool]:
    """Whether `stopped`, or the run was asked to stop since this call."""
    path = folder / STOP
    path.unlink(missing_ok=True)
    looked_s, asked = time.monotonic(), False

    def now() -> bool:
        nonlocal looked_s, asked
        if time.monotonic() - looked_s >= ASKED_S:
            looked_s, asked = time.monotonic(), path.exists()
        return asked or stopped()

    return now


def _versions() -> dict[str, str]:
    found = {"memento": __version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
