"""Two one-CPU nodes of a Ray cluster against one, next to a pool of this machine with two workers and one, in turns.

    python -m memento.benchmarks.cluster_speed [--rounds 12] [--episodes 8] [--steps 300]

The cluster is on this machine: three nodes with one CPU each, of which one pool has one and another pool two. Episodes
are those of `benchmarks/workers.py`, with the fast physics; each worker has `episodes` of them in a round. Two ratios
are printed, each the median of the rounds' ratios with its quartiles: `nodes_ratio`, two nodes to one, and
`workers_ratio`, two workers of this machine to one, which is what its processors allow. `overhead_ms` is what an
episode on a node takes longer than on this machine, from order to answer. All say little on a busy machine.
"""

import argparse
import asyncio
import json
import os
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median, quantiles

from ..core.values import JSON
from ..domains import import_string
from ..domains.hanoi import DOMAIN
from ..extensions.ray.link import ClusterLink
from ..extensions.ray.members import NodeTerms
from ..extensions.ray.pool import ClusterPool
from ..runtime.rollouts.pool import ProcessPool
from .raylets import CLIENTS, RayCluster
from .workers import roll_all

HERE, BOTH_HERE, ONE, TWO = "one worker", "two workers", "one node", "two nodes"
WORKERS = {HERE: 1, BOTH_HERE: 2, ONE: 1, TWO: 2}


def measure(*, rounds: int = 12, episodes: int = 8, steps: int = 300, seed: int = 0) -> dict[str, JSON]:
    """Steps per second of wall time in each place, the ratios of two to one, the overhead per episode in ms."""
    with RayCluster() as cluster, tempfile.TemporaryDirectory(prefix="memento-bench-") as folder:
        for _ in range(3):
            cluster.grow()
        os.environ.update(CLIENTS)
        speeds = asyncio.run(_speeds(cluster.address, Path(folder), rounds, episodes, steps, seed))
    return {
        **{f"{place.replace(' ', '_')}_steps_per_s": round(median(found), 1) for place, found in speeds.items()},
        "nodes_ratio": _ratio(speeds[TWO], speeds[ONE]),
        "workers_ratio": _ratio(speeds[BOTH_HERE], speeds[HERE]),
        "overhead_ms": round(
            1e3 * steps * median(1 / one - 1 / here for here, one in zip(speeds[HERE], speeds[ONE], strict=True)), 1
        ),
        "load": [round(each, 1) for each in os.getloadavg()],
    }


def _ratio(two: list[float], one: list[float]) -> list[JSON]:
    """The quartiles of the rounds' ratios; the middle one is the median."""
    found = [more / less for more, less in zip(two, one, strict=True)]
    return [round(each, 3) for each in quantiles(found, n=4, method="inclusive")]


async def _speeds(
    address: str, folder: Path, rounds: int, episodes: int, steps: int, seed: int
) -> dict[str, list[float]]:
    """Steps per second of wall time by place, one figure per round."""
    options = DOMAIN.options({"physics": "fast", "horizon": steps, "idle_stop_s": 0.0}, preset="paper")
    domain, splits = import_string("hanoi"), {"bench": options}
    speeds: dict[str, list[float]] = {place: [] for place in WORKERS}
    async with AsyncExitStack() as stack:
        pools: dict[str, ProcessPool | ClusterPool] = {
            place: ProcessPool(domain=domain, splits=splits, workers=WORKERS[place], trajectories=folder / place)
            for place in (HERE, BOTH_HERE)
        }
        for place in (ONE, TWO):
            link = await stack.enter_async_context(ClusterLink(address))
            pools[place] = ClusterPool(
                link, domain=domain, splits=splits, trajectories=folder / place, stays=lambda _: True,
                terms=NodeTerms(workers=WORKERS[place]),
            )
        for pool in pools.values():
            await stack.enter_async_context(pool)
        for number in range(rounds + 1):
            for place, pool in sorted(pools.items(), reverse=bool(number % 2)):
                speed = await roll_all(pool, WORKERS[place] * episodes, seed=seed + 100 * number)
                if number:      # in the first round the environments are made
                    speeds[place].append(speed)
    return speeds


def main() -> None:
    """Print the figures as a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--steps", type=int, default=300)
    given = parser.parse_args()
    print(json.dumps(measure(rounds=given.rounds, episodes=given.episodes, steps=given.steps)))


if __name__ == "__main__":
    main()
