"""Whole runs whose model takes its time: idle workers roll episodes out ahead, and nothing else of the run changes."""

import dataclasses
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from memento.app.ahead import rolls_ahead
from memento.core.errors import UsageError
from memento.core.events import EpisodeEnded, Fact, RolledAhead, RunResumed, RunStarted, RunStopped, StageEntered
from memento.core.order_ids import FRESH, parse
from memento.core.ports import Rig
from memento.core.recording_file import SUFFIX, trajectory_key
from memento.memory.runs import TRAJECTORIES
from memento.settings import build_settings

from ..support.processes import members_of, start_process, wait_until_gone
from .conftest import Runs, kill

LATE = """
import asyncio
from memento.models.offline.model import OfflineModel

complete = OfflineModel.complete


async def later(self, ask):
    await asyncio.sleep(1.0)
    return await complete(self, ask)


OfflineModel.complete = later
from memento.cli import main

main()
"""
"""The program, with an offline model that takes a while. It reads no prompt, so its replies depend on orders alone."""

SEARCH = (
    "gym:Pendulum-v1", "--preset", "smoke", "--seed", "5", "--set", "evaluator=reference", "--set", "generations=2",
    "--set", "k_hc=2", "--set", "k_macro=2", "--set", "k_cross=1", "--set", "n_roll=2", "--set", "racing=false",
    "--set", "confirm_episodes=9", "--set", "choice_episodes=16", "--set", "keep_trajectories=true",
)
MACHINES = {"wall_s", "cpu_s", "times", "latency_s", "node", "call"}
"""What differs from run to run: times, and prompts, which show times."""


class Late(Runs):
    """Starts the program with the late model."""

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", LATE, *arguments, "--runs", str(self.folder)]
        return start_process(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )

    def recordings(self, name: str) -> set[str]:
        """The files among the recordings of a run."""
        return {path.name for path in (self.folder / name / TRAJECTORIES).iterdir()}

    def run(self, name: str, ahead: str, workers: int) -> None:
        """A whole run."""
        self.call("run", *SEARCH, "--set", f"roll_ahead={ahead}", "--workers", str(workers), "--name", name)


@pytest.fixture
def late(tmp_path: Path) -> Late:
    return Late(tmp_path / "runs")


