"""Where each cube is over time: smoothed measurements, jumps believed at the second time, cubes in the hand."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from .fitting import CubeFit, nearest_quarter
from .lens import matrix_of
from .ports import ArmState, Array

HISTORY_S = 2.0             # of the hand's poses, to look up the time of an exposure
HELD_WIDTH = (0.75, 1.12)   # of the fingers' distance to a cube's half-edge while they hold it
HELD_M = 0.02               # the cube's centre is this near to the point between the fingertips
MOVED_M = 0.004             # a resting cube's measurements differ by less


@dataclass(frozen=True, slots=True, kw_only=True)
class HandPose:
    """The hand in the plane, at one time."""

    time_s: float
    position: Array     # (3,)
    yaw_rad: float


class HandPoses:
    """The latest poses of the hand."""

    def __init__(self) -> None:
        self._poses: deque[HandPose] = deque()

    def add(self, state: ArmState) -> HandPose:
        """Note the hand's pose; returns it."""
        turn = matrix_of(state.eef_quat)
        pose = HandPose(
            time_s=state.time_s, position=state.eef_pos, yaw_rad=float(np.arctan2(turn[1, 0], turn[0, 0])),
        )
        self._poses.append(pose)
        while self._poses[0].time_s < state.time_s - HISTORY_S:
            self._poses.popleft()
        return pose

    def at(self, time_s: float) -> HandPose:
        """The pose nearest to this time."""
        return min(self._poses, key=lambda pose: abs(pose.time_s - time_s))


class CubeTrack:
    """One cube. While the hand holds it, its place is kept relative to the hand."""

    def __init__(self, half_m: float, *, smoothing: float, jump_m: float) -> None:
        self._half_m = half_m
        self._smoothing, self._jump_m = smoothing, jump_m
        self.position: Array | None = None
        self.yaw_rad = 0.0
        self.seen_s = float("-inf")         # of the exposure that it was last measured in
        self.held = False
        self._doubted: Array | None = None  # a measurement elsewhere that was not believed
        self._last: HandPose | None = None

    def follow(self, state: ArmState, hand: HandPose) -> None:
        """Move with the hand since the last call if the fingers hold the cube."""
        before, self._last = self._last, hand
        if self.position is None or before is None:
            return
        low, high = HELD_WIDTH
        grips = low * self._half_m < float(np.abs(state.gripper_qpos).mean()) < high * self._half_m
        near = float(np.linalg.norm(self.position - before.position)) < self._half_m + HELD_M
        self.held = grips and near
        if self.held:
            self.position = hand.position + _turn(self.position - before.position, hand.yaw_rad - before.yaw_rad)
            self.yaw_rad += hand.yaw_rad - before.yaw_rad

    def prior(self, then: HandPose) -> Array | None:
        """Where the cube was at the time of an exposure."""
        if self.position is None or not self.held or self._last is None:
            return self.position
        return then.position + _turn(self.position - self._last.position, then.yaw_rad - self._last.yaw_rad)

    def measured(self, fit: CubeFit, then: HandPose) -> None:
        """Take a measurement of this exposure into account."""
        now, yaw = fit.position, fit.yaw_rad
        if self.held and self._last is not None:
            turn = self._last.yaw_rad - then.yaw_rad
            now, yaw = self._last.position + _turn(now - then.position, turn), yaw + turn
        self.seen_s = then.time_s
        if self.position is None:
            self.position, self.yaw_rad = now.copy(), yaw
            return
        away = float(np.linalg.norm(now - self.position))
        yaw = nearest_quarter(yaw, self.yaw_rad)
        if away <= self._jump_m:
            self._doubted = None
            share = self._smoothing
        elif self._doubted is not None and np.linalg.norm(now - self._doubted) <= self._jump_m:
            share, self._doubted = 1.0, now
        else:
            self._doubted = now
            return
        self.position = self.position + share * (now - self.position)
        self.yaw_rad += share * (yaw - self.yaw_rad)


def _turn(vector: Array, yaw: float) -> Array:
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1], vector[2]])
