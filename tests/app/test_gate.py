"""A run with a gate: what it stops, on any number of workers, in a replay, after kills, and what is refused at once."""

import subprocess
from pathlib import Path

import pytest
from memento.core.errors import UsageError
from memento.core.events import CandidateScored, EliteChanged, EpisodeEnded, Fact, GateDecided, ProposalMade, TwinTried
from memento.core.faults import is_stopped
from memento.core.order_ids import owner_of
from memento.core.ports import RollTask, Twinned
from memento.domains import import_string, load
from memento.runtime.rollouts.pool import ProcessPool
from memento.settings import build_settings

from ..support import ON_PATH
from ..support.program import PROGRAM
from .conftest import Runs

pytestmark = pytest.mark.quick

SETTINGS = (
    "gate=on", "gate_audit=0.3", "gate_episodes=5", "k_hc=4", "k_macro=3", "generations=2", "options.horizon=80",
)
RUN = [
    "run", "gated_toy:DOMAIN", "--preset", "smoke", "--seed", "1",
    *(word for setting in SETTINGS for word in ("--set", setting)),
]
TRAVELLED = """
import numpy as np
class Evaluator:
    def evaluate(self, trajectory):
        way = float(np.abs(np.diff(trajectory["eef_pos"], axis=0)).sum())
        return way / (1 + way), {"way_m": way}
"""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.setenv("PYTHONPATH", str(ON_PATH))
    return Runs(tmp_path)


def memento(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, timeout=150)


def decided(facts: list[Fact]) -> list[str]:
    """All that a search concludes, without times."""
    return sorted(repr(fact) for fact in facts if isinstance(fact, GateDecided | CandidateScored | EliteChanged))


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_gate_stops_the_same_candidates_on_any_number_of_workers_and_in_a_replay(runs: Runs) -> None:
    evaluator = runs.folder / "travelled.py"
    evaluator.write_text(TRAVELLED)
    command = [*RUN, "--evaluator", str(evaluator)]
    result = runs.call(*command, "--name", "one", "--workers", "1")
    runs.call(*command, "--name", "two", "--workers", "2")
    runs.call("run", "--replay", str(runs.folder / "one"), "--name", "again")
    facts = runs.facts("one")
    assert decided(facts) == decided(runs.facts("two")) == decided(runs.facts("again"))
    gated = {fact.candidate: fact for fact in facts if isinstance(fact, GateDecided)}
    assert gated.keys() == {
        fact.order for fact in facts if isinstance(fact, ProposalMade) and str(fact.order).startswith("g")
    }
    rolled = {owner_of(str(fact.order)) for fact in facts if isinstance(fact, EpisodeEnded)}
    for fact in facts:
        if isinstance(fact, CandidateScored) and fact.candidate.id in gated:
            verdict = gated[fact.candidate.id]
            assert is_stopped(fact.candidate.fault) is (not verdict.passed and not verdict.audited)
            assert not (is_stopped(fact.candidate.fault) and fact.candidate.id in rolled)
    tried = [fact for fact in facts if isinstance(fact, TwinTried)]
    assert len(tried) == result["gate_episodes"] == 5 * len({owner_of(str(fact.order)) for fact in tried})
    assert 0 < result["gate_stopped"] < len(gated)
    assert result["episodes_run"] == sum(isinstance(fact, EpisodeEnded) for fact in facts)
    assert max(fact.steps for fact in tried) <= 40 < max(
        fact.episode.steps for fact in facts if isinstance(fact, EpisodeEnded)
    )
    kept = {path.name for path in (runs.folder / "one" / "trajectories").iterdir()}
    assert not any("gate" in name for name in kept)
    shown = memento("show", "one", "--runs", str(runs.folder)).stdout
    assert f"{result['gate_stopped']} of {len(gated)} candidates stopped" in shown and "on the twin" in shown


@pytest.mark.slow
def test_a_twin_whose_programs_differ_is_refused_before_anything_is_spent(runs: Runs) -> None:
    refused = memento("run", "gated_toy:MISFIT", *RUN[2:], "--name", "none", "--runs", str(runs.folder))
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-1] == (
        "memento: the gate cannot try programs for 'gated_toy:MISFIT' on 'hanoi-kinematic': the twin's observations "
        "have another layout; remove gate = 'on'"
    )
    assert not (runs.folder / "none").exists()


@pytest.mark.parametrize(("domain", "assignments", "words"), [
    ("gym:CartPole-v1", ["gate=on"], "has no cheap twin"),
    ("hanoi-kinematic", ["gate=on"], "has no cheap twin"),
    ("hanoi", ["gate=on", "hanoi.variant=cylinder"], "plain cubes only"),
    ("hanoi", ["gate_audit=0.5"], "'gate_audit' has no effect without a gate"),
    ("hanoi", ["gate=on", "speculation=true", "memory_detail=summary"], "'speculation' has no effect with a gate"),
    ("hanoi", ["gate=on", "gate_episodes=4"], "gate_episodes = 4"),
    ("hanoi", ["gate=on", "gate_audit=2"], "gate_audit = 2"),
])
def test_what_cannot_have_a_gate_is_refused_in_a_sentence(domain: str, assignments: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        build_settings({"domain": domain}, assignments=assignments, environment={})


def test_the_settings_of_a_gate_repeat_a_run() -> None:
    given = {"domain": "hanoi", "preset": "paper"}
    on = build_settings(given, assignments=["gate=on"], environment={})
    assert not on.speculation and "gate_episodes = 6" in on.as_toml()
    assert "gate_episodes" not in build_settings(given, environment={}).as_toml()


@pytest.mark.slow
async def test_the_twin_of_the_tower_of_hanoi_runs_the_same_programs(tmp_path: Path) -> None:
    domain = load("hanoi")
    assert isinstance(domain, Twinned)
    options = domain.options({"horizon": 2000, "n_cubes": 3, "noise_std_m": 0.002}, preset="smoke")
    twin = domain.twin(options)
    assert twin is not None and twin.domain == "hanoi-kinematic"
    assert (twin.options["horizon"], twin.options["n_cubes"], twin.options["noise_std_m"]) == (500, 3, 0.002)
    async with ProcessPool(
        domain=import_string("hanoi"), domains={"gate": import_string(twin.domain)}, workers=1, trajectories=tmp_path,
        splits={"search": options, "gate": twin.options},
    ) as pool:
        await pool.require_twin("search", "gate")
        program = domain.reference_evaluator()
        episode = await pool.roll(RollTask(order="a", program=program, split="gate", index=0, seed=1))
        assert episode.fault is not None      # an evaluator is no policy: the twin says so as well
