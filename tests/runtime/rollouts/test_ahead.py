"""Episodes rolled out ahead, on real workers: what is taken is what an order would have made, and orders come first."""

import asyncio
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from memento.core.ports import RollTask
from memento.core.recording_file import load_recording
from memento.core.values import Episode
from memento.runtime.rollouts.pool import ProcessPool, WorkerActivity

from ...conformance.pool import ENDLESS, HALF, RANDOM, task, timeless
from ...support import hostile

Pools = Callable[..., ProcessPool]
LIMIT_S = 30.0


def ahead_of(given: RollTask) -> RollTask:
    """The same episode under the name that it has before it is ordered."""
    return dataclasses.replace(given, order=f"confirm/g1/candidate/e{given.index}")


async def until(condition: Callable[[], bool]) -> None:
    """Wait until it holds; what never does is an error."""
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        await asyncio.sleep(0.01)


class Seen:
    """What the workers were seen at."""

    def __init__(self) -> None:
        self.now: dict[int, WorkerActivity] = {}
        self.began = 0

    def __call__(self, activity: WorkerActivity) -> None:
        before = self.now.get(activity.worker)
        self.began += activity.doing == "ahead" and (before is None or before.order != activity.order)
        self.now[activity.worker] = activity

    def ahead(self) -> int:
        """How many workers roll an episode out ahead."""
        return sum(each.doing == "ahead" for each in self.now.values())


async def warmed(pool: ProcessPool, workers: int) -> None:
    """Every worker has made the environment."""
    await asyncio.gather(*(pool.roll(task(hostile.GOOD, 90 + number)) for number in range(workers)))


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def arrays_of(folder: Path, episode: Episode) -> dict[str, np.ndarray]:
    return dict(load_recording(folder / f"{episode.trajectory}.npz").arrays())


async def test_an_episode_rolled_out_ahead_is_the_one_that_an_order_makes(make_pool: Pools, tmp_path: Path) -> None:
    """Its episode, its recording under the order's name, and its score; and before the order nothing is on disk."""
    seen, folder = Seen(), tmp_path / "trajectories"
    tasks = [task(RANDOM, 0), task(hostile.CRASHED["exits 0"], 1), task(hostile.GOOD, 2)]
    async with make_pool(observer=seen) as pool:
        await warmed(pool, 1)
        before = files(folder)
        pool.expect([ahead_of(each) for each in tasks], ())
        await until(lambda: seen.began == 3 and not seen.ahead())
        assert files(folder) == before
        taken = [await pool.roll(each) for each in tasks]
        scores = [await pool.score(HALF, each) for each in taken]
        account = pool.account()
        assert pool.account() is None
    assert account is not None and (account.episodes, account.used, account.aborted) == (3, 3, 0)
    assert account.used_s == pytest.approx(account.worker_s, abs=0.01) and account.used_s > 0
    async with make_pool(folder="other") as pool:
        ordered = [await pool.roll(each) for each in tasks]
        assert [dataclasses.replace(await pool.score(HALF, each), cpu_s=0.0) for each in ordered] == [
            dataclasses.replace(each, cpu_s=0.0) for each in scores
        ]
    assert [timeless(each) for each in taken] == [timeless(each) for each in ordered]
    for one, other in zip(taken, ordered, strict=True):
        left, right = arrays_of(folder, one), arrays_of(tmp_path / "other", other)
        assert left.keys() == right.keys() and all(np.array_equal(left[name], right[name]) for name in left)


async def test_an_ordered_task_gets_the_worker_at_once_and_the_episode_comes_later(
    make_pool: Pools, tmp_path: Path
) -> None:
    seen = Seen()
    async with make_pool(observer=seen) as pool:
        await warmed(pool, 1)
        await pool.roll(task(hostile.GOOD, 80, split="long", seed=3))     # its environment is made, too
        worker = seen.now[0]
        pool.expect([task(ENDLESS, split="long"), ahead_of(task(hostile.GOOD, 1))], ())
        await until(lambda: seen.ahead() == 1)
        await pool.roll(task(hostile.GOOD, 2))
        account = pool.account()
        assert account is not None and (account.aborted, account.episodes, account.used) == (1, 0, 0)
        assert seen.now[0].worker == worker.worker
        pool.expect([task(ENDLESS, split="long"), ahead_of(task(hostile.GOOD, 1))], ())
        await until(lambda: seen.ahead() == 1)      # it is begun again, since the worker is idle
        pool.expect([ahead_of(task(hostile.GOOD, 1))], ())
        await until(lambda: seen.began == 3 and not seen.ahead())
        await pool.roll(task(hostile.GOOD, 1))
        account = pool.account()
        assert account is not None and (account.aborted, account.episodes, account.used) == (1, 1, 1)
    assert not [name for name in files(tmp_path / "trajectories") if name.startswith((".", "confirm"))]
