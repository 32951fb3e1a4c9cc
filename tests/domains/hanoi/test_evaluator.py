"""The reference evaluator: the paper's fitness against a plain implementation, bounds, limits, metrics, robustness."""

import ast
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.metrics import MAX_ENTRIES, aggregate
from memento.core.recording import Recording
from memento.core.values import Score
from memento.domains.hanoi import DOMAIN, task

from ...support.rollouts import kinematic, play, solve
from . import plain_evaluator

ORIGINS = np.array([[x, y, task.CONTAINER_Z_M] for x, y in task.CONTAINER_XY_M])


def load_evaluator() -> Any:
    """The program text loaded as a class, as in a sandbox."""
    space: dict[str, Any] = {"__name__": "program"}
    exec(compile(DOMAIN.reference_evaluator().text, "reference", "exec"), space)
    return space["Evaluator"]()


EVALUATOR = load_evaluator()


def evaluate(arrays: dict[str, np.ndarray]) -> tuple[float, dict[str, Any]]:
    fitness, metrics = EVALUATOR.evaluate(arrays)
    assert type(fitness) is float and 0.0 <= fitness <= 1.0
    assert json.loads(json.dumps(metrics, allow_nan=False)) == metrics
    return fitness, metrics


def wander(step: int, rng: np.random.Generator) -> np.ndarray:
    """Moves down to the tower and around it, gripping and releasing."""
    action = rng.uniform(-1.0, 1.0, 7)
    action[1] -= 0.3 * (step < 60)
    action[6] = 1.0 if step // 7 % 2 else -1.0
    return action


@pytest.fixture(scope="module")
def solved() -> Recording:
    env = kinematic(randomisation="table")
    assert solve(env, seed=0) == "success"
    return env.recording()


def still(cubes: list[list[float]], steps: int = 20, *, period_s: float = 0.05) -> dict[str, np.ndarray]:
    """An episode in which nothing moves; the end effector is far away."""
    def rows(value: object) -> np.ndarray:
        return np.repeat(np.asarray(value, dtype=float)[None], steps + 1, axis=0)

    return {
        "eef_pos": rows([0.0, 0.0, 1.2]), "cube_pos": rows(cubes), "container_pos": rows(ORIGINS),
        "container_quat": rows(np.tile([1.0, 0.0, 0.0, 0.0], (3, 1))),
        "success": np.zeros(steps + 1, bool), "cube_size": np.array(task.cube_half_edges(len(cubes))),
        "table_height_m": np.array(0.8), "control_period_s": np.array(period_s),
        "hole_local_m": np.array(task.HOLE_LOCAL_M),
    }


def tower(container: int, n_cubes: int = 4) -> list[list[float]]:
    x, y = task.CONTAINER_XY_M[container]
    return task.tower(n_cubes, (x + 0.055, y))


