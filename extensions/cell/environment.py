"""A trial in a robot cell as an episode: Ψ_R makes the observation, Γ_R carries out the action, in either mode."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...core.extras import require
from ...core.ports import Action
from ...core.recording import Recording
from ...core.values import JSON
from ...domains.hanoi.recording import ACTION_SIZE, Trace
from ...domains.hanoi.referee import Referee
from ...domains.hanoi.sensors import observation_layout, observation_slices
from . import guard as guarding
from .cell_file import PHASES, STATUS, Cell, LimitsPart, cell_of
from .dead_man import DeadMan
from .grounding import Grounding, N
from .guard import Increments
from .hardware import PERIOD_S, Hardware, open_cell
from .ports import ArmState, Array, Frame, Knowing, Waypoint
from .segmenters import make_segmenter

if TYPE_CHECKING:
    from .execution import Phases

# What a real cell can record of a trial: perceived poses, waypoints, forces, and how fresh the poses are.


class TrialLog:
    """Rows of one trial: one for its start, one per control period. `status` is that of the phase, if there are any."""

    def __init__(self, observation: Array, status: int | None) -> None:
        self._at = observation_slices(N)
        self._rows: dict[str, list[Any]] = {
            "seen_cube_pos": [], "seen_cube_quat": [], "seen_container_pos": [], "seen_container_quat": [],
            "waypoint_pos": [], "force_n": [], "unseen_s": [],
        }
        self._observed(observation)
        self._rows["waypoint_pos"].append(observation[self._at["robot0_eef_pos"]])
        self._rows["force_n"].append(np.zeros(3))
        self._rows["unseen_s"].append(np.zeros(N))
        if status is not None:
            self._rows[STATUS] = [status]

    def add(
        self, observation: Array, waypoint: Array, state: ArmState, grounding: Grounding, status: int | None,
    ) -> None:
        """One control period."""
        self._observed(observation)
        if status is not None:
            self._rows[STATUS].append(status)
        self._rows["waypoint_pos"].append(waypoint)
        self._rows["force_n"].append(state.force_n)
        self._rows["unseen_s"].append(grounding.ages_s(state.time_s))

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Each quantity with one row per state of the recording."""
        return {name: np.array(rows, dtype=np.float32) for name, rows in self._rows.items()}

    def _observed(self, observation: Array) -> None:
        at = self._at
        self._rows["seen_cube_pos"].append(observation[at["cube_pos"]].reshape(N, 3))
        self._rows["seen_cube_quat"].append(observation[at["cube_quat"]].reshape(N, 4))
        self._rows["seen_container_pos"].append(observation[at["boxes_pos"]].reshape(3, 3))
        self._rows["seen_container_quat"].append(observation[at["boxes_quat"]].reshape(3, 4))


def _phases(cell: Cell) -> "Phases":
    """What carries phases out. Raises UsageError without the planner."""
    require("cell", "phases in a robot cell")
    from .execution import Phases

    return Phases(cell, PERIOD_S)


READY_PERIODS = 200         # in which the first frames have to arrive


