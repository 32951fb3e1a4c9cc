"""`memento export` writes a program that `memento evaluate` takes."""

import json
from pathlib import Path

import pytest
from memento.domains import load as load_domain

from ..support.program import Call
from .conftest import Finished

POLICY_CLASS = f"class {load_domain('hanoi-kinematic').contract.class_name}"


@pytest.mark.slow
def test_an_exported_elite_can_be_evaluated(finished: Finished, memento: Call, tmp_path: Path) -> None:
    assert memento("export", "one", "--out", "elite.py", "--runs", finished.runs).returncode == 0
    assert POLICY_CLASS in (tmp_path / "elite.py").read_text()
    twice = memento("export", "one", "--out", "elite.py", "--runs", finished.runs)
    assert twice.returncode == 2
    assert "exists already" in twice.stderr
    done = memento(
        "evaluate", "elite.py", "--domain", "hanoi-kinematic", "--episodes", "2", "--seed", "5", "--json",
        "--set", "hanoi-kinematic.horizon=60", "--randomisation", "none",
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert [episode["seed"] for episode in result["per_episode"]] == [5, 6]
    assert result["randomisation"] == "none"
    assert all(episode["steps"] <= 60 for episode in result["per_episode"])
