"""Tower of Hanoi in robosuite: the environment that a trusted worker steps (paper, appendix A)."""

from collections.abc import Mapping

import mujoco
import numpy as np

from ...core.errors import RolloutError
from ...core.ports import Action
from ...core.recording import Recording
from ...core.values import JSON
from ..arm.physics.choice import PHYSICS, make_physics
from ..arm.simulator import CONTROL_HZ
from . import task
from .options import one_of, settings
from .randomisation import Drawn, Push, draw_pushes, episode_generators
from .recording import ACTION_SIZE, Trace
from .referee import Referee
from .scene import ARENA, HanoiScene
from .sensors import Sensors, observation_layout
from .simulation import Dynamics, Simulation, Truth
from .task import Array

CONTROL_PERIOD_S = 1.0 / CONTROL_HZ
# MuJoCo's counters of dropped contacts and dropped constraints, next to each other.
_OUT_OF_ARENA = slice(int(mujoco.mjtWarning.mjWARN_CONTACTFULL), int(mujoco.mjtWarning.mjWARN_CNSTRFULL) + 1)
IDLE_MOVED_M = 0.005     # a cube farther than this from its last place has moved


class HanoiEnvironment:
    """The four-cube (or 1 to 6) task with a Panda arm at 20 Hz.

    An episode ends with "success", "illegal", "horizon" or, where `idle_stop_s` is set, "idle".
    """

    def __init__(self, options: Mapping[str, JSON], *, observables: bool = False) -> None:
        """Options are complete, as returned by `DOMAIN.options`.

        `observables` keeps robosuite's observables, for speed comparisons.
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
        scene = HanoiScene(
            names=task.cube_names(n_cubes), half_edges_m=self._half_edges, variant=chosen.variant,
            horizon=self._horizon, observables=observables,
        )
        self._overflows = scene.mj_data.warning.number[_OUT_OF_ARENA]    # a view; a reset sets it to 0
        dynamics = Dynamics(scene)
        self.simulation = Simulation(
            scene=scene, dynamics=dynamics, physics=make_physics(physics, scene, goal_update=chosen.goal_update),
            truth=Truth(scene, dynamics, self._half_edges),
        )
        self._about["timestep_s"] = float(scene.mj_model.opt.timestep)
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
        """Begin an episode; `seed` determines everything random in it."""
        draws, noise = episode_generators(seed)
        drawn = self._randomisation.draw(draws, len(self._half_edges))
        pushes = draw_pushes(
            drawn, draws, n_cubes=len(self._half_edges), horizon=self._horizon,
            control_period_s=CONTROL_PERIOD_S,
        )
        self._drawn = drawn
        self._pushes = pushes[::-1]     # the next one is last
        self._sensors = Sensors(drawn, noise, half_edges=self._half_edges, control_period_s=CONTROL_PERIOD_S)
        self.simulation.dynamics.reset(drawn)
        self.simulation.physics.begin()
        truth = self.simulation.truth
        truth.update()
        self._referee.reset(truth.cubes, truth.containers, truth.container_quats)
        self._trace.begin(truth.vector)
        self._steps = 0
        self._ended_by = None
        self._idle_since = 0
        self._idle_anchor = truth.cube_block.copy()

    def observe(self) -> Array:
        """The observation vector of the current state, with sensor noise. Call it once per step."""
        assert self._sensors is not None
        return self._sensors.observe(self.simulation.truth.vector)

    def true_state(self) -> Array:
        """The current state without sensor noise, in the layout of the observation vector."""
        return self.simulation.truth.vector.copy()

    def step(self, action: Action) -> str | None:
        """Apply one action (7,) for 0.05 s; returns the reason why the episode ended, or None."""
        command = np.asarray(action, dtype=np.float64)
        if command.shape != (ACTION_SIZE,):
            raise ValueError(f"an action has {ACTION_SIZE} numbers, not shape {command.shape}")
        self._push()
        self.simulation.physics.step(command)
        if self._overflows.any():
            raise RolloutError(
                f"MuJoCo dropped contacts at step {self._steps}: its arena of {ARENA} is full; increase scene.ARENA"
            )
        self._steps += 1
        truth = self.simulation.truth
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
        """The true trajectory so far, with the episode's draws."""
        assert self._drawn is not None
        return self._trace.recording({
            **self._about,
            "ended_by": self._ended_by,
            "drawn": self._drawn.to_json(),
            **self._referee.info(),
        })

    def close(self) -> None:
        """Release the scene."""
        self.simulation.scene.close()

    def _push(self) -> None:
        while self._pushes and self._pushes[-1].step <= self._steps:
            push = self._pushes[-1]
            self._pushes = self._pushes[:-1]
            self.simulation.dynamics.push(push.cube, push.velocity_m_s)

    def _idle(self) -> bool:
        cubes = self.simulation.truth.cube_block
        if float(np.abs(cubes - self._idle_anchor).max()) > IDLE_MOVED_M:
            self._idle_anchor = cubes.copy()
            self._idle_since = self._steps
        return self._steps - self._idle_since >= self._idle_steps


def _number(options: Mapping[str, JSON], name: str) -> float:
    value = options[name]
    assert isinstance(value, (int, float)), name
    return float(value)
