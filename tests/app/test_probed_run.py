"""A real run with probes: killed while they are recorded and while evaluators are examined, it ends the same."""

import time
from pathlib import Path

import pytest
from memento.core.events import EvaluatorChosen, EvaluatorExamined, Fact, ProbesRecorded
from memento.core.recording_file import load_recording

from ..support.rollouts import same
from .conftest import Runs, kill

SMALL = [
    "hanoi-kinematic", "--preset", "smoke", "--seed", "5", "--set", "evaluator_generations=2", "--set", "k_macro=0",
    "--set", "k_cross=0", "--set", "evaluator_tests=on",
]
DEADLINE_S = 60


def of(facts: list[Fact], kind: type) -> list:
    return [fact for fact in facts if isinstance(fact, kind)]


@pytest.mark.slow
def test_a_run_that_is_killed_among_its_probes_chooses_the_same_evaluator(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    runs.call("run", *SMALL, "--name", "whole")
    process = runs.start("run", *SMALL, "--name", "killed", "--json")
    runs.await_first_fact("killed")
    partly = tmp_path / "killed" / "trajectories" / "eval_probes_0.npz"
    for enough in (lambda: partly.exists(), lambda: bool(of(runs.facts("killed"), EvaluatorExamined))):
        deadline_s = time.monotonic() + DEADLINE_S
        while not enough():
            assert time.monotonic() < deadline_s
            time.sleep(0.01)
        kill(process)
        process = runs.start("resume", "killed", "--json")
    runs.finish(process)
    whole, killed = list(runs.facts("whole")), list(runs.facts("killed"))
    assert of(whole, ProbesRecorded) == of(killed, ProbesRecorded)
    assert len(of(killed, ProbesRecorded)) == 1
    assert of(whole, EvaluatorChosen) == of(killed, EvaluatorChosen)
    examined = {fact.order: fact for fact in of(whole, EvaluatorExamined)}
    assert examined == {fact.order: fact for fact in of(killed, EvaluatorExamined)}
    names = [probe.name for probe in of(whole, ProbesRecorded)[0].probes]
    assert names[:3] == [f"episode 0, first {share} %" for share in (25, 50, 75)]
    assert {"idle", "random actions", "1 move done and kept", "tower knocked over"} <= set(names)
    ladder = [probe for probe in of(whole, ProbesRecorded)[0].probes if probe.ladder]
    assert len(ladder) >= 3 and all(probe.source == "episode 0" for probe in ladder)
    assert sum(probe.invariant for probe in of(whole, ProbesRecorded)[0].probes) == 3
    valid = [fact.examination for fact in examined.values() if fact.examination.valid]
    assert valid and all(len(each.probe_scores) == len(names) and each.order_pairs >= 5 for each in valid)
    assert all(each.tests.pairs == each.order_pairs and len(each.tests.invariances) == 3 for each in valid)
    for probe in of(whole, ProbesRecorded)[0].probes:
        key = f"{probe.episode.trajectory}.npz"
        one, other = (load_recording(tmp_path / run / "trajectories" / key).arrays() for run in ("whole", "killed"))
        assert same(one, other)
