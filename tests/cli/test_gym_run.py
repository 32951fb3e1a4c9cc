"""A run on a Gymnasium environment with the offline model, in real processes: interrupted, resumed, and at one go."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ..support.program import DEADLINE_S, PROGRAM

pytestmark = pytest.mark.quick

RUN = (
    "run", "gym:CartPole-v1", "--preset", "smoke", "--evaluator", "reference", "--workers", "1", "--seed", "5",
    "--set", "gym.max_episode_steps=60", "--set", "k_hc=2", "--json",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gym")


def said(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [*PROGRAM, *arguments], cwd=folder, capture_output=True, text=True,
        timeout=DEADLINE_S, check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def result(folder: Path, *arguments: str) -> dict[str, Any]:
    return json.loads(said(folder, *arguments).splitlines()[-1])


@pytest.fixture(scope="module")
def whole(folder: Path) -> dict[str, Any]:
    return result(folder, *RUN, "--name", "whole")


def test_a_run_ends_with_its_returns(folder: Path, whole: dict[str, Any]) -> None:
    assert whole["status"] == "done" and whole["domain"] == "gym:CartPole-v1" and whole["model"] == "offline"
    assert whole["candidates"] == 4 and 1.0 <= whole["initial_return"] <= whole["final_return"] <= 60.0
    assert "(1 episode, p_0 -> elite)" in said(folder, "show", "whole"), "a return leaves room for it"


@pytest.mark.slow
def test_a_run_that_a_budget_stopped_ends_like_one_at_one_go(folder: Path, whole: dict[str, Any]) -> None:
    stopped = result(folder, *RUN, "--name", "parts", "--budget-calls", "2")
    assert stopped["status"] != "done" and stopped["candidates"] < whole["candidates"]
    resumed = result(folder, "resume", "parts", "--budget-calls", "100", "--json")
    same = ("elite", "fitness", "initial_fitness", "initial_return", "final_return", "final_success", "candidates")
    assert {key: resumed[key] for key in same} == {key: whole[key] for key in same}
