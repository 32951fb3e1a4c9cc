"""The twin's RGB-D camera: MuJoCo's ray casting, the paint of what a ray hits, and the sensor model.

Rays need no graphics library and give the same image on every machine. They meet the shapes that the physics uses.
"""

from collections import deque
from copy import copy
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..hanoi import task
from . import sensor_model
from .cell_file import CONTAINER, CUBES, Cell
from .lens import looking, moved, pixel_rays
from .ports import NOTHING, Array, Frame, Labels, Lens
from .twin_arm import TwinArm

RANGE_M = 4.0
SHAPE_GROUP = 0                         # of contact shapes
SHAPES = np.array([1, 0, 0, 0, 0, 0], dtype=np.uint8).reshape(6, 1)
LIGHT = np.array([0.3, -0.4, 0.87])     # the direction to the lamp
AMBIENT = 0.55                          # share of the light that comes from everywhere


class TwinCamera:
    """Implements `ports.Camera` on the twin's scene."""

    def __init__(self, cell: Cell, arm: TwinArm) -> None:
        part = cell.camera
        self.lens = Lens(width=part.width, height=part.height, focal_px=part.focal_px)
        self._pose = looking(np.array(part.position_m), np.array(part.look_at_m), part.roll_rad)
        self._model = part.noise
        self._every = part.every_steps
        self._arm = arm
        count = part.width * part.height
        self._rays = pixel_rays(self.lens).reshape(count, 3)
        self._geom = np.zeros((count, 1), dtype=np.int32)
        self._depth = np.zeros((count, 1))
        self._normal = np.zeros((3 * count, 1))
        self._paint, self._label = _paint_and_labels(arm.scene.mj_model, cell)
        self._model_seen = _visible(arm.scene.mj_model)

    def begin(self, seed: int) -> None:
        """A new episode: draw where the camera really stands."""
        self._rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(3)[2])
        self._errors = self._model.draw(self._rng)
        pose = moved(self._pose, self._errors.shift_m, self._errors.turn_rad)
        self._from = pose.position.reshape(3, 1).copy()
        self._world_rays = self._rays @ pose.rotation.T
        self._flat_rays = np.ascontiguousarray(self._world_rays).reshape(-1, 1)
        self._way: deque[Frame] = deque()
        self._step = 0

    def frame(self) -> Frame | None:
        """Call once per control period: exposes every `every_steps`th time; frames arrive after the latency."""
        now_s = self._arm.time_s
        if self._step % self._every == 0:
            self._way.append(self.expose(now_s))
        self._step += 1
        arrived = None
        while self._way and self._way[0].time_s + self._model.latency_s <= now_s + 1e-9:
            arrived = self._way.popleft()
        return arrived

    def expose(self, time_s: float) -> Frame:
        """One image of the present state."""
        depth, geom, normal = self._cast()
        cosine = np.abs((normal * self._world_rays).sum(axis=1)) / np.linalg.norm(self._rays, axis=1)
        shape = self.lens.height, self.lens.width
        colour = self._shaded(geom, normal).reshape(*shape, 3)
        return Frame(
            time_s=time_s,
            colour=sensor_model.measured_colour(self._model, colour, self._rng),
            depth_m=sensor_model.measured_depth(
                self._model, self._errors, depth.reshape(shape), cosine.reshape(shape), self._rng,
            ),
            truth=self._label[geom].reshape(shape),
        )

    def _cast(self) -> tuple[Array, NDArray[np.int32], Array]:
        mujoco.mj_multiRay(
            self._model_seen, self._arm.scene.mj_data, self._from, self._flat_rays, SHAPES, True, -1,
            self._geom, self._depth, self._normal, len(self._rays), RANGE_M,
        )
        return np.maximum(self._depth[:, 0], 0.0), self._geom[:, 0], self._normal.reshape(-1, 3)

    def _shaded(self, geom: NDArray[np.int32], normal: Array) -> NDArray[np.float32]:
        light = AMBIENT + (1.0 - AMBIENT) * np.maximum(normal @ (LIGHT / np.linalg.norm(LIGHT)), 0.0)
        return np.asarray(self._paint[geom] * light[:, None], dtype=np.float32)


def _visible(model: Any) -> Any:
    """A copy of the model whose contact shapes rays hit: they pass through those without opacity, and miss others.

    Casting many rays at once, MuJoCo skips a body whose box no ray can meet, and mixes the frames of the body and of
    its inertia when it places that box. Here the box is around the body's origin, and large enough for any rotation.
    """
    seen = copy(model)
    seen.geom_rgba[:, 3] = 1.0
    for body in range(1, seen.nbody):
        first, box = int(seen.body_geomadr[body]), int(seen.body_bvhadr[body])
        shapes = [
            geom for geom in range(first, first + int(seen.body_geomnum[body])) if seen.geom_group[geom] == SHAPE_GROUP
        ]
        if box < 0 or not shapes:
            continue
        reach = max(float(np.linalg.norm(seen.geom_pos[geom]) + seen.geom_rbound[geom]) for geom in shapes)
        seen.bvh_aabb[box, :3], seen.bvh_aabb[box, 3:] = 0.0, reach
    return seen


def _paint_and_labels(model: Any, cell: Cell) -> tuple[Array, Labels]:
    """The colour (0 to 255) and the label of each geom; the last row is for rays that hit nothing."""
    paint = {name: 255.0 * np.array(colour) for name, colour in cell.objects.paint.items()}
    colours = np.tile(paint["other"], (model.ngeom + 1, 1))
    labels = np.full(model.ngeom + 1, NOTHING, dtype=np.int8)
    for index in range(model.ngeom):
        body = model.body(model.geom_bodyid[index]).name
        for label, name in enumerate(CUBES):
            if body == f"cube_{name}":
                colours[index], labels[index] = paint[name], label
        if body in {f"container_{name}" for name in task.CONTAINERS}:
            colours[index], labels[index] = paint[CONTAINER], len(CUBES)
        elif body == "table":
            colours[index] = paint["table"]
        elif body.startswith(("robot0", "gripper0")):
            colours[index] = paint["robot"]
    return colours, labels
