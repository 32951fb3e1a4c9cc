"""The arm of the kinematic world: the motion of the hand under commands, with lag, sag and limits."""

from collections.abc import Sequence
from math import acos, atan2, cos, hypot, pi, sin, sqrt

from ..hanoi.randomisation import Drawn

Vector = list[float]

CONTROL_PERIOD_S = 0.2
MOVE_PER_UNIT_M = 0.05          # goal displacement for an action of 1, each axis
TURN_PER_UNIT_RAD = 0.25
REACH_LOW_M = (-0.25, -0.45, 0.806)
REACH_HIGH_M = (0.32, 0.45, 1.25)
HOME_M = (-0.10, 0.0, 1.01)
MAX_TILT_RAD = 0.6

# The arm's weight is compensated for an actuator gain of 1. The simulated arm under operational-space
# control rests 4 mm off its goal at a gain of 0.85 or 1.15; so does this one.
SAG_M_PER_GAIN = 0.026
RESPONSE = 0.85                 # share of the way to its goal that the hand covers in a step, damping 1
TRACKING_STD_M = 0.0003

FINGER_TRAVEL_M = 0.04          # each finger, from closed to fully open
FINGER_STEP_M = 0.016           # each finger, in a control step


class Hand:
    """Pose and fingers. This class computes the commanded motion; the world limits it by contacts."""

    def __init__(self, drawn: Drawn, *, accumulate: bool, jitter: Sequence[float]) -> None:
        """`accumulate` is goal_update "desired"; `jitter` (3,) shifts the start pose, metres."""
        self.pos = [HOME_M[axis] + jitter[axis] for axis in range(3)]
        self.quat = [0.0, 1.0, 0.0, 0.0]        # w, x, y, z: the tool points down
        self.yaw, self.cos, self.sin = 0.0, 1.0, 0.0    # of the hand's x axis in the world
        self.tilt = 0.0
        self.opening = 0.5 * FINGER_TRAVEL_M    # of each finger, from the middle
        self.opening_rate = 0.0
        self._accumulate = accumulate
        self._goal = list(self.pos)
        self._widest = min(FINGER_TRAVEL_M, FINGER_TRAVEL_M * drawn.actuator_gain_scale)
        self._sag = SAG_M_PER_GAIN * (drawn.actuator_gain_scale - 1.0)
        self._response = 1.0 - (1.0 - RESPONSE) ** (1.0 / drawn.joint_damping_scale)
        self._command = self.opening

    def wish(self, move: Sequence[float], noise: Sequence[float]) -> tuple[float, float, float]:
        """The displacement (dx, dy, dz), in metres and without contacts, of the increments `move`, each in [-1, 1]."""
        pos, goal = self.pos, self._goal
        for axis in range(3):
            start = goal[axis] if self._accumulate else pos[axis]
            target = start + MOVE_PER_UNIT_M * move[axis]
            goal[axis] = min(max(target, REACH_LOW_M[axis]), REACH_HIGH_M[axis])
        share = self._response
        limit = 1.5 * MOVE_PER_UNIT_M
        return (
            min(max(share * (goal[0] - pos[0]), -limit), limit) + noise[0],
            min(max(share * (goal[1] - pos[1]), -limit), limit) + noise[1],
            min(max(share * (goal[2] + self._sag - pos[2]), -limit), limit) + noise[2],
        )

    def turn(self, by: Sequence[float]) -> None:
        """Turn about the world axes by `by`, a rotation vector in units of TURN_PER_UNIT_RAD."""
        if by[0] == 0.0 and by[1] == 0.0 and by[2] == 0.0:
            return
        scale = TURN_PER_UNIT_RAD * self._response
        rx, ry, rz = by[0] * scale, by[1] * scale, by[2] * scale
        angle = sqrt(rx * rx + ry * ry + rz * rz)
        w, k = cos(0.5 * angle), 0.5 if angle < 1e-9 else sin(0.5 * angle) / angle
        turned = multiply((w, k * rx, k * ry, k * rz), self.quat)
        _, qx, qy, _ = turned
        down = -(1.0 - 2.0 * (qx * qx + qy * qy))       # cosine between the tool axis and straight down
        tilt = acos(min(1.0, max(-1.0, down)))
        if tilt > MAX_TILT_RAD and tilt > self.tilt:
            return                                      # at the limit of the wrist
        self.set_orientation((turned, tilt))

    def orientation(self) -> tuple[Vector, float]:
        """What `set_orientation` takes."""
        return self.quat, self.tilt

    def set_orientation(self, orientation: tuple[Vector, float]) -> None:
        """Take a quaternion (w, x, y, z) and the tilt that belongs to it."""
        self.quat, self.tilt = orientation
        qw, qx, qy, qz = self.quat
        # The hand's x axis in the world gives its yaw; the fingers move along its y axis.
        self.yaw = atan2(2.0 * (qx * qy + qw * qz), 1.0 - 2.0 * (qy * qy + qz * qz))
        self.cos, self.sin = cos(self.yaw), sin(self.yaw)

    def fingers(self, command: float) -> float:
        """The opening after this step without contacts; a positive command closes, a negative one opens."""
        if command > 0.0:
            self._command = max(0.0, self._command - FINGER_STEP_M)
        elif command < 0.0:
            self._command = min(self._widest, self._command + FINGER_STEP_M)
        return self._command

    def set_opening(self, opening: float) -> None:
        """Set the opening that the fingers reached."""
        self.opening_rate = (opening - self.opening) / CONTROL_PERIOD_S
        self.opening = opening

    def squeeze(self, opening: float) -> None:
        """Command fingers that press on something slightly tighter, however long they close."""
        self._command = max(self._command, opening - FINGER_STEP_M)

    def joints(self) -> Vector:
        """Seven joint angles for the pose: an elbow of two links in the vertical plane of the hand.

        Not the robot's exact kinematics, only a smooth function of the pose, with q1 the bearing from
        the base, q2, q4, q6 the elbow and the wrist, q7 the yaw; q3 and q5 stay 0.
        """
        x, y, z = self.pos[0] - BASE_M[0], self.pos[1] - BASE_M[1], self.pos[2] - BASE_M[2]
        bearing = atan2(y, x)
        reach, rise = hypot(x, y), z + WRIST_M - SHOULDER_M
        distance = min(max(hypot(reach, rise), 0.1), UPPER_M + FORE_M - 1e-6)
        elbow = acos(max(-1.0, min(1.0, (UPPER_M ** 2 + FORE_M ** 2 - distance ** 2) / (2 * UPPER_M * FORE_M))))
        lean = acos(max(-1.0, min(1.0, (UPPER_M ** 2 + distance ** 2 - FORE_M ** 2) / (2 * UPPER_M * distance))))
        shoulder = 0.5 * pi - atan2(rise, reach) - lean
        bend = elbow - pi
        return [bearing, shoulder, 0.0, bend, 0.0, pi + bend - shoulder, 0.25 * pi + bearing - self.yaw]


BASE_M = (-0.56, 0.0, 0.912)
SHOULDER_M, WRIST_M, UPPER_M, FORE_M = 0.333, 0.2, 0.42, 0.48


def multiply(a: Sequence[float], b: Sequence[float]) -> Vector:
    """The quaternion product a b (w, x, y, z)."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]
