"""Two rollout workers against one, through the pool and its sandboxed policies, while the controller is watched.

It measures wall time, which a second worker saves; pools of one and of two workers take turns.
"""

import asyncio
import tempfile
import time
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from statistics import median

from memento.core.order_ids import episode_id
from memento.core.ports import Pool, RollTask
from memento.core.values import JSON, Program
from memento.domains import import_string
from memento.domains.hanoi import DOMAIN
from memento.runtime.rollouts.pool import ProcessPool

ROUNDS = 5
STEPS = 300
EPISODES = 2        # per worker and round
PULSE_S = 0.01      # interval of the measurement of the controller's delay
# It moves above the tower, so that no action ends an episode early.
POLICY = Program('''
import numpy as np


class FrankaPolicy:
    def reset(self):
        self.step = 0

    def compute_action(self, obs):
        self.step += 1
        goal = np.array([0.1 * np.sin(self.step / 9), 0.2 * np.cos(self.step / 7), 1.1])
        move = np.clip(8.0 * (goal - np.array(obs["robot0_eef_pos"])), -1.0, 1.0)
        return [*move, 0.0, 0.0, 0.0, 1.0 if self.step % 60 > 30 else -1.0]
''')


def measure_workers(physics: str, *, rounds: int = ROUNDS, steps: int = STEPS, seed: int = 0) -> dict[str, JSON]:
    """Steps per second of wall time with one and with two workers, their ratio, and the controller's delays."""
    return asyncio.run(_measure(physics, rounds=rounds, steps=steps, seed=seed))


async def _measure(physics: str, *, rounds: int, steps: int, seed: int) -> dict[str, JSON]:
    options = DOMAIN.options({"physics": physics, "horizon": steps, "idle_stop_s": 0.0}, preset="paper")
    speeds: dict[int, list[float]] = {1: [], 2: []}
    delays: list[float] = []
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memento-bench-")))
        pools = {
            count: await stack.enter_async_context(ProcessPool(
                domain=import_string("hanoi"), splits={"bench": options}, workers=count,
                trajectories=folder / str(count),
            ))
            for count in speeds
        }
        pulse = asyncio.create_task(_pulse(delays))
        try:
            for number in range(rounds + 1):
                for count, pool in sorted(pools.items(), reverse=bool(number % 2)):
                    speed = await roll_all(pool, count * EPISODES, seed=seed + 100 * number)
                    if number:      # in the first round the environments are made
                        speeds[count].append(speed)
                    else:
                        delays.clear()
        finally:
            pulse.cancel()
            with suppress(asyncio.CancelledError):
                await pulse
    return {
        "one_steps_per_s": round(median(speeds[1]), 1),
        "two_steps_per_s": round(median(speeds[2]), 1),
        "ratio": round(median(two / one for one, two in zip(speeds[1], speeds[2], strict=True)), 3),
        "controller_delay_ms": {"median": round(1e3 * median(delays), 2), "most": round(1e3 * max(delays), 2)},
    }


async def roll_all(pool: Pool, episodes: int, *, seed: int) -> float:
    """Steps per second of wall time over the given number of parallel episodes."""
    begun = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(pool.roll(RollTask(
                order=episode_id("bench", number), program=POLICY, split="bench", index=number, seed=seed + number,
            )))
            for number in range(episodes)
        ]
    wall_s = time.perf_counter() - begun
    for episode in (task.result() for task in tasks):
        if episode.ended_by != "horizon":
            raise AssertionError(f"an episode of the benchmark ended by {episode.ended_by}: {episode.fault}")
    return sum(task.result().steps for task in tasks) / wall_s


async def _pulse(delays: list[float]) -> None:
    """Record the delay of the event loop, in seconds."""
    while True:
        begun = time.perf_counter()
        await asyncio.sleep(PULSE_S)
        delays.append(time.perf_counter() - begun - PULSE_S)
