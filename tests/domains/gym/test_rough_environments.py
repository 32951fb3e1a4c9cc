"""Environments as they are found: what is wrong is named with its fix, and what can be used is used."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from memento.core.errors import UsageError
from memento.core.faults import FaultKind
from memento.core.ports import RollTask
from memento.core.provenance import GIVEN
from memento.core.recording import MISSING
from memento.core.recording_file import load_recording
from memento.core.values import Episode, Program
from memento.domains import import_string, load
from memento.domains.gym import description
from memento.domains.gym.options import settings
from memento.runtime.rollouts.pool import ProcessPool

from ...support.processes import wait_until_gone

ROUGH = "gym:memento.tests.support.rough_environments"


def options_of(kind: str, **given: Any) -> dict[str, Any]:
    return load(f"{ROUGH}:Rough{kind}-v0", GIVEN).options(given, preset="smoke")


def policy(action: str) -> Program:
    return Program(
        f"class Policy:\n    def reset(self):\n        self.t = 0\n\n    def compute_action(self, obs):\n"
        f"        self.t += 1\n        return {action}\n"
    )


def rolled(folder: Path, kind: str, *programs: Program, **given: Any) -> list[Episode]:
    name = f"{ROUGH}:Rough{kind}-v0"

    async def roll() -> list[Episode]:
        splits = {"test": options_of(kind, **given)}
        async with ProcessPool(domain=import_string(name), splits=splits, workers=1, trajectories=folder) as pool:
            return [await pool.roll(RollTask(order=f"o{place}", program=program, split="test", index=0, seed=1))
                    for place, program in enumerate(programs)]

    return asyncio.run(roll())


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "said"), [
    ("LateNoise", "differ"),
    ("OldStep", "returns 4 values"),
    ("OldReset", "does not return (observation, info)"),
    ("OldSeed", "does not return (observation, info)"),
    ("VectorReward", "vector of 2 numbers"),
    ("AgentsReward", "several agents"),
    ("GrowingObservation", "has 3 numbers, its space 2"),
    ("TwoLines", "RuntimeError: actuator 3 is not connected see the manual (rough_environments.py, line "),
    ("Leaves", "SystemExit: no display (rough_environments.py, line "),
])
def test_what_cannot_be_used_is_named_with_its_fix(kind: str, said: str) -> None:
    """Reported for openai/gym#1193, Gymnasium#1179 and #77, MO-Gymnasium#2, and others of the kind."""
    with pytest.raises(UsageError) as refused:
        options_of(kind)
    text = str(refused.value)
    assert f"Rough{kind}-v0" in text and "\n" not in text
    if kind == "LateNoise":
        assert "first in the reward of step 3" in text
    else:
        assert said in text


@pytest.mark.slow
def test_a_late_difference_is_found_in_the_whole_first_episode() -> None:
    known = settings(options_of("LateNoise", check="warn")).description
    assert not known.repeatable and "of step 3" in known.differs


@pytest.mark.slow
def test_an_action_that_the_mask_does_not_allow_is_the_policys_fault(tmp_path: Path) -> None:
    """Reported for stable-baselines3-contrib#145 and ray-project/ray#54600."""
    lawful = policy("1 + int(np.argmax(obs['action_mask']))")
    lawful = Program(f"import numpy as np\n\n\n{lawful.text}")
    good, bad = rolled(tmp_path, "Masked", lawful, policy("1"))
    assert good.fault is None and good.steps == 40
    assert bad.fault is not None and bad.fault.kind is FaultKind.INVALID_ACTION and bad.steps == 0
    assert "action[0] is 1, which action_mask does not allow" in bad.fault.message
    assert "it allows 2, 3, 4, 5" in bad.fault.message and "illegal move 1" in bad.fault.message
    assert load_recording(tmp_path / f"{good.trajectory}.npz").states["action_mask"].shape == (41, 5)
    interface = load(f"{ROUGH}:RoughMasked-v0", GIVEN).brief(options_of("Masked")).policy_interface
    assert "| 1 | the number of the step |" in interface and "`action_mask` has a flag for each choice" in interface


@pytest.mark.slow
def test_a_mask_of_a_method_covers_every_number_of_an_action(tmp_path: Path) -> None:
    domain = load(f"{ROUGH}:RoughMaskedByMethod-v0", GIVEN)
    brief = domain.brief(domain.options({}, preset="smoke"))
    assert "`action_mask`: integers, shape (5,)" in brief.policy_interface
    assert "a flag for each choice, those of one number after those of another" in brief.policy_interface
    lawful = policy("[0 if obs['action_mask'][0] else 1, 0]")
    good, bad = rolled(tmp_path, "MaskedByMethod", lawful, policy("[1, 1]"))
    assert good.fault is None
    assert bad.fault is not None and "action[1] is 1" in bad.fault.message


@pytest.mark.slow
def test_moves_that_raise_without_a_mask_are_looked_at_and_are_the_policys_fault(tmp_path: Path) -> None:
    domain = load(f"{ROUGH}:RoughUnmasked-v0", GIVEN)
    assert "refuses some actions in some states" in domain.brief(options_of("Unmasked")).task
    bad, good = rolled(tmp_path, "Unmasked", policy("1"), policy("1 + self.t % 5"))
    assert good.fault is None
    assert bad.fault is not None and bad.fault.kind is FaultKind.SIMULATOR_FAILED
    assert "ValueError: illegal move 1" in bad.fault.message


