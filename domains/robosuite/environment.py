"""A robosuite task as a trusted worker steps it."""

from collections.abc import Mapping

import mujoco
import numpy as np

from ...core.errors import RolloutError
from ...core.ports import Action
from ...core.recording import Array as AnyArray
from ...core.recording import Recording
from ...core.values import JSON
from ..arm.arrays import Array
from ..arm.sensors import ObjectSensors
from ..arm.simulator import CONTROL_HZ
from .noise import DrawnNoise
from .options import settings
from .physics import make_steps
from .readings import Truth, noisy_entries
from .scenes import ARENA, make_scene
from .tasks import TASKS, layout

CONTROL_PERIOD_S = 1.0 / CONTROL_HZ
_OUT_OF_ARENA = slice(int(mujoco.mjtWarning.mjWARN_CONTACTFULL), int(mujoco.mjtWarning.mjWARN_CNSTRFULL) + 1)


class RobosuiteEnvironment:
    """One task at 20 Hz. An episode ends with "success", "stopped" (by robosuite's own rules) or "horizon".

    `scene`, `steps` and `truth` are public for tests and benchmarks, which compare them with robosuite.
    """

    def __init__(self, name: str, options: Mapping[str, JSON]) -> None:
        self._name, self._task = name, TASKS[name]
        self._chosen = settings(self._task, options)
        self.scene = make_scene(name, self._task, horizon=self._chosen.horizon)
        self._generator = self.scene.rng        # robosuite's samplers hold references to it
        self._overflows = self.scene.mj_data.warning.number[_OUT_OF_ARENA]
        self.steps = make_steps(
            self._task, self.scene, physics=self._chosen.physics, goal_update=self._chosen.goal_update,
        )
        self.truth = Truth(self.scene, self._task)
        self._noisy = noisy_entries(self._task, self.truth.slices)
        self._sensors: ObjectSensors | None = None
        self._drawn: DrawnNoise | None = None
        self._rows: list[tuple[Array, Array]] = []          # true state, qpos
        self._actions: list[Array] = []
        self._rewards: list[float] = []
        self._successes: list[bool] = []
        self._seed, self._ended_by = 0, ""
        fields = layout(self._task)
        self.observation_layout: tuple[tuple[str, tuple[int, ...]], ...] | None = tuple(
            (field.name, (field.size,)) for field in fields
        )
        self.action_size: int | None = self._task.action_size

    def reset(self, *, index: int, seed: int) -> None:
        """Begin an episode; `seed` determines everything random in it."""
        draws, noise = (np.random.default_rng(part) for part in np.random.SeedSequence(seed).spawn(2))
        self._generator.bit_generator.state = draws.bit_generator.state
        scene = self.scene
        scene.reset()
        # Forward passes inside the reset began from model and poses of the last episode.
        scene.mj_data.qacc_warmstart[:] = 0.0
        mujoco.mj_forward(scene.mj_model, scene.mj_data)
        self.steps.begin()
        self.truth.update()
        positions, orientations = self._noisy
        self._drawn = self._chosen.ranges.draw(noise, len(positions) // 3)
        self._sensors = ObjectSensors(
            self._drawn, noise, positions=positions, orientations=orientations, control_period_s=CONTROL_PERIOD_S,
        )
        self._seed, self._ended_by = seed, ""
        self._rows, self._actions = [], []
        self._rewards, self._successes = [], []
        self._record()

    def observe(self) -> Array:
        """The observation vector of the current state, with sensor noise. Call it once per step."""
        assert self._sensors is not None
        return self._sensors.observe(self.truth.vector)

    def step(self, action: Action) -> str | None:
        """Apply one action for 0.05 s; returns the reason why the episode ended, or None. Values are clipped."""
        command = np.array(action, dtype=np.float64)
        if command.shape != (self.action_size,):
            raise ValueError(f"an action has {self.action_size} numbers, not shape {command.shape}")
        np.clip(command, -1.0, 1.0, out=command)
        self.steps.step(command.copy())
        if self._overflows.any():
            raise RolloutError(
                f"MuJoCo dropped contacts at step {len(self._actions)}: its arena of {ARENA} is full;"
                " increase scenes.ARENA"
            )
        self.truth.update()
        self._actions.append(command)
        self._record()
        if self._successes[-1]:
            self._ended_by = "success"
        elif self.steps.stopped:
            self._ended_by = "stopped"
        elif len(self._actions) >= self._chosen.horizon:
            self._ended_by = "horizon"
        return self._ended_by or None

    def success(self) -> bool:
        """Whether robosuite's `_check_success` holds in the last state."""
        return self._successes[-1]

    def recording(self) -> Recording:
        """The true trajectory so far, with the episode's draws."""
        assert self._drawn is not None
        states = np.array([row for row, _ in self._rows], dtype=np.float32)
        recorded: dict[str, AnyArray] = {
            name: states[:, where].copy() for name, where in self.truth.slices.items()
        }
        recorded["qpos"] = np.array([qpos for _, qpos in self._rows], dtype=np.float32)
        recorded["reward"] = np.array(self._rewards)
        return Recording(
            states={**recorded, "success": np.array(self._successes, dtype=np.bool_)},
            actions={"actions": np.array(self._actions).reshape(len(self._actions), self._task.action_size)},
            constants={"control_period_s": np.array(CONTROL_PERIOD_S)},
            info={
                "task": self._name, "seed": self._seed, "ended_by": self._ended_by,
                "physics": self._chosen.physics, "goal_update": self._chosen.goal_update,
                "noise": self._chosen.noise, "drawn": self._drawn.to_json(),
            },
        )

    def close(self) -> None:
        """Release the scene."""
        self.scene.close()

    def _record(self) -> None:
        self._rows.append((self.truth.vector.copy(), self.scene.mj_data.qpos.copy()))
        self._rewards.append(self.steps.reward)
        self._successes.append(bool(self.scene._check_success()))
