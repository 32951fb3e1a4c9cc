"""The twin's RGB-D camera: what rays hit, its paint under a lamp, and the sensor model."""

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..hanoi import task
from . import sensor_model
from .cell_file import CONTAINER, CUBES, Cell
from .lens import looking, moved
from .ports import NOTHING, Array, Frame, Labels, Lens
from .scene_view import Hits, SceneView
from .twin_arm import TwinArm

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
        self.view = SceneView(arm.scene.mj_model, arm.scene.mj_data, self.lens)
        self._paint, self._label = _paint_and_labels(arm.scene.mj_model, cell)

    def begin(self, seed: int) -> None:
        """A new episode: draw where the camera really stands."""
        self._rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(3)[2])
        self._errors = self._model.draw(self._rng)
        self.view.place(moved(self._pose, self._errors.shift_m, self._errors.turn_rad))
        self._still = self._shaded(self.view.still)
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
        pixels, hits = self.view.changed()
        still = self.view.still
        shape = self.lens.height, self.lens.width
        depth = _with(still.depth_m, pixels, hits.depth_m).reshape(shape)
        cosine = _with(still.cosine, pixels, hits.cosine).reshape(shape)
        colour = _with(self._still, pixels, self._shaded(hits)).reshape(*shape, 3)
        return Frame(
            time_s=time_s,
            colour=sensor_model.measured_colour(self._model, colour, self._rng),
            depth_m=sensor_model.measured_depth(self._model, self._errors, depth, cosine, self._rng),
            truth=self._label[_with(still.geom, pixels, hits.geom)].reshape(shape),
        )

    def _shaded(self, hits: Hits) -> NDArray[np.float32]:
        light = AMBIENT + (1.0 - AMBIENT) * np.maximum(hits.normal @ (LIGHT / np.linalg.norm(LIGHT)), 0.0)
        return np.asarray(self._paint[hits.geom] * light[:, None], dtype=np.float32)


def _with(whole: NDArray[Any], pixels: NDArray[np.intp], changed: NDArray[Any]) -> NDArray[Any]:
    """A copy of `whole` with other values at these pixels."""
    image = whole.copy()
    image[pixels] = changed
    return image


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
