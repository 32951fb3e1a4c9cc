"""Recordings that stay on the nodes of a real cluster: scored there, brought here on request, made again if lost."""

import asyncio

import pytest
from memento.agents.rollout_agents import scored
from memento.core.errors import RecordingLost
from memento.core.ports import RollTask
from memento.core.recording_file import load_recording, trajectory_path
from memento.core.values import Episode
from memento.extensions.ray.pool import ClusterPool

from ...conformance.pool import ENDLESS, FAULTS, HALF, FaultKind, task
from ...support import hostile
from ...support.ray_cluster import needs_ray

pytestmark = [needs_ray, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(200)]


async def rolled_on(pool: ClusterPool, node: str, *, first: int = 0) -> tuple[RollTask, Episode]:
    """A task and its episode on this node, which may join after the first tasks; they are numbered from `first`."""
    async with asyncio.timeout(60):
        while True:
            rolls = [task(hostile.GOOD, first), task(hostile.GOOD, first + 1)]
            for roll, episode in zip(rolls, await asyncio.gather(*map(pool.roll, rolls)), strict=True):
                if node in str(episode.notes.node):
                    return roll, episode
            first += 2


async def test_a_recording_stays_on_its_node_until_it_is_asked_for(make_pool, cluster, tmp_path) -> None:
    folder = tmp_path / "trajectories"
    async with make_pool(stays=lambda _: True) as pool:
        episodes = [
            (await rolled_on(pool, node, first=place * 1000))[1] for place, node in enumerate(cluster.nodes)
        ]
        scores = await asyncio.gather(*(pool.score(HALF, each) for each in episodes))
        assert [score.metrics["rows"] for score in scores] == [each.steps + 1 for each in episodes]
        assert not [*folder.iterdir()]
        key = str(episodes[0].trajectory)
        await pool.bring(key)
        assert [path.stem for path in folder.iterdir()] == [key]
        assert load_recording(trajectory_path(folder, key)).steps == episodes[0].steps
        with pytest.raises(RecordingLost, match="nowhere_e0"):
            await pool.bring("nowhere_e0")
        faulty = await pool.roll(task(FAULTS[FaultKind.CRASHED], 5000))
        assert trajectory_path(folder, str(faulty.trajectory)).exists(), "a run keeps the end of a faulty episode"


async def test_an_evaluator_goes_to_another_node_when_the_recording_s_is_busy(make_pool) -> None:
    async with make_pool(stays=lambda _: True) as pool:
        episode = await pool.roll(task(hostile.GOOD))
        busy = asyncio.create_task(pool.roll(task(ENDLESS, 1, split="long")))   # takes the place that is free first
        other = asyncio.create_task(pool.roll(task(hostile.GOOD, 2)))
        async with asyncio.timeout(60):
            assert (await pool.score(HALF, episode)).metrics["rows"] == episode.steps + 1
            await other
        busy.cancel()


async def test_a_recording_that_is_lost_is_made_again(make_pool, cluster) -> None:
    async with make_pool(stays=lambda _: True) as pool:
        _, victim = cluster.nodes       # the first is the head
        roll, episode = await rolled_on(pool, victim)
        expected = await pool.score(HALF, episode)
        cluster.kill(victim)
        cluster.start()
        with pytest.raises(RecordingLost):
            await pool.score(HALF, episode)
        assert await scored(pool, HALF, episode, lambda _: roll) == expected