def test_it_is_one_program_that_needs_numpy_only() -> None:
    tree = ast.parse(DOMAIN.reference_evaluator().text)
    imported = {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    } | {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= {"numpy", "typing"}
    assert [node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Evaluator"]


@pytest.mark.parametrize("seed", [1, 2])
def test_fitness_is_the_papers_step_by_step(seed: int) -> None:
    recording = play(kinematic(randomisation="hard"), seed, wander, 120)
    fitness, metrics = evaluate(recording.arrays())
    expected, rows = plain_evaluator.fitness(
        {name: np.asarray(array, dtype=float) for name, array in recording.arrays().items()})
    assert fitness == pytest.approx(expected, abs=1e-5)
    for name, symbol in zip(("approach", "grasp_lift", "transport", "placement", "arrangement"), "AGTLR", strict=True):
        assert metrics[f"max_{name}"] == pytest.approx(max(row[symbol] for row in rows), abs=1e-5)
        assert metrics[f"final_{name}"] == pytest.approx(rows[-1][symbol], abs=1e-5)


def test_a_solved_episode_cut_short_agrees_too(solved: Recording) -> None:
    cut = solved.cut(solved.steps - 3)
    expected, _ = plain_evaluator.fitness({name: np.asarray(a, dtype=float) for name, a in cut.arrays().items()})
    fitness, _ = evaluate(cut.arrays())
    assert fitness == pytest.approx(expected, abs=1e-5)
    assert 0.5 < fitness < 1.0


def test_success_is_fitness_one_and_all_milestones(solved: Recording) -> None:
    fitness, metrics = evaluate(solved.arrays())
    assert fitness == 1.0
    times = [metrics[name] for name in (
        "first_reach_step", "first_lift_step", "first_cube_in_C_step", "two_cubes_in_C_step", "all_cubes_in_C_step")]
    assert times == sorted(times) and times[-1] <= solved.steps
    assert metrics["hole_score"]["C"] > 0.95 and metrics["source_emptiness"] > 0.95
    assert metrics["off_peg_parkings"] == 0 and metrics["drop_count"] == 0


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_short_episodes_have_a_score(solved: Recording, steps: int) -> None:
    fitness, metrics = evaluate(solved.cut(steps).arrays())
    assert 0.0 < fitness < 0.5
    assert metrics["steps"] == steps
    assert metrics["first_cube_in_C_step"] is None


@pytest.mark.parametrize("n_cubes", task.N_CUBES)
def test_any_number_of_cubes_has_all_metrics(n_cubes: int) -> None:
    _, metrics = evaluate(still(tower(0, n_cubes)))
    assert list(metrics["min_eef_distance_m"]) == list(task.cube_names(n_cubes))
    assert len(metrics["stack_score"]) == n_cubes - 1


def test_one_cube_on_c_is_a_whole_arrangement() -> None:
    fitness, metrics = evaluate(still(tower(2, 1)))
    assert metrics["final_arrangement"] == pytest.approx(1.0)
    assert metrics["max_illegal_stack_score"] == 0.0
    assert fitness > evaluate(still(tower(0, 1)))[0]


def test_the_papers_four_cubes_lose_no_metric_when_episodes_are_summed_up(solved: Recording) -> None:
    fitness, metrics = evaluate(solved.arrays())
    summary = aggregate([Score(fitness=fitness, metrics=metrics)])
    assert len(summary) <= MAX_ENTRIES and "…" not in summary


def test_the_recording_is_left_as_it_was(solved: Recording) -> None:
    before = {name: array.copy() for name, array in solved.arrays().items()}
    EVALUATOR.evaluate(solved.arrays())
    assert all(np.array_equal(array, before[name]) for name, array in solved.arrays().items())


def test_the_tower_on_c_arranges_best_and_the_tower_on_a_hardly() -> None:
    on = [evaluate(still(tower(j)))[1]["final_arrangement"] for j in range(3)]
    assert on[2] == pytest.approx(1.0)
    assert on[0] < 0.05 and on[1] < 0.2


@given(st.permutations([0, 1, 2, 3]), st.lists(st.integers(0, 2), min_size=4, max_size=4))
@settings(max_examples=30)
def test_more_cubes_in_c_never_place_worse(order: list[int], pegs: list[int]) -> None:
    """The placement score depends on a cube's container, not on its path there."""
    scores = []
    for moved in range(5):
        cubes = tower(0)
        for cube in range(4):
            peg = 2 if cube in order[:moved] else pegs[cube] % 2
            cubes[cube][1] = task.CONTAINER_XY_M[peg][1]
        scores.append(evaluate(still(cubes, 2))[1]["final_placement"])
    assert scores == sorted(scores)
    assert scores[-1] == pytest.approx(1.0)


@given(st.floats(0.0, 0.3), st.floats(0.0, 0.3))
@settings(max_examples=40)
def test_scores_fall_with_distance(near: float, far: float) -> None:
    near, far = sorted((near, far))

    def metrics_at(distance: float) -> dict[str, Any]:
        cubes = tower(2)
        for cube in cubes:
            cube[0] += distance
        arrays = still(cubes, 1)
        arrays["eef_pos"][:] = [0.055 + distance, 0.25, 1.1]
        return evaluate(arrays)[1]

    one, other = metrics_at(near), metrics_at(far)
    for name in ("final_arrangement", "final_placement", "target_fill", "final_transport"):
        assert other[name] <= one[name] + 1e-9, name


def test_an_illegal_stack_costs_and_is_reported() -> None:
    legal, upside_down = tower(1), tower(1)
    upside_down[2][:2], upside_down[0][:2] = [0.055, 0.25], [0.055, 0.25]
    upside_down[0][2], upside_down[2][2] = 0.822, 0.822 + 0.022 + 0.028
    beside = [list(cube) for cube in upside_down]
    beside[2][2] += 0.03
    one, other = evaluate(still(upside_down)), evaluate(still(beside))
    assert one[1]["max_illegal_stack_score"] == pytest.approx(1.0)
    assert other[1]["max_illegal_stack_score"] < 0.1
    assert evaluate(still(legal))[1]["max_illegal_stack_score"] < 0.01
    assert one[0] < other[0]


def test_speed_costs_smoothness() -> None:
    calm, wild = still(tower(0)), still(tower(0))
    wild["eef_pos"][::2, 0] += 0.1
    assert evaluate(calm)[1]["smoothness"] == pytest.approx(1.0)
    assert evaluate(wild)[1]["smoothness"] < 0.6


def falling(height_m: float) -> dict[str, np.ndarray]:
    """The small cube, held next to the tower, falls freely to the table from `height_m`, at 20 Hz."""
    cubes = tower(0)
    cubes[0] = [0.2, 0.0, 0.822 + height_m]
    arrays = still(cubes, 40)
    arrays["eef_pos"][:] = [0.2, 0.0, 0.822 + height_m]
    for step in range(10, 41):
        fallen = 0.5 * 9.81 * (0.05 * (step - 10)) ** 2
        arrays["cube_pos"][step, 0, 2] = max(0.822, 0.822 + height_m - fallen)
    return arrays


@pytest.mark.parametrize(("height_m", "drops"), [(0.1, 1), (0.03, 1), (0.01, 0), (0.0, 0)])
def test_drops_are_counted_by_their_height(height_m: float, drops: int) -> None:
    assert evaluate(falling(height_m))[1]["drop_count"] == drops


def test_lowering_in_the_hand_is_not_a_drop() -> None:
    arrays = falling(0.1)
    arrays["eef_pos"][:, 2] = arrays["cube_pos"][:, 0, 2]
    assert evaluate(arrays)[1]["drop_count"] == 0


@pytest.mark.parametrize("seed", range(3))
def test_placements_and_drops_agree_with_what_the_environment_counted(seed: int) -> None:
    env = kinematic(randomisation="table")
    solve(env, seed)
    recording = env.recording()
    _, metrics = evaluate(recording.arrays())
    assert metrics["placements"] == recording.info["placements"]
    assert metrics["off_peg_parkings"] == recording.info["off_peg_parkings"]
    assert metrics["max_illegal_stack_score"] == pytest.approx(recording.info["max_illegal_score"], abs=1e-4)
