"""Finds a graphics back end that works on this machine. Only rendering needs one.

On a CPU under Linux that is EGL (libegl1, libegl-mesa0, libgl1-mesa-dri) or OSMesa (libosmesa6).
"""

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

from ...core.errors import UsageError
from ...core.ports import Picture

BACKENDS: Final = {"darwin": ("cgl",), "win32": ("glfw",)}.get(sys.platform, ("egl", "osmesa"))
PROBE_LIMIT_S: Final = 60.0
_PROBE = "import sys, importlib; importlib.import_module('mujoco.' + sys.argv[1]).GLContext(8, 8).make_current()"


@cache
def live_backend() -> str:
    """The graphics back end to use: $MUJOCO_GL if it is set, else the first of BACKENDS that works.

    Each is tested in a separate process, since a failed attempt breaks the next one. Raises UsageError if none works.
    """
    requested = os.environ.get("MUJOCO_GL", "").lower()
    reasons = []
    for name in (requested,) if requested in BACKENDS else BACKENDS:
        flaw = _flaw(name)
        if flaw is None:
            return name
        reasons.append(f"{name}: {flaw}")
    raise UsageError(
        f"no graphics back end works ({'; '.join(reasons)}): install Debian's libegl1 libegl-mesa0 libgl1-mesa-dri,"
        " or libosmesa6, or set MUJOCO_GL to egl or osmesa"
    )


def _flaw(name: str) -> str | None:
    """The reason why a back end does not work; None if it does."""
    variables = {**os.environ, "MUJOCO_GL": name, "PYOPENGL_PLATFORM": name}
    try:
        tried = subprocess.run(
            [sys.executable, "-c", _PROBE, name], env=variables, capture_output=True, text=True,
            timeout=PROBE_LIMIT_S, check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer in {PROBE_LIMIT_S:g} s"
    if tried.returncode == 0:
        return None
    lines = tried.stderr.strip().splitlines() or [f"it ended with code {tried.returncode}"]
    # The last lines are mostly errors of the clean-up that follows the failure.
    return next((line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)), lines[-1]).strip()[:200]


def open_context(width: int, height: int) -> Any:
    """A graphics context for images of this size, made current. Call `free` on it when done. Raises UsageError."""
    backend = live_backend()
    # PyOpenGL binds to one platform when it is first imported and cannot switch later.
    if "OpenGL" in sys.modules and os.environ.get("PYOPENGL_PLATFORM", backend) != backend:
        raise UsageError(f"a graphics back end other than {backend!r} is in use: render in a separate process")
    context = importlib.import_module(f"mujoco.{backend}").GLContext(width, height)
    context.make_current()
    return context


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