def timeless(value: Any) -> Any:
    """Plain values without what depends on the machine."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kept = [field.name for field in dataclasses.fields(value) if field.name not in MACHINES]
        return type(value).__name__, {name: timeless(getattr(value, name)) for name in kept}
    if isinstance(value, dict):
        return {key: timeless(each) for key, each in value.items() if key not in MACHINES}
    return [timeless(each) for each in value] if isinstance(value, list | tuple) else value


def log_of(facts: Sequence[Fact]) -> list[str]:
    """All facts of the search and its stages in a canonical order, without times; answers may arrive in any order."""
    own = (RunStarted, RunResumed, RunStopped, RolledAhead)
    return sorted(repr(timeless(fact)) for fact in facts if not isinstance(fact, own))


def figures(facts: Sequence[Fact]) -> tuple[int, int]:
    """The episodes that were rolled out ahead, and those that were used."""
    found = [fact for fact in facts if isinstance(fact, RolledAhead)]
    return sum(fact.episodes for fact in found), sum(fact.used for fact in found)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_run_is_the_same_with_it_and_without_on_any_number_of_workers(late: Late) -> None:
    late.run("off", "off", 2)
    late.run("one", "on", 1)
    late.run("two", "on", 2)
    off = late.facts("off")
    assert figures(off) == (0, 0)
    fresh = sum(parse(fact.order or "").stage in FRESH for fact in off if isinstance(fact, EpisodeEnded))
    assert fresh >= 6
    for name in ("one", "two"):
        facts = late.facts(name)
        assert log_of(facts) == log_of(off)
        rolled, used = figures(facts)
        assert rolled >= used >= 1
        assert late.recordings(name) == late.recordings("off")
    late.call("run", "--replay", str(late.folder / "two"), "--name", "again")
    again = late.facts("again")
    assert figures(again) == (0, 0), "a replay waits for no model"
    assert log_of(again) == log_of(off)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_run_that_is_killed_or_stopped_leaves_no_other_files_and_goes_on_to_the_same_end(late: Late) -> None:
    late.run("whole", "off", 2)
    draw = random.Random(3)
    process = late.start(
        "run", *SEARCH, "--set", "roll_ahead=on", "--workers", "2", "--name", "killed", "--json"
    )
    late.await_first_fact("killed")
    for way in ("kill", "stop", "kill", "stop"):
        _await_search(late, "killed")
        time.sleep(draw.uniform(0.2, 1.5))
        started = members_of(process.pid)
        if process.poll() is None and way == "kill":
            kill(process)
        elif process.poll() is None:
            subprocess.run([sys.executable, "-c", LATE, "stop", "killed", "--runs", str(late.folder)], check=False,
                           capture_output=True, timeout=60)
            process.communicate(timeout=60)
        wait_until_gone(started)
        named = {f"{trajectory_key(fact.order or '')}{SUFFIX}" for fact in late.facts("killed")
                 if isinstance(fact, EpisodeEnded)}
        unnamed = {name for name in late.recordings("killed") - named if not name.startswith(".")}
        assert len(unnamed) <= 2, "at most the ordered ones that had just ended"
        process = late.start("resume", "killed", "--workers", "2", "--json")
    late.finish(process)
    assert log_of(late.facts("killed")) == log_of(late.facts("whole"))
    assert late.recordings("killed") == late.recordings("whole")


def _await_search(late: Late, name: str) -> None:
    deadline_s = time.monotonic() + 100
    while not any(isinstance(fact, StageEntered) and fact.stage == "search" for fact in late.facts(name)):
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


class Simulated:
    """A domain without a robot, as far as anybody knows."""


class Arm:
    """A domain that moves the one arm there is."""

    def rig(self, options: object) -> Rig:
        return Rig(description="", bounds={}, one_at_a_time=True)


@pytest.mark.parametrize(("domain", "by_itself"), [
    ("hanoi-kinematic", True), ("robosuite:Stack", True), ("gym:Pendulum-v1", True), ("kitchen", True),
    ("mine.domain:DOMAIN", False),
])
def test_it_is_on_by_itself_where_an_episode_costs_nothing_but_time(domain: str, by_itself: bool) -> None:
    settings = build_settings({"domain": "hanoi-kinematic"}, environment={})
    assert settings.roll_ahead == "auto"
    of_it = settings.model_copy(update={"domain": domain, "model": "lab:some-model"})
    assert rolls_ahead(of_it, Simulated()) is by_itself
    assert rolls_ahead(of_it.model_copy(update={"roll_ahead": "on"}), Simulated())
    assert not rolls_ahead(of_it.model_copy(update={"roll_ahead": "off"}), Simulated())
    assert not rolls_ahead(settings.model_copy(update={"domain": domain}), Simulated()), "that model never waits"


def test_a_real_arm_never_moves_ahead_of_an_order() -> None:
    settings = build_settings({"domain": "hanoi-kinematic"}, environment={}).model_copy(update={"model": "lab:x"})
    assert not rolls_ahead(settings, Arm())
    with pytest.raises(UsageError, match="never right on a real arm"):
        rolls_ahead(settings.model_copy(update={"roll_ahead": "on"}), Arm())


def test_the_papers_preset_and_a_search_without_fresh_episodes_have_none() -> None:
    assert build_settings({"domain": "hanoi-kinematic", "preset": "paper"}, environment={}).roll_ahead == "off"
    with pytest.raises(UsageError, match="'roll_ahead' has no effect without fresh episodes"):
        build_settings({"domain": "hanoi-kinematic", "preset": "smoke"}, assignments=["roll_ahead=on"], environment={})
