"""Whole runs of the real program on the kinematic domain: the same seed gives the same run, killed or not."""

import random
import time
from collections import Counter
from collections.abc import Iterable

import pytest
from memento.core.events import (
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    Fact,
    FinalMeasured,
    ProposalMade,
    RunResumed,
)
from memento.core.values import Operator
from memento.memory.store import RunStore

from ..support.processes import members_of, wait_until_gone
from .conftest import SMALL, Runs, kill, verdicts

MOVING = ("--set", "generations=2", "--set", "evaluator_every=1")
ISLANDS = (
    "--set", "islands=2", "--set", "partners=front", "--set", "memory_scope=until-changed", "--set", "robust=on",
)


def measures(facts: Iterable[Fact]) -> list[tuple[str, FinalMeasured]]:
    """The measures on held-out episodes, each with its conditions."""
    return [(getattr(fact, "conditions", ""), fact) for fact in facts if isinstance(fact, FinalMeasured)]


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ISLANDS], ids=["one", "islands"])
def test_the_same_seed_gives_the_same_run_on_any_number_of_workers(runs: Runs, more: tuple[str, ...]) -> None:
    first = runs.call("run", "hanoi-kinematic", *SMALL, *more, "--name", "one", "--workers", "1")
    second = runs.call("run", "hanoi-kinematic", *SMALL, *more, "--name", "two", "--workers", "2")
    assert runs.elite("one") == runs.elite("two")
    assert verdicts(runs.facts("one")) == verdicts(runs.facts("two"))
    assert measures(runs.facts("one")) == measures(runs.facts("two"))
    assert [name for name, _ in measures(runs.facts("one"))] == (["", "light", "heavy"] if more else [""])
    same = ("elite", "fitness", "initial_fitness", "reference_fitness", "candidates", "episodes_run")
    assert {key: first[key] for key in same} == {key: second[key] for key in same}
    assert first["status"] == "done"
    assert first["candidates"] == 5


@pytest.mark.slow
def test_every_slot_is_accounted_for(runs: Runs) -> None:
    runs.call("run", "hanoi-kinematic", *SMALL, "--name", "one")
    facts = runs.facts("one")
    scored = [fact.candidate for fact in facts if isinstance(fact, CandidateScored)]
    spent = Counter(each.operator for each in scored)
    made = {Operator.HILL_CLIMB: 2, Operator.MACRO: 2, Operator.CROSSOVER: 1}
    assert spent == made


@pytest.mark.timeout(300)
@pytest.mark.parametrize("more", [
    pytest.param((), id="one", marks=pytest.mark.quick), pytest.param(ISLANDS, id="islands", marks=pytest.mark.slow),
    pytest.param(MOVING, id="moving", marks=pytest.mark.slow),
])
def test_a_killed_run_resumes_to_the_same_elite_and_repeats_nothing(runs: Runs, more: tuple[str, ...]) -> None:
    whole = runs.start("run", "hanoi-kinematic", *SMALL, *more, "--name", "whole", "--json")
    began_s = time.monotonic()
    expected = runs.finish(whole)
    length_s = time.monotonic() - began_s
    draw = random.Random(7)
    process = runs.start("run", "hanoi-kinematic", *SMALL, *more, "--name", "killed", "--json")
    kills = 0
    for _ in range(3):
        runs.await_first_fact("killed")
        time.sleep(draw.random() * length_s * 0.6)
        if process.poll() is not None:
            break
        started = members_of(process.pid)
        kill(process)
        kills += 1
        wait_until_gone(started)
        process = runs.start("resume", "killed", "--json")
    result = runs.finish(process)
    assert kills >= 1
    assert result["status"] == "done"
    assert runs.elite("killed") == runs.elite("whole")
    assert verdicts(runs.facts("killed")) == verdicts(runs.facts("whole"))
    assert measures(runs.facts("killed")) == measures(runs.facts("whole"))
    assert result["episodes_run"] == expected["episodes_run"]
    facts = runs.facts("killed")
    assert sum(isinstance(fact, RunResumed) for fact in facts) >= 1
    for kind in (EpisodeEnded, ProposalMade):
        orders = [fact.order for fact in facts if isinstance(fact, kind)]
        assert len(orders) == len(set(orders)), "no finished work is done again"


@pytest.mark.slow
def test_a_run_that_is_done_gives_its_result_again(runs: Runs) -> None:
    first = runs.call("run", "hanoi-kinematic", *SMALL, "--name", "one")
    again = runs.call("resume", "one")
    assert again == {**first, "wall_s": again["wall_s"]}


@pytest.mark.slow
def test_stop_ends_the_session_and_resume_continues_the_run(runs: Runs) -> None:
    process = runs.start("run", "hanoi-kinematic", *SMALL, "--name", "one", "--json")
    runs.await_first_fact("one")
    with RunStore.read(runs.folder / "one") as store:       # `memento stop` could start after the end of so short a run
        store.request("stop", at=time.time())
    assert runs.finish(process)["status"] in {"stopped", "done"}
    assert runs.call("resume", "one")["status"] == "done"
    whole = runs.call("run", "hanoi-kinematic", *SMALL, "--name", "whole")
    assert runs.elite("one") == runs.elite("whole")
    assert whole["elite"]


@pytest.mark.slow
def test_a_live_run_is_not_resumed_by_a_second_controller(runs: Runs) -> None:
    process = runs.start("run", "hanoi-kinematic", *SMALL, "--name", "one", "--json")
    runs.await_first_fact("one")
    second = runs.start("resume", "one")
    _, told = second.communicate(timeout=30)
    if process.poll() is None:  # otherwise the first ended before the second started
        assert second.returncode == 2
        assert f"process {process.pid}" in told
        assert told.count("\n") == 1
    assert runs.finish(process)["status"] == "done"


@pytest.mark.slow
def test_trajectories_are_kept_of_p0_elites_and_the_final_measure_unless_all_are(runs: Runs) -> None:
    def kept(name: str) -> set[str]:
        return {path.stem.rpartition("_")[0] for path in (runs.folder / name / "trajectories").glob("*.npz")}

    whole = ["--set", "racing=false"]
    runs.call("run", "hanoi-kinematic", *SMALL, "--name", "few", *whole)
    runs.call("run", "hanoi-kinematic", *SMALL, "--name", "all", *whole, "--set", "keep_trajectories=true")
    elites = {fact.candidate.replace("/", "_") for fact in runs.facts("few") if isinstance(fact, EliteChanged)}
    assert kept("few") - {"final_initial", "final_elite"} == elites | {"init_0", "eval_probes"}
    ran = {fact.episode.trajectory.rpartition("_")[0] for fact in runs.facts("all") if isinstance(fact, EpisodeEnded)}
    assert kept("all") == ran | {"eval_probes"}
    assert kept("few") - {"eval_probes"} < ran
