"""Looks at processes of this machine through /proc: who descends from whom, and who is still alive."""

import time
from collections.abc import Iterable
from pathlib import Path


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


def members_of(root: int) -> set[int]:
    """All live descendants of a process, itself left out."""
    tree = parents()
    members: set[int] = set()
    fresh = {root}
    while fresh:
        fresh = {pid for pid, parent in tree.items() if parent in fresh} - members
        members |= fresh
    return members


def wait_until_gone(pids: Iterable[int], *, within_s: float = 10) -> None:
    """Fails where one of these processes is still alive after the deadline."""
    wanted = set(pids)
    deadline_s = time.monotonic() + within_s
    while left := wanted & parents().keys():
        assert time.monotonic() < deadline_s, f"processes that are left: {sorted(left)}"
        time.sleep(0.05)
