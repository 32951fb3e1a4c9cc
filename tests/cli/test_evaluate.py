"""`memento evaluate`: intervals, counts of failures, and what a person needs to debug a policy."""

import json
from pathlib import Path
from typing import Any

import pytest

from ..support.program import Call

# Two episodes of four fail; each says how far it came.
POLICY = """
class FrankaPolicy:
    starts = 0

    def reset(self):
        self.calls = 0

    def compute_action(self, obs):
        self.calls += 1
        self.stage = "look" if self.calls < 5 else "move"
        self.report = {"calls": self.calls, "far": 0.123456}
        print("call", self.calls, "\\x1b[31m")
        if self.calls == 9 and {fails}:
            return self.helper(obs)
        return [0.0] * 7

    def helper(self, obs):
        return obs["observatoin"]
"""
SHORT = ("--domain", "hanoi-kinematic", "--set", "hanoi-kinematic.horizon=12", "--salt", "none", "--workers", "1")


@pytest.fixture
def policy(tmp_path: Path) -> Any:
    def write(fails: str) -> str:
        (tmp_path / "mine.py").write_text(POLICY.replace("{fails}", fails))
        return "mine.py"

    return write


@pytest.mark.slow
def test_a_crash_shows_the_lines_of_the_policy_and_what_it_printed_last(memento: Call, policy: Any) -> None:
    done = memento("evaluate", policy("True"), *SHORT, "--episodes", "2")
    assert done.returncode == 1, "every episode failed"
    assert "the first fault, in episode 1:" in done.stdout
    assert 'File "program.py", line 18, in helper' in done.stdout
    assert done.stdout.count('return obs["observatoin"]') == 1, "of the first episode alone"
    assert "printed last:" in done.stdout and "call 9 ?[31m" in done.stdout, "and no control characters"
    assert "success 0 % [0, 66] %, fitness 0.000 [0.000, 0.000] over 2 episodes; 2 without success, 2 f" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_json_and_verbose_have_what_every_episode_said(memento: Call, policy: Any) -> None:
    sometimes = policy("int(abs(float(obs['cube_pos'][0])) * 1e6) % 2")
    given = ("evaluate", sometimes, *SHORT, "--episodes", "6")
    found = json.loads(memento(*given, "--json").stdout)
    failed = [episode for episode in found["per_episode"] if episode["error"]]
    assert 0 < len(failed) == found["faults"] < 6
    for episode in found["per_episode"]:
        assert episode["stages"][0]["name"] == "look"
        assert f"call {9 if episode['error'] else 12}" in episode["printed"]
        assert ("observatoin" in episode["traceback"]) == bool(episode["error"]) == (not episode["report"])
        assert "last output" not in episode["traceback"]
    assert found["failures"] == 6
    low, high = found["fitness_interval"]
    assert low <= found["fitness"] <= high
    shown = memento(*given, "--verbose")
    assert shown.returncode == 0, "not every episode failed"
    assert shown.stdout.count("stages: look 4 steps, move") == 6
    assert shown.stdout.count("report: calls 12, far 0.1235") == 6 - len(failed)
    assert shown.stdout.count("Traceback") == len(failed)
