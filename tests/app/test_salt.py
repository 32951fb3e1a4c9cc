"""Every run and evaluation draws a salt, keeps it, and takes it back: the same salt gives the same episodes."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from memento.core.events import EpisodeEnded, RunStarted
from memento.core.seeds import derive_seed
from memento.memory.store import RunStore

from ..support.program import PROGRAM

pytestmark = pytest.mark.slow

SMALL = ("--preset", "smoke", "--seed", "3", "--set", "hanoi-kinematic.horizon=20", "--json", "--display", "none")
POLICY = """import numpy as np
class FrankaPolicy:
    def reset(self):
        pass
    def compute_action(self, obs):
        return np.zeros(7)
"""


def memento(folder: Path, *arguments: str, **environment: str) -> dict:
    """Run the program without a salt in its environment, as a user would; returns its JSON."""
    clean = {name: value for name, value in os.environ.items() if name != "MEMENTO_SALT"}
    done = subprocess.run(
        [*PROGRAM, *arguments], cwd=folder, env=clean | environment, capture_output=True, text=True, timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def seeds_of(folder: Path) -> tuple[str, list[int]]:
    with RunStore.read(folder) as store:
        facts = list(store.facts(only=(RunStarted, EpisodeEnded)))
    salt = next(fact.settings["salt"] for fact in facts if isinstance(fact, RunStarted))
    return str(salt), [fact.episode.seed for fact in facts if isinstance(fact, EpisodeEnded)]


def test_two_runs_of_one_seed_have_other_episodes_and_the_salt_gives_them_back(tmp_path: Path) -> None:
    for name in ("one", "two"):
        memento(tmp_path, "run", "hanoi-kinematic", *SMALL, "--name", name)
    (salt, seeds), (other, others) = (seeds_of(tmp_path / "runs" / name) for name in ("one", "two"))
    assert salt != other and not {*seeds} & {*others}
    assert derive_seed(3, "search", 0) not in seeds
    again = memento(tmp_path, "run", "hanoi-kinematic", *SMALL, "--name", "again", "--set", f"salt={salt}")
    assert seeds_of(tmp_path / "runs" / "again") == (salt, seeds)
    replayed = memento(tmp_path, "run", "--replay", "one", "--name", "replayed", "--json", "--display", "none")
    assert seeds_of(tmp_path / "runs" / "replayed") == (salt, seeds)
    assert again["elite"] == replayed["elite"] and again["fitness"] == replayed["fitness"]


def test_an_evaluation_says_its_salt_and_takes_it_back(tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_text(POLICY)
    given = ("evaluate", "policy.py", "--domain", "hanoi-kinematic", "--episodes", "2", "--json",
             "--set", "hanoi-kinematic.horizon=5")
    one, two = memento(tmp_path, *given), memento(tmp_path, *given)
    assert one["salt"] != two["salt"]
    assert [each["seed"] for each in one["per_episode"]] != [each["seed"] for each in two["per_episode"]]
    again = memento(tmp_path, *given, "--salt", one["salt"])
    assert again["per_episode"] == one["per_episode"]
