"""The briefs of twenty environments, word for word: what is in force, and what a figure of random episodes is not.

After an intended change, run `MEMENTO_GOLDEN=write pytest tests/domains/test_golden_briefs.py` and check each file
against the environment's source: reward, end, success, every element of an observation, the arguments in force.
"""

import json
import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from memento.core.provenance import GIVEN
from memento.core.values import JSON
from memento.domains import load
from memento.domains.gym.description import FORMAT
from memento.domains.gym.helper import facts_of
from memento.domains.gym.loading import Simulator
from memento.domains.gym.model_facts import model_text, plain_attributes
from memento.domains.gym.names import KEPT, SEEDED, parse_id

GOLDEN = Path(__file__).parent / "golden"
MOST = 19_500       # characters of a brief: see domains.gym.brief.MOST_BRIEF
ROBOTICS = "gymnasium-robotics 1.4.2"

# id: the package that has it, and what the brief must hold.
CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "CartPole-v1": ("gymnasium", ("theta_threshold_radians = 0.20944", "sutton_barto_reward = False")),
    "Acrobot-v1": ("gymnasium", ("LINK_LENGTH_1 = 1", "MAX_VEL_2", "`-cos(theta1) - cos(theta2 + theta1) > 1.0`")),
    "Taxi-v4": ("gymnasium", ("    | : | : : |\n    | : : : : |\n    | | : | : |", "is_rainy = False", "mean return")),
    "FrozenLake-v1": ("gymnasium", ("    S F F F\n    F H F H\n    F F F H\n    H F F G", "is_slippery = True",
                                    "success_rate = 0.333333")),
    "BipedalWalker-v3": ("gymnasium", ("MOTORS_TORQUE = 80", "| 6 | angle of knee 0, plus 1 | rad |", "-100")),
    "LunarLander-v3": ("gymnasium", ("gravity = -10", "| 5 | angular velocity", "SCALE = 30")),
    "HalfCheetah-v5": ("gymnasium", ("| 16 | angular velocity of the front foot", "ctrl_cost_weight = 0.1",
                                     "| 0 | bthigh | bthigh | 120 |")),
    "Ant-v5": ("gymnasium", ("healthy_z_range = [0.2, 1]", "closed interval", "| 27-104 | cfrc_ext, 6 numbers for")),
    "Humanoid-v5": ("gymnasium", ("healthy_reward = 5", "healthy_z_range = [1, 2]", "| 270-347 | cfrc_ext",
                                  "| 44 | angular velocity of the angle between left upper arm")),
    "Pusher-v5": ("gymnasium", ("reward_near_weight", "| 22 | z-coordinate of the goal position")),
    "AdroitHandDoor-v1": (ROBOTICS, ("| 38 |", "velocity_penalty", "never `terminated`", "reward_type = 'dense'")),
    "FrankaKitchen-v1": (ROBOTICS, ("every task must be done", "norm threshold of `0.3`", "| 58 |", "'kettle'")),
    "FetchPickAndPlace-v4": (ROBOTICS, ("distance_threshold = 0.05", "never `terminated`", "| 24 |")),
    "HandManipulateBlock-v1": (ROBOTICS, ("rotation_threshold = 0.1", "target_rotation = 'xyz'", "| 60 |")),
    "PointMaze_UMaze-v3": (ROBOTICS, ("continuing_task = True", "    1 1 1 0 1\n    1 0 0 0 1")),
    "MiniGrid-Unlock-v0": ("minigrid 3.2.0", ("only while the agent carries the key", "max_steps = 288")),
    "Meta-World/MT1": ("metaworld 3.0.0", ("| 38 | goal z", "TARGET_RADIUS = 0.05")),
    "highway-v0": ("highway-env 1.12.1", ("high_speed_reward: 0.4", "collision_reward: -1")),
}
KWARGS: dict[str, dict[str, JSON]] = {"Meta-World/MT1": {"env_name": "pick-place-v3", "num_goals": 1}}
NOT_SLOW = ("CartPole-v1", "Taxi-v4", "FrozenLake-v1")


