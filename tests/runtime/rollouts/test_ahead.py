"""Episodes rolled out ahead, on real workers: what is taken is what an order would have made, and orders come first."""

import asyncio
import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from memento.core.ports import Practice, RollTask
from memento.core.recording_file import load_recording
from memento.core.values import Episode
from memento.runtime.rollouts.ahead import TRIED, AheadEpisode, AheadRolls
from memento.runtime.rollouts.limits import Limits
from memento.runtime.rollouts.pool import ProcessPool
from memento.runtime.rollouts.worker_slots import WorkerActivity

from ...conformance.pool import ENDLESS, HALF, RANDOM, task, timeless
from ...support import hostile

pytestmark = pytest.mark.quick

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


def begin(pool: ProcessPool, likely: Sequence[RollTask]) -> None:
    """Have idle workers begin these."""
    pool.expect(likely, ())
    pool.go_on()


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
        begin(pool, [ahead_of(each) for each in tasks])
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
        begin(pool, [task(ENDLESS, split="long"), ahead_of(task(hostile.GOOD, 1))])
        await until(lambda: seen.ahead() == 1)
        await pool.roll(task(hostile.GOOD, 2))
        account = pool.account()
        assert account is not None and (account.aborted, account.episodes, account.used) == (1, 0, 0)
        assert seen.now[0].worker == worker.worker
        begin(pool, [task(ENDLESS, split="long"), ahead_of(task(hostile.GOOD, 1))])
        await until(lambda: seen.ahead() == 1)      # it is begun again, since the worker is idle
        begin(pool, [ahead_of(task(hostile.GOOD, 1))])
        await until(lambda: seen.began == 3 and not seen.ahead())
        await pool.roll(task(hostile.GOOD, 1))
        account = pool.account()
        assert account is not None and (account.aborted, account.episodes, account.used) == (1, 1, 1)
    assert not [name for name in files(tmp_path / "trajectories") if name.startswith((".", "confirm"))]


@pytest.mark.slow
async def test_an_order_waits_for_its_episode_that_is_under_way_and_nothing_aborts_that(make_pool: Pools) -> None:
    """Also where another task waits for the worker: both are ordered."""
    seen, slow = Seen(), task(hostile.policy("import time\ntime.sleep(0.05)\nreturn [0.05, 0, 0]"))
    async with make_pool(observer=seen) as pool:
        await warmed(pool, 1)
        begin(pool, [ahead_of(slow)])
        await until(lambda: seen.ahead() == 1)
        pool.expect((), [slow])         # it is ordered, but its call has not come yet
        other = asyncio.create_task(pool.roll(task(hostile.GOOD, 1)))
        await asyncio.sleep(0.02)
        episode = await pool.roll(slow)
        await other
        account = pool.account()
    assert episode.trajectory == "g1_hill_0_e0"
    assert account is not None and (account.episodes, account.used, account.aborted) == (1, 1, 0)


@pytest.mark.slow
async def test_what_is_no_longer_expected_is_deleted_and_an_order_makes_it_again(
    make_pool: Pools, tmp_path: Path
) -> None:
    seen, one = Seen(), task(RANDOM)
    async with make_pool(observer=seen) as pool:
        await warmed(pool, 1)
        begin(pool, [ahead_of(one)])
        await until(lambda: seen.began == 1 and not seen.ahead())
        drafted = await pool.roll(dataclasses.replace(one, order="g1/hill/0/turn1", practice=Practice(cpu_s=3.0)))
        assert drafted.notes.cpu_s > 0, "a practice episode is another one"
        pool.expect((), ())
        assert (await pool.roll(one)).trajectory == "g1_hill_0_e0"
        account = pool.account()
    assert account is not None and (account.episodes, account.used, account.aborted) == (1, 0, 0)
    assert account.worker_s > 0 == account.used_s
    assert not [name for name in files(tmp_path / "trajectories") if name.startswith((".", "confirm"))]


@pytest.mark.slow
async def test_what_a_simulator_fails_in_is_left_to_the_order_and_not_tried_ahead_again(make_pool: Pools) -> None:
    seen, one = Seen(), task(hostile.GOOD)
    async with make_pool(observer=seen, trap="far raising") as pool:
        await pool.roll(task(hostile.policy("return [0, 0, 0]"), 5))       # which reaches no such state
        begin(pool, [ahead_of(one)])
        await until(lambda: seen.began == 1 and not seen.ahead())
        begin(pool, [ahead_of(one)])
        episode = await pool.roll(one)
        account = pool.account()
    assert episode.fault is not None and "the state diverged" in episode.fault.message
    assert seen.began == 1
    assert account is not None and (account.episodes, account.used, account.aborted) == (0, 0, 1)


