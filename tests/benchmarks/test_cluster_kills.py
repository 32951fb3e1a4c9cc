"""A run on a cluster whose nodes, raylets and controller are killed ends like an undisturbed one of one machine."""

import sys

import pytest

from ..support.ray_cluster import needs_ray
from .cluster_kills import CONTROLLER, NODE, RAYLET, measure

SEARCH = ("generations=3", "k_hc=3", "k_macro=2", "k_cross=1", "n_roll=2", "hanoi-kinematic.horizon=300")
SETTINGS = ("--preset", "smoke", "--seed", "3", *(word for setting in SEARCH for word in ("--set", setting)))

pytestmark = [
    needs_ray, pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="finds the processes of a run in /proc"),
]


def test_kills_on_a_cluster_lose_nothing_and_repeat_nothing() -> None:
    tally = measure(nodes=2, controllers=1, seed=7, settings=SETTINGS)
    assert tally.kills == {RAYLET: 1, NODE: 1, CONTROLLER: 1}
    assert tally.wrong == [] and tally.left == 0
