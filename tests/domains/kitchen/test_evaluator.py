"""The reference evaluator: the paper's fitness against a plain implementation, bounds, monotonicity, metrics."""

import ast
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.metrics import MAX_ENTRIES, aggregate
from memento.core.values import Score
from memento.domains.kitchen import DOMAIN
from memento.domains.kitchen.embedded.planner import plan
from memento.domains.kitchen.observation import ACTIONS
from memento.domains.kitchen.rules import TARGETS, ErrorCategory
from memento.domains.kitchen.scene import Stance

from . import plain_evaluator
from .kitchens import environment, kitchen, play, policy_class

WORDS = tuple(kind.lower() for kind in TARGETS)
SPACE: dict[str, Any] = {"__name__": "program"}
exec(compile(DOMAIN.reference_evaluator().text, "reference", "exec"), SPACE)
EVALUATOR = SPACE["Evaluator"]()
Arrays = dict[str, np.ndarray]


def evaluate(arrays: Arrays) -> tuple[float, dict[str, Any]]:
    fitness, metrics = EVALUATOR.evaluate(arrays)
    assert type(fitness) is float and 0.0 <= fitness <= 1.0
    assert json.loads(json.dumps(metrics, allow_nan=False)) == metrics
    return fitness, metrics


def blank(steps: int, max_steps: int = 250) -> Arrays:
    """An episode in which nothing is seen and every action is a turn."""
    flags = ("apple_picked", "bread_picked", "microwave_open", "fridge_open", "apple_in_microwave", "bread_in_fridge",
             "microwave_on", "success", *(f"{word}_{kind}" for word in WORDS for kind in ("seen", "visible")))
    arrays: Arrays = {name: np.zeros(steps + 1, dtype=bool) for name in flags}
    arrays |= {f"{word}_distance_m": np.full(steps + 1, 3.0, dtype=np.float32) for word in WORDS}
    return arrays | {
        "action": np.full(steps, ACTIONS.index("rotate_left"), dtype=np.int8),
        "action_target": np.zeros(steps, dtype=np.int8), "action_success": np.ones(steps, dtype=bool),
        "action_valid": np.ones(steps, dtype=bool), "error_category": np.zeros(steps, dtype=np.int8),
        "action_names": np.array(ACTIONS), "target_names": np.array(("none", *WORDS, "other")),
        "error_names": np.array([each.name.lower() for each in ErrorCategory]), "max_steps": np.array(max_steps),
        "visibility_m": np.array(1.5), "agent_y_m": np.array(0.9),
    }


