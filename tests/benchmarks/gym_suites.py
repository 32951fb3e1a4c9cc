"""Environments of many suites as domains: brief, layout, equal seeds, score, no leftovers, and speed.

    python -m memento.tests.benchmarks.gym_suites [--seconds 0.5] [SUITE|ID ...]

Every environment is tried in a separate process. Seeds are equal if a second process makes the same recording bit for
bit. Leftovers are processes that outlive the one that tried it. Speed is steps per second of CPU time of the worker, in
the fastest chunk, with random actions: the bare Gymnasium environment, and the whole of MEMENTO's environment,
recording and round trip to a policy in its sandboxed process, whose own time does not count. Prints a table in
Markdown.
"""

import argparse
import ctypes
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from memento.core.ports import Action, Choosing, Environment
from memento.core.provenance import GIVEN
from memento.core.values import JSON, Contract, Program
from memento.domains import load
from memento.domains.robosuite.tasks import TASKS

from .timing import LIMIT_S, fastest

SUITES: Final[Mapping[str, tuple[str, ...]]] = {
    "classic control": ("CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Acrobot-v1", "Pendulum-v1"),
    "toy text": ("FrozenLake-v1", "CliffWalking-v1", "Taxi-v4", "Blackjack-v1"),
    "Box2D": ("LunarLander-v3", "LunarLanderContinuous-v3", "BipedalWalker-v3", "BipedalWalkerHardcore-v3",
              "CarRacing-v3"),
    "MuJoCo": ("HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5", "Swimmer-v5", "Reacher-v5", "Pusher-v5",
               "InvertedPendulum-v5", "InvertedDoublePendulum-v5", "Humanoid-v5", "HumanoidStandup-v5"),
    "Gymnasium-Robotics": (
        "FetchReach-v4", "FetchPush-v4", "FetchSlide-v4", "FetchPickAndPlace-v4", "HandReach-v3",
        "HandManipulateBlock-v1", "AdroitHandDoor-v1", "AdroitHandHammer-v1", "AdroitHandPen-v1",
        "AdroitHandRelocate-v1", "PointMaze_UMaze-v3", "PointMaze_Medium-v3", "AntMaze_UMaze-v5", "FrankaKitchen-v1",
    ),
    "Meta-World": tuple(f"Meta-World/MT1 {task}" for task in (
        "reach-v3", "push-v3", "pick-place-v3", "door-open-v3", "drawer-close-v3", "button-press-v3",
        "peg-insert-side-v3", "window-open-v3",
    )),
    "MiniGrid": ("MiniGrid-Empty-8x8-v0", "MiniGrid-DoorKey-8x8-v0", "MiniGrid-FourRooms-v0",
                 "MiniGrid-KeyCorridorS3R3-v0", "MiniGrid-ObstructedMaze-1Dl-v0", "MiniGrid-LavaGapS7-v0",
                 "MiniGrid-MemoryS7-v0", "MiniGrid-Unlock-v0", "BabyAI-GoToRedBall-v0", "BabyAI-GoToLocal-v0"),
    "highway-env": ("highway-v0", "highway-fast-v0", "parking-v0", "roundabout-v0", "merge-v0", "intersection-v0",
                    "racetrack-v0"),
    "robosuite": tuple(f"robosuite:{name}" for name in TASKS),
}
COLUMNS: Final = ("suite", "environment", "numbers seen", "numbers acted", "episode begins", "brief", "layout", "seeds",
                  "score", "leftovers",
                  "bare steps per CPU s", "steps per CPU s", "share", "overhead")
DIGEST_STEPS: Final = 40
POLICY: Final = '''
class Policy:
    def reset(self):
        pass

    def compute_action(self, obs):
        return {action}
'''
_SUBREAPER: Final = 36      # Linux: orphans become children of this process


