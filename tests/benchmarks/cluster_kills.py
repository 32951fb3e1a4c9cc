"""Kills nodes of a Ray cluster, their raylets and the controller of a run at random moments; resumes where necessary.

    python -m memento.tests.benchmarks.cluster_kills [--nodes 20] [--controllers 5] [--seed 1] [--json]

The cluster is on this machine: a head, which is not killed, and two other nodes, with one CPU each. A search on the
kinematic domain is recorded on this machine, then repeated from its recorded replies on the cluster, several times.
During a repetition one of these is killed at moments drawn from the seed:

    raylet        Ray's own process on a node; all others on the node must end without it
    node          every process of a node at once
    controller    the process that decides and writes; the run is resumed

A killed node is replaced by a new one. Then the log is compared with that of an undisturbed repetition on this machine:
the same accepts, branch winners and elites; every order answered once; every candidate present, once; and no process
left, on any node. A controller may give up, since an order that two nodes are lost with is an error; then it is
resumed. Linux only, and the extra `cluster`.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from .kills import MOST_KILLS, Killing, Tally, differences, table
from .processes import GONE_S
from .raylets import CLIENTS, RayCluster

RAYLET, NODE, CONTROLLER = "raylet", "node", "controller"
NODES = 3
SPREAD = 0.4        # of the length of an undisturbed run, which begins with ten seconds of starting nodes
SEARCH = ("generations=6", "k_hc=3", "k_macro=3", "k_cross=2", "n_roll=2", "hanoi-kinematic.horizon=600")
SETTINGS = ("--preset", "smoke", "--seed", "3", *(word for setting in SEARCH for word in ("--set", setting)))


class ClusterKilling(Killing):
    """Repeats one recorded run on a cluster, and kills its nodes or its controller meanwhile."""

    survived = (RAYLET, NODE)
    most_losses = MOST_KILLS

    def __init__(self, folder: Path, cluster: RayCluster, *, seed: int, settings: Sequence[str] = SETTINGS) -> None:
        super().__init__(folder, seed=seed, settings=settings)
        self._cluster = cluster

    def record(self) -> None:
        """Record the run on this machine, repeat it there, and repeat it undisturbed on the cluster."""
        super().record()
        self.machines, self.environment = ("--cluster", self._cluster.address), CLIENTS
        begun_s = time.monotonic()
        self._finish(self._start("run", "--replay", "tape", "--name", "far"))
        self._length_s = time.monotonic() - begun_s
        self.tally.wrong += [f"far: {problem}" for problem in self._problems("far")]

    def _delay_s(self) -> float:
        return self._draw.uniform(0.0, SPREAD * self._length_s)

    def _problems(self, name: str) -> list[str]:
        """Recordings of an elite come to this disk after their fact, so their times say nothing."""
        left = self._left_on_nodes()
        self.tally.left += len(left)
        return [*differences(self._entries(name), self._whole, None), *(f"left: {command}" for command in left)]

    def _left_on_nodes(self) -> list[str]:
        deadline_s = time.monotonic() + GONE_S
        while (left := self._cluster.ours()) and time.monotonic() < deadline_s:
            time.sleep(0.1)
        return [*left.values()]

    def _kill(self, process: "subprocess.Popen[str]", target: str, seen: set[int]) -> bool:
        if target == CONTROLLER:
            return super()._kill(process, target, seen)
        _, *others = self._cluster.nodes
        victim = self._draw.choice(others)
        kill = self._cluster.kill if target == NODE else self._cluster.kill_raylet
        self.tally.left += len(kill(victim))
        self._cluster.grow()
        return True


def measure(*, nodes: int, controllers: int, seed: int, settings: Sequence[str] = SETTINGS) -> Tally:
    """Kill this many nodes, every other one by its raylet, and controllers."""
    with RayCluster() as cluster, tempfile.TemporaryDirectory(prefix="memento-kills-") as folder:
        for _ in range(NODES):
            cluster.grow()
        killing = ClusterKilling(Path(folder), cluster, seed=seed, settings=settings)
        killing.record()
        targets = [*((RAYLET, NODE)[number % 2] for number in range(nodes)), *(CONTROLLER for _ in range(controllers))]
        random.Random(seed).shuffle(targets)
        while targets:
            killing.disturb(f"k{killing.tally.runs}", targets.pop, kills=min(MOST_KILLS, len(targets)))
        return killing.tally


def main() -> None:
    """Measure and print; the exit code is 1 after an error."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--nodes", type=int, default=20, help="number of kills of nodes and raylets")
    arguments.add_argument("--controllers", type=int, default=5, help="number of kills of the controller")
    arguments.add_argument("--seed", type=int, default=1, help="seed of the targets and the times")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    figures = measure(nodes=given.nodes, controllers=given.controllers, seed=given.seed).as_json()
    print(json.dumps(figures) if given.json else table(figures))
    sys.exit(1 if figures["wrong"] or figures["processes_left"] else 0)


if __name__ == "__main__":
    main()
