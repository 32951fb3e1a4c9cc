"""Imports robosuite quietly, with its compiled functions cached; its controller and its rates."""

import importlib
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from .physics.cache import cache_folder, compiled_code_in

# Lets robosuite be imported where OpenCV is missing or cannot be loaded.
#
# robosuite imports `cv2` for a window that MEMENTO never opens. A checkout does without OpenCV, and the wheel that pip
# installs for robosuite needs libGL, which a machine without a display may not have.


class AbsentOpenCV(ModuleType):
    """Takes the place of `cv2`. Any use raises ImportError."""

    def __init__(self, reason: str) -> None:
        super().__init__("cv2", "OpenCV is absent.")
        self._reason = reason

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):       # asked for by the machinery of imports
            raise AttributeError(name)
        raise ImportError(f"cv2.{name} is not available: {self._reason}", name="cv2")


def import_opencv() -> ModuleType:
    """OpenCV, or the module that takes its place."""
    try:
        return importlib.import_module("cv2")
    except ImportError as error:
        sys.modules["cv2"] = AbsentOpenCV(str(error))
        return sys.modules["cv2"]


CACHE = cache_folder()
CONTROL_HZ = 20
SUBSTEPS = 25


@contextmanager
def quiet_robosuite() -> Iterator[None]:
    """Suppress robosuite's log messages and environment changes while it is imported or built.

    It warns about a private macro file and of optional packages, and together with OpenCV it sets variables
    such as MUJOCO_GL and LD_LIBRARY_PATH for the whole process.
    """
    log = logging.getLogger("robosuite_logs")
    variables = dict(os.environ)

    def drop(_: logging.LogRecord) -> bool:
        return False

    log.addFilter(drop)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.removeFilter(drop)
        for name in os.environ.keys() - variables.keys():
            del os.environ[name]
        os.environ.update(variables)


# robosuite compiles some of its functions; cache them in the same folder.
with quiet_robosuite(), compiled_code_in(CACHE):
    import_opencv()
    from robosuite.controllers import load_composite_controller_config
    from robosuite.utils.transform_utils import quat2mat

__all__ = ["CACHE", "CONTROL_HZ", "SUBSTEPS", "controller_config", "quat2mat", "quiet_robosuite"]


def controller_config() -> dict[str, Any]:
    """robosuite's default operational-space controller of the Panda (OSC_POSE, increments in the base frame)."""
    with quiet_robosuite():
        config: dict[str, Any] = load_composite_controller_config(robot="Panda")
    return config
