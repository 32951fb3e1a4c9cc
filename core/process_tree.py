"""The descendants of a process: have orphans adopted, and end them all, also those that left its session."""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

PR_SET_PDEATHSIG: Final = 1
PR_SET_CHILD_SUBREAPER: Final = 36
ROUNDS: Final = 5       # a process that forks while it is looked for is found in the next round


def adopt_orphans() -> None:
    """Have orphaned descendants become children of this process, so that it can end them (Linux)."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Have the kernel send this process the signal when the thread that forked it ends (Linux). Raises OSError."""
    if _prctl(PR_SET_PDEATHSIG, number) < 0:
        raise OSError(ctypes.get_errno(), "prctl: a process cannot end with its parent")


def _prctl(option: int, argument: int) -> int:
    if sys.platform != "linux":
        return 0
    result: int = ctypes.CDLL(None, use_errno=True).prctl(option, *map(ctypes.c_ulong, (argument, 0, 0, 0)))
    return result


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
