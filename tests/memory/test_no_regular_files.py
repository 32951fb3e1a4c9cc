"""Pipes, devices and links in place of the files of a folder: nothing waits at them or writes through them."""

import os
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from memento.core.errors import MementoError
from memento.core.events import RunStarted
from memento.core.recording_file import load_recording
from memento.evidence.experiment import build_experiment
from memento.evidence.folder import JOURNAL, MEASURES, PLAN, ComparisonFolder
from memento.extensions.rl.log import LOG, BaselineLog, read_record
from memento.memory.activity import NOTE
from memento.memory.fresh_file import FILE, fresh_episodes
from memento.memory.lock import HOLDER, LOCK, WriterLock, holder, is_locked
from memento.memory.noting import read_note
from memento.memory.origin import SIGNATURE, is_written_here, sign
from memento.memory.runs import DATABASE, is_run
from memento.memory.store import RunStore
from memento.memory.tail import Follower
from memento.runtime.clock import SystemClock

pytestmark = pytest.mark.timeout(30)    # a wait at a pipe has no end
PLANNED = build_experiment({"domains": ["hanoi"], "methods": ["random"], "seeds": "1"}, name="x", origin="a test")
STARTED = RunStarted(settings={"domain": "hanoi"}, versions={})


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def lead_away(path: Path) -> None:
    path.symlink_to(path.parent.parent / "precious")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "precious").write_text("precious")
    with RunStore.create(tmp_path / "run", clock=SystemClock()) as store:
        store.append([STARTED])
    return tmp_path / "run"


def read_log(folder: Path) -> None:
    with RunStore.read(folder) as store:
        assert len([*store.facts()]) == 1


def write_log(folder: Path) -> None:
    with RunStore.open(folder, clock=SystemClock()) as store:
        store.append([STARTED])


def follow(folder: Path) -> None:
    with closing(Follower(folder)) as follower:
        follower.read()


def rank(folder: Path) -> None:
    with fresh_episodes(folder, "run"):
        pass


def compare(folder: Path) -> ComparisonFolder:
    return ComparisonFolder(folder)


TOUCHED: dict[str, tuple[Callable[[Path], Any], ...]] = {
    **dict.fromkeys((DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal"), (
        is_run, read_log, write_log, follow,
    )),
    LOCK: (is_locked, read_log, write_log, lambda folder: WriterLock.acquire(folder, now=1.0).release()),
    HOLDER: (holder, read_log, lambda folder: WriterLock.acquire(folder, now=1.0).release()),
    NOTE: (lambda folder: read_note(folder, now=1.0),),
    SIGNATURE: (lambda folder: is_written_here(folder, {}), lambda folder: sign(folder, {})),
    FILE: (rank,),
    "episode.npz": (lambda folder: load_recording(folder / "episode.npz"),),
    PLAN: (lambda folder: compare(folder).plan(), lambda folder: compare(folder).is_own,
           lambda folder: compare(folder).write_plan(PLANNED)),
    MEASURES: (lambda folder: compare(folder).measures(),),
    JOURNAL: (lambda folder: compare(folder).journal(),
              lambda folder: compare(folder).note(at=1.0, job="x", event="begun")),
    LOG: (read_record, lambda folder: BaselineLog(folder).add("started", {})),
}


@pytest.mark.parametrize("make", [pipe, endless, lead_away])
@pytest.mark.parametrize("name", TOUCHED)
def test_nothing_waits_at_it_or_writes_through_it(folder: Path, name: str, make: Callable[[Path], None]) -> None:
    place = folder / name
    for touch in TOUCHED[name]:
        place.unlink(missing_ok=True)
        make(place)
        with suppress(MementoError, OSError):
            touch(folder)
        assert (folder.parent / "precious").read_text() == "precious"
