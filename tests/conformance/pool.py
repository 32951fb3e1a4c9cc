"""The contract of every rollout pool, local or remote: inherit PoolContract and define the `open_pool` fixture."""

import asyncio
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memento.core.errors import RolloutError
from memento.core.faults import FaultKind
from memento.core.ports import ProbeTask, RollTask
from memento.core.probes import Cut, Disturbance, Source
from memento.core.recording import Recording
from memento.core.recording_file import load_recording
from memento.core.values import Episode, Program

from ..support import hostile

OpenPool = Callable[..., Any]
RANDOM = hostile.policy(
    "import random\n"
    "draws = [random.random(), np.random.rand(), np.random.default_rng().random()]\n"
    "return [0.05 + 0.1 * draws[0], draws[1], draws[2] + hash('word') % 1000 + len(self.seen)]",
    init="self.seen = {'b', 'a', 'c'}",
)
ENDLESS = hostile.policy("return [0, 0, 0]")
LOOPING = hostile.policy("while True: pass")
FAULTS = {
    FaultKind.NOT_STARTED: hostile.NOT_STARTED["raises in init"],
    FaultKind.CRASHED: hostile.CRASHED["exits 0"],
    FaultKind.TIMED_OUT: LOOPING,
    FaultKind.INVALID_ACTION: hostile.INVALID_ACTION["NaN"],
}
EVALUATOR = "class Evaluator:\n    def evaluate(self, trajectory):\n        return "
HALF = Program(EVALUATOR + "0.5, {'rows': len(trajectory['x'])}\n")
BROKEN = Program(EVALUATOR + "2.0, {}\n")


def task(program: Program, number: int = 0, *, split: str = "search", seed: int = 7) -> RollTask:
    """Episode `number` of a candidate; its seed follows from the number."""
    return RollTask(
        order=f"g1/hill/{number}/e0", program=program, split=split, index=number, seed=seed + number,
    )


def timeless(episode: Episode) -> Episode:
    """An episode without the values that depend on the machine and its speed."""
    return dataclasses.replace(episode, wall_s=0.0, notes=dataclasses.replace(episode.notes, times=None, node=None))


