"""The Gymnasium environments keep Gymnasium's contract, and play the episodes that `memento evaluate` plays."""

import re
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from memento.app import rendering
from memento.core.errors import UsageError
from memento.core.provenance import GIVEN
from memento.core.recording import Recording
from memento.domains import load
from memento.domains.arm.graphics import live_backend
from memento.domains.envs import IDS, goals
from memento.domains.envs.kitchen import ACTIONS, ROWS, TYPES
from memento.domains.hanoi.sensors import observation_slices

from ...reference_policies import hanoi_kinematic, kitchen
from ...support.rollouts import same

PROGRAMS = Path(hanoi_kinematic.__file__).parent
MADE: dict[str, dict[str, Any]] = {
    "memento/Hanoi-v0": {"physics": "fast", "horizon": 40},
    "memento/HanoiKinematic-v0": {"horizon": 200},
    "memento/Kitchen-v0": {"horizon": 60},
}
# No linear algebra: its last digits depend on the number of threads, which differs between this process and a worker.
FOLLOWER = """
class FrankaPolicy:
    def reset(self):
        pass

    def compute_action(self, obs):
        x, y, z = (10.0 * (obs["cube_pos"][:3] - obs["robot0_eef_pos"])).clip(-1.0, 1.0)
        return [x, y, z, 0.0, 0.0, 0.3, -1.0]
"""


def follower() -> Any:
    names: dict[str, Any] = {}
    exec(FOLLOWER, names)
    return names["FrankaPolicy"]()


POLICIES = {
    "memento/Hanoi-v0": follower, "memento/HanoiKinematic-v0": hanoi_kinematic.FrankaPolicy,
    "memento/Kitchen-v0": kitchen.Policy,
}
DOMAINS = {
    "memento/Hanoi-v0": "hanoi", "memento/HanoiKinematic-v0": "hanoi-kinematic", "memento/Kitchen-v0": "kitchen",
}
FIELDS = observation_slices(4)


def test_the_example_of_the_guide_runs() -> None:
    guide = Path(__file__).resolve().parents[3] / "docs" / "environments.md"
    [example] = re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), flags=re.DOTALL)
    exec(compile(example, guide.name, "exec"), {})


def drawable() -> bool:
    try:
        live_backend()
    except UsageError:
        return False
    return True


def made(name: str, **options: Any) -> Any:
    return gymnasium.make(f"memento.envs:{name}", **{**MADE[name], **options})


@pytest.mark.slow
@pytest.mark.parametrize("name", IDS)
def test_gymnasium_finds_no_fault(name: str) -> None:
    env = made(name)
    arm = name == "memento/Hanoi-v0"        # takes seconds to make; the kinematic one has the same code of both
    check_env(env.unwrapped, skip_render_check=arm or not drawable(), skip_close_check=arm)
    env.close()
    env.close()


def played(name: str, *, index: int, seed: int) -> tuple[Recording, dict[str, Any]]:
    """An episode of the reference policy in this process."""
    env = made(name)
    observation, info = env.reset(seed=seed, options={"index": index})
    assert (info["seed"], info["index"]) == (seed, index)
    policy = POLICIES[name]()
    policy.reset()
    over = False
    while not over:
        sees = info["observation"] if "observation" in info else {
            field: observation["observation"][where] for field, where in FIELDS.items()
        }
        observation, reward, terminated, truncated, info = env.step(policy.compute_action(sees))
        over = terminated or truncated
        if "desired_goal" in observation:
            assert reward == env.unwrapped.compute_reward(observation["achieved_goal"], observation["desired_goal"], {})
    recording = env.unwrapped.recording()
    env.close()
    return recording, info


@pytest.mark.slow
@pytest.mark.parametrize("name", IDS)
async def test_an_episode_is_that_of_a_worker_with_the_same_seed(name: str, tmp_path: Path) -> None:
    """The policy runs here, and in its own process as in `memento evaluate`: the recordings are equal bit for bit."""
    index, seed = 4, 2**40 + 7
    mine, info = played(name, index=index, seed=seed)
    program = PROGRAMS / f"{DOMAINS[name].replace('-', '_')}.py"
    if POLICIES[name] is follower:
        program = tmp_path / "follower.py"
        program.write_text(FOLLOWER)
    options = load(DOMAINS[name], GIVEN).options(MADE[name], preset="paper")
    wanted = rendering.of_policy(program, DOMAINS[name], options=options, index=index, seed=seed - index)
    theirs = (await rendering.fetch(wanted)).recording
    assert mine.steps == theirs.steps > 10
    assert same(mine.arrays(), theirs.arrays())
    assert mine.info.get("ended_by", info["ended_by"]) == info["ended_by"]


