"""The extras: optional parts of an installation, the packages that each adds, and what to run if one is missing.

The names are those of `[project.optional-dependencies]` in `pyproject.toml`.
"""

import json
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Final
from urllib.parse import unquote, urlsplit

from .errors import UsageError, no_such

DISTRIBUTION: Final = "memento-evolve"      # the name that pip installs; the module is `memento`
WHEEL: Final = "PATH.whl"                   # for whom it is not known: the wheel that MEMENTO was installed from
OWN_UV: Final = ".uv/bin/uv"                # of a checkout whose launcher installed it
_ROOT: Final = Path(__file__).resolve().parents[1]
SIMULATING: Final = ("mujoco", "numpy", "robosuite")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """`gives` completes "needed for …". `modules` are the import names of the packages that it adds directly."""

    gives: str
    modules: tuple[str, ...]


EXTRAS: Final[Mapping[str, Extra]] = {
    "mujoco": Extra(gives="Gymnasium's MuJoCo environments, such as gym:HalfCheetah-v5", modules=("mujoco", "imageio")),
    "robosuite": Extra(gives="the Franka arm: hanoi and robosuite's own tasks", modules=("robosuite", "mujoco")),
    "cell": Extra(gives="memento cell: the arm, and the planner of its phases", modules=("robosuite", "ruckig")),
    "kitchen": Extra(gives="kitchens that run four times as fast, with compiled loops", modules=("numba",)),
    "unity": Extra(gives="AI2-THOR in Unity as the back end of the kitchen", modules=("ai2thor",)),
    "compare": Extra(gives="the statistics of memento compare and memento report", modules=("scipy",)),
    "video": Extra(gives="films in MP4; GIF and PNG need no extra", modules=("av",)),
    "suites": Extra(
        gives="Gymnasium environments of others, for gym:ID",
        modules=("Box2D", "gymnasium_robotics", "highway_env", "metaworld", "minigrid", "pygame"),
    ),
    "browser": Extra(gives="memento watch --browser", modules=("textual_serve",)),
    "plots": Extra(gives="run.plot() in notebooks, and reports' figures as PDF", modules=("matplotlib", "svglib")),
    "parquet": Extra(gives="memento export --to parquet", modules=("pyarrow",)),
    "wandb": Extra(gives="memento export --to wandb", modules=("wandb",)),
    "mlflow": Extra(gives="memento export --to mlflow", modules=("mlflow",)),
    "otel": Extra(gives="memento export --to otel", modules=("opentelemetry.exporter.otlp.proto.http",)),
    "mcp": Extra(gives="memento mcp, the server for coding agents", modules=("mcp",)),
    "franka": Extra(gives="a real Franka arm in memento cell", modules=("franky",)),
    "cluster": Extra(gives="rollouts on many machines, with --cluster", modules=("ray",)),
    "rl": Extra(gives="the learned baseline, memento baseline", modules=("stable_baselines3", "torch")),
}


def is_installed(module: str) -> bool:
    """Whether a module can be imported. Imports nothing, of a dotted name only the packages around it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:     # of a package around it
        return False


def missing_modules(extra: str) -> tuple[str, ...]:
    """The modules of an extra that are not installed."""
    return tuple(module for module in EXTRAS[extra].modules if not is_installed(module))


def install_command(extra: str) -> str:
    """The command that installs an extra: into a checkout's own environment, or with pip from the same wheel."""
    if (_ROOT / "requirements.lock").exists():
        return f"{_uv()} pip install --python .venv/bin/python -r pyproject.toml --extra {extra}"
    return f"pip install '{_installed_from()}[{extra}]'"


def _installed_from() -> str:
    """The wheel or folder that MEMENTO was installed from, or words for it.

    Never the bare name of the distribution: it is on no index, and whoever registered it there would be installed.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        record = distribution(DISTRIBUTION).read_text("direct_url.json")
        address = urlsplit(str(json.loads(record or "{}").get("url", "")))
    except (PackageNotFoundError, ValueError):
        return WHEEL
    return unquote(address.path) if address.scheme == "file" and address.path else WHEEL


def pip_command(package: str) -> str:
    """The command that installs a package next to MEMENTO: into a checkout's own environment, or with pip."""
    own = Path(sys.prefix).resolve() == _ROOT / ".venv"
    if not own:
        return f"pip install {package}"
    return f"{_uv()} pip install --python .venv/bin/python {package}"


def _uv() -> str:
    return "uv" if which("uv") is not None or not (_ROOT / OWN_UV).exists() else OWN_UV


def replaced_packages() -> dict[str, tuple[str, str]]:
    """The packages that simulate and are not those of the lock any more: its version and the one here, by name.

    Installing another package replaces them without a word. None outside of a checkout.
    """
    from importlib.metadata import PackageNotFoundError, version

    lock = _ROOT / "requirements.lock"
    if Path(sys.prefix).resolve() != _ROOT / ".venv" or not lock.exists():
        return {}
    found = {}
    for name, locked in re.findall(rf"^({'|'.join(SIMULATING)})==([^ ]+)", lock.read_text(encoding="utf-8"), re.M):
        try:
            here = version(name)
        except PackageNotFoundError:
            continue
        if here != locked:
            found[name] = locked, here
    return found


def replaced_words(name: str, locked: str, here: str) -> str:
    """What such a package means, with the way back."""
    return (f"{name} is {here} here, and {locked} in requirements.lock: another package's installation replaced it, and"
            f" figures may differ from those before; go back with {pip_command(f'{name}=={locked}')}")


def shadow_words(error: BaseException) -> str:
    """Words for a failed import in which PYTHONPATH hides packages of this Python by others, as ROS's shells do."""
    if not isinstance(error, ImportError):
        return ""
    folders = {str(Path(each).resolve()): each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each}
    files = [*(frame.filename for frame in traceback.extract_tb(error.__traceback__)), error.path or ""]
    for file in filter(None, files):
        for folder, given in folders.items():
            path = Path(file).resolve()
            if path.is_relative_to(folder):
                module = path.relative_to(folder).parts[0].removesuffix(".py")
                here = Path(sysconfig.get_path("purelib"))
                if module in sys.stdlib_module_names or (here / module).exists() or (here / f"{module}.py").exists():
                    return f" ({module!r} is taken from {given}, in PYTHONPATH, which hides this Python's: unset it)"
    return ""


def require(extra: str, what: str) -> None:
    """Raises UsageError if an extra that `what` needs is not installed, with the command that installs it."""
    if extra not in EXTRAS:
        raise no_such("extra", extra, EXTRAS)
    missing = missing_modules(extra)
    if missing:
        raise UsageError(sentence(extra, what, missing[0]))


def sentence(extra: str, what: str, module: str) -> str:
    """One sentence: `what` needs a module that is not installed, and how to install it."""
    return f"{what} needs {module}, which is not installed: {install_command(extra)}"


def explain(error: ImportError, what: str = "this") -> UsageError | None:
    """A missing module of an extra as the user's to install; None for any other failed import."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    top = error.name.partition(".")[0]
    for name, extra in EXTRAS.items():
        if top in extra.modules:
            return UsageError(sentence(name, what, top))
    return None
