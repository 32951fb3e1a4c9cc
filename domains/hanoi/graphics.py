"""The graphics back end of this machine, tried before it is used. Drawing alone needs one.

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
    """The graphics back end that works here: $MUJOCO_GL if it names one, else the first of BACKENDS that draws.

    Each is tried in a process of its own, since a failed try would spoil the next one. Raises UsageError.
    """
    wanted = os.environ.get("MUJOCO_GL", "").lower()
    reasons = []
    for name in (wanted,) if wanted in BACKENDS else BACKENDS:
        flaw = _flaw(name)
        if flaw is None:
            return name
        reasons.append(f"{name}: {flaw}")
    raise UsageError(
        f"nothing can draw here ({'; '.join(reasons)}): install Debian's libegl1 libegl-mesa0 libgl1-mesa-dri,"
        " or libosmesa6, or set MUJOCO_GL to egl or osmesa"
    )


def _flaw(name: str) -> str | None:
    """Why a back end does not draw; None where it does."""
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
    # What is said last is mostly of the ruins being cleared away.
    return next((line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)), lines[-1]).strip()[:200]


def open_context(width: int, height: int) -> Any:
    """A graphics context for pictures of this size, made current. Call its `free` at the end. Raises UsageError."""
    backend = live_backend()
    # PyOpenGL binds to one platform when it is first loaded, and cannot be made to change its mind.
    if "OpenGL" in sys.modules and os.environ.get("PYOPENGL_PLATFORM", backend) != backend:
        raise UsageError(f"another graphics back end than {backend} is in use: draw in a process of its own")
    context = importlib.import_module(f"mujoco.{backend}").GLContext(width, height)
    context.make_current()
    return context
