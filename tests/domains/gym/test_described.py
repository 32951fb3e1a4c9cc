"""What a brief says of an environment beside its class docstring: its own code, its bodies, where numbers come from."""

import sys
from dataclasses import dataclass
from enum import Enum
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from memento.core.provenance import GIVEN
from memento.domains import load
from memento.domains.gym.bodies import bodies_text
from memento.domains.gym.documentation import clean, listed_names, without_other_modes
from memento.domains.gym.facts import arguments_text
from memento.domains.gym.model_facts import model_text, plain_attributes
from memento.domains.gym.origins import origins
from memento.domains.gym.own_code import action_names, success_code

DESCRIBED = "gym:memento.tests.support.described_environments:Described-v0"


class Turn(Enum):
    LEFT = 0
    RIGHT = 1


@dataclass
class Moves:
    up: int = 0
    down: int = 1
    stay: int = 2


class Coded(gymnasium.Env[Any, Any]):
    def __init__(self, reward_type: str = "sparse", reach: float = 0.5) -> None:
        """Make it.

        Args:
            reward_type (str, optional): ``sparse`` pays 1 at the goal; ``dense`` pays its height. It is not changed.
            reach: How far the arm reaches.
        """
        self.observation_space, self.action_space = spaces.Box(-1, 1, (4,)), spaces.Discrete(3)
        self.k, self.gain = 3.0, 4.0
        self.wind_speed = 2.5       # in m/s, against the motion
        self.goal_pose = np.array([2.0, 3.0])   # x, y
        self.other_pose = np.array([2.0, 3.0])
        self.actions = Moves()
        self.threshold_m = 0.04
        self.stiffness = 100.0      # PD control.z
        self.dt = 0.01
        self.best_so_far = 0.0

    def step(self, action: Any) -> Any:
        self.best_so_far = max(self.best_so_far, float(action))
        done = self._near(action)
        return None, 0.0, done, False, {"is_success": done}

    def _near(self, distance: float) -> bool:
        return distance < self.threshold_m


def test_constants_have_the_meaning_that_the_code_gives_or_are_left_out() -> None:
    bare = Coded()
    text = model_text(bare, plain_attributes(bare))
    assert "wind_speed = 2.5 (in m/s, against the motion)" in text
    assert "goal_pose = [2, 3] (x, y)" in text
    assert "threshold_m = 0.04" in text and "dt = 0.01" in text
    assert "stiffness = 100" in text and "control.z" not in text, "a comment that is no sentence"
    for state in ("best_so_far", "other_pose", "k = "):     # state, or a name that says nothing
        assert state not in text


def test_the_code_says_what_success_is() -> None:
    assert success_code(Coded(), "is_success") == (
        "`is_success` is `self._near(action)`, where `_near` returns `distance < self.threshold_m` and "
        "`self.threshold_m` is 0.04")
    assert success_code(Coded(), "solved") == ""


