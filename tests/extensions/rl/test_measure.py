"""The final measure plays the episodes of `memento evaluate` and scores them alike. Needs no torch."""

from pathlib import Path

import numpy as np
import pytest
from memento import app
from memento.extensions.rl.run import measure
from memento.extensions.rl.settings import BaselineArguments, build
from memento.settings.evaluate import build_evaluate_settings

SALT = "0123456789abcdef0123456789abcdef"
FLAGS = {"randomisation": "table"}
ASSIGNMENTS = ["hanoi-kinematic.horizon=60"]
POLICY = """
class FrankaPolicy:
    def reset(self):
        pass

    def compute_action(self, obs):
        return [0.5, 0.25, -0.5, 0.0, 0.0, 0.0, -1.0]
"""


@pytest.mark.slow
async def test_an_agent_is_measured_as_a_program_is(tmp_path: Path) -> None:
    settings = build(BaselineArguments(
        domain="hanoi-kinematic", steps=1, seed=0, salt=SALT, flags=FLAGS, assignments=ASSIGNMENTS, episodes=3,
        measure_seed=7,
    ))
    action = np.array([0.5, 0.25, -0.5, 0.0, 0.0, 0.0, -1.0], dtype=np.float32)
    played = []
    mine = await measure(
        settings, lambda _: action, tmp_path, play=lambda *place: played.append(place), stopped=lambda: False
    )
    assert mine is not None
    assert played == [(1, 3), (2, 3), (3, 3)]
    program = tmp_path / "policy.py"
    program.write_text(POLICY)
    theirs = await app.evaluate(build_evaluate_settings(
        program, "hanoi-kinematic", flags=FLAGS, assignments=ASSIGNMENTS, episodes=3, seed=7, salt=SALT,
        evaluator="reference", workers=1,
    ))
    assert [(each.seed, each.success, each.fitness, each.steps, each.ended_by) for each in mine.episodes] == [
        (each.seed, each.success, each.fitness, each.steps, each.ended_by) for each in theirs.per_episode
    ]
    assert mine.success_rate == theirs.success_rate
    assert mine.fitness == pytest.approx(theirs.fitness)
    assert mine.return_mean == -60.0
    assert mine.reached_rate == 0.0
    steps = iter(range(100))
    assert await measure(
        settings, lambda _: action, tmp_path, play=lambda *_: None, stopped=lambda: next(steps) == 90
    ) is None, "Ctrl-C in the second episode"