@pytest.mark.slow
async def test_a_worker_that_has_not_made_its_environment_begins_nothing(make_pool: Pools) -> None:
    """Making one takes as long as an order would wait for it."""
    seen = Seen()
    async with make_pool(2, observer=seen) as pool:
        await pool.roll(task(hostile.GOOD))
        begin(pool, [ahead_of(task(ENDLESS, number, split="long")) for number in range(3)])
        await asyncio.sleep(0.1)
        assert not seen.ahead()
        begin(pool, [ahead_of(task(RANDOM, number)) for number in range(3)])
        await until(lambda: seen.began == 3 and not seen.ahead())
        assert seen.now.keys() == {0, 1} and seen.now[1].phase == "idle" and seen.now[1].doing is None


@pytest.mark.slow
async def test_an_idle_worker_without_an_environment_makes_it_once(
    make_pool: Pools, short_limits: Callable[..., Limits], tmp_path: Path
) -> None:
    """As after the loss of its process: here it has only scored."""
    made: list[tuple[int, str | None]] = []

    def note(activity: WorkerActivity) -> None:
        if activity.phase == "environment":
            made.append((activity.worker, activity.doing))

    make_pool()
    pool = ProcessPool(domain="toy_domain:DOMAIN", splits={"search": {"horizon": 20}}, workers=2, warm="search",
                       limits=short_limits(), trajectories=tmp_path / "warm", observer=note)
    async with pool:
        episode = await pool.roll(task(hostile.GOOD))
        await pool.score(HALF, episode)
        pool.go_on()
        await until(lambda: len(made) == 2)         # by it, or by the warm-up after a second
        await until(lambda: len(pool._slots.idle) == 2)
        await pool._slots.empty(pool._slots.all[1])
        for _ in range(3):
            pool.go_on()
            await asyncio.sleep(0.01)
        await until(lambda: len(made) == 3 and len(pool._slots.idle) == 2)
        pool.go_on()
        await asyncio.sleep(0.1)
    assert made == [(0, "roll"), (1, "warm"), (1, "warm")]


@pytest.mark.slow
async def test_leaving_the_pool_at_any_moment_leaves_no_process_and_no_file(make_pool: Pools, tmp_path: Path) -> None:
    """The fixture of these tests looks for processes; a recording that nobody ordered was never on disk."""
    for moment in range(6):
        folder, seen = f"left{moment}", Seen()
        async with make_pool(2, observer=seen, folder=folder) as pool:
            await warmed(pool, 2)
            before = files(tmp_path / folder)
            begin(pool, [ahead_of(task(RANDOM, number)) for number in range(40)])
            waiting = asyncio.create_task(pool.roll(task(ENDLESS, 60, split="long")))
            await asyncio.sleep(0.03 * moment)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert files(tmp_path / folder) == before
        assert pool.account() is not None or moment == 0


async def test_it_stops_where_what_it_rolls_out_is_not_ordered() -> None:
    """Idle workers then stay idle: they cost energy, and cores that a policy's episodes share."""
    begun: list[int] = []
    episode = AheadEpisode(episode=Episode(index=0, seed=0, steps=1, ended_by="horizon", success=False), recording=b"")

    async def done() -> AheadEpisode:
        await asyncio.sleep(0.001)
        return episode

    def at_once(wanted: RollTask) -> "asyncio.Task[AheadEpisode | None]":
        begun.append(wanted.index)
        return asyncio.create_task(done())

    async def rolled(ahead: AheadRolls, numbers: range, used: int) -> None:
        for number in numbers:
            ahead.expect([task(hostile.GOOD, number)], ())
            ahead.go_on()
            if number < used:
                await ahead.take(task(hostile.GOOD, number))
            await asyncio.sleep(0.01)

    await rolled(AheadRolls(at_once), range(3 * TRIED), used=0)
    assert TRIED <= len(begun) <= TRIED + 1
    begun.clear()
    await rolled(AheadRolls(at_once), range(3 * TRIED), used=3 * TRIED)
    assert len(begun) == 3 * TRIED
