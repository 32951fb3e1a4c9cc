"""What a brief says of success, against an episode that succeeds."""

import re

import numpy as np
import pytest
from memento.core.provenance import GIVEN
from memento.domains import load


@pytest.mark.slow
def test_what_the_brief_says_of_reaching_is_what_the_environment_reports() -> None:
    pytest.importorskip("gymnasium_robotics", reason="gymnasium-robotics is not installed: the extra suites")
    domain = load("gym:FetchReach-v4", GIVEN)
    options = domain.options({}, preset="smoke")
    said = re.search(r"Success: .*`is_success` at the last step.*`d` is `goal_distance\(achieved_goal, desired_goal\)` "
                     r"and `self.distance_threshold` is ([\d.]+)", domain.brief(options).task)
    assert said is not None
    threshold = float(said[1])
    environment = domain.environment(options)
    environment.reset(index=0, seed=1)
    reported, by_the_brief = [], []
    for _ in range(30):
        seen = environment.recording().states
        off = seen["desired_goal"][-1] - seen["achieved_goal"][-1]
        environment.step(np.array([*np.clip(8.0 * off, -1.0, 1.0), 0.0]))
        seen = environment.recording().states
        reported.append(bool(environment.success()))
        by_the_brief.append(bool(np.linalg.norm(seen["desired_goal"][-1] - seen["achieved_goal"][-1]) < threshold))
    environment.close()
    assert reported == by_the_brief
    assert reported[-1] and not reported[0], "the episode succeeds, and does not begin so"


def test_what_the_brief_says_of_a_return_is_what_a_solved_grid_has() -> None:
    pytest.importorskip("minigrid", reason="minigrid is not installed: the extra suites")
    domain = load("gym:MiniGrid-Empty-5x5-v0", GIVEN)
    options = domain.options({}, preset="smoke")
    said = re.search(r"a success if its own return is at least ([\d.]+)\.", domain.brief(options).task)
    assert said is not None
    environment = domain.environment(options)
    environment.reset(index=0, seed=1)
    before = []
    for action in (2, 2, 1, 2, 2):      # forward twice, right, forward twice
        before.append(bool(environment.success()))
        environment.step([action])
    total = float(environment.recording().actions["reward"].sum())
    assert environment.success() and total >= float(said[1]) and not any(before)
    environment.close()
