"""Images of the twin's scene: what stands still by MuJoCo's ray casting, what moves by a depth buffer over it.

Neither needs a graphics library. Rays meet the shapes that the physics uses. The camera does not move during a trial,
so what stands still is cast once; the triangles of boxes and meshes that move are drawn over it in every image. That is
the image that casting every ray at everything gives, up to rounding, at a small part of its cost.
"""

from copy import copy
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...core.errors import RolloutError
from ...domains.arm.physics.cache import first_compilation
from .compiled import COMPILED, draw, normals_of
from .lens import CameraPose, pixel_rays
from .ports import Array, Lens

RANGE_M = 4.0
SHAPE_GROUP = 0                         # of contact shapes
STILL, MOVING, UNSEEN = 0, 1, 2         # the groups of the caster's own model
STILL_ALONE = np.array([1, 0, 0, 0, 0, 0], dtype=np.uint8).reshape(6, 1)
EVERYTHING = np.array([1, 1, 0, 0, 0, 0], dtype=np.uint8).reshape(6, 1)
CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
BOX_FACES = np.array([                  # of CORNERS, seen from outside counter-clockwise
    [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
    [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
])


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """What the rays of n pixels meet."""

    depth_m: Array                  # (n,) along the optical axis; 0 where there is nothing
    geom: NDArray[np.int32]         # (n,); -1 where there is nothing
    normal: Array                   # (n, 3) of the surface, world axes
    cosine: Array                   # (n,) of the angle between ray and normal


class SceneView:
    """Casts images of one scene. Call `place` for each place of the camera. Raises RolloutError for an odd shape."""

    def __init__(self, model: Any, data: Any, lens: Lens) -> None:
        self._model, self._data, self._lens = _visible(model), data, lens
        self._rays = pixel_rays(lens).reshape(-1, 3)
        self._lengths = np.linalg.norm(self._rays, axis=1)
        self._moving = np.flatnonzero(self._model.geom_group == MOVING)
        surfaces = [_surface(self._model, geom) for geom in self._moving]
        corner_counts, face_counts = ([0, *(len(each[part]) for each in surfaces)] for part in (0, 1))
        first_corner, first_face = np.cumsum(corner_counts), np.cumsum(face_counts)
        corners = np.concatenate([own for own, _ in surfaces])
        faces = np.concatenate([own + first for (_, own), first in zip(surfaces, first_corner, strict=False)])
        boxes = self._model.geom_aabb[self._moving].reshape(-1, 2, 3)
        boxes = np.stack([boxes[:, 0] - boxes[:, 1], boxes[:, 0] + boxes[:, 1]], axis=1)
        self._shapes = corners, faces, first_corner, first_face, boxes
        self._shape_of = np.repeat(np.arange(len(surfaces)), face_counts[1:])
        across = np.cross(corners[faces[:, 1]] - corners[faces[:, 0]], corners[faces[:, 2]] - corners[faces[:, 0]])
        self._normals = across / np.maximum(np.linalg.norm(across, axis=1), 1e-300)[:, None]
        with first_compilation(COMPILED):
            self.place(CameraPose(np.zeros(3), np.eye(3)))
            self.changed()

    def place(self, pose: CameraPose) -> None:
        """The camera stands here now."""
        self._pose = pose
        self._world_rays = np.ascontiguousarray(self._rays @ pose.rotation.T)
        self.still = self._cast(STILL_ALONE)

    def changed(self) -> tuple[NDArray[np.intp], Hits]:
        """The pixels in which something that moves is seen now, and what they see; the others see `still`."""
        shape = self._lens.height, self._lens.width
        depth = np.where(self.still.depth_m > 0.0, self.still.depth_m, RANGE_M).reshape(shape)
        seen = np.full(shape, -1, dtype=np.int32)
        rotations = self._data.geom_xmat[self._moving].reshape(-1, 3, 3)
        placed = self._data.geom_xpos[self._moving], rotations
        rotation = np.ascontiguousarray(self._pose.rotation)
        draw(self._pose.position, rotation, placed, self._shapes, self._lens.focal_px, depth, seen)
        pixels = np.flatnonzero(seen >= 0)
        faces = seen.reshape(-1)[pixels]
        normal = np.empty((len(pixels), 3))
        normals_of(faces, self._normals, self._shape_of, rotations, normal)
        return pixels, Hits(
            depth_m=depth.reshape(-1)[pixels], geom=self._moving[self._shape_of[faces]].astype(np.int32),
            normal=normal, cosine=self._cosine(normal, pixels),
        )

    def cast(self) -> Hits:
        """The present image by MuJoCo's ray casting alone: what the composed image is compared with."""
        return self._cast(EVERYTHING)

    def _cast(self, groups: NDArray[np.uint8]) -> Hits:
        count = len(self._rays)
        depth, geom, normal = np.zeros((count, 1)), np.zeros((count, 1), dtype=np.int32), np.zeros((3 * count, 1))
        mujoco.mj_multiRay(
            self._model, self._data, self._pose.position.reshape(3, 1).copy(), self._world_rays.reshape(-1, 1), groups,
            True, -1, geom, depth, normal, count, RANGE_M,
        )
        across = normal.reshape(-1, 3)
        return Hits(
            depth_m=np.maximum(depth[:, 0], 0.0), geom=geom[:, 0], normal=across,
            cosine=self._cosine(across, np.arange(count)),
        )

    def _cosine(self, normal: Array, pixels: NDArray[np.intp]) -> Array:
        return np.asarray(np.abs((normal * self._world_rays[pixels]).sum(axis=1)) / self._lengths[pixels])


def altered(whole: NDArray[Any], pixels: NDArray[np.intp], changed: NDArray[Any]) -> NDArray[Any]:
    """A copy of an image in rows with other values at these pixels."""
    image = whole.copy()
    image[pixels] = changed
    return image


def _surface(model: Any, geom: int) -> tuple[Array, NDArray[np.int64]]:
    """The corners (n, 3) and triangles (m, 3) of a box or a mesh, in its own frame."""
    kind = int(model.geom_type[geom])
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return CORNERS * model.geom_size[geom], BOX_FACES.astype(np.int64)
    if kind != mujoco.mjtGeom.mjGEOM_MESH:
        raise RolloutError(f"the shape {model.geom(geom).name} moves and is neither a box nor a mesh: it has no image")
    mesh = int(model.geom_dataid[geom])
    corner, face = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
    return (
        model.mesh_vert[corner : corner + int(model.mesh_vertnum[mesh])].astype(np.float64),
        model.mesh_face[face : face + int(model.mesh_facenum[mesh])].astype(np.int64),
    )


def _visible(model: Any) -> Any:
    """A copy of the model whose contact shapes rays hit: they pass through those without opacity, and miss others.

    Casting many rays at once, MuJoCo skips a body whose box no ray can meet, and mixes the frames of the body and of
    its inertia when it places that box. Here the box is around the body's origin, and large enough for any rotation.
    """
    seen = copy(model)
    seen.geom_rgba[:, 3] = 1.0
    fixed = seen.body_weldid[seen.geom_bodyid] == 0
    shapes = seen.geom_group == SHAPE_GROUP
    seen.geom_group[:] = np.where(shapes, np.where(fixed, STILL, MOVING), UNSEEN)
    for body in range(1, seen.nbody):
        first, box = int(seen.body_geomadr[body]), int(seen.body_bvhadr[body])
        own = [geom for geom in range(first, first + int(seen.body_geomnum[body])) if shapes[geom]]
        if box >= 0 and own:
            reach = max(float(np.linalg.norm(seen.geom_pos[geom]) + seen.geom_rbound[geom]) for geom in own)
            seen.bvh_aabb[box, :3], seen.bvh_aabb[box, 3:] = 0.0, reach
    return seen
