"""What a machine says about itself as a place for rollouts, and whether it fits a run."""

import hashlib
import os
import platform
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from ...core.version import __version__
from ...runtime.rollouts import sandbox

NAMED: Final = ("numpy", "mujoco", "robosuite", "numba", "gymnasium")     # packages that affect an episode
_FOLDERS: Final = ("core", "domains", "runtime/rollouts", "extensions")    # of the code that makes an episode


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """One machine. `layers` are the live ones; `code` identifies this package's files that rollouts use."""

    host: str
    cpus: int
    cpu: str
    layers: tuple[str, ...]
    versions: Mapping[str, str]
    code: str

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "About":
        """The inverse of `as_json`."""
        return cls(**{**values, "layers": tuple(values["layers"])})


def about_here() -> About:
    """This machine."""
    return About(
        host=socket.gethostname(),
        cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        cpu=_cpu(),
        layers=tuple(name for name, layer in sandbox.layers().items() if layer.live),
        versions=_versions(),
        code=_code(),
    )


def why_unfit(node: About, here: About, *, isolated: bool) -> str | None:
    """Why episodes of this machine's run must not be rolled out on a node; None if they may.

    With `isolated` a node on which generated programs cannot be isolated is refused.
    """
    for name, wanted in here.versions.items():
        found = node.versions.get(name)
        if found != wanted:
            return f"it has {name} {found or 'missing'}, and this machine has {wanted}: install the same on both"
    if node.code != here.code:
        return f"its files of memento {__version__} differ from this machine's: install the same on both"
    if isolated:
        missing = [layer for layer in sandbox.ISOLATING if layer not in node.layers]
        if missing:
            return f"generated code cannot be isolated there ({', '.join(missing)} missing)"
    return None


def lost_layers(node: About, layers: Sequence[str]) -> list[str]:
    """The isolation layers that a run was started with and that the node lacks."""
    return [layer for layer in layers if layer not in node.layers]


def _versions() -> dict[str, str]:
    named = {"memento": __version__, "python": platform.python_version()}
    for name in NAMED:
        with suppress(PackageNotFoundError):
            named[name] = version(name)
    return named


def _cpu() -> str:
    """The processor's name, for people."""
    with suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line for line in lines if line.startswith("model name")).partition(":")[2].strip()
    return platform.processor() or platform.machine()


@cache
def _code() -> str:
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            digest.update(f"{path.relative_to(root)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
