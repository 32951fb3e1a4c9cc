"""Draws the state of a MuJoCo scene off screen."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.ports import Picture
from .graphics import open_context


class Drawing:
    """A graphics context of one size, and the pictures of a scene in it.

    Make the context first: MuJoCo must be imported after the graphics back end is chosen.
    """

    def __init__(self, width: int, height: int) -> None:
        self._context = open_context(width, height)
        self._size = width, height
        self._renderer: Any = None

    def connect(self, model: Any, data: Any, camera: Callable[[Any], Any]) -> None:
        """Draw this model; `camera(mujoco)` makes the camera."""
        import mujoco

        width, height = self._size
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        model.vis.quality.shadowsize = 2048
        self._mujoco: Any = mujoco
        self._model, self._data = model, data
        self.view = mujoco.MjvScene(model, maxgeom=2000)
        self._option = mujoco.MjvOption()
        self._option.geomgroup[0] = 0       # robosuite's contact shapes; group 1 holds the visual ones
        self._option.sitegroup[:] = 0
        self._camera = camera(mujoco)
        self._renderer = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._renderer)
        self._rectangle = mujoco.MjrRect(0, 0, width, height)

    def picture(self, decorate: Callable[[Any], None] | None = None) -> Picture:
        """The scene's current state as an image (height, width, 3) of uint8; `decorate(view)` may add shapes."""
        mujoco = self._mujoco
        self._context.make_current()        # another drawing of this process may have been used meanwhile
        mujoco.mjv_updateScene(
            self._model, self._data, self._option, None, self._camera, mujoco.mjtCatBit.mjCAT_ALL, self.view,
        )
        if decorate is not None:
            decorate(self.view)
        mujoco.mjr_render(self._rectangle, self.view, self._renderer)
        picture = np.empty((self._rectangle.height, self._rectangle.width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(picture, None, self._rectangle, self._renderer)
        return picture[::-1].copy()

    def close(self) -> None:
        """Release the graphics context."""
        if self._renderer is not None:
            self._context.make_current()
            self._renderer.free()
        self._context.free()


def fixed_camera(mujoco: Any, model: Any, name: str) -> Any:
    """A camera of the model."""
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
    camera.fixedcamid = model.camera(name).id
    return camera
