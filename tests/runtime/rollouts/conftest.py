"""Shared code of the pool's tests: short limits, a pool of the toy domain, and a search for leaked processes."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from memento.runtime.rollouts.limits import Limits
from memento.runtime.rollouts.pool import ProcessPool

from ...support import ON_PATH
from ...support.leftovers import descriptors, processes_of, zombies_of

SHORT = Limits(
    start_cpu_s=1.5, step_cpu_s=0.3, episode_cpu_s=5, step_wall_s=1.5, episode_wait_s=20, evaluator_cpu_s=1.0,
    evaluator_wall_s=2.0, output_bytes=1 << 20,
)


@pytest.fixture
def make_pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ProcessPool]:
    """Makes pools over the toy domain, which the workers import through PYTHONPATH."""
    monkeypatch.setenv("PYTHONPATH", str(ON_PATH), prepend=os.pathsep)

    def make(workers: int = 1, *, limits: Limits = SHORT, folder: str = "trajectories", observer=None,
             domain: str = "toy_domain:DOMAIN", **options: object) -> ProcessPool:
        splits = {"search": {"horizon": 20, **options}, "long": {"horizon": 10**9}, "json": {"json": True}}
        return ProcessPool(domain=domain, splits=splits, workers=workers, limits=limits,
                           trajectories=tmp_path / folder, observer=observer)

    return make


@pytest.fixture
def short_limits() -> Callable[..., Limits]:
    """The tests' limits with changes."""
    return lambda **changes: replace(SHORT, **changes)


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """Every test of the pool must leave no process, no zombie and no descriptor."""
    own = os.getpid()
    open_before, dead_before = descriptors(), set(zombies_of(own))     # not counted: another test may have left them
    yield
    deadline = time.monotonic() + 3
    while (processes_of(own) or {*zombies_of(own)} - dead_before) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert processes_of(own) == {}
    assert {*zombies_of(own)} - dead_before == set()
    assert descriptors() - open_before == set()
