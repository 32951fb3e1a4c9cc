"""Ids that nothing registers: which installed module does, found by what it registers, or how to get it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import pytest
from memento.core.errors import UsageError
from memento.domains.gym.loading import make
from memento.domains.gym.names import parse_id

REGISTERS = """
import gymnasium
from gymnasium.envs.classic_control import CartPoleEnv

for task in ("Lift", "Turn"):
    gymnasium.register(f"Gripper{task}-v2", entry_point=CartPoleEnv)
gymnasium.register("Other/Gripper-v0", entry_point=CartPoleEnv)
"""


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An installed package whose inner package registers environments under names that are not its own."""
    inner = tmp_path / "unlike_its_ids" / "tasks"
    inner.mkdir(parents=True)
    (inner.parent / "__init__.py").write_text("")
    (inner / "__init__.py").write_text(REGISTERS)
    about = tmp_path / "unlike_its_ids-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: unlike-its-ids\nVersion: 1.0\n"
                                    "Requires-Dist: gymnasium>=1\n")
    (about / "top_level.txt").write_text("unlike_its_ids\n")
    (about / "RECORD").write_text("unlike_its_ids/__init__.py,,\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "unlike_its_ids"
    for name in [each for each in sys.modules if each.startswith("unlike_its_ids")]:
        del sys.modules[name]
    # Of other packages, which a search for an id imports, what they registered stays: they register once.
    for name in [each for each in gymnasium.registry if "Gripper" in each]:
        del gymnasium.registry[name]


def sentence(identity: str) -> str:
    with pytest.raises(UsageError) as refused:
        make(parse_id(identity), {})
    return str(refused.value)


@pytest.mark.parametrize(("identity", "said"), [
    ("GripperLift-v2", "registers this task: write gym:unlike_its_ids.tasks:GripperLift-v2"),
    ("GripperTurn-v0", "of which 'GripperTurn-v2' is the newest: write gym:unlike_its_ids.tasks:GripperTurn-v2"),
    ("unlike_its_ids:GripperLift-v2", "registers nothing, but the module 'unlike_its_ids.tasks' registers this task"),
    ("Other/Gripper-v0", "write gym:unlike_its_ids.tasks:Other/Gripper-v0"),
])
def test_an_id_is_found_by_what_installed_modules_register(suite: str, identity: str, said: str) -> None:
    assert said in sentence(identity)


@pytest.mark.parametrize(("identity", "said"), [
    ("json:Thing-v0", "was imported and registers no environment"),
    ("memento.tests.support.measured_environments:MeasuredCovr-v0", "MeasuredCover-v0"),
    ("HalfCheetah-v2", "HalfCheetah-v5"),
    ("PongNoFrameskip-v4", "gym:ALE/Pong-v5"),
    ("dm_control/cartpole-swingup-v0", "shimmy[dm-control], or the like, gym:dm_control/cartpole-swingup-v0 works"),
])
def test_an_id_that_nothing_registers_has_a_sentence(identity: str, said: str) -> None:
    assert said in sentence(identity)


def test_a_module_that_registers_with_the_old_gym_is_said_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "of_old.py").write_text("try:\n    import gym\nexcept ImportError:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "but of the old gym: wrap it as in docs/gymnasium.md" in sentence("of_old:Thing-v0")
