"""Starts and ends processes for tests, and looks up the processes of this machine and their descendants."""

import os
import signal
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from ..benchmarks.processes import left_of, levels, parents

__all__ = ["end_started", "kill_nine", "members_of", "parents", "start_process", "wait_until_gone"]

_started: list["subprocess.Popen[str]"] = []


def start_process(command: list[Any], **options: Any) -> "subprocess.Popen[str]":
    """Start a process that ends with the test at the latest, so that it cannot disturb the next test.

    Its pipes are of text; `options` are those of subprocess.Popen.
    """
    _started.append(subprocess.Popen(command, text=True, **options))
    return _started[-1]


def end_started() -> None:
    """Kill and reap started processes that still run, and close the pipes."""
    while _started:
        process = _started.pop()
        process.kill()
        process.wait(20)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def members_of(root: int) -> set[int]:
    """All live descendants of a process, without itself."""
    return set().union(*levels(root))


def kill_nine(root: int, *, everything: bool) -> set[int]:
    """kill -9 of a process, or of it and all its live descendants. Returns these, which end in both cases."""
    members = members_of(root)
    for pid in [root, *(members if everything else ())]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return members


def wait_until_gone(pids: Iterable[int], *, within_s: float = 10) -> None:
    """Fails where one of these processes is still alive after the deadline."""
    left = left_of(pids, within_s=within_s)
    assert not left, f"processes that are left: {sorted(left)}"
