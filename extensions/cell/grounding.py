"""Ψ_R: from RGB-D frames and the arm's readings to the policy's own observation (paper, appendix A).

Colour segmentation, back-projection, the table plane by RANSAC, cubes by their faces, tracks over time. The camera's
pose is corrected by the table, and the containers are measured, in the first frames of a trial only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from ...core.errors import RolloutError
from ...domains.hanoi import task
from ...domains.hanoi.sensors import observation_size, observation_slices
from .cell_file import CONTAINER, CUBES, Cell
from .fitting import PLATE_REACH, CubeFit, find_plates, fit_cube, fit_plate, stacked
from .lens import CameraPose, pixel_rays
from .ports import NOTHING, ArmState, Array, Frame, Labels, Lens, Segmenter
from .table_plane import levelled, table_plane
from .tracks import CubeTrack, HandPoses

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
        self._tracks = [CubeTrack(half, smoothing=part.smoothing, jump_m=part.jump_m) for half in self._half_edges]
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
