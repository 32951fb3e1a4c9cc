"""Lets robosuite be imported where OpenCV is missing or cannot be loaded.

robosuite imports `cv2` for a window that MEMENTO never opens. A checkout does without OpenCV, and the wheel that pip
installs for robosuite needs libGL, which a machine without a display may not have.
"""

import importlib
import sys
from types import ModuleType
from typing import Any


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
