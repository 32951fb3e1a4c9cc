"""The environment of the kinematic Hanoi task: world, sensors, referee and trace, stepped together."""

from collections.abc import Mapping

import numpy as np

from ...core.ports import Action, Observation
from ...core.recording import Recording
from ...core.values import JSON
from ..hanoi.options import settings
from ..hanoi.randomisation import draw_pushes, episode_generators
from ..hanoi.recording import ACTION_SIZE, Trace
from ..hanoi.referee import Referee
from ..hanoi.sensors import Sensors, observation_layout
from ..hanoi.task import Array, cube_half_edges
from .hand import CONTROL_PERIOD_S, TRACKING_STD_M
from .world import World

NAME = "hanoi-kinematic"


class KinematicHanoi:
    """Implements `core.ports.Environment`. An episode depends only on the options and its seed."""

    def __init__(self, options: Mapping[str, JSON]) -> None:
        """`options` as completed by the domain. Raises UsageError."""
        self.settings = settings(options, domain=NAME)
        self.half_edges = cube_half_edges(self.settings.n_cubes)
        self.observation_layout: tuple[tuple[str, tuple[int, ...]], ...] | None = (
            observation_layout(self.settings.n_cubes))
        self.action_size: int | None = ACTION_SIZE
        self._referee = Referee(
            self.half_edges, rules=self.settings.rules, control_period_s=CONTROL_PERIOD_S)
        self._trace = Trace(self.half_edges, control_period_s=CONTROL_PERIOD_S)

    def reset(self, *, index: int, seed: int) -> None:
        """Begin an episode. It depends on the seed only; the index is not used."""
        settings, n_cubes = self.settings, self.settings.n_cubes
        rng, sensor_rng = episode_generators(seed)
        self._drawn = settings.randomisation.draw(rng, n_cubes)
        self._pushes = list(reversed(draw_pushes(
            self._drawn, rng, n_cubes=n_cubes, horizon=settings.horizon, control_period_s=CONTROL_PERIOD_S)))
        self._tracking = (TRACKING_STD_M * rng.standard_normal((settings.horizon, 3))).tolist()
        self.world = World(
            self._drawn, rng, half_edges=self.half_edges, accumulate=settings.goal_update == "desired")
        self._sensors = Sensors(
            self._drawn, sensor_rng, half_edges=self.half_edges, control_period_s=CONTROL_PERIOD_S)
        self._steps = 0
        self._ended_by: str | None = None
        self._joints = self.world.hand.joints()
        cubes = self.world.cubes
        quats = [cubes.container_quat(container) for container in range(3)]
        self._referee.reset(cubes.pos, cubes.containers, quats)
        self._boxes = [v for p in cubes.containers for v in p] + [v for q in quats for v in q]
        self._truth = self._state()
        self._trace.begin(self._truth)

    def observe(self) -> Observation:
        """The policy's observation: a flat vector with the fields of `observation_layout`."""
        return self._sensors.observe(self._truth)

    def true_state(self) -> Array:
        """The current state without sensor noise, in the layout of the observation vector."""
        return self._truth.copy()

    def step(self, action: Action) -> str | None:
        """One control step of 0.2 s. Returns "success", "illegal", "horizon" or None."""
        command = [min(1.0, max(-1.0, value)) for value in np.asarray(action, dtype=np.float64).tolist()]
        world = self.world
        while self._pushes and self._pushes[-1].step <= self._steps:
            push = self._pushes.pop()
            world.cubes.nudge(push.cube, push.velocity_m_s)
        world.turn(command[3:6])
        world.move(world.hand.wish(command, self._tracking[self._steps]))
        world.grip(command[6])
        self._steps += 1
        self._truth = self._state()
        ended_by = self._referee.look(world.hand.pos, world.cubes.pos)
        self._trace.add(
            self._truth, command, illegal_score=self._referee.illegal_score, success=self._referee.success)
        if ended_by is None and self._steps >= self.settings.horizon:
            ended_by = "horizon"
        self._ended_by = ended_by
        return ended_by

    def success(self) -> bool:
        """Whether the success predicate held."""
        return self._referee.success

    def recording(self) -> Recording:
        """The trajectory so far; `info` has the draws and the referee's counts."""
        return self._trace.recording({
            "goal_update": self.settings.goal_update,
            "ended_by": self._ended_by,
            "drawn": self._drawn.to_json(),
            "drops": self.world.drops,
            **self._referee.info(),
        })

    def close(self) -> None:
        """Nothing to release."""

    def _state(self) -> Array:
        """The true state in the order of the observation layout."""
        world, hand = self.world, self.world.hand
        w, x, y, z = hand.quat
        joints = hand.joints()
        rates = [(new - old) / CONTROL_PERIOD_S for new, old in zip(joints, self._joints, strict=True)]
        self._joints = joints
        state = [
            *hand.pos, x, y, z, w, hand.opening, -hand.opening, hand.opening_rate, -hand.opening_rate,
            *joints, *rates,
        ]
        for cube in world.cubes.pos:
            state += cube
        for index in range(len(self.half_edges)):
            state += world.cubes.cube_quat(index)
        state += self.half_edges
        state += self._boxes
        return np.array(state)
