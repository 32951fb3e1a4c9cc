"""One cluster of two one-CPU nodes for all tests of this folder, and pools of the toy domain on it."""

import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from memento.extensions.ray.link import ClusterLink
from memento.extensions.ray.members import NodeTerms
from memento.extensions.ray.pool import ClusterPool
from memento.runtime.rollouts.limits import Limits

from ...support.ray_cluster import CLIENTS, RayCluster, new_cluster

SHORT = Limits(
    start_cpu_s=1.5, step_cpu_s=0.3, episode_cpu_s=5, step_wall_s=1.5, episode_wait_s=20, evaluator_cpu_s=1.0,
    evaluator_wall_s=2.0, output_bytes=1 << 20, silence_s=8.0,
)


@pytest.fixture(scope="package")
def cluster() -> Iterator[RayCluster]:
    with new_cluster() as made:
        for host in [made.start(), made.start()]:
            made.wait(host)
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def link(cluster: RayCluster) -> AsyncIterator[ClusterLink]:
    before = dict(os.environ)
    os.environ.update(CLIENTS)
    try:
        async with ClusterLink(cluster.address) as opened:
            yield opened
    finally:
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture
def make_pool(link: ClusterLink, tmp_path: Path) -> Callable[..., ClusterPool]:
    """Makes pools over the toy domain, which the nodes import through PYTHONPATH."""

    def make(workers: int | None = None, *, limits: Limits = SHORT, folder: str = "trajectories", observer=None,
             terms: NodeTerms | None = None, stays=None, **options: object) -> ClusterPool:
        splits = {"search": {"horizon": 20, **options}, "long": {"horizon": 10**9}, "json": {"json": True}}
        return ClusterPool(
            link, domain="toy_domain:DOMAIN", splits=splits, limits=limits, trajectories=tmp_path / folder,
            observer=observer, terms=terms or NodeTerms(workers=workers), stays=stays,
        )

    return make
