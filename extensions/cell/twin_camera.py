"""The twin's RGB-D camera: what rays hit, its paint under a lamp, and the sensor model."""

from collections import deque

import numpy as np

from . import sensor_model
from .cell_file import Cell
from .lens import moved
from .paint import Paint
from .ports import Frame, Lens
from .scene_view import SceneView, altered
from .twin import TwinArm


class TwinCamera:
    """Implements `ports.Camera` on the twin's scene."""

    def __init__(self, cell: Cell, arm: TwinArm) -> None:
        part = cell.camera
        self.lens = Lens(width=part.width, height=part.height, focal_px=part.focal_px)
        self._pose = part.stands
        self._model = part.noise
        self._every = part.every_steps
        self._arm = arm
        self.view = SceneView(arm.scene.mj_model, arm.scene.mj_data, self.lens)
        self._paint = Paint(arm.scene.mj_model, cell.objects)

    def begin(self, seed: int) -> None:
        """A new episode: draw where the camera really stands."""
        self._rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(3)[2])
        self._errors = self._model.draw(self._rng)
        self.view.place(moved(self._pose, self._errors.shift_m, self._errors.turn_rad))
        self._still = self._paint.shaded(self.view.still)
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
        depth = altered(still.depth_m, pixels, hits.depth_m).reshape(shape)
        cosine = altered(still.cosine, pixels, hits.cosine).reshape(shape)
        colour = altered(self._still, pixels, self._paint.shaded(hits)).reshape(*shape, 3)
        return Frame(
            time_s=time_s,
            colour=sensor_model.measured_colour(self._model, colour, self._rng),
            depth_m=sensor_model.measured_depth(self._model, self._errors, depth, cosine, self._rng),
            truth=self._paint.label[altered(still.geom, pixels, hits.geom)].reshape(shape),
        )
