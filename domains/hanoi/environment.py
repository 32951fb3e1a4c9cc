"""Tower of Hanoi in robosuite: one episode after another, stepped by a trusted worker (paper, appendix A)."""

from collections.abc import Mapping
from typing import Protocol, TypeAlias

import mujoco
import numpy as np
import numpy.typing as npt

from ...core.errors import RolloutError
from ...core.ports import Action
from ...core.recording import Recording
from ...core.values import JSON
from . import task
from .dynamics import Dynamics
from .options import one_of, settings
from .physics.stock import StockPhysics
from .randomisation import Drawn, Push, draw_pushes, episode_generators
from .recording import ACTION_SIZE, Trace
from .referee import Referee
from .scene import ARENA, CONTROL_HZ, HanoiScene
from .sensors import Sensors, observation_layout, observation_size, observation_slices
from .task import Array

Indices: TypeAlias = npt.NDArray[np.intp]

CONTROL_PERIOD_S = 1.0 / CONTROL_HZ
PHYSICS = ("stock", "exact", "near-exact", "fast")
# MuJoCo's counters of contacts and of constraints that it left out, one beside the other.
_OUT_OF_ARENA = slice(int(mujoco.mjtWarning.mjWARN_CONTACTFULL), int(mujoco.mjtWarning.mjWARN_CNSTRFULL) + 1)
IDLE_MOVED_M = 0.005     # a cube that is farther than this from its last place has moved


class Physics(Protocol):
    """A way to compute control steps of a scene."""

    def begin(self) -> None:
        """Take up the scene after its reset."""

    def step(self, action: Array) -> None:
        """Advance one control step."""


def make_physics(name: str, scene: HanoiScene, *, goal_update: str) -> Physics:
    """One of PHYSICS, from slow to fast; "stock" is the yardstick, "exact" has its bits.

    "near-exact" differs from them by rounding; "fast" also lets MuJoCo put objects at rest to sleep, and takes
    14 substeps of 3.6 ms for 25 of 2 ms.
    """
    if name == "stock":
        return StockPhysics(scene, goal_update=goal_update)
    from .physics.compiled import COARSE_SUBSTEPS, CompiledPhysics  # numba's compiler takes a second to load

    if name == "fast":
        return CompiledPhysics(
            scene, goal_update=goal_update, near_exact=True, sleep=True, substeps=COARSE_SUBSTEPS,
        )
    return CompiledPhysics(scene, goal_update=goal_update, near_exact=name == "near-exact")


class HanoiEnvironment:
    """The four-cube (or 3 to 6) task with a Panda arm at 20 Hz.

    An episode ends by "success", "illegal", "horizon" or, where `idle_stop_s` is set, "idle".
    """

    def __init__(self, options: Mapping[str, JSON], *, observables: bool = False) -> None:
        """Options are complete, as `DOMAIN.options` makes them.

        `observables` keeps robosuite's own, for comparisons of speed.
        """
        chosen = settings(options, domain="hanoi")
        n_cubes = chosen.n_cubes
        self._half_edges = task.cube_half_edges(n_cubes)
        self._horizon = chosen.horizon
        self._randomisation = chosen.randomisation
        self._idle_steps = round(_number(options, "idle_stop_s") * CONTROL_HZ)
        physics = one_of(options, "physics", PHYSICS, "hanoi")
        self._about: dict[str, JSON] = {
            "physics": physics, "variant": chosen.variant, "goal_update": chosen.goal_update,
            "randomisation": chosen.preset, "rules": chosen.rules,
        }
        self._scene = HanoiScene(
            names=task.cube_names(n_cubes), half_edges_m=self._half_edges, variant=chosen.variant,
            horizon=self._horizon, observables=observables,
        )
        self._overflows = self._scene.mj_data.warning.number[_OUT_OF_ARENA]    # a view; a reset sets it to 0
        self._dynamics = Dynamics(self._scene)
        self._physics = make_physics(physics, self._scene, goal_update=chosen.goal_update)
        self._about["timestep_s"] = float(self._scene.mj_model.opt.timestep)
        self._truth = _Truth(self._scene, self._dynamics, self._half_edges)
        self._referee = Referee(self._half_edges, rules=chosen.rules, control_period_s=CONTROL_PERIOD_S)
        self._trace = Trace(self._half_edges, control_period_s=CONTROL_PERIOD_S)
        self._drawn: Drawn | None = None
        self._sensors: Sensors | None = None
        self._pushes: tuple[Push, ...] = ()
        self._steps = 0
        self._ended_by: str | None = None
        self.observation_layout: tuple[tuple[str, tuple[int, ...]], ...] | None = observation_layout(n_cubes)
        self.action_size: int | None = ACTION_SIZE

    def reset(self, *, index: int, seed: int) -> None:
        """Begin an episode; everything random in it comes from `seed`."""
        draws, noise = episode_generators(seed)
        drawn = self._randomisation.draw(draws, len(self._half_edges))
        pushes = draw_pushes(
            drawn, draws, n_cubes=len(self._half_edges), horizon=self._horizon,
            control_period_s=CONTROL_PERIOD_S,
        )
        self._drawn = drawn
        self._pushes = pushes[::-1]     # the next one is last
        self._sensors = Sensors(drawn, noise, half_edges=self._half_edges, control_period_s=CONTROL_PERIOD_S)
        self._dynamics.reset(drawn)
        self._physics.begin()
        truth = self._truth
        truth.update()
        self._referee.reset(truth.cubes, truth.containers, truth.container_quats)
        self._trace.begin(truth.vector)
        self._steps = 0
        self._ended_by = None
        self._idle_since = 0
        self._idle_anchor = truth.cube_block.copy()

    def observe(self) -> Array:
        """The observation vector of this moment, with its sensor noise. Once a step."""
        assert self._sensors is not None
        return self._sensors.observe(self._truth.vector)

    def step(self, action: Action) -> str | None:
        """Apply one action (7,) for 0.05 s; returns what ended the episode, or None."""
        command = np.asarray(action, dtype=np.float64)
        if command.shape != (ACTION_SIZE,):
            raise ValueError(f"an action has {ACTION_SIZE} numbers, not shape {command.shape}")
        self._push()
        self._physics.step(command)
        if self._overflows.any():
            raise RolloutError(
                f"MuJoCo left out contacts at step {self._steps}: its arena of {ARENA} is full; see scene.ARENA"
            )
        self._steps += 1
        truth = self._truth
        truth.update()
        self._referee.containers_at(truth.containers, truth.container_quats)
        ended = self._referee.look(truth.eef, truth.cubes)
        self._trace.add(
            truth.vector, command, illegal_score=self._referee.illegal_score, success=self._referee.success,
        )
        if ended is None and self._idle_steps and self._idle():
            ended = "idle"
        if ended is None and self._steps >= self._horizon:
            ended = "horizon"
        self._ended_by = ended
        return ended

    def success(self) -> bool:
        """Whether the tower stood on C at the end, at rest and released."""
        return self._referee.success

    def recording(self) -> Recording:
        """The true trajectory so far, with what was drawn."""
        assert self._drawn is not None
        return self._trace.recording({
            **self._about,
            "ended_by": self._ended_by,
            "drawn": self._drawn.to_json(),
            **self._referee.info(),
        })

    def close(self) -> None:
        """Let go of the scene."""
        self._scene.close()

    def _push(self) -> None:
        while self._pushes and self._pushes[-1].step <= self._steps:
            push = self._pushes[-1]
            self._pushes = self._pushes[:-1]
            self._dynamics.push(push.cube, push.velocity_m_s)

    def _idle(self) -> bool:
        cubes = self._truth.cube_block
        if float(np.abs(cubes - self._idle_anchor).max()) > IDLE_MOVED_M:
            self._idle_anchor = cubes.copy()
            self._idle_since = self._steps
        return self._steps - self._idle_since >= self._idle_steps


