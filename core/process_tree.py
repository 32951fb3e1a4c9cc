"""The descendants of a process: have orphans adopted, and end them all, also those that left its session."""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

PR_SET_CHILD_SUBREAPER: Final = 36
ROUNDS: Final = 5       # a process that forks while it is looked for is found in the next round


def adopt_orphans() -> None:
    """Have orphaned descendants become children of this process, so that it can end them (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, *map(ctypes.c_ulong, (1, 0, 0, 0)))


def end_descendants(root: int, *, spared: str = "") -> None:
    """Kill every descendant of a live process (Linux); with `spared` not those whose command has this text, or theirs.

    A program that a simulator started in a session of its own outlives the group of the process otherwise.
    """
    for _ in range(ROUNDS):
        found = _descendants(root, spared)
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def _descendants(root: int, spared: str) -> list[int]:
    """Live descendants; none where the system does not list them."""
    found: list[int] = []
    waiting = [root]
    while waiting:
        for child in _child_pids(waiting.pop()):
            with suppress(OSError):
                if _is_zombie(child):
                    continue
                # A process that is just being executed has no command yet, for a moment, and is not spared.
                if spared and spared in Path(f"/proc/{child}/cmdline").read_bytes().decode(errors="replace"):
                    continue
                found.append(child)
                waiting.append(child)
    return found


def _is_zombie(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def _child_pids(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found