@pytest.mark.slow
def test_numbers_of_info_that_change_are_recorded_as_missing_and_keys_never_merge(tmp_path: Path) -> None:
    [episode] = rolled(tmp_path, "OddInfo", policy("1.0"))
    assert episode.fault is None and episode.steps == 40
    assert episode.info[MISSING] == (
        "info_large (a number too large for a float), info_wide (3 numbers, not 1), info_word (no number)"
    )
    arrays = load_recording(tmp_path / f"{episode.trajectory}.npz").actions
    assert {float(arrays[name][0]) for name in arrays if name.startswith("info_near")} == {4.0, 5.0, 6.0}
    assert arrays["info_7"][0] == 8.0 and arrays["info_large"][-1] != arrays["info_large"][-1]


@pytest.mark.slow
def test_a_reward_too_large_for_a_float_ends_the_episode_as_diverged(tmp_path: Path) -> None:
    [episode] = rolled(tmp_path, "Huge", policy("1.0"))
    assert episode.fault is not None and "the environment diverged" in episode.fault.message
    [before] = rolled(tmp_path / "before", "Huge", policy("1.0"), diverged="ends")
    assert before.fault is None and before.ended_by == "diverged"


@pytest.mark.slow
def test_a_box_without_dimensions_gets_what_it_contains(tmp_path: Path) -> None:
    """Reported for openai/gym#2917 and Gymnasium#574."""
    [episode] = rolled(tmp_path, "Scalar", policy("0.5"))
    assert episode.fault is None and episode.steps == 40


def test_programs_that_an_environment_leaves_behind_end_with_the_look_and_with_the_workers(tmp_path: Path) -> None:
    """Reported for CARLA's and Unity's clients, whose servers run in sessions of their own."""
    file = tmp_path / "children"
    begun = time.monotonic()
    rolled(tmp_path / "trajectories", "Parent", policy("0.5"), **{"kwargs.file": str(file)})
    assert time.monotonic() - begun < 100, "nothing waited for the end of the program"
    children = [int(line) for line in file.read_text().split()]
    assert len(children) >= 3
    wait_until_gone(children, within_s=30)      # a zombie has ended: whoever adopted it reaps it when it likes


@pytest.mark.slow
def test_a_slow_simulator_is_reported_and_a_hanging_one_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reported for zhejz/carla-roach#17 and erlerobot/gym-gazebo#53."""
    warned: list[tuple[str, float]] = []
    monkeypatch.setattr(description, "_warn_slow", lambda name, at: warned.append((name, at["rate"])))
    monkeypatch.setattr(description, "SLOW_S", 2.0)
    monkeypatch.setattr(description, "STEP_S", 3.0)
    options_of("Slow", **{"kwargs.step_s": 0.02})
    assert warned and 10 < warned[0][1] < 51
    with pytest.raises(UsageError, match="it hangs: step 1 has not ended in 3 s"):
        options_of("Slow", **{"kwargs.step_s": 60.0})


@pytest.mark.slow
def test_the_duration_of_a_step_is_stated_only_where_it_is_certain() -> None:
    """Reported for the pushing task of LeRobot: `dt` is that of the physics, of which a step has ten."""
    assert settings(options_of("Substeps")).description.step_s is None
    assert settings(options_of("Controlled")).description.step_s == 0.1
    pendulum = load("gym:Pendulum-v1", GIVEN).options({}, preset="smoke")     # its frames are slower than its steps
    assert settings(pendulum).description.step_s == 0.05


HOME = """
import os
import sys
from memento.tests.support.rough_environments import Cart
import gymnasium

if "MY_SIM_HOME" not in os.environ:
    sys.exit("please declare the environment variable 'MY_SIM_HOME'")
gymnasium.register(id="Home-v0", entry_point=Cart, max_episode_steps=20)
"""


@pytest.mark.slow
def test_a_missing_variable_is_said_first_and_a_named_one_reaches_the_look_and_the_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reported for SUMO's tools, which end the process, and others that raise KeyError."""
    (tmp_path / "needs_home.py").write_text(HOME)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("MY_SIM_HOME", "/somewhere/sim")
    policy_file, runs = tmp_path / "p.py", tmp_path / "runs"
    policy_file.write_text(policy("0.5").text)
    command = [sys.executable, "-m", "memento"]
    asked = ["evaluate", str(policy_file), "--domain", "gym:needs_home:Home-v0", "--episodes", "1", "--workers", "1"]
    refused = subprocess.run([*command, *asked], capture_output=True, text=True, timeout=100, check=False)
    assert refused.returncode == 2
    assert "SystemExit: please declare the environment variable 'MY_SIM_HOME'" in refused.stderr
    assert "MY_SIM_HOME is set here, but not passed to simulators: add --env MY_SIM_HOME" in refused.stderr
    done = subprocess.run([*command, *asked, "--env", "MY_SIM_HOME"], capture_output=True, text=True, timeout=100,
                          check=False)
    assert done.returncode == 0 and "20 steps" in done.stdout, done.stderr
    run = ["run", "gym:needs_home:Home-v0", "--preset", "smoke", "--evaluator", "reference", "--runs", str(runs),
           "--name", "home", "--workers", "1", "--env", "MY_SIM_HOME"]
    made = subprocess.run([*command, *run], capture_output=True, text=True, timeout=200, check=False)
    assert made.returncode == 0, made.stderr
    shown = subprocess.run([*command, "show", str(runs / "home"), "--settings"], capture_output=True, text=True,
                           timeout=100, check=True)
    assert "MY_SIM_HOME" in shown.stdout and "/somewhere/sim" not in shown.stdout
    again = subprocess.run([*command, "resume", str(runs / "home")], capture_output=True, text=True, timeout=200,
                           check=False)
    assert again.returncode == 0, again.stderr
