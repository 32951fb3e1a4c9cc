"""The two Towers of Hanoi as Gymnasium goal environments."""

from collections.abc import Mapping
from typing import Any, Final, Protocol, cast

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ...core.errors import no_such
from ...core.ports import Environment, Playback
from ...core.recording import Recording
from ...core.values import JSON
from ..hanoi import task
from ..hanoi.recording import ACTION_SIZE
from ..hanoi.sensors import observation_size, observation_slices
from . import goals
from .episodes import HEIGHT, WIDTH, DomainEnv, broken_rule

Array = NDArray[np.float64]

LARGEST: Final = 1e6        # bound of every number of an observation: far beyond what a scene holds


class HanoiWorld(Environment, Protocol):
    """What both Hanoi environments of the domains offer."""

    def true_state(self) -> Array:
        """The current state without sensor noise, in the layout of the observation vector."""


class GoalEnv(DomainEnv):
    """A Tower of Hanoi as a goal environment. For the paper's four cubes:

    ## Observation
    A dict of float64 vectors.
    | Key | Size | Content |
    |-----|------|---------|
    | observation   | 78 | what a policy sees, with sensor noise: see below |
    | achieved_goal | 12 | the cubes' true positions (m), world frame: small, medium, large, xlarge; x, y, z each |
    | desired_goal  | 12 | their positions in the tower on C, where C stands at the start of the episode |

    `observation`, field by field:
    | Index | Field | Unit |
    |-------|-------|------|
    | 0-2   | robot0_eef_pos, the end effector | m |
    | 3-6   | robot0_eef_quat, x y z w | 1 |
    | 7-8   | robot0_gripper_qpos, the two fingers | m |
    | 9-10  | robot0_gripper_qvel | m/s |
    | 11-17 | robot0_joint_pos | rad |
    | 18-24 | robot0_joint_vel | rad/s |
    | 25-36 | cube_pos, small to large, x y z | m |
    | 37-52 | cube_quat, small to large, w x y z | 1 |
    | 53-56 | cube_size, half-edges, small to large | m |
    | 57-65 | boxes_pos, the containers A, B, C, x y z | m |
    | 66-77 | boxes_quat, w x y z | 1 |

    ## Action
    Seven numbers in [-1, 1]: movement x, y, z, rotation about x, y, z, and the gripper (1 closes, -1 opens). The
    domain's interface says what a unit of each moves.

    ## Reward
    `reward="sparse"`: 0 where all cubes are within 0.025 m of their goals, else -1. `reward="dense"`: minus the mean
    distance (m), plus 5 where all are within 0.025 m, minus 1 where a larger cube is not below every smaller one.
    `compute_reward` is vectorised, for hindsight.

    ## End
    An episode ends by the task's own rules, "success" or "illegal", or at the horizon. Both rewards are those of a
    task that goes on, so every end is reported as truncated, unless `continuing_task` is False: then "success" and
    "illegal" are reported as terminated. With the sparse reward an agent then learns that an illegal move ends the
    costs.

    ## Info
    "is_success" is the task's own success predicate; "goal_reached" is that of hindsight, all cubes within 0.025 m.
    The last step also has "ended_by", and "broken_rule" where a rule was broken.
    """

    environment: HanoiWorld

    def __init__(
        self, *, domain: str, reward: str, continuing_task: bool, preset: str, render_mode: str | None,
        camera: str | None, width: int, height: int, options: Mapping[str, JSON],
    ) -> None:
        if reward not in goals.REWARDS:
            raise no_such("reward", reward, goals.REWARDS)
        super().__init__(
            domain, options, preset=preset, render_mode=render_mode, camera=camera, width=width, height=height,
        )
        self.reward = reward
        self.continuing_task = continuing_task
        n_cubes = cast(int, self.options["n_cubes"])
        self._n_cubes = n_cubes
        self._slices = observation_slices(n_cubes)
        self._cubes = self._slices["cube_pos"]
        self._goal = np.zeros(3 * n_cubes)
        self._goal_floats: list[float] = []
        self.action_space = spaces.Box(-1.0, 1.0, (ACTION_SIZE,), np.float32)
        self.observation_space = spaces.Dict({
            "observation": _box(observation_size(n_cubes)),
            "achieved_goal": _box(3 * n_cubes),
            "desired_goal": _box(3 * n_cubes),
        })

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode: see `DomainEnv` for seeds. Raises UsageError for an option other than "index"."""
        about = self._begin(seed, options)
        truth = self.environment.true_state()
        place = task.hole_centre(
            truth[self._slices["boxes_pos"]].reshape(3, 3), truth[self._slices["boxes_quat"]].reshape(3, 4)
        )[task.TARGET]
        self._goal = np.array(task.tower(self._n_cubes, (float(place[0]), float(place[1])))).reshape(-1)
        self._goal_floats = self._goal.tolist()
        observation = self._observe(truth)
        reached = bool(goals.is_reached(observation["achieved_goal"], self._goal))
        return observation, {**about, "is_success": False, "goal_reached": reached}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """One control step with an action of shape (7,), finite; float64 keeps all its digits.

        Raises ValueError for another action, and ResetNeeded after the end of the episode.
        """
        command = np.asarray(action, dtype=np.float64)
        if command.shape != (ACTION_SIZE,) or not np.isfinite(command).all():
            raise ValueError(f"an action is {ACTION_SIZE} finite numbers, not {action!r}")
        ended = self._advance(command)
        observation = self._observe(self.environment.true_state())
        achieved = observation["achieved_goal"]
        reward, reached = goals.judge(self.reward, achieved.tolist(), self._goal_floats)
        info: dict[str, Any] = {"is_success": self.environment.success(), "goal_reached": reached}
        if ended is not None:
            info["ended_by"] = ended
            if ended == "illegal":
                info["broken_rule"] = broken_rule(self.environment)
        terminated = ended in ("success", "illegal") and not self.continuing_task
        return observation, reward, terminated, ended is not None and not terminated, info

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: object) -> Any:
        """The reward for goals of shape (..., 3 n) in metres: a float for one goal, else (...) of float64.

        `info` is not used. `step` returns the same numbers.
        """
        found = goals.reward_of(self.reward, achieved_goal, desired_goal)
        return float(found) if found.ndim == 0 else found

    def _observe(self, truth: Array) -> dict[str, Any]:
        return {
            "observation": self.environment.observe(),
            "achieved_goal": truth[self._cubes],
            "desired_goal": self._goal.copy(),
        }

    # A recording of one row, into which the latest row is copied: a playback of it draws the current state.

    def _new_playback(self, recording: Recording) -> Playback:
        self._row = recording.end(0)
        return super()._new_playback(self._row)

    def _picture(self, playback: Playback) -> Any:
        assert self._row is not None
        latest = self.recording()
        for name, rows in self._row.states.items():
            rows[0] = latest.states[name][-1]
        return playback.picture(0)


def _box(size: int) -> spaces.Box:
    return spaces.Box(-LARGEST, LARGEST, (size,), np.float64)


class HanoiEnv(GoalEnv):
    """`memento/Hanoi-v0`: with a simulated Franka Panda in robosuite, 20 Hz. See `GoalEnv`.

    Keyword arguments other than those listed are the options of the domain `hanoi`: `variant` ("cube", "asymmetric",
    "cylinder"), `randomisation` ("none", "light", "table", "hard"), `physics` ("exact", "fast", "near-exact",
    "stock"), `horizon` (control steps of 0.05 s), `rules`, `goal_update`, `n_cubes`, `idle_stop_s` and the ranges of
    the randomisation. Raises UsageError for an unknown option or value.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}      # noqa: RUF012 - Gymnasium declares it so

    def __init__(
        self, *, reward: str = "sparse", continuing_task: bool = True, preset: str = "paper",
        render_mode: str | None = None, camera: str | None = None, width: int = WIDTH, height: int = HEIGHT,
        **options: JSON,
    ) -> None:
        super().__init__(
            domain="hanoi", reward=reward, continuing_task=continuing_task, preset=preset, render_mode=render_mode,
            camera=camera, width=width, height=height, options=options,
        )


class HanoiKinematicEnv(GoalEnv):
    """`memento/HanoiKinematic-v0`: without a physics engine, 5 Hz, thousands of steps per second. See `GoalEnv`.

    Keyword arguments other than those listed are the options of the domain `hanoi-kinematic`: `randomisation`,
    `horizon` (control steps of 0.2 s), `rules`, `goal_update`, `n_cubes` and the ranges of the randomisation.
    Raises UsageError for an unknown option or value.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 5}      # noqa: RUF012 - Gymnasium declares it so

    def __init__(
        self, *, reward: str = "sparse", continuing_task: bool = True, preset: str = "paper",
        render_mode: str | None = None, camera: str | None = None, width: int = WIDTH, height: int = HEIGHT,
        **options: JSON,
    ) -> None:
        super().__init__(
            domain="hanoi-kinematic", reward=reward, continuing_task=continuing_task, preset=preset,
            render_mode=render_mode, camera=camera, width=width, height=height, options=options,
        )
