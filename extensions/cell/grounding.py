"""Ψ_R: from RGB-D frames and the arm's readings to the policy's own observation (paper, appendix A).

Colour segmentation, back-projection, the table plane by RANSAC, cubes by their faces, tracks over time. The camera's
pose is corrected by the table, and the containers are measured, in the first frames of a trial only.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from ...core.errors import RolloutError
from ...domains.hanoi import task
from ...domains.hanoi.sensors import observation_size, observation_slices
from .cell_file import CONTAINER, CUBES, Cell
from .fitting import PLATE_REACH, CubeFit, find_plates, fit_cube, fit_plate, nearest_quarter, stacked
from .lens import CameraPose, matrix_of, pixel_rays, rotation_of
from .ports import NOTHING, ArmState, Array, Frame, Labels, Lens, Segmenter

# Where each cube is over time: smoothed measurements, jumps believed at the second time, cubes in the hand.


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


class Track:
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


# The table plane in a depth image, and the correction of the camera's pose that it gives.


TRIES = 60
WITHIN_M = 0.006        # of the plane
SAMPLE = 3000           # points that are tried
LEAST_SHARE = 0.3       # of the points must lie in the plane


def table_plane(points: Array, rng: np.random.Generator) -> tuple[Array, float] | None:
    """The plane (unit normal upwards, offset) with n · p = offset that most points (n, 3) lie in, by RANSAC."""
    if len(points) < 100:
        return None
    if len(points) > SAMPLE:
        points = points[rng.choice(len(points), SAMPLE, replace=False)]
    best, most = None, int(LEAST_SHARE * len(points))
    for corners in rng.choice(len(points), (TRIES, 3)):
        a, b, c = points[corners]
        normal = np.cross(b - a, c - a)
        length = float(np.linalg.norm(normal))
        if length < 1e-4:
            continue
        close = np.abs((points - a) @ (normal / length)) < WITHIN_M
        count = int(close.sum())
        if count > most:
            best, most = close, count
    if best is None:
        return None
    inside = points[best]
    middle = inside.mean(axis=0)
    normal = np.linalg.svd(inside - middle, full_matrices=False)[2][2]
    normal *= np.sign(normal[2]) or 1.0
    return normal, float(normal @ middle)


def levelled(pose: CameraPose, normal: Array, offset: float, table_height_m: float) -> CameraPose:
    """The camera's pose after the plane that it saw in the world is made level and put at the table's height.

    The camera is turned about itself, as an error of its direction would, and moved up or down.
    """
    axis = np.cross(normal, (0.0, 0.0, 1.0))
    sine = float(np.linalg.norm(axis))
    turn = rotation_of(axis / max(sine, 1e-12) * np.arctan2(sine, normal[2]))
    above = float(normal @ pose.position) - offset
    position = np.array([pose.position[0], pose.position[1], table_height_m + above])
    return CameraPose(position, turn @ pose.rotation)


N = len(CUBES)
PLATE_TOP_M = task.TABLE_HEIGHT_M + task.CONTAINER_THICKNESS_M
PLATE_EDGE_M = task.HOLE_EDGE_M + 2 * task.BAR_WIDTH_M
TABLE_BAND_M = 0.04         # a point this near to the table's height may be of the table
TABLE_REACH_M = 0.38        # from the middle of the table: its sides belong to the room
PLATE_PIXELS = 400          # of a container to be measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenery:
    """What stands still during a trial."""

    camera: CameraPose      # corrected by the table
    containers: Array       # (3, 3) origins
    yaws_rad: Array         # (3,)


class Grounding:
    """Turns frames and readings into observation vectors. Call `begin`, then `observe` once per control period."""

    def __init__(self, cell: Cell, lens: Lens, segmenter: Segmenter) -> None:
        self._cell = cell
        self._segmenter = segmenter
        self.nominal = cell.camera.stands
        self._rays = pixel_rays(lens).reshape(-1, 3)
        self._half_edges = cell.objects.half_edges_m
        self._slices = observation_slices(N)

    def begin(self, frames: Sequence[Frame]) -> Scenery:
        """Measure what stands still from the first frames of a trial. Raises RolloutError with what is not seen."""
        if not frames:
            raise RolloutError("the cell's camera sends no frames: check it with `memento cell check`")
        labels = [self._segmenter.labels(frame).reshape(-1) for frame in frames]
        camera = self._level(frames, labels)
        self.scenery = self._containers(camera, labels)
        part = self._cell.grounding
        self._hands = HandPoses()
        self._tracks = [Track(half, smoothing=part.smoothing, jump_m=part.jump_m) for half in self._half_edges]
        self._world_rays = self._rays @ camera.rotation.T
        return self.scenery

    def pixels(self, frame: Frame) -> dict[str, int]:
        """How many pixels of each class the segmenter sees in a frame."""
        labels = self._segmenter.labels(frame)
        return {name: int((labels == index).sum()) for index, name in enumerate((*CUBES, CONTAINER))}

    def look(self, frame: Frame, state: ArmState | None = None) -> list[CubeFit | None]:
        """Measure the cubes in one frame, and take it into account."""
        labels = self._segmenter.labels(frame).reshape(-1)
        depth = frame.depth_m.reshape(-1).astype(np.float64)
        then = None if state is None else self._hands.at(frame.time_s)
        priors = [track.position if then is None else track.prior(then) for track in self._tracks]
        fits = stacked([self._fit(index, labels, depth, prior) for index, prior in enumerate(priors)], self._half_edges)
        for fit, track in zip(fits, self._tracks, strict=True):
            if fit is not None and then is not None:
                track.measured(fit, then)
        return fits

    def observe(self, state: ArmState, frame: Frame | None) -> Array:
        """The observation vector. Raises RolloutError for a cube that was never seen."""
        hand = self._hands.add(state)
        for track in self._tracks:
            track.follow(state, hand)
        if frame is not None:
            self.look(frame, state)
        return self._vector(state)

    @property
    def held(self) -> list[bool]:
        """Which cubes the hand holds, as far as the fingers and the tracks tell."""
        return [track.held for track in self._tracks]

    def ages_s(self, now_s: float) -> list[float]:
        """For how long each cube was not measured."""
        return [now_s - track.seen_s for track in self._tracks]

    def close(self) -> None:
        """Release the segmenter."""
        self._segmenter.close()

    # ------------------------------------------------------------------------------------ scenery

    def _level(self, frames: Sequence[Frame], labels: Sequence[Labels]) -> CameraPose:
        """The camera's pose after the table that the first frame shows is made level."""
        rays = self._rays @ self.nominal.rotation.T
        free = labels[0] == NOTHING
        points = self.nominal.position + rays[free] * frames[0].depth_m.reshape(-1)[free, None]
        middle = np.abs(points[:, :2]).max(axis=1) < TABLE_REACH_M
        near = np.abs(points[:, 2] - task.TABLE_HEIGHT_M) < TABLE_BAND_M
        seen = frames[0].depth_m.reshape(-1)[free] > 0.0
        plane = table_plane(points[near & middle & seen], np.random.default_rng(0))
        if plane is None:
            raise RolloutError(
                f"the camera sees no table at a height of {task.TABLE_HEIGHT_M:g} m where the cell's file says; "
                "check [camera] with `memento cell check`"
            )
        return levelled(self.nominal, *plane, task.TABLE_HEIGHT_M)

    def _containers(self, camera: CameraPose, labels: Sequence[Labels]) -> Scenery:
        rays = self._rays @ camera.rotation.T
        grounds = [self._plates_ground(rays[label == N], camera) for label in labels]
        middles = self._middles(grounds)
        found = []
        for ground in grounds:
            nearest = np.linalg.norm(ground[:, None] - middles, axis=2).argmin(axis=1)
            found.append([self._container(ground[nearest == index], middles, index, camera) for index in range(3)])
        middle = np.median(np.array(found), axis=0)
        return Scenery(
            camera=camera, yaws_rad=middle[:, 2],
            containers=np.column_stack([middle[:, :2], np.full(3, task.CONTAINER_Z_M)]),
        )

    def _plates_ground(self, plate: Array, camera: CameraPose) -> Array:
        """The points (n, 2), in the plane of the plates' tops, of pixels that show plates where the arm may go."""
        ground = camera.position + plate * ((PLATE_TOP_M - camera.position[2]) / plate[:, 2:])
        limits = self._cell.limits
        low, high = np.array(limits.low_m[:2]) - PLATE_EDGE_M, np.array(limits.high_m[:2]) + PLATE_EDGE_M
        return np.asarray(ground[((ground[:, :2] > low) & (ground[:, :2] < high)).all(axis=1), :2])

    def _middles(self, grounds: Sequence[Array]) -> Array:
        """Where A, B and C are (3, 2), wherever they lie: as if they had been moved together from their places."""
        middles = find_plates(np.concatenate(grounds), PLATE_EDGE_M, 3, PLATE_PIXELS * len(grounds))
        if len(middles) < 3:
            raise RolloutError(
                f"the camera sees {len(middles)} of 3 containers in the box of [limits]: are they there, apart from"
                " each other, and of their colour?"
            )
        places = np.array(task.CONTAINER_XY_M)
        seen, places = middles - middles.mean(axis=0), places - places.mean(axis=0)
        orders = [list(order) for order in permutations(range(3))]
        return np.asarray(middles[min(orders, key=lambda order: float(((seen[order] - places) ** 2).sum()))])

    def _container(self, ground: Array, middles: Array, index: int, camera: CameraPose) -> tuple[float, float, float]:
        """x, y and yaw of one container's origin; `ground` (n, 2) are its pixels in the plane of its top."""
        own = ground[np.abs(ground - middles[index]).max(axis=1) < PLATE_REACH * PLATE_EDGE_M]
        if len(own) < PLATE_PIXELS:
            raise RolloutError(f"the camera sees {len(own)} pixels of container {task.CONTAINERS[index]}; is it there?")
        centre, yaw = fit_plate(own, task.CONTAINER_THICKNESS_M, PLATE_EDGE_M, camera.position, PLATE_TOP_M)
        offset = task.HOLE_LOCAL_M[0] * np.array([np.cos(yaw), np.sin(yaw)])
        return float(centre[0] - offset[0]), float(centre[1] - offset[1]), yaw

    # --------------------------------------------------------------------------------------- cubes

    def _fit(self, index: int, labels: Labels, depth: Array, prior: Array | None) -> CubeFit | None:
        pixels = np.flatnonzero(labels == index)
        own = depth[pixels]
        pixels, own = pixels[own > 0.0], own[own > 0.0]
        if len(pixels) < self._cell.grounding.least_pixels:
            return None
        points = self.scenery.camera.position + self._world_rays[pixels] * own[:, None]
        return fit_cube(points, self._half_edges[index], self.scenery.camera.position, prior)

    def _vector(self, state: ArmState) -> Array:
        vector = np.zeros(observation_size(N))
        at = self._slices
        for field in ("eef_pos", "eef_quat", "gripper_qpos", "gripper_qvel", "joint_pos", "joint_vel"):
            vector[at[f"robot0_{field}"]] = getattr(state, field)
        for index, track in enumerate(self._tracks):
            if track.position is None:
                raise RolloutError(f"the camera has not seen the {CUBES[index]} cube; is it there, and of its colour?")
            vector[at["cube_pos"]][3 * index : 3 * index + 3] = track.position
            vector[at["cube_quat"]][4 * index : 4 * index + 4] = about_z(track.yaw_rad)
        vector[at["cube_size"]] = self._half_edges
        vector[at["boxes_pos"]] = self.scenery.containers.reshape(-1)
        vector[at["boxes_quat"]] = np.concatenate([about_z(yaw) for yaw in self.scenery.yaws_rad])
        return vector


def about_z(yaw: float) -> Array:
    """The quaternion w, x, y, z of a turn about z."""
    return np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)])