def test_the_goal_is_the_tower_on_c_and_both_successes_are_reported() -> None:
    env = made("memento/HanoiKinematic-v0", randomisation="none", reward="dense")
    observation, info = env.reset(seed=1)
    assert observation["desired_goal"].reshape(4, 3)[:, :2] == pytest.approx(np.array([[0.055, 0.25]] * 4))
    assert goals.upright(observation["desired_goal"])
    assert not info["goal_reached"]
    assert not info["is_success"]
    apart = goals.distances(observation["achieved_goal"], observation["desired_goal"])
    assert apart == pytest.approx([0.5] * 4, abs=0.01)
    _, reward, *_ = env.step(np.zeros(7))
    assert reward == pytest.approx(-0.5, abs=0.01)


def test_a_solved_episode_reaches_the_goal_and_ends_truncated_unless_the_task_is_episodic() -> None:
    for continuing in (True, False):
        env = made("memento/HanoiKinematic-v0", randomisation="none", horizon=1500, continuing_task=continuing)
        observation, info = env.reset(seed=3)
        policy, over = hanoi_kinematic.FrankaPolicy(), False
        policy.reset()
        while not over:
            sees = {field: observation["observation"][where] for field, where in FIELDS.items()}
            observation, reward, terminated, truncated, info = env.step(policy.compute_action(sees))
            over = terminated or truncated
        assert (info["ended_by"], info["is_success"], info["goal_reached"]) == ("success", True, True)
        assert (reward, terminated) == (0.0, not continuing)
        with pytest.raises(ResetNeeded, match="episode is over"):
            env.unwrapped.step(np.zeros(7))


def test_without_a_seed_episodes_differ_and_can_be_repeated() -> None:
    env = made("memento/HanoiKinematic-v0").unwrapped
    first, begun = env.reset(seed=5)
    second, then = env.reset()
    assert (begun["index"], then["index"]) == (0, 1)
    assert not np.array_equal(first["desired_goal"], second["desired_goal"])
    again, _ = env.reset(seed=then["seed"])
    assert np.array_equal(second["observation"], again["observation"])


@pytest.mark.parametrize(("options", "says"), [
    ({"reward": "densee"}, "dense"), ({"preset": "papr"}, "paper"), ({"horizn": 3}, "horizon"),
    ({"randomisation": "tabel"}, "table"),
])
def test_a_wrong_argument_is_one_sentence(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        made("memento/HanoiKinematic-v0", **options)


def test_a_missing_simulator_is_one_sentence_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "memento.domains.hanoi.environment", raising=False)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(UsageError, match=r"the domain hanoi needs mujoco, which is not installed: .*install"):
        made("memento/Hanoi-v0")


def test_a_wrong_action_seed_or_option_of_reset_is_refused() -> None:
    env = made("memento/HanoiKinematic-v0").unwrapped
    with pytest.raises(ResetNeeded):
        env.step(np.zeros(7))
    with pytest.raises(ResetNeeded):
        env.recording()
    with pytest.raises(UsageError, match="from 0 to"):
        env.reset(seed=2**63)
    with pytest.raises(UsageError, match="index"):
        env.reset(seed=1, options={"indx": 2})
    with pytest.raises(UsageError, match="index of an episode"):
        env.reset(seed=1, options={"index": -2})
    env.reset(seed=1)
    for action in (np.zeros(6), np.full(7, np.nan)):
        with pytest.raises(ValueError, match="7 finite numbers"):
            env.step(action)
    assert env.render() is None


def test_the_kitchen_takes_rows_and_names() -> None:
    env = made("memento/Kitchen-v0", scenes=["Kitchen1"]).unwrapped
    arrays, info = env.reset(seed=0)
    for _ in range(4):
        arrays, *_, info = env.step([ACTIONS.index("rotate_left"), 0])
        if arrays["valid"].any():
            break
    number, row = np.argwhere(arrays["valid"])[0]
    name = ACTIONS[5 + number]
    seen = next(
        each for each in info["observation"]["visible_objects"] if each["distance"] == arrays["objects"][row, 1]
    )
    assert seen["objectType"] == TYPES[int(arrays["objects"][row, 0])]
    assert seen["objectId"] in info["observation"]["action_space"][name]
    assert arrays["objects"][row, 2] == float(seen["objectId"].split("|")[1])
    after, _, _, _, info = env.step((name, seen["objectId"]))
    assert info["observation"]["last_action_result"]["object_id"] == seen["objectId"]
    assert after["steps_left"] == arrays["steps_left"] - 1
    for wrong in ([12, 0], [0, ROWS + 1], [0.5, 1.0], [0]):
        with pytest.raises(ValueError, match="an action is"):
            env.step(wrong)


@pytest.mark.slow
def test_two_environments_are_drawn_in_turn() -> None:
    if not drawable():
        pytest.skip("no graphics back end works on this machine")
    one, other = (
        made("memento/HanoiKinematic-v0", render_mode="rgb_array", width=64, height=48).unwrapped for _ in range(2)
    )
    one.reset(seed=1)
    other.reset(seed=2)
    before = one.render()
    assert before.shape == (48, 64, 3)
    other.render()
    assert np.array_equal(one.render(), before)
    for _ in range(5):
        one.step(np.array([1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0]))
    assert not np.array_equal(one.render(), before)
    for env in (one, other):
        env.close()
        env.close()
