"""Measures the kitchen: steps per second through the whole environment, with the policy in a separate process.

    python -m memento.tests.benchmarks.kitchen [--recordings FOLDER] [--scene FloorPlan1] [--episodes 40]

The policy cycles through the actions; object actions take the valid ids in turn. Recorded kitchens are used if
their folder is named (or set in KITCHEN_RECORDINGS), else a generated one. Figures:

    steps_per_s                     wall clock, from reset to the last action; processes are made beforehand
    worker_cpu_us_per_step          CPU time of the process with the simulator
    policy_cpu_us_per_step          CPU time of the policy's process
    steps_per_cpu_s                 steps per second of CPU time of both together: what one core would give
    first_episode_steps_per_s       the same for the first episode in a kitchen, with empty caches
"""

import argparse
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from memento.core.values import JSON, Program
from memento.domains.kitchen import DOMAIN
from memento.domains.kitchen.environment import KitchenEnvironment
from memento.domains.kitchen.options import RECORDINGS_VARIABLE
from memento.runtime.rollouts.limits import Limits
from memento.runtime.rollouts.policy_process import PolicyProcess
from memento.runtime.rollouts.program_process import ProgramLauncher, cpu_clock

EPISODES = 40
CYCLER = Program('''
class Policy:
    """Every action in turn; object actions on the ids that are valid, one after another."""

    def __init__(self, seed=0):
        self.turn = seed

    def reset(self):
        pass

    def compute_action(self, obs):
        self.turn += 1
        name = obs["available_actions"][self.turn % 11]
        ids = obs["action_space"].get(name)
        if ids is None:
            return name, None
        return (name, ids[self.turn // 11 % len(ids)]) if ids else ("rotate_left", None)
''')


@dataclass(slots=True)
class Tally:
    """The cost of some episodes: steps, and seconds of wall clock, of the worker's CPU, of the policy's CPU."""

    steps: int = 0
    wall_s: float = 0.0
    worker_s: float = 0.0
    policy_s: float = 0.0


def measure(
    *, recordings: Path | None = None, scene: str | None = None, episodes: int = EPISODES,
) -> dict[str, JSON]:
    """Play and sum up. Every episode after the first n begins at a pose drawn from its seed, as in a search."""
    recordings = recordings or (Path(os.environ[RECORDINGS_VARIABLE]) if RECORDINGS_VARIABLE in os.environ else None)
    given: dict[str, JSON] = {"scenes": [scene or ("Kitchen1" if recordings is None else "FloorPlan1")]}
    if recordings is not None:
        given |= {"backend": "recorded", "recordings": str(recordings)}
    environment = DOMAIN.environment(DOMAIN.options(given, preset="paper"))
    assert isinstance(environment, KitchenEnvironment)
    launcher = ProgramLauncher(Limits(), lambda: False)
    environment.reset(index=0, seed=0)      # the kitchen is made
    first, rest = Tally(), Tally()
    try:
        for index in range(episodes):
            _play(launcher, environment, index, rest if index else first)
    finally:
        launcher.close()
    return {
        "scene": str(environment.recording().info["scene"]), "episodes": episodes, "steps": rest.steps,
        "steps_per_s": round(rest.steps / rest.wall_s),
        "worker_cpu_us_per_step": round(1e6 * rest.worker_s / rest.steps, 1),
        "policy_cpu_us_per_step": round(1e6 * rest.policy_s / rest.steps, 1),
        "steps_per_cpu_s": round(rest.steps / (rest.worker_s + rest.policy_s)),
        "first_episode_steps_per_s": round(first.steps / first.wall_s),
    }


def _play(launcher: ProgramLauncher, environment: KitchenEnvironment, index: int, tally: Tally) -> None:
    with PolicyProcess(launcher, CYCLER, DOMAIN.contract, environment, seed=index) as policy:
        policy.wait_ready()
        policy_clock = cpu_clock(policy.pid)
        wall, worker, theirs = time.perf_counter(), time.process_time(), policy_clock()
        environment.reset(index=index, seed=index)
        ended = None
        while ended is None:
            ended = environment.step(policy.act(environment.observe_encoded()))
            tally.steps += 1
        tally.wall_s += time.perf_counter() - wall
        tally.worker_s += time.process_time() - worker
        tally.policy_s += policy_clock() - theirs


def main() -> None:
    """Measure with the command line's figures and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recordings", type=Path)
    parser.add_argument("--scene")
    parser.add_argument("--episodes", type=int, default=EPISODES)
    given = parser.parse_args()
    figures = measure(recordings=given.recordings, scene=given.scene, episodes=given.episodes)
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