def name_and_options(text: str) -> tuple[str, dict[str, JSON]]:
    """The domain and the given options of an id; a second word is the argument `env_name`."""
    environment_id, _, task = text.partition(" ")
    return f"gym:{environment_id}", {"kwargs.env_name": task} if task else {}


# ------------------------------------------------------------------------------------- in a separate process


def tried(text: str, seconds: float) -> dict[str, JSON]:
    """The row of one environment."""
    if text.startswith("robosuite:"):
        from .robosuite_tasks import row

        return row(text.removeprefix("robosuite:"), seconds)
    from memento.domains.gym.options import settings

    name, given = name_and_options(text)
    domain = load(name, GIVEN)
    options = domain.options(given, preset="quick")
    known = settings(options).description
    brief = domain.brief(options)
    environment = domain.environment(options)
    environment.reset(index=0, seed=7)
    layout = environment.observation_layout
    seen = environment.observe()
    shapes = sum(int(np.prod(shape)) for _, shape in layout or ())
    right = isinstance(seen, dict) if layout is None else np.asarray(seen).shape == (shapes,)
    here, fitness = recorded(environment, domain.reference_evaluator())
    there = json.loads(subprocess.run(
        [sys.executable, "-m", "memento.tests.benchmarks.gym_suites", "--digest", name, json.dumps(options)],
        capture_output=True, text=True, timeout=LIMIT_S, check=True).stdout.splitlines()[-1])
    bare, whole = speeds(environment, domain.contract, options, seconds)
    environment.close()
    return {
        "numbers seen": shapes if layout is not None else "JSON", "numbers acted": sum(x.size for x in known.action),
        "episode begins": known.mode,
        "brief": all(f"`{leaf.name}`" in brief.policy_interface for leaf in known.observation) and bool(brief.task),
        "layout": bool(right), "seeds": here == there and known.repeatable, "score": round(fitness, 3),
        "bare steps per CPU s": round(1.0 / bare), "steps per CPU s": round(1.0 / whole),
        "share": f"{100 * bare / whole:.0f} %", "overhead": f"{1e6 * (whole - bare):.0f} µs",
    }


def recorded(environment: Environment, evaluator: Program | None) -> tuple[str, float]:
    """A digest of the recording of one short episode of random actions, and its fitness."""
    rng, total = np.random.default_rng(3), hashlib.sha256()
    environment.reset(index=0, seed=7)
    for _ in range(DIGEST_STEPS):
        if environment.step(drawn(environment, rng)) is not None:
            break
    recording = environment.recording()
    for key, array in sorted(recording.arrays().items()):
        total.update(key.encode() + np.ascontiguousarray(array).tobytes())
    space: dict[str, Any] = {"__name__": "evaluator"}
    exec(evaluator.text if evaluator is not None else "", space)
    fitness, metrics = space["Evaluator"]().evaluate(recording.arrays())
    json.dumps(metrics, allow_nan=False)
    return total.hexdigest()[:16], float(fitness)


def drawn(environment: Environment, rng: np.random.Generator) -> Action:
    """A random action in the form that the environment takes."""
    assert isinstance(environment, Choosing)
    action = environment.random_action(rng)
    return action.tolist() if environment.action_size is None and isinstance(action, np.ndarray) else action


