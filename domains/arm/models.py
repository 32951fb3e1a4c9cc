"""Compiled MuJoCo models of robosuite's scenes, kept on disk: each is compiled once on a machine, and read after that.

Most of the time to compile one goes into meshes and textures, and the result is the same bytes. A model is known by
all that decides on it: its XML, the files that this names, MuJoCo's version and the processor.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import llvmlite.binding as llvm
import mujoco

from ...core.files import replacing
from .physics.cache import compiled_code_in, user_folder
from .simulator import CACHE, quiet_robosuite

with quiet_robosuite(), compiled_code_in(CACHE):
    from robosuite.models.robots.robot_model import RobotModel
    from robosuite.utils.binding_utils import MjSim

KEPT: Final = 6     # models, the last used ones: one takes about 60 MB


class KeptModel:
    """Has a robosuite environment read its compiled model where there is one: mixed in before robosuite's class."""

    def _initialize_sim(self: Any, xml_string: str | None = None) -> None:
        xml = xml_string or self.model.get_xml()
        for process in self._xml_processors:
            xml = process(xml)
        self.sim = MjSim(kept_model(xml, user_folder("models")))
        self.sim.forward()
        self.initialize_time(self.control_freq)


@contextmanager
def without_robot_alone() -> Iterator[None]:
    """Environments made in this context compile no model of their robots alone, which other controllers need."""
    own = RobotModel.set_mujoco_model
    RobotModel.set_mujoco_model = lambda *_: None
    try:
        yield
    finally:
        RobotModel.set_mujoco_model = own


def kept_model(xml: str, folder: Path | None) -> Any:
    """The mujoco.MjModel of this XML, read from `folder` or compiled and kept there. Raises ValueError for bad XML."""
    digest = None if folder is None else _digest(xml)
    if folder is None or digest is None:
        return mujoco.MjModel.from_xml_string(xml)
    path = folder / f"{digest}.mjb"
    # A file that is missing or damaged: it is made again.
    with suppress(ValueError, mujoco.FatalError):
        if path.exists():
            model = mujoco.MjModel.from_binary_path(str(path))
            with suppress(OSError):
                os.utime(path)
            return model
    model = mujoco.MjModel.from_xml_string(xml)
    with suppress(OSError, mujoco.FatalError):      # a full disk: the next process compiles it, too
        with replacing(path, durable=True) as partial:
            mujoco.mj_saveModel(model, str(partial))
        _prune(folder)
    return model


def _digest(xml: str) -> str | None:
    """What a compiled model is known by; None where a file that it names cannot be found."""
    digest = hashlib.sha256(repr((
        mujoco.__version__, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), xml,
    )).encode())
    for name in sorted({*re.findall(r'\bfile="([^"]*)"', xml)}):
        try:
            about = Path(name).stat()
        except OSError:
            return None
        digest.update(repr((name, about.st_size, about.st_mtime_ns)).encode())
    return digest.hexdigest()[:32]


def _prune(folder: Path) -> None:
    """Keep the models that were used last."""
    last_used = {}
    for path in folder.glob("*.mjb"):
        with suppress(FileNotFoundError):       # another process prunes as well
            last_used[path] = path.stat().st_mtime_ns
    for path in sorted(last_used, key=last_used.__getitem__, reverse=True)[KEPT:]:
        path.unlink(missing_ok=True)
