"""Finds the processes that a pool started, to check that none is left."""

from contextlib import suppress
from pathlib import Path


def processes_of(controller: int) -> dict[int, str]:
    """Live processes that the controller's pool started, directly or indirectly: pid to state and command line.

    Workers, warm processes and their forks carry the controller's id in their arguments.
    """
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if f"for-{controller}".encode() in words and state != "Z":
            found[int(entry.name)] = state + " " + b" ".join(words[-6:]).decode(errors="replace")
    return found


def zombies_of(parent: int) -> list[int]:
    """Children of this process that ended and were never waited for."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if fields[0] == "Z" and int(fields[1]) == parent:
                found.append(int(entry.name))
    return found


def descriptors(pid: int | str = "self") -> set[tuple[str, str]]:
    """The sockets and pipes that a process holds open, by number and target."""
    found = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            target = str(entry.readlink())
            if target.startswith(("socket:", "pipe:")):
                found.add((entry.name, target))
    return found
