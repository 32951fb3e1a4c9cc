"""All robosuite tasks: brief made, layout right, the same seed equal in two processes, recordings scored, and speed.

    python -m memento.benchmarks.robosuite_tasks [--steps 200] [TASK ...]

Speed is control steps per second of CPU time of the worker: the whole environment with the round trip to a policy in
its sandboxed process, and robosuite's bare `env.step` on the same actions. Compare the ratio; absolute figures depend
on the machine.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.ports import Environment
from ..core.values import JSON, Program
from ..domains import load
from ..domains.arm.arrays import Array
from ..domains.arm.simulator import controller_config, quiet_robosuite
from ..domains.robosuite.scenes import Restack
from ..domains.robosuite.tasks import TASKS
from ..runtime.rollouts.limits import Limits
from ..runtime.rollouts.policy_process import PolicyProcess
from ..runtime.rollouts.program_process import ProgramLauncher

STEPS = 200
DIGEST_STEPS = 40
POLICY = '''
import numpy as np


class FrankaPolicy:
    def reset(self):
        self.action = np.zeros({size})

    def compute_action(self, obs):
        return self.action
'''


def actions(size: int, steps: int) -> Array:
    """Commands that are held for a while, of moderate size."""
    rng = np.random.default_rng(0)
    return np.repeat(rng.uniform(-0.4, 0.4, (steps // 10 + 1, size)), 10, axis=0)[:steps]


def digest(name: str) -> str:
    """A digest of the observations and the recording of one short episode."""
    domain = load(f"robosuite:{name}")
    environment = domain.environment(domain.options({"noise": "light"}, preset="paper"))
    found = _digest(environment, domain, name)[0]
    environment.close()
    return found


def _digest(environment: Environment, domain: Any, name: str) -> tuple[str, float]:
    total = hashlib.sha256()
    environment.reset(index=0, seed=7)
    for action in actions(TASKS[name].action_size, DIGEST_STEPS):
        total.update(np.asarray(environment.observe()).tobytes())
        if environment.step(action):
            break
    recording = environment.recording()
    for array in recording.arrays().values():
        total.update(np.ascontiguousarray(array).tobytes())
    space: dict[str, Any] = {"__name__": "evaluator"}
    exec(domain.reference_evaluator().text, space)
    fitness, metrics = space["Evaluator"]().evaluate(recording.arrays())
    json.dumps(metrics, allow_nan=False)
    return total.hexdigest()[:16], float(fitness)


def bare_seconds(name: str, steps: int) -> float:
    """CPU seconds for a step of robosuite itself, as a user would make it, with observations of the state."""
    task = TASKS[name]
    from robosuite.environments.base import REGISTERED_ENVS

    made = Restack if name == "Restack" else REGISTERED_ENVS[name]
    with quiet_robosuite():
        environment = made(
            robots=["Panda"] * task.arms, controller_configs=[controller_config() for _ in range(task.arms)],
            use_camera_obs=False, has_renderer=False, has_offscreen_renderer=False, renderer="mujoco",
            reward_shaping=True, ignore_done=True, hard_reset=False, seed=0,
        )
        environment.reset()
        started = time.process_time()
        for action in actions(task.action_size, steps):
            environment.step(action)
        spent = time.process_time() - started
        environment.close()
    return spent / steps


def whole_seconds(name: str, environment: Environment, domain: Any, launcher: ProgramLauncher, steps: int) -> float:
    """CPU seconds of the worker for a step with its policy in a sandboxed process."""
    size = TASKS[name].action_size
    environment.reset(index=0, seed=1)
    program = Program(POLICY.replace("{size}", str(size)))
    done = 0
    with PolicyProcess(launcher, program, domain.contract, environment, seed=0) as policy:
        policy.wait_ready()
        started = time.process_time()
        for action in actions(size, steps):
            policy.act(environment.observe())
            ended = environment.step(action)
            done += 1
            if ended:
                break
        spent = time.process_time() - started
    return spent / done


def measure(names: Sequence[str] = (), *, steps: int = STEPS) -> dict[str, dict[str, JSON]]:
    """One row for each task: brief, layout, equal seeds, score, steps per CPU second, share of robosuite's own."""
    names = names or tuple(TASKS)
    code = (
        "import json, sys; from memento.benchmarks.robosuite_tasks import digest;"
        " print(json.dumps({name: digest(name) for name in sys.argv[1:]}))"
    )
    other = subprocess.run(
        [sys.executable, "-c", code, *names], capture_output=True, text=True, timeout=1800, check=True,
    )
    elsewhere: dict[str, str] = json.loads(other.stdout.splitlines()[-1])
    launcher = ProgramLauncher(Limits(episode_cpu_s=1e6, episode_wait_s=1e6), lambda: False)
    rows: dict[str, dict[str, JSON]] = {}
    try:
        for name in names:
            rows[name] = _row(name, elsewhere[name], launcher, steps)
    finally:
        launcher.close()
    return rows


def _row(name: str, elsewhere: str, launcher: ProgramLauncher, steps: int) -> dict[str, JSON]:
    domain = load(f"robosuite:{name}")
    options = domain.options({}, preset="paper")
    brief = domain.brief(options)
    environment = domain.environment(domain.options({"noise": "light"}, preset="paper"))
    here, fitness = _digest(environment, domain, name)
    layout = environment.observation_layout or ()
    environment.reset(index=0, seed=1)
    right = np.asarray(environment.observe()).size == sum(shape[0] for _, shape in layout)
    whole, bare = whole_seconds(name, environment, domain, launcher, steps), bare_seconds(name, steps)
    environment.close()
    return {
        "physics": str(options["physics"]),
        "brief_characters": len(brief.task) + len(brief.policy_interface),
        "layout_right": bool(right),
        "seeds_equal": here == elsewhere,
        "scored": round(fitness, 4),
        "steps_per_cpu_s": round(1.0 / whole, 1),
        "robosuite_steps_per_cpu_s": round(1.0 / bare, 1),
        "ratio": round(bare / whole, 2),
    }


def main() -> None:
    """Measure and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--steps", type=int, default=STEPS)
    arguments.add_argument("tasks", nargs="*")
    given = arguments.parse_args()
    rows = measure(given.tasks, steps=given.steps)
    columns = [*next(iter(rows.values()))]
    print("| task |", " | ".join(columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    for name, row in rows.items():
        print("|", " | ".join([name, *(str(row[column]) for column in columns)]), "|")


if __name__ == "__main__":
    main()
