"""Environments of other packages: brief, layout, repeatable episodes, recordings that are scored, a shelf that acts.

`benchmarks/gym_suites.py` does the same for many more. Without the package a test is skipped.
"""

import re
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from memento.core.ports import shelf_of
from memento.core.provenance import GIVEN
from memento.domains import load
from memento.domains.gym.endings import broken_rule
from memento.domains.gym.loading import make
from memento.domains.gym.names import parse_id
from memento.domains.gym.options import settings

from ...benchmarks.gym_suites import recorded

pytestmark = pytest.mark.slow

SHORT = {"max_episode_steps": 20}   # random episodes are played to know an environment: short ones are soon over
ONE_EACH = {
    "gymnasium_robotics": "FetchReach-v4", "minigrid": "MiniGrid-DoorKey-5x5-v0", "highway_env": "parking-v0",
    "Box2D": "LunarLander-v3", "metaworld": "Meta-World/MT1",
}
ARGUMENTS = {"metaworld": {"kwargs.env_name": "reach-v3"}}


@pytest.mark.nightly
@pytest.mark.parametrize("package", ONE_EACH)
def test_an_environment_of_a_suite_is_a_domain(package: str) -> None:
    if find_spec(package) is None:
        pytest.skip(f"the extra `suites` is not installed: there is no {package}")
    domain = load(f"gym:{ONE_EACH[package]}", GIVEN)
    options = domain.options(SHORT | ARGUMENTS.get(package, {}), preset="smoke")
    known = settings(options).description
    assert known.repeatable
    assert all(f"`{leaf.name}`" in domain.brief(options).policy_interface for leaf in known.observation)
    environment = domain.environment(options)
    first, fitness = recorded(environment, domain.reference_evaluator())
    assert 0.0 < fitness < 1.0 and recorded(environment, domain.reference_evaluator()) == (first, fitness)
    space: dict[str, Any] = {}
    exec(shelf_of(domain, options).initial.text, space)
    policy = space["Policy"]()
    policy.reset()
    environment.reset(index=0, seed=1)
    for _ in range(3):
        action = policy.compute_action(fields(environment))
        environment.step(np.array(action) if environment.action_size is not None else action)
    environment.close()


@pytest.mark.parametrize(("name", "rule"), [
    ("Hopper-v5", r"height 0\.[4-6]\d* < 0\.7|tilt -?0\.2\d* [<>] -?0\.2"),
    ("Walker2d-v5", r"height 0\.7\d* < 0\.8|tilt -?1\.\d+ [<>] -?1"),
    ("Ant-v5", r"height 1\.\d+ > 1|height 0\.1\d* < 0\.2"),
    ("Humanoid-v5", r"height 0\.9\d* < 1"),
    ("InvertedPendulum-v5", r"angle -?0\.2\d* [<>] -?0\.2"),
    ("InvertedDoublePendulum-v5", r"tip height 0\.[89]\d* < 1"),
    ("CartPole-v1", r"angle -?0\.2[1-3]\d* [<>] -?0\.2094"),
    ("FrozenLake-v1", "fell into a hole"),
    ("BipedalWalker-v3", "hull hit the ground"),
    ("LunarLander-v3", r"body hit the ground|x -?1\.\d* [<>] -?1"),
    ("MiniGrid-LavaGapS5-v0", "stepped into lava"),
])
def test_the_rule_that_ended_an_episode_has_the_value_and_the_bound(name: str, rule: str) -> None:
    """Random actions in the real environments, until one of a few episodes is ended by a rule."""
    package = {"BipedalWalker-v3": "Box2D", "LunarLander-v3": "Box2D", "MiniGrid-LavaGapS5-v0": "minigrid"}.get(name)
    if package and find_spec(package) is None:
        pytest.skip(f"the extra `suites` is not installed: there is no {package}")
    env = make(parse_id(name), {})
    env.action_space.seed(2)
    for episode in range(12):
        env.reset(seed=episode)
        ended = False
        while not ended:
            _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            ended = terminated or truncated
        if terminated and (name != "MiniGrid-LavaGapS5-v0" or not reward):
            break
    said = broken_rule(env)
    env.close()
    assert re.fullmatch(rule, said), said


def test_a_grid_counts_as_solved_by_the_only_reward_that_it_gives() -> None:
    if find_spec("minigrid") is None:
        pytest.skip("the extra `suites` is not installed: there is no minigrid")
    domain = load("gym:MiniGrid-Empty-5x5-v0", GIVEN)
    options = domain.options(SHORT, preset="smoke")
    assert (options["success"], options["threshold"], options["high"]) == ("return", 0.05, 1.0)
    assert domain.options(options, preset="smoke") == options
    assert domain.options(SHORT | {"threshold": 0.9}, preset="smoke")["high"] == 0.9


@pytest.mark.nightly
@pytest.mark.parametrize("goals", [None, 3])
def test_each_seed_of_meta_world_has_its_own_goal(goals: int | None) -> None:
    if find_spec("metaworld") is None:
        pytest.skip("the extra `suites` is not installed: there is no metaworld")
    domain = load("gym:Meta-World/MT1", GIVEN)
    given = SHORT | ARGUMENTS["metaworld"] | ({} if goals is None else {"kwargs.num_goals": goals})
    options = domain.options(given, preset="smoke")
    assert options["kwargs"] == {"env_name": "reach-v3", "num_goals": goals or 1}
    assert domain.options(options, preset="smoke") == options
    environment = domain.environment(options)
    places = []
    for seed in (1, 2, 3, 1):
        environment.reset(index=0, seed=seed)
        places.append(tuple(np.asarray(environment.observe())[-3:]))
    environment.close()
    assert len({*places}) == 3 and places[0] == places[3]


def fields(environment: Any) -> dict[str, Any]:
    """An observation as a policy sees it."""
    seen = environment.observe()
    if environment.observation_layout is None:
        return seen
    ends = np.cumsum([int(np.prod(shape)) for _, shape in environment.observation_layout])[:-1]
    return dict(zip((name for name, _ in environment.observation_layout), np.split(seen, ends), strict=True))
