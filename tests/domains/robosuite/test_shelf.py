"""The shelf of the cube tasks: the initial program fails, and good choices of its parts lift and stack."""

import re
from typing import Any

import numpy as np
import pytest
from memento.domains import load
from memento.domains.robosuite.environment import RobosuiteEnvironment

GOOD = {
    "GAIN": "10.0", "SPEED_LIMIT": "1.0", "TOLERANCE": "0.015", "PHASE_LIMIT": "80", "HOVER": "0.08",
    "GRASP_HEIGHT": "0.0", "CLOSE_STEPS": "12", "LIFT": "0.1", "CARRY_HEIGHT": "0.12", "PLACE_HEIGHT": "0.047",
}


def play(name: str, changes: dict[str, str], seed: int) -> str:
    """The word at the end of an episode of the shelf's program with other constants."""
    domain = load(f"robosuite:{name}")
    text = domain.shelf().initial.text
    for constant, value in changes.items():
        text, count = re.subn(rf"^    {constant} = .*$", f"    {constant} = {value}", text, flags=re.MULTILINE)
        assert count == 1
    space: dict[str, Any] = {}
    exec(text, space)
    policy = space["FrankaPolicy"]()
    environment = RobosuiteEnvironment(name, domain.options({"physics": "fast"}, preset="paper"))
    environment.reset(index=0, seed=seed)
    policy.reset()
    names = [field for field, _ in environment.observation_layout]
    ends = np.cumsum([shape[0] for _, shape in environment.observation_layout])[:-1]
    ended = None
    while ended is None:
        seen = dict(zip(names, np.split(environment.observe(), ends), strict=True))
        ended = environment.step(policy.compute_action(seen))
    environment.close()
    return ended


@pytest.mark.slow
@pytest.mark.parametrize(("name", "changes", "word"), [
    ("Lift", {}, "horizon"), ("Lift", GOOD, "success"), ("Stack", GOOD, "success"),
])
def test_good_constants_solve_the_task_and_the_first_ones_do_not(
    name: str, changes: dict[str, str], word: str,
) -> None:
    assert play(name, changes, seed=1) == word