class _Truth:
    """The true state as the flat observation vector, and as plain floats for the referee."""

    def __init__(self, scene: HanoiScene, dynamics: Dynamics, half_edges: tuple[float, ...]) -> None:
        n_cubes = len(half_edges)
        slices = observation_slices(n_cubes)
        model, data = scene.mj_model, scene.mj_data
        robot = scene.robots[0]
        self.vector = np.zeros(observation_size(n_cubes))
        self._eef_pos = data.site_xpos[robot.eef_site_id["right"]]
        self._hand_quat = data.xquat[model.body(robot.robot_model.eef_name["right"]).id]
        self._qpos, self._qvel = data.qpos, data.qvel
        arm, fingers = list(robot._ref_joint_pos_indexes), list(robot._ref_gripper_joint_pos_indexes["right"])
        arm_v, fingers_v = list(robot._ref_joint_vel_indexes), list(robot._ref_gripper_joint_vel_indexes["right"])
        to_qpos: list[tuple[slice, list[int]]] = [
            (slices["robot0_gripper_qpos"], fingers),
            (slices["robot0_joint_pos"], arm),
            (slices["cube_pos"], _block(dynamics.cube_qpos, 0, 3)),
            (slices["cube_quat"], _block(dynamics.cube_qpos, 3, 7)),
            (slices["boxes_pos"], _block(dynamics.container_qpos, 0, 3)),
            (slices["boxes_quat"], _block(dynamics.container_qpos, 3, 7)),
        ]
        self._into_from_qpos, self._from_qpos = _indices(to_qpos)
        self._into_from_qvel, self._from_qvel = _indices([
            (slices["robot0_gripper_qvel"], fingers_v), (slices["robot0_joint_vel"], arm_v),
        ])
        self.vector[slices["cube_size"]] = half_edges
        self.cube_block = self.vector[slices["cube_pos"]].reshape(n_cubes, 3)
        self._boxes = self.vector[slices["boxes_pos"]].reshape(3, 3)
        self._boxes_quat = self.vector[slices["boxes_quat"]].reshape(3, 4)
        self.eef: list[float] = []
        self.cubes: list[list[float]] = []
        self.containers: list[list[float]] = []
        self.container_quats: list[list[float]] = []

    def update(self) -> None:
        """Read the simulator."""
        vector = self.vector
        vector[0:3] = self._eef_pos
        vector[3:6] = self._hand_quat[1:]       # robosuite's order: x, y, z, w
        vector[6] = self._hand_quat[0]
        vector[self._into_from_qpos] = self._qpos[self._from_qpos]
        vector[self._into_from_qvel] = self._qvel[self._from_qvel]
        self.eef = vector[0:3].tolist()
        self.cubes = self.cube_block.tolist()
        self.containers = self._boxes.tolist()
        self.container_quats = self._boxes_quat.tolist()


def _block(starts: list[int], first: int, last: int) -> list[int]:
    return [start + k for start in starts for k in range(first, last)]


def _indices(pairs: list[tuple[slice, list[int]]]) -> tuple[Indices, Indices]:
    into = np.concatenate([np.arange(where.start, where.stop) for where, _ in pairs])
    return into, np.concatenate([np.asarray(source, dtype=np.intp) for _, source in pairs])


def _number(options: Mapping[str, JSON], name: str) -> float:
    value = options[name]
    assert isinstance(value, (int, float)), name
    return float(value)
