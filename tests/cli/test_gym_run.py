"""A run on a Gymnasium environment with the offline model, in real processes: interrupted, resumed, and at one go."""

import json
from typing import Any

from ..support.program import Call

RUN = (
    "run", "gym:CartPole-v1", "--preset", "smoke", "--evaluator", "reference", "--workers", "1", "--seed", "5",
    "--set", "gym.max_episode_steps=60", "--set", "k_hc=2", "--json",
)


def test_a_run_that_a_budget_stopped_ends_like_one_at_one_go(memento: Call) -> None:
    def result(*arguments: str, code: int = 0) -> dict[str, Any]:
        done = memento(*arguments)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    whole = result(*RUN, "--name", "whole")
    assert whole["status"] == "done" and whole["domain"] == "gym:CartPole-v1" and whole["model"] == "offline"
    assert whole["candidates"] == 4 and 1.0 <= whole["initial_return"] <= whole["final_return"] <= 60.0
    assert "(1 episode, p_0 -> elite)" in memento("show", "whole").stdout, "a return leaves room for it"
    stopped = result(*RUN, "--name", "parts", "--budget-calls", "2")
    assert stopped["status"] != "done" and stopped["candidates"] < whole["candidates"]
    resumed = result("resume", "parts", "--budget-calls", "100", "--json")
    same = ("elite", "fitness", "initial_fitness", "initial_return", "final_return", "final_success", "candidates")
    assert {key: resumed[key] for key in same} == {key: whole[key] for key in same}
