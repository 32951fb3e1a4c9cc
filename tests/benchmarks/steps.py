"""Control steps per second of the robosuite domain: robosuite itself, this project's paths, and bare MuJoCo.

All run in one process, one thread and in turns, over the same episodes from the same states, so that a busy
machine slows all of them alike. Time is the process's CPU time. For this project's paths it is the whole environment
and this side of the round trip to a policy in a separate process; the policy's own time is reported separately.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
from memento.core.values import JSON, Program
from memento.domains.arm.physics.compiled import CompiledPhysics
from memento.domains.arm.physics.symbols import mj_step
from memento.domains.hanoi import DOMAIN, task
from memento.domains.hanoi.environment import HanoiEnvironment
from memento.domains.hanoi.task import Array
from memento.runtime.rollouts.limits import Limits
from memento.runtime.rollouts.policy_process import PolicyProcess
from memento.runtime.rollouts.program_process import ProgramLauncher
from numba import njit

from .workers import ROUNDS, measure_workers

RATIOS = {
    "exact_over_stock": ("exact", "stock"),
    "exact_over_bare": ("exact", "bare"),
    "near_exact_over_bare": ("near-exact", "bare"),
    "fast_over_stock": ("fast", "stock"),
    "fast_over_bare_sleep": ("fast", "bare-sleep"),
    "fast_over_bare_fast": ("fast", "bare-fast"),
}
# Goals of the hand, relative to the smallest cube or to B's corner of the table top, and the gripper's command.
WAYPOINTS = (
    ((0.0, 0.0, 0.08), False, -1.0), ((0.0, 0.0, 0.0), False, -1.0), ((0.0, 0.0, 0.0), False, 1.0),
    ((0.055, -0.2, 0.28), True, 1.0), ((0.055, 0.0, 0.28), True, 1.0), ((0.055, 0.0, 0.025), True, 1.0),
    ((0.055, 0.0, 0.025), True, -1.0), ((0.055, 0.0, 0.2), True, -1.0),
)
WAYPOINT_STEPS = 25


# Its replies are not used: the actions are the same for all paths.
POLICY = Program("""
class FrankaPolicy:
    def reset(self):
        self.action = [0.0] * 7

    def compute_action(self, obs):
        return self.action
