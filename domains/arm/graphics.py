"""Finds a graphics back end that works on this machine. Only rendering needs one.

On a CPU under Linux that is EGL (libegl1, libegl-mesa0, libgl1-mesa-dri) or OSMesa (libosmesa6).
"""

import importlib
import os
import re
import subprocess
import sys
from functools import cache
from typing import Any, Final

from ...core.errors import UsageError

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
