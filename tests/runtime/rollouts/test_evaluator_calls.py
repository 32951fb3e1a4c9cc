"""Evaluator programs: accepted scores, refused scores, and the validity of an evaluator."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.errors import RolloutError, StoreError
from memento.core.faults import FaultKind
from memento.core.metrics import MAX_ENTRIES
from memento.core.ports import RollTask
from memento.core.values import Program
from memento.runtime.rollouts.evaluator_calls import KEPT_BYTES, cuts, parse_result

from ...support import hostile

pytestmark = pytest.mark.quick


def evaluator(body: str, head: str = "") -> Program:
    lines = "\n".join("        " + line for line in body.splitlines())
    return Program(f"import os, sys, time, random\nimport numpy as np\n{head}\n"
                   f"class Evaluator:\n    def evaluate(self, trajectory):\n{lines}\n")


async def rolled(pool, number=0, program=hostile.GOOD):
    return await pool.roll(
        RollTask(order=f"t0/e{number}", program=program, split="search", index=number, seed=100 + number)
    )


VALID = {
    "plain": ("return 0.5, {'a': 1, 'b': [1, 2.5, None, True, 'x'], 'c': {'d': 0.1}}", 0.5),
    "edges": ("return 1, {}", 1.0),
    "numpy numbers": ("return np.float32(0.25), {'n': np.int64(3), 'b': np.bool_(True), 'v': np.zeros(2)}", 0.25),
    "a list": ("return [0.0, {}]", 0.0),
    "the arrays": ("x = trajectory['x']; a = trajectory['action']\n"
                   "return float(x.shape == (len(a) + 1, 3) and trajectory['goal'][0] == 1), {'n': len(a)}", 1.0),
    "prints": ("print('hello')\nreturn 0.5, {}", 0.5),
    "writes into its arrays": ("trajectory['x'][:] = 7\nreturn float(trajectory['x'].min() == 7), {}", 1.0),
}

FAILED = {
    "NaN": ("return float('nan'), {}", FaultKind.INVALID_RESULT),
    "inf": ("return np.inf, {}", FaultKind.INVALID_RESULT),
    "below": ("return -0.001, {}", FaultKind.INVALID_RESULT),
    "above": ("return 1.001, {}", FaultKind.INVALID_RESULT),
    "huge": ("return 10 ** 400, {}", FaultKind.INVALID_RESULT),
    "a string": ("return '0.5', {}", FaultKind.INVALID_RESULT),
    "a bool": ("return True, {}", FaultKind.INVALID_RESULT),
    "an array": ("return np.array([0.5]), {}", FaultKind.INVALID_RESULT),
    "no metrics": ("return 0.5", FaultKind.INVALID_RESULT),
    "None": ("pass", FaultKind.INVALID_RESULT),
    "metrics no dict": ("return 0.5, [1]", FaultKind.INVALID_RESULT),
    "NaN in metrics": ("return 0.5, {'a': {'b': [1, float('nan')]}}", FaultKind.INVALID_RESULT),
    "object in metrics": ("return 0.5, {'a': object()}", FaultKind.INVALID_RESULT),
    "cycle in metrics": ("m = {}\nm['m'] = m\nreturn 0.5, m", FaultKind.INVALID_RESULT),
    "deep metrics": ("m = {}\nfor _ in range(100): m = {'m': m}\nreturn 0.5, m", FaultKind.INVALID_RESULT),
    "big metrics": ("return 0.5, {'a': 'x' * 300_000}", FaultKind.INVALID_RESULT),
    "raises": ("return 1 / 0, {}", FaultKind.CRASHED),
    "exits": ("os._exit(0)", FaultKind.CRASHED),
    "SystemExit": ("sys.exit(0)", FaultKind.CRASHED),
    "kills its parent": ("os.kill(os.getppid(), 9)\ntime.sleep(1000)", FaultKind.CRASHED),
    "loops": ("while True: pass", FaultKind.TIMED_OUT),
    "sleeps": ("time.sleep(1000)", FaultKind.TIMED_OUT),
    "floods": ("while True: print('x' * 10_000)", FaultKind.CRASHED),
    "allocates": ("return np.zeros(10 ** 11), {}", FaultKind.CRASHED),
    "forges a malformed frame": ("os.write(3, b'\\x77' * 8)\ntime.sleep(5)", FaultKind.INVALID_RESULT),
    "forges no JSON": ("os.write(3, b'\\x16\\0\\0\\0\\x02\\0\\0\\0{]')\ntime.sleep(5)", FaultKind.INVALID_RESULT),
}


@pytest.mark.slow
async def test_scores_that_count_and_scores_that_do_not(make_pool):
    async with make_pool() as pool:
        episode = await rolled(pool)
        valid = {name: await pool.score(evaluator(body), episode) for name, (body, _) in VALID.items()}
        failed = {name: await pool.score(evaluator(body), episode) for name, (body, _) in FAILED.items()}
    assert {name: (score.fitness, score.fault) for name, score in valid.items()} == {
        name: (fitness, None) for name, (_, fitness) in VALID.items()
    }
    assert valid["plain"].metrics == {"a": 1, "b": [1, 2.5, None, True, "x"], "c": {"d": 0.1}}
    assert valid["numpy numbers"].metrics == {"n": 3, "b": True, "v": [0.0, 0.0]}
    assert valid["the arrays"].metrics == {"n": episode.steps}
    assert {name: (score.fitness, score.fault and score.fault.kind) for name, score in failed.items()} == {
        name: (0.0, kind) for name, (_, kind) in FAILED.items()
    }


@pytest.mark.slow
async def test_a_valid_evaluator_is_examined_on_every_episode(make_pool):
    async with make_pool(2) as pool:
        episodes = [await rolled(pool, number) for number in range(3)]
        lasts = hostile.policy("return [0, 0, 0]")
        episodes.append(await rolled(pool, 3, lasts))
        program = evaluator("return len(trajectory['action']) / 100, {'n': len(trajectory['x'])}")
        examination = await pool.examine(program, episodes)
        scores = [await pool.score(program, episode) for episode in episodes]
    assert examination.valid
    assert list(examination.scores) == scores
    assert [score.fitness for score in scores] == [episode.steps / 100 for episode in episodes]


INVALID = {
    "draws lots": ("return random.random(), {}", "disagree"),
    "draws with numpy": ("return np.random.default_rng().random(), {}", "disagree"),
    "process ids in metrics": ("return 0.5, {'pid': os.getpid()}", "disagree in their metrics"),
    "no first step": ("return trajectory['action'][0][0] * 0, {}", "cut to 0 steps"),
    "no second step": ("if len(trajectory['action']): trajectory['action'][1]\nreturn 0, {}", "cut to 1 steps"),
    "the whole episode": ("n = len(trajectory['action'])\nreturn (0 if n < 2 else 1 / (n > 7)), {}", "cut to 5 steps"),
    "raises": ("raise KeyError('x')", "KeyError"),
}


@pytest.mark.slow
async def test_what_makes_an_evaluator_invalid(make_pool):
    async with make_pool(2) as pool:
        episodes = [await rolled(pool, number) for number in range(2)]
        examinations = {
            name: await pool.examine(evaluator(body), episodes) for name, (body, _) in INVALID.items()
        }
        drawn = episodes[1].info["drawn"]
        second_only = evaluator(f"return (2 if trajectory['x'][0, 0] == {drawn!r} else 0.5), {{}}")
        late = await pool.examine(second_only, episodes)
    for name, (_, message) in INVALID.items():
        assert not examinations[name].valid
        assert message in examinations[name].fault.message, name
    assert not late.valid and len(late.scores) == 2 and late.scores[0].fault is None


async def test_an_evaluator_does_not_see_what_the_domain_drew(make_pool):
    async with make_pool() as pool:
        score = await pool.score(evaluator("return 0, {'names': sorted(trajectory)}"), await rolled(pool))
    assert score.metrics == {"names": ["action", "goal", "x"]}


async def test_a_missing_trajectory_is_our_error(make_pool, tmp_path):
    async with make_pool() as pool:
        episode = await rolled(pool)
        (tmp_path / "trajectories" / f"{episode.trajectory}.npz").write_bytes(b"damaged")
        with pytest.raises(StoreError, match="cannot be read"):
            await pool.score(evaluator("return 0, {}"), episode)
        with pytest.raises(StoreError, match="cannot be read"):
            await pool.examine(evaluator("return 0, {}"), [await rolled(pool, 1), episode, episode])
        with pytest.raises(RolloutError, match="without episodes"):
            await pool.examine(evaluator("return 0, {}"), [])


@given(st.binary(max_size=200))
def test_any_bytes_are_a_score_or_a_sentence(payload):
    parsed = parse_result(payload)
    assert isinstance(parsed, str) or 0 <= parsed.fitness <= 1


@given(st.floats(0, 1), st.dictionaries(st.text(max_size=5), st.floats(allow_nan=False, allow_infinity=False)))
def test_good_results_come_through_exactly(fitness, metrics):
    score = parse_result(json.dumps([fitness, metrics]).encode())
    assert not isinstance(score, str)
    assert np.float64(score.fitness) == fitness and score.metrics == metrics


def test_of_large_metrics_only_what_their_summary_can_use_is_kept():
    score = parse_result(json.dumps([0.5, {f"m{number:05}": "x" * 10 for number in range(9000)}]).encode())
    assert score.fitness == 0.5
    assert len(json.dumps(score.metrics)) < KEPT_BYTES
    assert len(score.metrics) == MAX_ENTRIES


@given(st.integers(0, 50))
def test_cuts_are_shorter_and_distinct(steps):
    made = cuts(steps)
    assert len(set(made)) == len(made)
    assert all(0 <= cut < steps for cut in made)
    assert (steps == 0) == (made == ())
