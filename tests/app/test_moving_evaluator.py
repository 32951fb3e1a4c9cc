"""Real runs whose evaluator moves: the same on any number of workers and in a replay, with room for few recordings."""

from pathlib import Path

import pytest
from memento.cli import exit_code
from memento.core.events import (
    ArchiveChanged,
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    EvaluatorChosen,
    EvaluatorMoved,
    Fact,
    SearchEnded,
)
from memento.core.order_ids import owner_of
from memento.core.recording_file import trajectory_path

from .conftest import Runs

MOVING = [
    "hanoi-kinematic", "--preset", "smoke", "--seed", "3", "--set", "hanoi-kinematic.horizon=60", "--set",
    "generations=3", "--set", "n_roll=2", "--set", "k_hc=2", "--set", "k_macro=2", "--set", "evaluator_every=1",
    "--set", "probes=off",
]


def of(facts: list[Fact], *kinds: type) -> list:
    return [fact for fact in facts if isinstance(fact, kinds)]


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_moves_are_the_same_on_any_number_of_workers_and_in_a_replay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = Runs(tmp_path)
    for name, more in (("one", ("1",)), ("two", ("2", "--set", "trajectories_limit_mb=0.01"))):
        runs.call("run", *MOVING, "--name", name, "--workers", *more)
    runs.call("run", "--replay", str(tmp_path / "one"), "--name", "again", "--workers", "2")
    kinds = EvaluatorMoved, EvaluatorChosen, EliteChanged, ArchiveChanged, SearchEnded
    one, two, again = ([repr(each) for each in of(runs.facts(name), *kinds)] for name in ("one", "two", "again"))
    assert one == two == again
    facts = runs.facts("two")
    moves = of(facts, EvaluatorMoved)
    assert [each.generation for each in moves] == [1, 2] and any(each.moved for each in moves)
    rolled = [fact.order for fact in of(facts, EpisodeEnded)]
    assert len(rolled) == len({*rolled}), "nothing is rolled out again to be scored again"
    remembered = {*of(facts, ArchiveChanged)[-1].candidates}
    kept = {
        str(fact.episode.trajectory) for fact in of(facts, EpisodeEnded) if owner_of(fact.order or "") in remembered
    }
    assert all(trajectory_path(tmp_path / "two" / "trajectories", key).exists() for key in kept)
    version = moves[-1].version
    assert {fact.candidate.version for fact in of(facts, CandidateScored) if fact.candidate.fault is None} >= {version}
    assert exit_code(["show", "two", "--runs", str(tmp_path)]) == 0
    assert f"v{version}" in capsys.readouterr().out
