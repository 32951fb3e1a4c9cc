"""Results are one line of strict JSON with exactly the promised keys."""

import json
from dataclasses import replace

import pytest
from memento.app.results import EpisodeResult, EvaluateResult, RunResult

from ..support.program import RUN_KEYS

RUN = RunResult(
    run="runs/a", domain="hanoi", method="memento", model="offline", seed=3, status="done", generations=1,
    elite="g1/macro/0", fitness=0.5, success=0.0, initial_fitness=0.25, reference_initial=0.2,
    reference_fitness=0.4, final_success=0.0, initial_return=None, final_return=None,
    candidates=3, episodes_run=9, episodes_saved=0, search_episodes=7, budget_episodes=None, confirmations=0, refuted=0,
    gate_episodes=0, gate_stopped=0, model_calls=7,
    tokens=0, cost_usd=None, wall_s=1.5, sandbox=("rlimits", "seccomp"),
)


def test_the_keys_of_a_run() -> None:
    assert list(json.loads(RUN.line())) == RUN_KEYS.split(", ")
    assert json.loads(RUN.line()) == RUN.as_json()
    assert RUN.as_json()["sandbox"] == ["rlimits", "seccomp"]
    assert RUN.as_json()["cost_usd"] is None


def test_the_keys_of_an_evaluation() -> None:
    episode = EpisodeResult(seed=1, scene=None, success=True, fitness=1.0, steps=9, ended_by="success",
                            episode_return=None, error=None)
    result = EvaluateResult(
        policy="p.py", domain="hanoi", variant=None, randomisation="table", episodes=1, seed=0, success_rate=1.0,
        fitness=1.0, return_mean=None, steps_per_s=10.0, wall_s=0.9, salt="none", sandbox=(), per_episode=(episode,),
    )
    values = json.loads(result.line())
    assert ", ".join(values) == (
        "policy, domain, variant, randomisation, episodes, seed, success_rate, fitness, return_mean, "
        "success_interval, fitness_interval, return_interval, failures, faults, steps_per_s, "
        "wall_s, salt, sandbox, step_cpu_ms_median, step_cpu_ms_p99, per_episode"
    )
    assert ", ".join(values["per_episode"][0]) == (
        "seed, scene, success, fitness, steps, ended_by, episode_return, error, broken_rule, traceback, printed, "
        "stages, report"
    )


def test_nan_is_refused_and_a_line_stays_one_line() -> None:
    with pytest.raises(ValueError, match="JSON"):
        replace(RUN, fitness=float("nan")).line()
    assert "\n" not in replace(RUN, run="a\nb").line()
