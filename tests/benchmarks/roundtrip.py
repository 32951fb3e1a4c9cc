"""Measures what isolation costs: a policy in a separate process against the same policy called directly.

    python -m memento.tests.benchmarks.roundtrip [--steps 20000] [--one-core]

Prints microseconds per control step for 70 doubles in and 7 out, and milliseconds to start a program process.
Compare the ratios; absolute figures depend on the machine and its load.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from memento.core.ports import Environment
from memento.core.values import Contract, Program
from memento.runtime.rollouts.limits import Limits
from memento.runtime.rollouts.policy_process import PolicyProcess
from memento.runtime.rollouts.program_process import ProgramLauncher
from numpy.typing import NDArray

LAYOUT = tuple((f"field{number}", (7,)) for number in range(10))
CONTRACT = Contract(class_name="Policy", methods=(("reset", 0), ("compute_action", 1)))
TEXT = """
import numpy as np
class Policy:
    def reset(self):
        self.action = np.zeros(7)
    def compute_action(self, obs):
        return self.action
"""


class Vectors:
    """The part of an environment that a policy process needs: its layout."""

    observation_layout = LAYOUT
    action_size = 7


def direct(steps: int, observation: NDArray[np.float64]) -> float:
    """Microseconds per step without any process boundary."""
    namespace: dict[str, Any] = {}
    exec(TEXT, namespace)
    policy = namespace["Policy"]()
    policy.reset()
    return per_step(steps, lambda: policy.compute_action(
        {name: observation[7 * number : 7 * number + 7] for number, (name, _) in enumerate(LAYOUT)}
    ))


def per_step(steps: int, step: Callable[[], object]) -> float:
    """Microseconds, the median of five runs."""
    runs = []
    for _ in range(5):
        begun = time.perf_counter()
        for _ in range(steps // 5):
            step()
        runs.append((time.perf_counter() - begun) / (steps // 5) * 1e6)
    return statistics.median(runs)


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--steps", type=int, default=20_000)
    arguments.add_argument("--one-core", action="store_true", help="worker and policy share a core")
    given = arguments.parse_args()
    if given.one_core:
        os.sched_setaffinity(0, {0})
    observation = np.linspace(0, 1, 70)
    launcher = ProgramLauncher(Limits(episode_cpu_s=1e6, episode_wait_s=1e6), lambda: False)
    starts = []
    for number in range(20):
        begun = time.perf_counter()
        with PolicyProcess(launcher, Program(TEXT), CONTRACT, cast(Environment, Vectors()), seed=number) as policy:
            policy.wait_ready()
            started = time.perf_counter()
        starts.append((1e3 * (started - begun), 1e3 * (time.perf_counter() - started)))
    with PolicyProcess(launcher, Program(TEXT), CONTRACT, cast(Environment, Vectors()), seed=0) as policy:
        policy.wait_ready()
        policy.act(observation)
        isolated = per_step(given.steps, lambda: policy.act(observation))
        cpu = time.process_time()
        for _ in range(given.steps):
            policy.act(observation)
        own = (time.process_time() - cpu) / given.steps * 1e6
    launcher.close()
    plain = direct(given.steps, observation)
    print(f"direct call            {plain:8.1f} µs per step")
    print(f"own process            {isolated:8.1f} µs per step, of which {own:.1f} µs CPU of the worker")
    print(f"start, end of process  {statistics.median(s for s, _ in starts):8.1f} ms, "
          f"{statistics.median(e for _, e in starts):.1f} ms")


if __name__ == "__main__":
    main()
