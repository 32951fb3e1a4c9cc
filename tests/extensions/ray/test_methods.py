"""Every method on a cluster of two nodes, stopped and resumed there, ends as on one machine; so does a comparison."""

import pytest
from memento.core.events import ConstantsTried, EpisodeEnded, ProposalMade

from ...app.conftest import Runs
from ...support.methods import OTHERS, SMALL, budget, verdicts
from ...support.ray_cluster import CLIENTS, RayCluster, needs_ray

pytestmark = [needs_ray, pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(400)]


@pytest.fixture
def runs(tmp_path, monkeypatch) -> Runs:
    for name, value in CLIENTS.items():
        monkeypatch.setenv(name, value)
    return Runs(tmp_path)


@pytest.mark.parametrize("method", ["memento", *OTHERS])
def test_a_method_left_in_the_middle_ends_as_on_one_machine(cluster: RayCluster, runs: Runs, method: str) -> None:
    arguments = ["hanoi-kinematic", "--method", method, *SMALL, *budget(method), "--display", "none", "--json"]
    where = ["--cluster", cluster.address]
    near = runs.start("run", *arguments, "--name", "near")
    left = runs.start("run", *arguments, "--name", "far", *where, "--budget-calls", "4")
    assert runs.finish(left, within_s=120)["status"] == "budget"
    resumed = runs.start("resume", "far", *where, "--budget-calls", "100", "--display", "none", "--json")
    assert runs.finish(resumed, within_s=150)["status"] == "done"
    assert runs.finish(near, within_s=60)["status"] == "done"
    assert verdicts(runs.facts("far")) == verdicts(runs.facts("near"))
    assert runs.elite("far") == runs.elite("near")
    for kind in (EpisodeEnded, ProposalMade, ConstantsTried):
        orders = [fact.order for fact in runs.facts("far") if isinstance(fact, kind)]
        assert len(orders) == len(set(orders)), "no finished work is done again"


def test_tuning_alone_ends_as_on_one_machine(cluster: RayCluster, runs: Runs) -> None:
    arguments = [
        "run", "hanoi-kinematic", "--method", "cma-es", *SMALL, "--set", "tune_episodes=60", "--display", "none",
        "--json",
    ]
    far = runs.start(*arguments, "--name", "far", "--cluster", cluster.address)
    near = runs.start(*arguments, "--name", "near")
    runs.finish(far, within_s=120)
    runs.finish(near, within_s=60)
    assert verdicts(runs.facts("far")) == verdicts(runs.facts("near"))
    assert runs.elite("far") == runs.elite("near")


def test_a_comparison_has_the_same_elites(cluster: RayCluster, runs: Runs) -> None:
    arguments = [
        "compare", "--domain", "hanoi-kinematic", "--method", "random", "--method", "zero-shot", "--seeds", "1",
        "--preset", "smoke", "--set", "n_roll=2", "--set", "k=3", "--display", "none",
    ]
    far = runs.start(*arguments, "--name", "far", "--cluster", cluster.address, "--jobs", "2")
    near = runs.start(*arguments, "--name", "near", "--jobs", "1")
    for process, within_s in ((far, 200), (near, 60)):
        _, said = process.communicate(timeout=within_s)
        assert process.returncode == 0, said
    elites = {}
    for name in ("far", "near"):
        found = sorted(path.parent.relative_to(runs.folder) for path in (runs.folder / name).rglob("run.sqlite"))
        elites[name] = {path.relative_to(name): runs.elite(str(path)) for path in found}
    assert len(elites["near"]) == 2 and elites["far"] == elites["near"]