class CellEnvironment:
    """Implements `core.ports.Environment` on the arm and the camera of a cell.

    With the twin it has all duties of that port. On a real arm an episode depends on more than its seed, and the
    objects must stand as at the start of the task when `reset` is called. The words for the end of an episode are
    "success", "illegal", "stopped" (the guard stopped the arm) and "horizon".
    """

    def __init__(self, options: Mapping[str, JSON], *, hardware: Hardware | None = None) -> None:
        """Options are complete, as returned by the domain. `hardware` replaces what the cell's file names, for tests.

        Raises UsageError for a cell whose arm, camera or segmenter cannot be reached.
        """
        content, horizon = options["cell"], options["horizon"]
        assert isinstance(content, dict) and isinstance(horizon, int)
        self._cell: Cell = cell_of(content, where="the cell")
        self._horizon = horizon
        self._hardware = hardware or open_cell(self._cell)
        self._grounding = Grounding(self._cell, self._hardware.camera.lens, make_segmenter(self._cell.segmenter))
        self._half_edges = self._cell.objects.half_edges_m
        self._referee = Referee(self._half_edges, rules="strict", control_period_s=PERIOD_S)
        self._trace = Trace(self._half_edges, control_period_s=PERIOD_S)
        self._slices = observation_slices(N)
        self._dead_man = DeadMan(self._hardware.arm.stop, limit_s=self._cell.limits.dead_man_s)
        phased = options.get("mode") == PHASES      # options of earlier versions have no mode
        self._execution: Increments | Phases = _phases(self._cell) if phased else Increments(self._cell, PERIOD_S)
        status = ((STATUS, (1,)),) if phased else ()
        self.observation_layout: tuple[tuple[str, tuple[int, ...]], ...] | None = (*observation_layout(N), *status)
        self.action_size: int | None = ACTION_SIZE

    @property
    def limits(self) -> LimitsPart:
        """The limits that the guard keeps."""
        return self._cell.limits

    def reset(self, *, index: int, seed: int) -> None:
        """Begin a trial: the arm to its start, then the table, the containers and the cubes from the first frames."""
        self._dead_man.rest()
        arm = self._hardware.arm
        arm.prepare(index=index, seed=seed)
        self._hardware.begin(seed)
        self._state = self._before = arm.state()
        frames = self._first_frames()
        self._grounding.begin(frames)
        self._observation = self._grounding.observe(self._state, frames[-1])
        truth = self._truth()
        self._referee.reset(*self._objects(truth))
        self._trace.begin(truth)
        self._log = TrialLog(self._observation, self._execution.status)
        self._stop: guarding.Stop | None = None
        self._ended_by: str | None = None
        self._steps = 0

    def observe(self) -> Array:
        """The policy's observation: the arm's readings as they are, the objects as the camera sees them."""
        status = self._execution.status
        return self._observation.copy() if status is None else np.append(self._observation, status)

    def step(self, action: Action) -> str | None:
        """Carry out one action (7,), or stop; returns the reason why the episode ended, or None."""
        command = np.asarray(action, dtype=np.float64)
        waypoint = self._next_waypoint(command)
        if isinstance(waypoint, guarding.Stop):
            self._hardware.arm.stop()
            self._stop = waypoint
            self._hardware.arm.move(guarding.here(self._state))     # a period in which the arm comes to rest
        else:
            if self._hardware.arm.real_time:        # a program that still loads is no danger: the arm holds
                self._dead_man.watch()
            self._hardware.arm.move(waypoint)
        self._before, self._state = self._state, self._hardware.arm.state()
        self._observation = self._grounding.observe(self._state, self._hardware.camera.frame())
        self._steps += 1
        ended = self._judge(command)
        if ended is not None:
            self._dead_man.rest()
        self._ended_by = ended
        return ended

    def success(self) -> bool:
        """Whether the tower stood on C at the end, at rest and released; in a real cell, as far as the camera sees."""
        return self._referee.success

    def recording(self) -> Recording:
        """The trajectory so far; `seen_…`, `force_n` and `waypoint_pos` are what a real cell knows as well."""
        arm, stop = self._hardware.arm, self._stop or self._silence()
        trace = self._trace.recording({
            "ended_by": self._ended_by, "cell": self._cell.name,
            "stopped": None if stop is None else stop.why,
            "stopped_because": None if stop is None else stop.detail,
            "drawn": arm.drawn() if isinstance(arm, Knowing) else None,
            **self._referee.info(),
            **({} if stop is None else {"broken_rule": stop.why}),
        })
        return replace(trace, states={**trace.states, **self._log.arrays()})

    def close(self) -> None:
        """Stop the arm and release everything."""
        self._dead_man.close()
        self._hardware.close()
        self._grounding.close()

    def _next_waypoint(self, command: Array) -> Waypoint | guarding.Stop:
        silence = self._silence()
        if silence is not None:
            return silence
        cubes = self._observation[self._slices["cube_pos"]].reshape(N, 3)
        return self._execution.following(command, self._state, self._before, cubes)

    def _silence(self) -> guarding.Stop | None:
        if not self._dead_man.fired:
            return None
        return guarding.Stop(why="dead-man", detail=f"no action for {self._cell.limits.dead_man_s:g} s")

    def _judge(self, command: Array) -> str | None:
        truth = self._truth()
        cubes, containers, quats = self._objects(truth)
        self._referee.containers_at(containers, quats)
        ended = self._referee.look(self._state.eef_pos.tolist(), cubes)
        action = command if command.shape == (ACTION_SIZE,) else np.full(ACTION_SIZE, np.nan)
        self._trace.add(truth, action, illegal_score=self._referee.illegal_score, success=self._referee.success)
        execution = self._execution
        self._log.add(self._observation, execution.position, self._state, self._grounding, execution.status)
        if ended is None and self._stop is not None:
            ended = "stopped"
        return "horizon" if ended is None and self._steps >= self._horizon else ended

    def _first_frames(self) -> list[Frame]:
        """The frames from which the scenery is measured, while the arm holds. Those that do not arrive are missed."""
        frames: list[Frame] = []
        still = guarding.here(self._state)
        for _ in range(READY_PERIODS):
            self._hardware.arm.move(still)
            frame = self._hardware.camera.frame()
            if frame is not None:
                frames.append(frame)
            if len(frames) == self._cell.grounding.container_frames:
                break
        self._state = self._before = self._hardware.arm.state()
        self._execution.begin(self._state)
        return frames

    def _truth(self) -> Array:
        """The true state where there is one, else what was observed."""
        arm = self._hardware.arm
        return arm.truth() if isinstance(arm, Knowing) else self._observation

    def _objects(self, vector: Array) -> tuple[list[list[float]], list[list[float]], list[list[float]]]:
        at = self._slices
        return (
            vector[at["cube_pos"]].reshape(N, 3).tolist(), vector[at["boxes_pos"]].reshape(3, 3).tolist(),
            vector[at["boxes_quat"]].reshape(3, 4).tolist(),
        )
