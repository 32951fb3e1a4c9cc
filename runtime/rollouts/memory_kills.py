"""How many processes the kernel ended since memory was short: in this control group, else on this machine (Linux)."""

from collections.abc import Callable, Iterator
from pathlib import Path

MemoryKills = Callable[[], int]


def memory_kills(root: Path = Path("/")) -> int:
    """The count so far; 0 where the kernel keeps none. It only rises, so a difference tells of new ones."""
    for file in _counters(root):
        try:
            lines = file.read_text().splitlines()
        except OSError:
            continue
        for name, _, count in (line.partition(" ") for line in lines):
            if name == "oom_kill" and count.strip().isdecimal():
                return int(count)
    return 0


def _counters(root: Path) -> Iterator[Path]:
    """The files with the count: of a control group of version 2, of version 1, of the whole machine."""
    try:
        groups = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        groups = []
    for line in groups:
        _, kinds, path = [*line.split(":", 2), "", ""][:3]
        if not kinds:
            yield root / f"sys/fs/cgroup{path}" / "memory.events"
            yield root / "sys/fs/cgroup/memory.events"      # in a container, which may not see the path
        elif "memory" in kinds.split(","):
            yield root / f"sys/fs/cgroup/memory{path}" / "memory.oom_control"
            yield root / "sys/fs/cgroup/memory/memory.oom_control"
    yield root / "proc/vmstat"