class PoolContract:
    """`open_pool(workers, folder=NAME, **options)` makes a pool, an async context manager, of the toy domain.

    Its splits are "search" (20 steps, and the given options), "long" (10^9 steps) and "json". A step of a policy
    may take up to 2 s of CPU time; a worker counts as lost after 2 s of silence. Trajectories go to `tmp_path / NAME`.
    The options "trap" and "flag" make the simulator fail; the flag is a file on the workers' machine.
    """

    @pytest.fixture
    def open_pool(self) -> OpenPool:
        raise NotImplementedError

    @pytest.fixture
    def recorded(self, tmp_path: Path) -> Callable[[Episode], Recording]:
        """Reads an episode's trajectory as a run does."""
        return lambda episode: load_recording(tmp_path / "trajectories" / f"{episode.trajectory}.npz")

    async def test_episodes_are_the_same_on_one_worker_and_on_two(self, open_pool: OpenPool, tmp_path: Path) -> None:
        """A program's random draws, seeded or not, and its string hashes also depend only on the episode."""
        results = []
        for workers, folder in ((1, "one"), (2, "two")):
            async with open_pool(workers, folder=folder) as pool:
                episodes = await asyncio.gather(*(pool.roll(task(RANDOM, number)) for number in range(4)))
            arrays = [load_recording(tmp_path / folder / f"{each.trajectory}.npz").arrays() for each in episodes]
            results.append(([timeless(each) for each in episodes], arrays))
        (one, one_arrays), (two, two_arrays) = results
        assert one == two
        for left, right in zip(one_arrays, two_arrays, strict=True):
            assert all(np.array_equal(left[name], right[name]) for name in (*left, *right))
        assert len({arrays["action"].tobytes() for arrays in one_arrays}) == 4, "episodes with different seeds differ"

    @pytest.mark.slow
    async def test_every_call_gets_its_own_answer(self, open_pool: OpenPool) -> None:
        async with open_pool(2) as pool:
            episodes = await asyncio.gather(*(pool.roll(task(hostile.GOOD, number)) for number in range(8)))
        assert [(each.index, each.seed, each.scene) for each in episodes] == [(n, 7 + n, f"toy{n}") for n in range(8)]
        assert len({each.trajectory for each in episodes}) == 8

    async def test_the_trajectory_is_there_when_the_roll_returns(
        self, open_pool: OpenPool, recorded: Callable[[Episode], Recording]
    ) -> None:
        async with open_pool(1) as pool:
            for program in (hostile.GOOD, FAULTS[FaultKind.CRASHED]):
                episode = await pool.roll(task(program))
                assert recorded(episode).steps == episode.steps

    @pytest.mark.parametrize("kind", FAULTS)
    async def test_what_a_program_does_wrong_is_data(self, open_pool: OpenPool, kind: FaultKind) -> None:
        async with open_pool(1) as pool:
            bad, good = await asyncio.gather(pool.roll(task(FAULTS[kind])), pool.roll(task(hostile.GOOD, 1)))
        assert bad.fault is not None and bad.fault.kind is kind and bad.fault.message
        assert (bad.ended_by, bad.success) == ("fault", False)
        assert good.success and good.fault is None

    @pytest.mark.parametrize("trap", ["die-once", pytest.param("hang-once", marks=pytest.mark.slow)])
    async def test_the_task_of_a_lost_worker_is_done_again(
        self, open_pool: OpenPool, tmp_path: Path, trap: str
    ) -> None:
        flag = tmp_path / "flag"
        async with open_pool(1, trap=trap, flag=str(flag)) as pool:
            episode = await pool.roll(task(hostile.GOOD))
        assert flag.exists(), "the first worker was lost"
        async with open_pool(1, folder="calm") as pool:
            assert timeless(episode) == timeless(await pool.roll(task(hostile.GOOD)))

    @pytest.mark.slow
    async def test_a_simulator_that_fails_for_every_program_is_an_error_and_the_pool_goes_on(
        self, open_pool: OpenPool
    ) -> None:
        async with open_pool(1, trap="raise") as pool:
            with pytest.raises(RolloutError, match=r"without a program, too.*the simulator exploded"):
                await pool.roll(task(hostile.GOOD))
            assert (await pool.roll(task(hostile.GOOD, split="json"))).fault is not None

    async def test_a_simulator_that_fails_where_a_policy_goes_is_a_fault_of_this_policy(
        self, open_pool: OpenPool, recorded: Callable[[Episode], Recording]
    ) -> None:
        async with open_pool(1, trap="far raising") as pool:
            failed = await pool.roll(task(hostile.GOOD))
            idle = await pool.roll(task(hostile.policy("return [0, 0, 0]"), 1))
            assert recorded(failed).steps == failed.steps and failed.scorable
            examination = await pool.examine(HALF, [failed, idle])
        assert failed.fault is not None and failed.fault.kind is FaultKind.SIMULATOR_FAILED
        assert failed.fault.message.startswith(
            "the simulator failed: RuntimeError: the state diverged see the manual (toy_domain.py, line "
        )
        assert idle.fault is None and examination.valid

    @pytest.mark.slow
    async def test_a_simulator_whose_process_ends_where_a_policy_goes_is_a_fault_without_a_recording(
        self, open_pool: OpenPool
    ) -> None:
        async with open_pool(1, trap="far dying") as pool:
            lost = await pool.roll(task(hostile.GOOD))
            idle = await pool.roll(task(hostile.policy("return [0, 0, 0]"), 1))
            examination = await pool.examine(HALF, [lost, idle])
        assert lost.fault is not None and lost.fault.kind is FaultKind.SIMULATOR_FAILED
        assert "its process ended with code 3" in lost.fault.message
        assert (lost.steps, lost.trajectory, lost.scorable) == (0, None, False)
        assert examination.valid and [score.fitness for score in examination.scores] == [0.0, 0.5]

    async def test_evaluators_score_recorded_episodes(self, open_pool: OpenPool) -> None:
        async with open_pool(2) as pool:
            episodes = [await pool.roll(task(hostile.GOOD, number)) for number in range(2)]
            scores = await asyncio.gather(*(pool.score(HALF, episode) for episode in episodes))
            assert [(score.fitness, score.metrics) for score in scores] == [
                (0.5, {"rows": episode.steps + 1}) for episode in episodes
            ]
            broken = await pool.score(BROKEN, episodes[0])
            assert broken.fitness == 0.0 and broken.fault is not None
            examination = await pool.examine(HALF, episodes)
            assert examination.valid and list(examination.scores) == scores
            invalid = await pool.examine(BROKEN, episodes)
            assert not invalid.valid and invalid.fault.kind is FaultKind.INVALID_RESULT

    @pytest.mark.slow
    async def test_probes_are_recorded_the_same_on_any_number_of_workers(
        self, open_pool: OpenPool, tmp_path: Path
    ) -> None:
        """Evaluators score them as they score rollouts; the cut is the beginning of its rollout."""
        made = []
        for workers, folder in ((1, "one"), (2, "two")):
            async with open_pool(workers, folder=folder) as pool:
                episode = await pool.roll(task(hostile.GOOD))
                cut = Cut(name="cut", key=str(episode.trajectory), steps=5, below=("episode 0",))
                probes = await pool.record_probes(
                    ProbeTask(order="eval/probes", split="search", seed=3, steps=8, cuts=(cut,))
                )
                scores = [await pool.score(HALF, probe.episode) for probe in probes]
                with pytest.raises(RolloutError, match="nowhere"):
                    await pool.record_probes(ProbeTask(order="eval/probes", split="nowhere", seed=3, steps=8))
            recordings = [load_recording(tmp_path / folder / f"{each.episode.trajectory}.npz") for each in probes]
            made.append((probes, scores, [each.arrays()["action"].tobytes() for each in recordings]))
        assert made[0] == made[1]
        probes, scores, actions = made[0]
        assert [(probe.name, probe.episode.steps, probe.below) for probe in probes] == [
            ("cut", 5, ("episode 0",)), ("idle", 8, ()), ("random actions", 8, ()),
        ]
        assert [score.metrics["rows"] for score in scores] == [6, 9, 9]
        assert not any(actions[1]) and any(actions[2])

    @pytest.mark.slow
    async def test_a_disturbed_policy_acts_otherwise_in_a_share_of_its_steps(
        self, open_pool: OpenPool, tmp_path: Path
    ) -> None:
        """A greater share holds the steps of a smaller one, on any number of workers."""
        ways = {
            "own": None, "some": Disturbance(kind="random", share=30), "all": Disturbance(kind="random", share=100),
            "held": Disturbance(kind="held", share=100), "late": Disturbance(kind="late", steps=6),
        }
        made = []
        for workers, folder in ((1, "one"), (2, "two")):
            async with open_pool(workers, folder=folder) as pool:
                tasks = (dataclasses.replace(task(RANDOM), order=f"p/{n}", disturbance=way) for n, way in ways.items())
                episodes = await asyncio.gather(*map(pool.roll, tasks))
                source = Source(name="episode 0", key="p_own", success=False, ended_by="horizon")
                changed = await pool.record_probes(
                    ProbeTask(order="eval/probes", split="search", seed=3, steps=8, sources=(source,))
                )
            assert not any(episode.fault for episode in episodes)
            names = [f"p_{name}" for name in ways] + [str(each.episode.trajectory) for each in changed]
            made.append([load_recording(tmp_path / folder / f"{name}.npz").arrays()["action"] for name in names])
        assert all((one == other).all() for one, other in zip(*made, strict=True))
        own, some, every, held, late = made[0][:5]
        assert [each.source for each in changed if each.invariant] == ["episode 0"] * 3
        rows = min(map(len, (own, some, every)))    # an episode ends where it is, so lengths differ
        differ = (some[:rows] != own[:rows]).any(axis=1)
        assert 0 < differ.sum() < rows and (every[:rows] != own[:rows]).any(axis=1).all()
        assert (held == held[0]).all()
        acted = late[6:]
        assert not late[:6].any() and len(acted) and (acted == own[: len(acted)]).all()

    async def test_what_cannot_be_done_is_an_error(self, open_pool: OpenPool) -> None:
        async with open_pool(1) as pool:
            with pytest.raises(RolloutError, match="nowhere"):
                await pool.roll(task(hostile.GOOD, split="nowhere"))
            with pytest.raises(RolloutError, match="without episodes"):
                await pool.examine(HALF, [])
            with pytest.raises(RolloutError, match="no recorded trajectory"):
                await pool.score(HALF, Episode(index=3, seed=1, steps=0, ended_by="fault", success=False))

    async def test_a_cancelled_call_disturbs_no_other(self, open_pool: OpenPool) -> None:
        async with open_pool(1) as pool:
            rolling = asyncio.create_task(pool.roll(task(ENDLESS, split="long")))
            first, second = (asyncio.create_task(pool.roll(task(hostile.GOOD, number))) for number in (1, 2))
            await asyncio.sleep(0.2)
            first.cancel()      # while it waits
            rolling.cancel()    # while it runs
            async with asyncio.timeout(20):
                assert (await second).success
            assert all(isinstance(each, asyncio.CancelledError)
                       for each in await asyncio.gather(rolling, first, return_exceptions=True))

    async def test_closing_ends_what_is_under_way(self, open_pool: OpenPool, tmp_path: Path) -> None:
        pool = open_pool(2)
        with pytest.raises(RolloutError, match="closed"):
            await pool.roll(task(hostile.GOOD))
        async with pool:
            rolls = [asyncio.create_task(pool.roll(task(ENDLESS, number, split="long"))) for number in range(3)]
            await asyncio.sleep(0.3)
        assert all(isinstance(each, RolloutError) for each in await asyncio.gather(*rolls, return_exceptions=True))
        assert not [*(tmp_path / "trajectories").iterdir()], "no partial files"
