"""Two one-CPU nodes of a Ray cluster against one, and one against a pool of this machine with one worker, in turns.

    python -m memento.benchmarks.cluster_speed [--rounds 5] [--steps 300]

The cluster is on this machine: three nodes with one CPU each, of which one pool has one and another pool two. Episodes
are those of `benchmarks/workers.py`, with the fast physics. `ratio` is the median of the rounds' ratios; `overhead_ms`
is what an episode on a node takes longer than on this machine, from order to answer. Both say little on a busy machine.
"""

import argparse
import asyncio
import json
import os
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median

from ..core.values import JSON
from ..domains import import_string
from ..domains.hanoi import DOMAIN
from ..runtime.cluster.link import ClusterLink
from ..runtime.cluster.members import Terms
from ..runtime.cluster.pool import ClusterPool
from ..runtime.rollouts.pool import ProcessPool
from .raylets import CLIENTS, RayCluster
from .workers import EPISODES, roll_all

HERE, ONE, TWO = "this machine", "one node", "two nodes"
WORKERS = {HERE: 1, ONE: 1, TWO: 2}


def measure(*, rounds: int = 5, steps: int = 300, seed: int = 0) -> dict[str, JSON]:
    """Steps per second of wall time in each place, the ratio of two nodes to one, the overhead per episode in ms."""
    with RayCluster() as cluster, tempfile.TemporaryDirectory(prefix="memento-bench-") as folder:
        for _ in range(3):
            cluster.grow()
        os.environ.update(CLIENTS)
        return asyncio.run(_measure(cluster.address, Path(folder), rounds=rounds, steps=steps, seed=seed))


async def _measure(address: str, folder: Path, *, rounds: int, steps: int, seed: int) -> dict[str, JSON]:
    options = DOMAIN.options({"physics": "fast", "horizon": steps, "idle_stop_s": 0.0}, preset="paper")
    domain, splits = import_string("hanoi"), {"bench": options}
    speeds: dict[str, list[float]] = {place: [] for place in WORKERS}
    async with AsyncExitStack() as stack:
        pools: dict[str, ProcessPool | ClusterPool] = {
            HERE: ProcessPool(domain=domain, splits=splits, workers=1, trajectories=folder / "here")
        }
        for place in (ONE, TWO):
            link = await stack.enter_async_context(ClusterLink(address))
            pools[place] = ClusterPool(
                link, domain=domain, splits=splits, trajectories=folder / place, stays=lambda _: True,
                terms=Terms(workers=WORKERS[place]),
            )
        for pool in pools.values():
            await stack.enter_async_context(pool)
        for number in range(rounds + 1):
            for place, pool in sorted(pools.items(), reverse=bool(number % 2)):
                speed = await roll_all(pool, WORKERS[place] * EPISODES, seed=seed + 100 * number)
                if number:      # in the first round the environments are made
                    speeds[place].append(speed)
    return {
        **{f"{place.replace(' ', '_')}_steps_per_s": round(median(found), 1) for place, found in speeds.items()},
        "ratio": round(median(two / one for one, two in zip(speeds[ONE], speeds[TWO], strict=True)), 3),
        "overhead_ms": round(
            1e3 * steps * median(1 / one - 1 / here for here, one in zip(speeds[HERE], speeds[ONE], strict=True)), 1
        ),
        "load": [round(each, 1) for each in os.getloadavg()],
    }


def main() -> None:
    """Print the figures as a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=300)
    given = parser.parse_args()
    print(json.dumps(measure(rounds=given.rounds, steps=given.steps)))


if __name__ == "__main__":
    main()
