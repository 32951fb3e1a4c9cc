"""Measures what the texts of `hanoi` say about fingers, grasps, turns and pushes.

    python -m memento.tests.benchmarks.touch

The figures are in `domains/hanoi/interface.py`. No figure has more digits than all choices
of `hanoi.physics` share.
"""

import json
from typing import Any

import mujoco
import numpy as np
from memento.domains import load
from memento.domains.hanoi.environment import HanoiEnvironment

OPEN, CLOSE, KEEP = -1.0, 1.0, 0.0
ABOVE_M = 0.12
GRASP_M = 0.006         # of the end effector above a cube's centre
PLACES = {"A": -0.25, "B": 0.0, "C": 0.25}      # y of the containers
Array = Any             # numpy arrays


class Rig:
    """The arm in an episode without randomness, moved by a simple controller that sees the true state."""

    def __init__(self, **options: Any) -> None:
        domain = load("hanoi")
        given = {"randomisation": "none", "rules": "paper", "horizon": 4000, **options}
        environment = domain.environment(domain.options(given, preset="paper"))
        assert isinstance(environment, HanoiEnvironment)
        self.environment = environment
        environment.reset(index=0, seed=3)
        self.model, self.data = environment.simulation.scene.mj_model, environment.simulation.scene.mj_data

    def again(self) -> "Rig":
        """The same at the beginning of an episode."""
        self.environment.reset(index=0, seed=3)
        return self

    def close(self) -> None:
        """Release the scene."""
        self.environment.close()

    @property
    def eef(self) -> Array:
        """The end effector's position, (3,) metres."""
        return np.array(self.environment.simulation.truth.eef)

    @property
    def fingers(self) -> Array:
        """(q, -q) of the fingers, metres."""
        return np.array(self.environment.observe()[7:9])

    @property
    def rotation(self) -> Array:
        """The hand's orientation, (3, 3)."""
        x, y, z, w = self.environment.simulation.truth.vector[3:7]
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, np.array([w, x, y, z]))
        return matrix.reshape(3, 3)

    @property
    def yaw(self) -> float:
        """The hand's angle about the vertical, rad."""
        return float(np.arctan2(self.rotation[1, 0], self.rotation[0, 0]))

    def cube(self, index: int) -> Array:
        """The true centre of a cube, (3,) metres."""
        return np.array(self.environment.simulation.truth.cubes[index])

    def container(self, index: int) -> Array:
        """The true origin of a container, (3,) metres."""
        return np.array(self.environment.simulation.truth.containers[index])

    def hold(self, action: tuple[float, ...], steps: int) -> None:
        """The same action (7) for some steps."""
        for _ in range(steps):
            self.environment.step(np.array(action))

    def grip(self, command: float, steps: int) -> None:
        """Open or close the fingers where the hand is."""
        self.hold((0.0,) * 6 + (command,), steps)

    def go(self, target: Array, grip: float, steps: int, *, yaw: float = 0.0) -> None:
        """Move the end effector to `target` (3,), with the tool straight down and turned by `yaw` rad."""
        cos, sin = np.cos(yaw), np.sin(yaw)
        goal = np.array([[cos, sin, 0.0], [sin, -cos, 0.0], [0.0, 0.0, -1.0]])
        before, offset = self.eef, np.zeros(3)
        for _ in range(steps):
            error, way = target - self.eef, self.eef - before
            before = self.eef
            offset = np.clip(offset + 0.12 * np.where(np.abs(error) < 0.012, error, 0.0), -0.02, 0.02)
            move = np.clip(2.6 * (error - 1.25 * way) + offset, -0.05, 0.05) / 0.05
            upright = goal @ self.rotation.T
            axis = 0.5 * np.array([
                upright[2, 1] - upright[1, 2], upright[0, 2] - upright[2, 0], upright[1, 0] - upright[0, 1],
            ])
            self.environment.step(np.concatenate([move, np.clip(3.0 * axis, -1.0, 1.0), [grip]]))

    def approach(self, cube: int, aside_m: float = 0.0, above_m: float = GRASP_M) -> None:
        """Lower the open hand to `above_m` over a cube's centre, `aside_m` off along the fingers' axis."""
        centre = self.cube(cube) + np.array([0.0, aside_m, 0.0])
        self.go(centre + np.array([0.0, 0.0, ABOVE_M]), OPEN, 60)
        self.go(centre + np.array([0.0, 0.0, above_m]), OPEN, 60)


def finger_sizes(rig: Rig) -> dict[str, float]:
    """Sizes of pad and finger in metres, and the most force of a finger in newtons."""
    rig.grip(OPEN, 25)
    model, data = rig.model, rig.data
    pad = model.geom("gripper0_right_finger1_pad_collision").id
    body = model.geom("gripper0_right_finger1_collision").id
    mesh = model.geom_dataid[body]
    corners = model.mesh_vert[model.mesh_vertadr[mesh] : model.mesh_vertadr[mesh] + model.mesh_vertnum[mesh]]
    corners = corners @ data.geom_xmat[body].reshape(3, 3).T + data.geom_xpos[body]
    tip = corners[corners[:, 2] < corners[:, 2].min() + 0.03]
    width, thickness, _ = np.ptp(tip, axis=0)
    force = model.actuator("gripper0_right_gripper_finger_joint1").forcerange
    return {
        "pad_width_m": 2 * float(model.geom_size[pad][0]), "pad_height_m": 2 * float(model.geom_size[pad][2]),
        "pad_above_eef_m": float(data.geom_xpos[pad][2] - rig.eef[2]),
        "finger_width_m": float(width), "finger_thickness_m": float(thickness), "grip_n": float(force[1]),
    }


