"""Runs on other people's tasks: what a reader has to know is said, and a run knows where its domain was."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest
from memento.app import rank
from memento.app.evaluation import evaluate
from memento.core.events import EliteChanged, EnvironmentRemembered
from memento.settings.evaluate import build_evaluate_settings, build_rank_settings

from ..support.language_server import program_reply, serving
from ..support.services import Act
from .conftest import Runs
from .served import call, of

HERE = "gym:memento.tests.support.measured_environments"
SMALL = ("--preset", "smoke", "--evaluator", "reference", "--workers", "1", "--seed", "1")
FORWARD = "class Policy:\n    def reset(self):\n        pass\n\n    def compute_action(self, obs):\n        return 0.1"
DEPOT = """
import gymnasium
import numpy as np
from gymnasium import spaces


class Depot(gymnasium.Env):
    def __init__(self):
        self.goal = float(open("goal.txt").read())
        self.observation_space = spaces.Box(-20.0, 20.0, (1,), np.float64)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.np_random.uniform(-1, 1)
        return np.array([self.x]), {}

    def step(self, action):
        self.x += 0.2 if action == 1 else -0.2
        return np.array([self.x]), -abs(self.x - self.goal), False, False, {}


gymnasium.register(id="Depot-v0", entry_point=Depot, max_episode_steps=20)
"""

pytestmark = pytest.mark.slow


def test_a_task_in_which_nothing_pays_is_said_to_have_nothing_to_search_by(runs: Runs) -> None:
    done = runs.call("run", f"{HERE}:MeasuredFlat-v0", *SMALL, "--name", "flat")
    [note] = done["card"]["notes"]
    assert note.startswith("there is nothing to search by: all") and "that of random actions" in note


def test_an_environment_that_remembers_is_on_the_log_and_in_the_result(runs: Runs, tmp_path: Path) -> None:
    policy = tmp_path / "forward.py"
    policy.write_text(FORWARD)
    done = runs.call("run", f"{HERE}:MeasuredHarder-v0", *SMALL, "--name", "harder", "--initial", str(policy))
    [fact] = of(runs.facts("harder"), EnvironmentRemembered)
    assert fact.before == 0 and "steps" in fact.differs
    assert done["card"]["notes"][0].startswith("the environment keeps something of earlier episodes")
    measured = runs.call("rank", "harder", "--episodes", "3", "--workers", "1")
    assert not any(row["early"] for row in measured["programs"])


def test_what_was_measured_before_a_memory_was_found_is_measured_again(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = tmp_path / "forward.py"
    policy.write_text(FORWARD)
    name = f"{HERE}:MeasuredHarderLater-v0"

    def evaluated(episodes: int, seed: int) -> list[tuple[int, float]]:
        settings = build_evaluate_settings(
            policy, name, flags={}, episodes=episodes, seed=seed, salt="5a" * 16, evaluator="reference", workers=1
        )
        return [(each.steps, each.fitness) for each in asyncio.run(evaluate(settings)).per_episode]

    together = evaluated(6, 3)
    assert (together[0], together[5]) == (*evaluated(1, 3), *evaluated(1, 8))

    runs.call("run", name, *SMALL, "--name", "later", "--initial", str(policy))
    known = rank.outline_of
    monkeypatch.setattr(rank, "outline_of", lambda store: replace(known(store), remembers=False))
    wanted = build_rank_settings(runs.folder / "later", episodes=6, programs=2, seed=0, salt=None, workers=1)
    found = asyncio.run(rank.rank(wanted))
    monkeypatch.setattr(rank, "outline_of", known)
    again = asyncio.run(rank.rank(wanted))
    assert found.rolled_out > 6 * len(found.programs) and again.rolled_out == 0
    assert found.programs == again.programs


async def test_a_model_that_repeats_itself_has_no_new_elite(runs: Runs) -> None:
    async with serving(lambda number, prompt: Act(text=program_reply(FORWARD, "the same"))) as service:
        arguments = (f"{HERE}:MeasuredCost-v0", *SMALL, "--name", "same", "--set", "repairs=0")
        done = await call(runs, "run", *arguments, "--model", service.model)
    assert [each.changed for each in of(runs.facts("same"), EliteChanged)] == [True, False]
    assert done["elite"] == "init/0"
    assert any(note.startswith("the model repeats itself: 3 of 3 candidates") for note in done["card"]["notes"])


def test_a_run_that_is_resumed_elsewhere_says_where_it_began(runs: Runs, tmp_path: Path, monkeypatch) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    project.mkdir()
    other.mkdir()
    (project / "depot.py").write_text(DEPOT)
    (project / "goal.txt").write_text("5.0")
    support = os.environ.get("PYTHONPATH", "")
    monkeypatch.chdir(project)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(project), support]))
    runs.call("run", "gym:depot:Depot-v0", *SMALL, "--name", "depot", "--budget-calls", "2")
    monkeypatch.chdir(other)
    for path, said in (([support], "module depot, which is not here"), ([str(project), support], "goal.txt")):
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
        for command in (("resume", "depot", "--budget-calls", "20"), ("rank", "depot", "--episodes", "2")):
            process = runs.start(*command)
            _, err = process.communicate(timeout=150)
            assert process.returncode in (2, 3) and said in err, err
            assert f"the run began in the folder {project} and PYTHONPATH={project}" in err
            assert "pip install" not in err
    monkeypatch.chdir(project)
    assert runs.call("resume", "depot", "--budget-calls", "20")["status"] == "done"
