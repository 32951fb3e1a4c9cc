"""One of robosuite's tasks as a row of the table of `gym_suites`: brief, layout, equal seeds, score and speed.

Speed is control steps per second of CPU time of the worker: the whole environment with the round trip to a policy in
its sandboxed process, and robosuite's bare `env.step` on the same actions. Compare the ratio; absolute figures depend
on the machine. A share above 100 % comes from the compiled control loops, which the bare environment does not have.
"""

import hashlib
import itertools
import json
import subprocess
import sys
from typing import Any, Final

import numpy as np
from memento.core.ports import Environment
from memento.core.values import JSON, Program
from memento.domains import load
from memento.domains.arm.arrays import Array
from memento.domains.arm.simulator import controller_config, quiet_robosuite
from memento.domains.robosuite.scenes import Restack
from memento.domains.robosuite.tasks import TASKS
from memento.runtime.rollouts.limits import Limits
from memento.runtime.rollouts.policy_process import PolicyProcess
from memento.runtime.rollouts.program_process import ProgramLauncher

from .timing import LIMIT_S, fastest

STEPS: Final = 200                  # before an episode of the measurement starts again
DIGEST_STEPS: Final = 40
POLICY: Final = '''
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


def bare_seconds(name: str, seconds: float) -> float:
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
        commands = itertools.cycle(enumerate(actions(task.action_size, STEPS), 1))

        def step() -> bool:
            place, action = next(commands)
            environment.step(action)
            return place == STEPS

        spent = fastest(step, environment.reset, seconds)
        environment.close()
    return spent


def whole_seconds(name: str, environment: Environment, domain: Any, seconds: float) -> float:
    """CPU seconds of the worker for a step with its policy in a sandboxed process."""
    size = TASKS[name].action_size
    environment.reset(index=0, seed=1)
    program = Program(POLICY.replace("{size}", str(size)))
    commands = itertools.cycle(enumerate(actions(size, STEPS), 1))
    launcher = ProgramLauncher(Limits(episode_cpu_s=1e6, episode_wait_s=1e6), lambda: False)
    try:
        with PolicyProcess(launcher, program, domain.contract, environment, seed=0) as policy:
            policy.wait_ready()

            def step() -> bool:
                place, action = next(commands)
                policy.act(environment.observe())       # its answer is not used: both play the same commands
                return environment.step(action) is not None or place == STEPS

            return fastest(step, lambda: environment.reset(index=0, seed=1), seconds)
    finally:
        launcher.close()


def row(name: str, seconds: float) -> dict[str, JSON]:
    """The row of one task."""
    code = "import sys; from .robosuite_tasks import digest; print(digest(sys.argv[1]))"
    elsewhere = subprocess.run(
        [sys.executable, "-c", code, name], capture_output=True, text=True, timeout=LIMIT_S, check=True,
    ).stdout.splitlines()[-1]
    domain = load(f"robosuite:{name}")
    options = domain.options({}, preset="paper")
    brief = domain.brief(options)
    environment = domain.environment(domain.options({"noise": "light"}, preset="paper"))
    here, fitness = _digest(environment, domain, name)
    layout = environment.observation_layout or ()
    environment.reset(index=0, seed=1)
    seen = sum(int(np.prod(shape)) for _, shape in layout)
    right = np.asarray(environment.observe()).size == seen
    whole, bare = whole_seconds(name, environment, domain, seconds), bare_seconds(name, seconds)
    environment.close()
    return {
        "numbers seen": seen, "numbers acted": TASKS[name].action_size, "episode begins": str(options["physics"]),
        "brief": all(f"`{field}`" in brief.policy_interface for field, _ in layout) and bool(brief.task),
        "layout": bool(right), "seeds": here == elsewhere, "score": round(fitness, 3),
        "bare steps per CPU s": round(1.0 / bare), "steps per CPU s": round(1.0 / whole),
        "share": f"{100 * bare / whole:.0f} %", "overhead": f"{1e6 * (whole - bare):.0f} µs",
    }