def open_fingers(strength: float) -> float:
    """q of the open fingers at a strength of the actuators."""
    rig = Rig(actuator_gain_scale=[strength, strength])
    rig.grip(OPEN, 25)
    q = float(rig.fingers[0])
    rig.close()
    return q


def squeeze(rig: Rig, aside_m: float = 0.0, above_m: float = GRASP_M) -> dict[str, float]:
    """Close on the smallest cube from `aside_m` off its middle and `above_m` above it, and lift it by 8 cm."""
    rig.again().approach(0, aside_m, above_m)
    before, hand = rig.cube(0), float(rig.eef[1])
    rig.grip(CLOSE, 20)
    yielded = abs(float(rig.eef[1]) - hand)
    off, q = float(rig.cube(0)[1] - rig.eef[1]), rig.fingers
    rig.go(rig.eef + np.array([0.0, 0.0, 0.08]), CLOSE, 30)
    lifted = float(rig.cube(0)[2] - before[2])
    half_width = float(q[0] - q[1]) / 2
    return {"off_m": off, "half_width_m": half_width, "lifted_m": lifted, "hand_yielded_m": yielded}


def turning(rig: Rig, steps: int = 8) -> list[float]:
    """The turn in rad of each step with rz = 1, and last the whole turn of a single such step."""
    rig.again().grip(KEEP, 5)
    yaws = [rig.yaw]
    for _ in range(steps):
        rig.hold((0.0, 0.0, 0.0, 0.0, 0.0, 1.0, KEEP), 1)
        yaws.append(rig.yaw)
    rig.again().grip(KEEP, 5)
    begin = rig.yaw
    rig.hold((0.0, 0.0, 0.0, 0.0, 0.0, 1.0, KEEP), 1)
    rig.grip(KEEP, 20)
    return [*np.diff(yaws).tolist(), rig.yaw - begin]


def reached_yaws(rig: Rig, place: tuple[float, float, float]) -> list[float]:
    """The yaws to either side, in steps of 0.2 up to 3 rad, that the hand reaches there without leaving the place."""
    reached = []
    for side in (-1, 1):
        rig.again().go(np.array(place), KEEP, 70)
        yaw = 0.0
        while abs(yaw) < 3.0:
            rig.go(np.array(place), KEEP, 24, yaw=yaw + 0.2 * side)
            if abs(rig.yaw - yaw - 0.2 * side) > 0.25 or np.linalg.norm(rig.eef - place) > 0.03:
                break
            yaw += 0.2 * side
        reached.append(round(yaw, 1))
    return reached


def pushed_cube(rig: Rig, speed_m_s: float = 0.1) -> float:
    """How far a push slides the top cube of the tower, metres."""
    rig.again().grip(KEEP, 2)
    before = rig.cube(0)
    rig.environment.simulation.dynamics.push(0, (speed_m_s, 0.0))
    rig.grip(KEEP, 15)
    return float(rig.cube(0)[0] - before[0])


def pushed_container(rig: Rig) -> float:
    """How far the closed fingers, low next to container B, push it in 2 s, metres."""
    rig.again().go(np.array([0.055, -0.10, 0.95]), CLOSE, 60)
    rig.go(np.array([0.055, -0.10, 0.8135]), CLOSE, 60)
    before = rig.container(1)
    rig.hold((0.0, 0.6, -0.02, 0.0, 0.0, 0.0, CLOSE), 40)
    return float(rig.container(1)[1] - before[1])


def main() -> None:
    """Print all figures as JSON."""
    rig = Rig()
    figures: dict[str, Any] = finger_sizes(rig)
    figures["open_q_m"] = {strength: open_fingers(strength) for strength in (0.85, 1.0, 1.15)}
    figures["squeezed_from_aside"] = {aside: squeeze(rig, aside) for aside in (-0.012, 0.0, 0.005, 0.010)}
    heights = (-0.012, 0.0, 0.006, 0.015, 0.022, 0.030)
    figures["lifted_from_height_m"] = {above: squeeze(rig, 0.0, above)["lifted_m"] for above in heights}
    figures["turning_rad"] = turning(rig)
    figures["reached_yaws_rad"] = {place: reached_yaws(rig, (0.055, y, 0.95)) for place, y in PLACES.items()}
    slippery = Rig(sliding_friction_scale=[0.3, 0.3])
    figures["pushed_cube_m"] = {0.3: pushed_cube(slippery), 1.0: pushed_cube(rig)}
    figures["pushed_container_m"] = pushed_container(rig)
    slippery.close()
    rig.close()
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
