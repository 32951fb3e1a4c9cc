"""The hostile corpus through the nodes of a cluster: every program has the outcome that it has on one machine."""

import platform
import sys
from pathlib import Path

import pytest
from memento.extensions.ray.link import ClusterLink
from memento.extensions.ray.pool import ClusterPool
from memento.runtime.rollouts.limits import Limits

from ...runtime.rollouts.sandbox.arena import attack_all, require_expected, targets
from ...runtime.rollouts.sandbox.attacks import ATTACKS
from ...support.processes import wait_until_gone
from ...support.ray_cluster import RayCluster, needs_ray

pytestmark = [
    needs_ray, pytest.mark.slow,
    pytest.mark.skipif(
        (sys.platform, platform.machine()) != ("linux", "x86_64"),
        reason="not isolated here: the filter is written for Linux on x86-64",
    ),
    pytest.mark.nightly, pytest.mark.timeout(500), pytest.mark.asyncio(loop_scope="module"),
]


async def test_the_corpus_has_its_outcomes_and_nothing_is_left(
    cluster: RayCluster, link: ClusterLink, tmp_path: Path
) -> None:
    def on_nodes(folder: Path, limits: Limits, *, workers: int) -> ClusterPool:
        return ClusterPool(
            link, domain="toy_domain:DOMAIN", splits={name: {"horizon": 20} for name in ("search", "final")},
            limits=limits, trajectories=folder,
        )

    with targets(tmp_path / "targets") as aims:
        attacks = [attack.aimed(aims.names()) for attack in ATTACKS]
        outcomes = await attack_all(attacks, tmp_path, open_pool=on_nodes)
        assert aims.seen() == aims.before and aims.visited() == []
    assert len(outcomes) == len(ATTACKS)
    for outcome in outcomes:
        require_expected(outcome)
    wait_until_gone(cluster.ours(), within_s=20)