def speeds(
    environment: Environment, contract: Contract, options: Mapping[str, JSON], seconds: float,
) -> tuple[float, float]:
    """CPU seconds per step of the bare environment, and with everything."""
    from memento.domains.gym.loading import Simulator
    from memento.domains.gym.names import parse_id
    from memento.domains.gym.options import settings
    from memento.runtime.rollouts.limits import Limits
    from memento.runtime.rollouts.policy_process import PolicyProcess
    from memento.runtime.rollouts.program_process import ProgramLauncher

    known = settings(options).description
    simulator = Simulator(parse_id(known.id), known.kwargs, max_episode_steps=known.horizon, mode=known.mode)
    simulator.begin(1)
    simulator.env.action_space.seed(1)
    actions = [simulator.env.action_space.sample() for _ in range(64)]
    state = {"steps": 0}

    def bare_step() -> bool:
        state["steps"] += 1
        _, _, terminated, truncated, _ = simulator.env.step(actions[state["steps"] % 64])
        return bool(terminated or truncated)

    bare = fastest(bare_step, lambda: simulator.begin(1), seconds)
    simulator.close()
    rng = np.random.default_rng(3)
    draws = [drawn(environment, rng) for _ in range(64)]
    assert isinstance(environment, Choosing)
    idle = environment.idle_action()
    text = POLICY.replace("{action}", repr(idle.tolist() if isinstance(idle, np.ndarray) else idle))
    launcher = ProgramLauncher(Limits(episode_cpu_s=1e6, episode_wait_s=1e6), lambda: False)
    try:
        environment.reset(index=0, seed=1)
        with PolicyProcess(launcher, Program(text), contract, environment, seed=0) as policy:
            policy.wait_ready()

            def whole_step() -> bool:
                state["steps"] += 1
                policy.act(environment.observe())       # its answer is not used: both play random actions
                return environment.step(draws[state["steps"] % 64]) is not None

            whole = fastest(whole_step, lambda: environment.reset(index=0, seed=1), seconds)
    finally:
        launcher.close()
    return bare, whole


# ------------------------------------------------------------------------------------------------- the whole run


def row_of(suite: str, text: str, seconds: float) -> dict[str, JSON]:
    """Try one environment in its own process, and count the processes that it leaves."""
    command = [sys.executable, "-m", "memento.tests.benchmarks.gym_suites", "--one", text, "--seconds", str(seconds)]
    found: dict[str, JSON] = {"suite": suite, "environment": text}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True)
        found |= json.loads(done.stdout.splitlines()[-1])
    except subprocess.CalledProcessError as error:
        found["brief"] = (error.stderr.strip().splitlines() or ["failed without a word"])[-1][:200]
    except subprocess.TimeoutExpired:
        found["brief"] = f"no end in {LIMIT_S:g} s"
    found["leftovers"] = len(leftovers())
    return found


def leftovers() -> list[int]:
    """The processes that became children of this one because their parents ended; they are ended here."""
    tasks = Path(f"/proc/{os.getpid()}/task")
    left = [int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()]
    for pid in left:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return left


def shown(value: JSON) -> str:
    """One cell of the table."""
    return {True: "yes", False: "**no**"}[value] if isinstance(value, bool) else str(value)


def print_row(row: Mapping[str, JSON], columns: Sequence[str]) -> None:
    """One line of the table."""
    print("|", " | ".join(shown(row.get(column, "")) for column in columns), "|", flush=True)


def main() -> None:
    """Try the environments and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=float, default=0.5, help="of each of the two measurements of speed")
    arguments.add_argument("--one", help=argparse.SUPPRESS)
    arguments.add_argument("--digest", nargs=2, help=argparse.SUPPRESS)
    arguments.add_argument("names", nargs="*", help="of suites and of environments; by default all")
    given = arguments.parse_args()
    if given.one:
        print(json.dumps(tried(given.one, given.seconds)))
    elif given.digest:
        domain = load(given.digest[0], GIVEN)
        environment = domain.environment(json.loads(given.digest[1]))
        print(json.dumps(recorded(environment, domain.reference_evaluator())[0]))
        environment.close()
    else:
        table(given.names, given.seconds)


def table(names: Sequence[str], seconds: float) -> None:
    """Try these suites and environments, by default all, and print a row for each."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    print("|", " | ".join(COLUMNS), "|\n" + "|---" * len(COLUMNS) + "|", flush=True)
    for suite, members in SUITES.items():
        for text in members:
            if not names or text in names or suite in names:
                print_row(row_of(suite, text, seconds), COLUMNS)


if __name__ == "__main__":
    main()
