"""Imports robosuite quietly, with its compiled functions cached; its controller and its rates."""

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .opencv import import_opencv
from .physics.cache import cache_folder, compiled_code_in

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
