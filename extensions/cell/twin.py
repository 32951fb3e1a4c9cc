"""The simulated twin of a cell: an arm with other physics and a delay, and an RGB-D camera that sees its scene."""

import time
from collections import deque
from dataclasses import replace
from threading import Event

import mujoco
import numpy as np

from ...core.values import JSON
from ...domains.arm.physics.compiled import CompiledPhysics
from ...domains.arm.simulator import CONTROL_HZ
from ...domains.hanoi import task
from ...domains.hanoi.randomisation import NONE, Drawn, Randomisation, episode_generators
from ...domains.hanoi.scene import HanoiScene
from ...domains.hanoi.sensors import observation_slices
from ...domains.hanoi.simulation import Dynamics, Truth
from .cell_file import Cell, TwinPart
from .guard import room
from .lens import matrix_of, rotation_vector
from .ports import ArmState, Array, Waypoint

PERIOD_S = 1.0 / CONTROL_HZ
MOVE_M, TURN_RAD = 0.05, 0.5        # what a command of 1 moves the goal of robosuite's controller
HAND = ("right_gripper", "leftfinger", "rightfinger", "finger_joint1_tip", "finger_joint2_tip")


class TwinArm:
    """Implements `ports.Arm` and `ports.Knowing` on MuJoCo."""

    def __init__(self, cell: Cell) -> None:
        twin = cell.arm.twin
        half_edges = cell.objects.half_edges_m
        self._twin = twin
        self._limits = cell.limits
        self.real_time = cell.arm.pace == "real"
        self.scene = HanoiScene(names=task.cube_names(len(half_edges)), half_edges_m=half_edges)
        self.dynamics = Dynamics(self.scene)
        # Steps of 2 ms, as robosuite has. Objects at rest sleep, which is two thirds of the cost of a step.
        self._physics = CompiledPhysics(self.scene, goal_update="achieved", near_exact=True, sleep=True)
        self._truth = Truth(self.scene, self.dynamics, half_edges)
        self._slices = observation_slices(len(half_edges))
        self._randomisation = _randomisation(twin)
        self._hand = [self.scene.mj_model.body(f"gripper0_right_{name}").id for name in HAND]
        self._stopped = Event()
        self._drawn: Drawn | None = None

    def prepare(self, *, index: int, seed: int) -> None:
        """Set the twin up for a trial; `seed` determines its draws."""
        draws, _ = episode_generators(seed)
        self._drawn = self._randomisation.draw(draws, len(self._truth.cube_block))
        self.dynamics.reset(self._drawn)
        controller = self.scene.arm_controller
        controller.kp = np.repeat([self._twin.stiffness, self._twin.turn_stiffness], 3)
        controller.kd = 2.0 * np.sqrt(controller.kp) * self._twin.damping_ratio
        self._physics.begin()
        self._physics._speed = self._twin.gripper_speed     # instead of robosuite's, which `begin` has read
        self._steps = 0
        self._due = time.monotonic()
        self._stopped.clear()
        self._pending: deque[Waypoint] = deque()
        self._held: Waypoint | None = None
        self._before: Waypoint | None = None
        self._lead_s, self._turn_lead_s = (controller.kd / controller.kp)[[0, 3]].tolist()
        self._truth.update()

    @property
    def time_s(self) -> float:
        """The simulated time of this trial."""
        return self._steps * PERIOD_S

    def state(self) -> ArmState:
        """The true readings: encoders are exact, as in training."""
        vector, at = self._truth.vector, self._slices
        return ArmState(
            time_s=self.time_s,
            eef_pos=vector[at["robot0_eef_pos"]].copy(), eef_quat=vector[at["robot0_eef_quat"]].copy(),
            gripper_qpos=vector[at["robot0_gripper_qpos"]].copy(),
            gripper_qvel=vector[at["robot0_gripper_qvel"]].copy(),
            joint_pos=vector[at["robot0_joint_pos"]].copy(), joint_vel=vector[at["robot0_joint_vel"]].copy(),
            force_n=self._force(),
        )

    def move(self, waypoint: Waypoint) -> None:
        """Simulate one control period towards the waypoint of `delay_steps` periods ago."""
        if self._stopped.is_set():
            waypoint = self._here()
            # A hand that swung over the waypoints' box is held there by their pull, which must not end with a stop.
            waypoint = replace(waypoint, position=np.clip(waypoint.position, *room(self._limits)))
            self._pending.clear()
            self._before = None     # a stop is no way to lead: that would throw the hand onward
        self._pending.append(waypoint)
        if len(self._pending) > self._twin.delay_steps or self._stopped.is_set():
            self._held = self._pending.popleft()
        self._simulate(self._held or self._here())
        if self.real_time:
            self._due = max(self._due + PERIOD_S, time.monotonic() - PERIOD_S)
            time.sleep(max(0.0, self._due - time.monotonic()))

    def stop(self) -> None:
        """Hold the present pose, or the nearest one in the waypoints' box, from the next control period on."""
        self._stopped.set()

    def close(self) -> None:
        """Release the scene."""
        self.scene.close()

    def truth(self) -> Array:
        """The true state in the layout of the policy's observation."""
        return self._truth.vector.copy()

    def drawn(self) -> dict[str, JSON]:
        """The draws of this trial that concern its physics."""
        assert self._drawn is not None
        drawn = self._drawn
        return {
            "sliding_friction_scale": drawn.sliding_friction_scale, "actuator_gain_scale": drawn.actuator_gain_scale,
            "joint_damping_scale": drawn.joint_damping_scale, "cube_mass_scale": list(drawn.cube_mass_scale),
            "container_yaw_rad": list(drawn.container_yaw_rad), "world_offset_m": list(drawn.world_offset_m),
        }

    def _here(self) -> Waypoint:
        at = self._slices
        vector = self._truth.vector
        return Waypoint(
            position=vector[at["robot0_eef_pos"]].copy(), rotation=matrix_of(vector[at["robot0_eef_quat"]]), grip=0.0,
        )

    def _simulate(self, waypoint: Waypoint) -> None:
        vector, at = self._truth.vector, self._slices
        # The controller feeds the waypoints' velocity forward, so that the hand does not trail behind them.
        before = self._before or waypoint
        lead = self._lead_s / PERIOD_S * (waypoint.position - before.position)
        move = waypoint.position + lead - vector[at["robot0_eef_pos"]]
        turn = rotation_vector(waypoint.rotation @ matrix_of(vector[at["robot0_eef_quat"]]).T)
        turn = turn + self._turn_lead_s / PERIOD_S * rotation_vector(waypoint.rotation @ before.rotation.T)
        self._before = waypoint
        action = np.concatenate([move / MOVE_M, turn / TURN_RAD, [waypoint.grip]])
        self._physics.step(action)
        self._steps += 1
        self._truth.update()

    def _force(self) -> Array:
        """The sum of the contact forces on the hand, the fingers and what they hold: a grip's own forces cancel."""
        model, data = self.scene.mj_model, self.scene.mj_data
        mujoco.mj_rnePostConstraint(model, data)
        return np.asarray(data.cfrc_ext[self._hand, 3:].sum(axis=0))


def _randomisation(twin: TwinPart) -> Randomisation:
    ranges = {
        name: getattr(twin, name) for name in TwinPart.model_fields
        if name in Randomisation.__dataclass_fields__
    }
    return Randomisation(**{**{name: getattr(NONE, name) for name in Randomisation.__dataclass_fields__}, **ranges})