""")
UNBOUNDED = Limits(episode_cpu_s=1e6, episode_wait_s=1e6)


@dataclass(slots=True)
class _Path:
    """One way to step, and its CPU seconds per round."""

    environment: HanoiEnvironment
    run: Callable[["_Path", Array], None]
    seconds: list[float] = field(default_factory=list)
    controls: Array = field(default_factory=lambda: np.empty(0))
    policy: PolicyProcess | None = None


def measure(
    *, rounds: int = 8, steps: int = 200, seed: int = 0, goal_update: str = "achieved", worker_rounds: int = ROUNDS,
) -> dict[str, JSON]:
    """Steps per CPU second of each path and the ratios named in RATIOS (medians over rounds of paired ratios).

    "stock" is robosuite's `env.step` with its own robot observables; "exact", "near-exact" and "fast" are
    the environment as a worker steps it, with observation, round trip, referee and recording; "bare" is
    `mj_step` on the controls that "exact" computed, in a compiled loop, and "bare-sleep" the same with
    MuJoCo's sleep flag, on its own controls; "bare-fast" replays those of "fast", with its flag and its longer
    substeps. Two workers over one are of wall time (tests/benchmarks/workers.py).
    """
    figures = measure_paths(rounds=rounds, steps=steps, seed=seed, goal_update=goal_update)
    ratios = figures["ratios"]
    assert isinstance(ratios, dict)
    for name, physics in (("two_workers_over_one", "exact"), ("two_workers_over_one_fast", "fast")):
        workers = measure_workers(physics, rounds=worker_rounds, seed=seed)
        ratios[name] = workers.pop("ratio")
        figures[f"workers_{physics}"] = workers
    return figures


def measure_paths(*, rounds: int, steps: int, seed: int, goal_update: str) -> dict[str, JSON]:
    """The measurement of `measure` in one process, without the workers."""
    launcher = ProgramLauncher(UNBOUNDED, lambda: False)
    try:
        return _measure_with(launcher, rounds=rounds, steps=steps, seed=seed, goal_update=goal_update)
    finally:
        launcher.close()


def _measure_with(
    launcher: ProgramLauncher, *, rounds: int, steps: int, seed: int, goal_update: str
) -> dict[str, JSON]:
    paths = {name: _Path(_environment(name, goal_update), _run_whole) for name in ("exact", "near-exact", "fast")}
    paths["stock"] = _Path(_environment("stock", goal_update, observables=True), _run_stock)
    for name, source in (("bare", "exact"), ("bare-fast", "fast")):
        paths[name] = _Path(paths[source].environment, _run_bare)
    paths["bare-sleep"] = _Path(_sleeping(goal_update), _run_bare)
    for number in range(rounds + 1):
        actions = _actions(paths["exact"].environment, seed + number, steps)
        for name in ("bare", "bare-sleep", "bare-fast"):
            _log_controls(seed + number, actions, paths[name])
        names = sorted(paths) if number % 2 else sorted(paths, reverse=True)
        for name in names:
            paths[name].environment.reset(index=0, seed=seed + number)
            with _policy(launcher, paths[name]) as policy:
                paths[name].policy = policy
                started = time.process_time()
                paths[name].run(paths[name], actions)
                spent = time.process_time() - started
            if number:      # the first round warms up
                paths[name].seconds.append(spent)
    return {
        "unit": "control steps per CPU second",
        "rounds": rounds,
        "steps_a_round": steps,
        "goal_update": goal_update,
        "steps_per_s": {name: round(steps / median(path.seconds), 1) for name, path in sorted(paths.items())},
        "ratios": {name: round(_ratio(paths[a], paths[b]), 3) for name, (a, b) in RATIOS.items()},
    }


def _ratio(faster: _Path, slower: _Path) -> float:
    return median(b / a for a, b in zip(faster.seconds, slower.seconds, strict=True))


def _environment(physics: str, goal_update: str, *, observables: bool = False) -> HanoiEnvironment:
    options = DOMAIN.options({"physics": physics, "goal_update": goal_update}, preset="paper")
    return HanoiEnvironment(options, observables=observables)


def _sleeping(goal_update: str) -> HanoiEnvironment:
    """Set the sleep flag alone of the changes in "fast"."""
    environment = _environment("near-exact", goal_update)
    simulation = environment.simulation
    simulation.physics = CompiledPhysics(simulation.scene, goal_update=goal_update, near_exact=True, sleep=True)
    return environment


def _actions(environment: HanoiEnvironment, seed: int, steps: int) -> Array:
    """The actions of a typical policy by true positions: take the smallest cube from A, set it down in B, return."""
    environment.reset(index=0, seed=seed)
    truth = environment.simulation.truth
    actions = np.zeros((steps, 7))
    for step in range(steps):
        offset, above_b, grip = WAYPOINTS[step // WAYPOINT_STEPS % len(WAYPOINTS)]
        goal = np.array(offset) + (np.array(task.CONTAINER_XY_M[task.SPARE] + (task.TABLE_HEIGHT_M,))
                                   if above_b else np.array(truth.cubes[0]))
        actions[step, :3] = np.clip(8.0 * (goal - np.array(truth.eef)), -1.0, 1.0)
        actions[step, 6] = grip
        environment.step(actions[step])
    return actions


def _policy(launcher: ProgramLauncher, path: _Path) -> PolicyProcess:
    """A policy in a separate sandboxed process, ready to act."""
    policy = PolicyProcess(launcher, POLICY, DOMAIN.contract, path.environment, seed=0)
    policy.wait_ready()
    return policy


def _run_whole(path: _Path, actions: Array) -> None:
    environment, policy = path.environment, path.policy
    assert policy is not None
    for action in actions:
        policy.act(environment.observe())
        environment.step(action)


def _run_stock(path: _Path, actions: Array) -> None:
    scene = path.environment.simulation.scene
    for action in actions:
        scene.step(action)


def _run_bare(path: _Path, _: Array) -> None:
    scene = path.environment.simulation.scene
    _replay(scene.mj_model._address, scene.mj_data._address, scene.mj_data.ctrl, path.controls)


@njit
def _replay(model, data, ctrl, controls):  # type: ignore[no-untyped-def]
    for row in range(controls.shape[0]):
        for i in range(ctrl.size):
            ctrl[i] = controls[row, i]
        mj_step(model, data)


def _log_controls(seed: int, actions: Array, into: _Path) -> None:
    """The controls (steps * substeps, 9) of an episode into `into`; a replay of them must end where it did."""
    environment = into.environment
    environment.reset(index=0, seed=seed)
    physics, scene = environment.simulation.physics, environment.simulation.scene
    assert isinstance(physics, CompiledPhysics)
    rows = np.empty((len(actions), physics.substeps, scene.mj_model.nu))
    for row, action in zip(rows, actions, strict=True):
        physics.step(action, log=row)
    into.controls = rows.reshape(-1, scene.mj_model.nu)
    end = scene.mj_data.qpos.copy()
    environment.reset(index=0, seed=seed)
    _run_bare(into, actions)
    if not np.array_equal(end, scene.mj_data.qpos):
        raise AssertionError("the replay of the controls did not end in the episode's final state")


if __name__ == "__main__":
    options: dict[str, Any] = {name: int(value) for name, value in (word.split("=") for word in sys.argv[1:])}
    print(json.dumps(measure(**options), indent=2))
