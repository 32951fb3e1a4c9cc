"""The colours of the twin's shapes under its lamp, and the label of each shape."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...domains.hanoi import task
from .cell_file import CONTAINER, CUBES, ObjectsPart
from .ports import NOTHING, Array, Labels
from .scene_view import Hits

LIGHT = np.array([0.3, -0.4, 0.87])     # the direction to the lamp
AMBIENT = 0.55                          # share of the light that comes from everywhere


class Paint:
    """Paints what rays hit. `label` has one entry per geom; the last is for rays that hit nothing."""

    def __init__(self, model: Any, objects: ObjectsPart) -> None:
        paint = {name: 255.0 * np.array(colour) for name, colour in objects.paint.items()}
        self._colour: Array = np.tile(paint["other"], (model.ngeom + 1, 1))
        self.label: Labels = np.full(model.ngeom + 1, NOTHING, dtype=np.int8)
        for index in range(model.ngeom):
            body = model.body(model.geom_bodyid[index]).name
            for label, name in enumerate(CUBES):
                if body == f"cube_{name}":
                    self._colour[index], self.label[index] = paint[name], label
            if body in {f"container_{name}" for name in task.CONTAINERS}:
                self._colour[index], self.label[index] = paint[CONTAINER], len(CUBES)
            elif body == "table":
                self._colour[index] = paint["table"]
            elif body.startswith(("robot0", "gripper0")):
                self._colour[index] = paint["robot"]

    def shaded(self, hits: Hits) -> NDArray[np.float32]:
        """The colour (n, 3), 0 to 255, of each hit."""
        light = AMBIENT + (1.0 - AMBIENT) * np.maximum(hits.normal @ (LIGHT / np.linalg.norm(LIGHT)), 0.0)
        return np.asarray(self._colour[hits.geom] * light[:, None], dtype=np.float32)