@st.composite
def episodes(draw: st.DrawFn) -> Arrays:
    """Any self-consistent episode."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    steps = draw(st.integers(0, 90))
    arrays = blank(steps, max_steps=max(steps, draw(st.integers(1, 250))))
    rate = draw(st.sampled_from([0.02, 0.2, 0.7]))
    for name, rows in arrays.items():
        if name.endswith(("_visible", "_picked", "_open", "_in_microwave", "_in_fridge", "_on")):
            rows[:] = rng.random(steps + 1) < rate
    for word in WORDS:
        arrays[f"{word}_seen"] = np.maximum.accumulate(arrays[f"{word}_visible"])
        arrays[f"{word}_distance_m"] = rng.uniform(0.1, 4.0, steps + 1).astype(np.float32)
    arrays["success"] = arrays["apple_in_microwave"] & arrays["bread_in_fridge"] & arrays["microwave_on"]
    arrays["action"] = rng.integers(0, len(ACTIONS), steps).astype(np.int8)
    arrays["action_target"] = rng.integers(0, 6, steps).astype(np.int8)
    arrays["action_success"] = rng.random(steps) < 0.6
    arrays["error_category"] = np.where(arrays["action_success"], 0, rng.integers(1, 8, steps)).astype(np.int8)
    return arrays


def test_it_is_one_program_that_needs_numpy_only() -> None:
    tree = ast.parse(DOMAIN.reference_evaluator().text)
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= {"numpy", "typing"}
    assert sum(SPACE["WEIGHTS"].values()) == pytest.approx(1.0)


@pytest.mark.slow
@given(episodes())
@settings(max_examples=150, deadline=None)
def test_it_agrees_with_a_plain_implementation(arrays: Arrays) -> None:
    fitness, metrics = evaluate(arrays)
    expected, progress = plain_evaluator.fitness(arrays)
    assert fitness == pytest.approx(expected, abs=1e-9)
    assert metrics["phase_best"] == pytest.approx(max(progress), abs=1e-4)
    assert metrics["phase_final"] == pytest.approx(progress[-1], abs=1e-4)


@given(episodes())
@settings(max_examples=100, deadline=None)
def test_every_term_is_within_its_bounds(arrays: Arrays) -> None:
    _, metrics = evaluate(arrays)
    for name in ("phase_best", "phase_final", "interaction_quality", "visibility_quality", "efficiency",
                 "blocked_cost", "carry_cost", "failed_move_rate"):
        assert 0.0 <= metrics[name] <= 1.0, name


def reached(**rows: bool) -> float:
    """The fitness of a long episode that has these flags in one row and no other progress."""
    arrays = blank(249)
    arrays["action"][:] = ACTIONS.index("move_ahead")
    arrays["action_success"][:] = False
    arrays["error_category"][:] = 1
    for name, value in rows.items():
        arrays[name][100] = value
        if name.endswith("_seen"):
            arrays[name][100:] = value
    return evaluate(arrays)[0]


def test_milestones_give_lower_bounds() -> None:
    both = {"apple_in_microwave": True, "bread_in_fridge": True}
    assert reached() == 0.0
    assert reached(apple_picked=True) >= 0.06 and reached(bread_picked=True) >= 0.06
    assert reached(microwave_seen=True) >= 0.10 and reached(fridge_seen=True) >= 0.10
    assert reached(microwave_open=True) >= 0.18 and reached(fridge_open=True) >= 0.18
    assert reached(apple_in_microwave=True) >= 0.42 and reached(bread_in_fridge=True) >= 0.42
    assert reached(**both) >= 0.72
    assert reached(**both, microwave_on=True) >= 0.90
    assert reached(**both, microwave_on=True, success=True) >= 0.98
    assert reached(apple_picked=True) < 0.10 and reached(**both) < 0.90


def test_nearer_is_better_and_what_was_undone_counts_less() -> None:
    far, near = blank(20), blank(20)
    for arrays, distance in ((far, 1.9), (near, 0.6)):
        arrays["apple_seen"][5:] = arrays["apple_visible"][5] = True
        arrays["apple_distance_m"][5] = distance
    assert evaluate(near)[0] > evaluate(far)[0]
    kept, dropped = blank(20), blank(20)
    kept["apple_picked"][5:] = True
    dropped["apple_picked"][5:10] = True
    assert evaluate(kept)[1]["phase_final"] > evaluate(dropped)[1]["phase_final"]
    assert evaluate(kept)[1]["phase_best"] == evaluate(dropped)[1]["phase_best"]


def test_earlier_progress_is_better_and_failed_moves_cost() -> None:
    early, late = blank(100), blank(100)
    for arrays, row in ((early, 10), (late, 90)):
        arrays["fridge_open"][row:] = True
    assert evaluate(early)[0] >= evaluate(late)[0]
    assert evaluate(early)[1]["efficiency"] > evaluate(late)[1]["efficiency"]
    bumped = blank(100)
    bumped["fridge_open"][10:] = True
    bumped["action_success"][::2] = False
    assert evaluate(bumped)[1]["blocked_cost"] > evaluate(early)[1]["blocked_cost"]


def test_carrying_for_long_costs() -> None:
    costs = []
    for steps in (30, 41, 100, 240):
        arrays = blank(249)
        arrays["bread_picked"][5 : 5 + steps] = True
        costs.append(evaluate(arrays)[1]["carry_cost"])
    assert costs[0] == 0.0 and costs == sorted(costs) and costs[-1] > 0.9


def test_a_solved_episode_scores_high_and_reports_when() -> None:
    made = kitchen(start=Stance(cell=(0, 2), yaw=0, horizon_deg=30))
    steps = plan(made)
    assert steps is not None
    env = environment(made)
    env.reset(index=0, seed=0)
    for step in steps:
        env.step([*step])
    recording = env.recording()
    fitness, metrics = evaluate(recording.arrays())
    assert fitness >= 0.98 and metrics["success"] and metrics["never_reached"] == "nothing"
    stages = ("apple_picked", "microwave_open", "apple_in_microwave", "microwave_on", "bread_picked", "bread_in_fridge")
    firsts = [metrics[f"first_{name}"] for name in stages]
    assert firsts == sorted(firsts) and firsts[-1] == recording.steps
    part = [evaluate(recording.cut(t).arrays())[0] for t in range(recording.steps + 1)]
    assert part[0] < 0.3 and part[-1] == fitness
    assert evaluate(recording.cut(0).arrays())[1]["action_success_rate"] is None


def test_the_metrics_name_what_is_missing() -> None:
    env = environment(kitchen())
    play(env, policy_class(DOMAIN.shelf().initial.text)(seed=0), index=0)
    fitness, metrics = evaluate(env.recording().arrays())
    assert fitness < 0.6 and not metrics["success"]
    assert metrics["never_reached"] != "nothing"


def test_all_metrics_reach_a_model() -> None:
    _, metrics = evaluate(blank(10))
    kept = aggregate([Score(fitness=0.0, metrics=metrics)] * 2)
    assert len(kept) <= MAX_ENTRIES
    for name in ("success", "never_reached", "steps", "failed_move_rate", "apple_found", "final_bread_in_fridge"):
        assert name in kept
