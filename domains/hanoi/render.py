"""Pictures of a recorded episode: its stored states put into the scene and drawn off screen.

Nothing else needs a graphics library. Drawing on a CPU takes EGL (libegl1, libegl-mesa0, libgl1-mesa-dri)
or OSMesa (libosmesa6).
"""

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...core.errors import UsageError
from ...core.recording import Recording
from . import task

Frame: TypeAlias = npt.NDArray[np.uint8]

BACKENDS = ("egl", "osmesa")
CAMERAS = ("frontview", "agentview", "sideview", "birdview")
PROBE_LIMIT_S = 60.0
_PROBE = "import sys, importlib; importlib.import_module('mujoco.' + sys.argv[1]).GLContext(8, 8).make_current()"


@cache
def live_backend() -> str:
    """The graphics back end that works here: $MUJOCO_GL if set, else EGL, else OSMesa. Raises UsageError.

    Each is tried in a process of its own, since a failed try would spoil the next one.
    """
    wanted = os.environ.get("MUJOCO_GL", "").lower()
    reasons = []
    for name in (wanted,) if wanted in BACKENDS else BACKENDS:
        variables = {**os.environ, "MUJOCO_GL": name, "PYOPENGL_PLATFORM": name}
        try:
            tried = subprocess.run(
                [sys.executable, "-c", _PROBE, name], env=variables, capture_output=True, text=True,
                timeout=PROBE_LIMIT_S, check=False,
            )
        except subprocess.TimeoutExpired:
            reasons.append(f"{name}: no answer in {PROBE_LIMIT_S:g} s")
            continue
        if tried.returncode == 0:
            return name
        reasons.append(f"{name}: {(tried.stderr.strip() or 'it died').splitlines()[-1]}")
    raise UsageError(
        f"No graphics back end draws here ({'; '.join(reasons)}); install libegl1 libegl-mesa0 libgl1-mesa-dri"
        " or libosmesa6, or set MUJOCO_GL to egl or osmesa."
    )


def frames(
    recording: Recording, *, width: int = 640, height: int = 480, camera: str = "frontview", every: int = 1,
) -> Iterator[Frame]:
    """Every `every`-th recorded state as an image (height, width, 3) of uint8, from one of CAMERAS.

    Raises UsageError where no graphics back end is live.
    """
    if camera not in CAMERAS:
        raise UsageError(f"There is no camera {camera!r}; there are {', '.join(CAMERAS)}.")
    stage = _Stage(recording, width, height, camera)
    with closing(stage):
        for row in range(0, recording.steps + 1, every):
            yield stage.draw(row)


def save_video(
    recording: Recording, path: Path, *, width: int = 640, height: int = 480, camera: str = "frontview",
    speed: float = 4.0,
) -> None:
    """Write the episode as a video (.mp4), `speed` times as fast as it was. Raises UsageError."""
    import cv2

    period_s = float(recording.constants["control_period_s"])
    every = max(1, round(speed / (period_s * 30)))     # at most 30 pictures a second
    rate_hz = speed / (period_s * every)
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), rate_hz, (width, height))
    if not writer.isOpened():
        raise UsageError(f"Cannot write a video to {path}; give a path that ends in .mp4 in a folder that exists.")
    try:
        for frame in frames(recording, width=width, height=height, camera=camera, every=every):
            writer.write(np.ascontiguousarray(frame[..., ::-1]))
    finally:
        writer.release()


class _Stage:
    """A scene with a graphics context of its own."""

    def __init__(self, recording: Recording, width: int, height: int, camera: str) -> None:
        backend = live_backend()
        if "OpenGL" in sys.modules and os.environ.get("PYOPENGL_PLATFORM") != backend:
            raise UsageError(f"Another graphics back end than {backend} is in use; draw in a process of its own.")
        self._context = importlib.import_module(f"mujoco.{backend}").GLContext(width, height)
        self._context.make_current()

        import mujoco  # type: ignore[import-untyped]

        from .dynamics import object_addresses
        from .scene import HanoiScene

        half_edges = tuple(recording.constants["cube_size"].tolist())
        self._scene = HanoiScene(
            names=task.cube_names(len(half_edges)), half_edges_m=half_edges,
            variant=str(recording.info.get("variant", "cube")),
        )
        model = self._scene.mj_model
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        self._mujoco: Any = mujoco
        self._cubes, self._containers = object_addresses(self._scene)
        self._view = mujoco.MjvScene(model, maxgeom=2000)
        self._option = mujoco.MjvOption()
        self._option.geomgroup[0] = 0       # robosuite's contact shapes; group 1 is what is to be seen
        self._option.sitegroup[:] = 0
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self._camera.fixedcamid = model.camera(camera).id
        self._renderer = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._renderer)
        self._rectangle = mujoco.MjrRect(0, 0, width, height)
        self._states = recording.states

    def draw(self, row: int) -> Frame:
        """The state of this row as an image."""
        mujoco, model, data = self._mujoco, self._scene.mj_model, self._scene.mj_data
        states = self._states
        data.qpos[0:7] = states["joint_pos"][row]
        data.qpos[7:9] = states["gripper_qpos"][row]
        for kind, starts in (("cube", self._cubes), ("container", self._containers)):
            for index, start in enumerate(starts):
                data.qpos[start : start + 3] = states[f"{kind}_pos"][row, index]
                data.qpos[start + 3 : start + 7] = states[f"{kind}_quat"][row, index]
        mujoco.mj_forward(model, data)
        mujoco.mjv_updateScene(
            model, data, self._option, None, self._camera, mujoco.mjtCatBit.mjCAT_ALL, self._view,
        )
        mujoco.mjr_render(self._rectangle, self._view, self._renderer)
        picture = np.empty((self._rectangle.height, self._rectangle.width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(picture, None, self._rectangle, self._renderer)
        return picture[::-1].copy()

    def close(self) -> None:
        """Let go of the graphics context."""
        self._renderer.free()
        self._context.free()
        self._scene.close()