def test_choices_have_the_names_of_a_method_an_enum_or_a_dataclass(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = Coded()
    assert action_names(bare, 3) == ["up", "down", "stay"]
    assert action_names(bare, 2) == []
    monkeypatch.setattr(sys.modules[__name__], "Actions", Turn, raising=False)
    assert action_names(bare, 2) == ["LEFT", "RIGHT"]
    monkeypatch.setattr(Coded, "get_action_meanings", lambda self: ["a", "b", "c"], raising=False)
    assert action_names(bare, 3) == ["a", "b", "c"]


def test_arguments_have_what_the_docstring_of_init_says_of_them() -> None:
    text = arguments_text(Coded(), {}, Coded.__init__.__doc__ or "")
    assert "- reward_type = 'sparse' (``sparse`` pays 1 at the goal; ``dense`` pays its height)" in text
    assert "- reach = 0.5 (How far the arm reaches)" in text
    assert "reward_type" not in clean("Reach.\n\nArgs:\n    reward_type (str): what pays.\n\n## Rewards\n\nOne.")


def test_text_for_modes_that_are_not_in_force_is_left_out_and_listed_names_are_read() -> None:
    text = ("### Observation Space\n\nIf `mode` is set to `state`: [agent_x, agent_y,\nangle].\n\n"
            "If `mode` is `pixels`, a picture:\n- `image`: 96 x 96\n\nAll are floats in [0, 1].")
    kept = without_other_modes(text, {"mode": "state"})
    assert "agent_x" in kept and "picture" not in kept and "All are floats" in kept
    assert without_other_modes(text, {}) == text
    table = listed_names(kept, "Observation", 3)
    assert table is not None and [row[1] for row in table.rows] == ["agent_x", "agent_y", "angle"]
    assert listed_names(kept, "Observation", 2) is None and listed_names(kept, "Action", 3) is None


def test_numbers_are_grouped_by_where_they_come_from() -> None:
    rng = np.random.default_rng(1)
    rows = [{"qpos": rng.normal(size=3), "robot.get_obs": rng.normal(size=2), "flag": np.ones(1)} for _ in range(8)]
    observed = np.array([[1.0, *row["qpos"][1:], *row["robot.get_obs"], rng.normal()] for row in rows])
    assert origins(observed, rows, {"qpos": ["x of hull", "angle of hip", "angle of knee"]}) == (
        ("not found in the environment's state", 1), ("angle of hip", 1), ("angle of knee", 1), ("robot.get_obs", 2),
        ("not found in the environment's state", 1))
    assert origins(rng.normal(size=(8, 4)), rows, {}) == ()


def test_a_muscle_is_no_motor_and_a_general_actuator_is_described() -> None:
    mujoco = pytest.importorskip("mujoco")
    from memento.domains.gym.mujoco_model import mujoco_text

    model = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><body name="arm"><joint name="hip" range="-1 1"/>
      <site name="tip"/><geom size="0.1" mass="2"/></body></worldbody>
      <tendon><fixed name="string"><joint joint="hip" coef="1"/></fixed></tendon>
      <actuator><motor joint="hip"/><position joint="hip" kp="7"/><velocity joint="hip" kv="3"/>
        <muscle tendon="string" ctrllimited="true" ctrlrange="0 1" lengthrange="0 1" force="40"/>
        <general joint="hip" gainprm="5" biastype="affine" biasprm="1 -2 0"/></actuator>
      <sensor><accelerometer name="imu" site="tip"/></sensor></mujoco>""")
    text = mujoco_text(object(), model)
    kinds = [line.split(" | ")[-1].removesuffix(" |") for line in text.splitlines() if line.startswith("| ")]
    for kind in ("motor", "position servo, gain 7", "velocity servo, gain 3",
                 "general: force = 5 * control +1 -2 * length"):
        assert kind in kinds
    assert "muscle: it only pulls" in text and "peak force 40" in text
    assert "| imu | accelerometer | site tip on body arm |" in text.replace("(In every row", "")


def test_the_bodies_of_box2d_are_read() -> None:
    pytest.importorskip("Box2D", reason="box2d is not installed: the extra suites")
    env = gymnasium.make("LunarLander-v3")
    env.reset(seed=0)
    lander = env.unwrapped.lander       # type: ignore[attr-defined]
    text = bodies_text(env.unwrapped)
    env.close()
    assert f"| lander | dynamic | {lander.mass:.4g} | {lander.inertia:.4g} |" in text
    assert "lander and legs[0]" in text and "0.4 to 0.9" in text and "Gravity is [0, -10]" in text
    assert "motor: yes" in text and "speed" not in text, "what a motor does at a moment is of the last action"


def test_the_bodies_of_pymunk_are_read() -> None:
    pymunk = pytest.importorskip("pymunk", reason="pymunk is not installed; it comes with gym-pusht")
    bare = Coded()
    bare.space, bare.block = pymunk.Space(), pymunk.Body(1.5, 20.0)     # type: ignore[attr-defined]
    bare.space.add(bare.block, pymunk.Circle(bare.block, 4.0))          # type: ignore[attr-defined]
    assert "| block | dynamic | 1.5 | 20 | [0, 0] | circle, radius 4, centre [0, 0] | 0 |" in bodies_text(bare)


def test_the_bodies_of_pybullet_are_read() -> None:
    pybullet = pytest.importorskip("pybullet", reason="pybullet is not installed; it comes with panda-gym")
    from pybullet_utils.bullet_client import BulletClient

    bare = Coded()
    bare.client = BulletClient(pybullet.DIRECT)     # type: ignore[attr-defined]
    shape = bare.client.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.2)      # type: ignore[attr-defined]
    bare.client.createMultiBody(3.0, shape)         # type: ignore[attr-defined]
    text = bodies_text(bare)
    bare.client.disconnect()                        # type: ignore[attr-defined]
    assert "| base | 3 |" in text and "sphere, radius 0.2" in text


@pytest.mark.slow
def test_a_look_finds_all_of_it() -> None:
    domain = load(DESCRIBED, GIVEN)
    brief = domain.brief(domain.options({}, preset="smoke"))
    assert "In its code `is_success` is `bool(self.arm.height > self.goal)`, where `self.goal` is 3." in brief.task
    assert "- pay = 2 (what a step at the goal pays)" in brief.task
    assert "| 0 | arm.height |" in brief.policy_interface
    assert "| 1-2 | arm.get_joints |" in brief.policy_interface or "| 1 | arm.get_joints |" in brief.policy_interface
    assert "0 LOWER; 1 LIFT." in brief.policy_interface