def described(name: str) -> str:
    """The description of an environment as the helper makes it, with fixed figures instead of random episodes."""
    kwargs = KWARGS.get(name, {})
    mode = SEEDED if name in KWARGS else KEPT
    simulator = Simulator(parse_id(name), kwargs, max_episode_steps=None, mode=mode)
    try:
        simulator.begin(0)
        env = simulator.env
        facts = facts_of(env, name)
        before = plain_attributes(env.unwrapped)
        env.action_space.seed(0)
        for _ in range(3):
            env.step(env.action_space.sample())
        return json.dumps({
            **facts, "model": model_text(env.unwrapped, before, facts["arguments"]), "format": FORMAT, "id": name,
            "kwargs": kwargs, "horizon": env.spec.max_episode_steps or 1_000, "info": [],
            "success_key": SUCCESS.get(name), "mode": mode, "repeatable": True, "random_mean": 0.0, "random_std": 1.0,
            "random_episodes": 16, "seen": {},
        })
    finally:
        simulator.close()


SUCCESS = {"FrankaKitchen-v1": "episode_task_completions", "FetchPickAndPlace-v4": "is_success",
           "HandManipulateBlock-v1": "is_success", "AdroitHandDoor-v1": "success", "PointMaze_UMaze-v3": "success",
           "Meta-World/MT1": "success"}


def brief_of(name: str) -> str:
    text = described(name)
    domain = load(f"gym:{name}", GIVEN)
    given: dict[str, JSON] = {
        "description": text, "kwargs": KWARGS.get(name, {}), "max_episode_steps": json.loads(text)["horizon"],
    }
    brief = domain.brief(domain.options(given, preset="quick"))
    assert KINDS.get(name, brief.kind) == brief.kind
    at_low = "0.125 at R = 0" if name in SUCCESS else "0.25 at R = 0"
    assert at_low in brief.reference_fitness and "25 at R" not in brief.task.rpartition("### Episodes")[2]
    return f"{brief.task}\n\n## Interface\n\n{brief.policy_interface}\n"


KINDS = {
    "CartPole-v1": "control", "Taxi-v4": "grid", "FrozenLake-v1": "grid", "BipedalWalker-v3": "gait", "Ant-v5": "gait",
    "Humanoid-v5": "gait", "HalfCheetah-v5": "gait", "Pusher-v5": "control", "AdroitHandDoor-v1": "arm",
    "MiniGrid-Unlock-v0": "grid", "Meta-World/MT1": "arm", "PointMaze_UMaze-v3": "control",
}


def compare(name: str, text: str) -> None:
    file = GOLDEN / f"{name.replace('/', '_')}.md"
    if os.environ.get("MEMENTO_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[] if name in NOT_SLOW else [pytest.mark.slow]) for name in CASES
])
def test_the_brief_of(name: str) -> None:
    package, words = CASES[name]
    distribution, _, wanted = package.partition(" ")
    try:
        found = version(distribution)
    except PackageNotFoundError:
        pytest.skip(f"{distribution} is not installed")
    if wanted and found != wanted:
        pytest.skip(f"{distribution} is {found}; the golden brief is of {wanted}")
    if name.endswith("-v5") or package == ROBOTICS:
        pytest.importorskip("mujoco")
    if name in ("BipedalWalker-v3", "LunarLander-v3"):
        pytest.importorskip("Box2D")
    text = brief_of(name)
    compare(name, text)
    assert len(text) <= MOST
    for each in words:
        assert each in text, each


@pytest.mark.parametrize(("name", "base", "words"), [
    ("NutAssemblySquare", "(-0.56, 0, 0.912)", ("no robot touches what was put down", "0.0424", "weighs 16 g")),
    ("PickPlaceCan", "(-0.5, -0.1, 0.912)", ("no robot touches what was put down", "the can 16 g")),
])
def test_the_brief_of_robosuites(name: str, base: str, words: tuple[str, ...]) -> None:
    domain = load(f"robosuite:{name}")
    brief = domain.brief(domain.options({}, preset="quick"))
    text = f"{brief.task}\n\n## Interface\n\n{brief.policy_interface}\n"
    compare(f"robosuite_{name}", text)
    assert len(text) <= MOST
    for each in (base, "-2.8973 to 2.8973", *words):
        assert each in text, each


def test_every_golden_brief_has_its_case() -> None:
    names = {file.stem for file in GOLDEN.glob("*.md") if not file.stem.startswith("robosuite_")}
    assert names == {name.replace("/", "_") for name in CASES}
