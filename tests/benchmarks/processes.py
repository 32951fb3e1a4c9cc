"""Processes of this machine, from /proc: their descent, and which are still alive."""

import time
from collections.abc import Iterable
from pathlib import Path

GONE_S = 10.0       # ending processes are gone after this time


def parents() -> dict[int, int]:
    """Every live process and its parent; zombies are not live."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            found[int(stat.parent.name)] = int(fields[1])
    return found


def levels(root: int) -> tuple[set[int], ...]:
    """The live descendants of a process by distance; of a controller: workers, warm processes, programs."""
    tree = parents()
    found: list[set[int]] = []
    above = {root}
    while above := {pid for pid, parent in tree.items() if parent in above}:
        found.append(above)
    return tuple(found)


def left_of(pids: Iterable[int], *, within_s: float = GONE_S) -> set[int]:
    """The subset of these processes that is still alive after `within_s`."""
    deadline_s = time.monotonic() + within_s
    expected = set(pids)
    while (left := expected & parents().keys()) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    return left
