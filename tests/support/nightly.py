"""Which of the nightly tests run in every test run: a sample that depends on the commit, so that all get their turn."""

import hashlib
import subprocess
from functools import cache
from pathlib import Path

import pytest

SHARE = 4       # one in so many


def first_and_nightly(first: object, *others: object) -> list[object]:
    """Values of a parametrized test: every run tests the first, and a sample of the others."""
    return [first, *(pytest.param(other, marks=pytest.mark.nightly) for other in others)]


def is_sampled(item: pytest.Item) -> bool:
    """Whether a test is in the sample of this commit: all that are not nightly, none with `nightly(sampled=False)`."""
    mark = item.get_closest_marker("nightly")
    if mark is None or not mark.kwargs.get("sampled", True):
        return mark is None
    return int(hashlib.sha256(f"{_commit()} {item.nodeid}".encode()).hexdigest(), 16) % SHARE == 0


@cache
def _commit() -> str:
    """The commit of the checkout; "" outside of a repository, where the sample is always the same."""
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True, check=False, timeout=20
    )
    return done.stdout.strip()
