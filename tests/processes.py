"""Looks at processes of this machine: who descends from whom, and who is still alive."""

from collections.abc import Iterable

from memento.benchmarks.processes import left_of, levels, parents

__all__ = ["members_of", "parents", "wait_until_gone"]


def members_of(root: int) -> set[int]:
    """All live descendants of a process, itself left out."""
    return set().union(*levels(root))


def wait_until_gone(pids: Iterable[int], *, within_s: float = 10) -> None:
    """Fails where one of these processes is still alive after the deadline."""
    left = left_of(pids, within_s=within_s)
    assert not left, f"processes that are left: {sorted(left)}"
