"""The versions of what simulates an environment, also of a module that has none, found without importing it."""

import hashlib
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Final

MODULE: Final = "module "       # begins the name of a module without a distribution: its version is a digest
# Whose version changes what is simulated, with their modules: those that the environment has imported.
PHYSICS: Final = {"mujoco": "mujoco", "numpy": "numpy", "pymunk": "pymunk", "box2d": "Box2D", "pybullet": "pybullet"}


def versions_with(module: str, package: str | None) -> dict[str, str]:
    """By name, the versions of Gymnasium, of the package that has this module, of `package`, and of the physics."""
    top = module.partition(".")[0]
    distributions = metadata.packages_distributions()
    loaded = {name for name, each in PHYSICS.items() if each in sys.modules}
    names = {"gymnasium", *loaded, *distributions.get(top, [f"{MODULE}{top}"])[:1],
             *(distributions.get(package, ())[:1] if package else ())}
    return {name: found for name in sorted(names) if (found := version_of(name))}


def version_of(name: str) -> str:
    """The version of a distribution, or the digest of a module's code; "" for what is not here."""
    try:
        return _digest(name.removeprefix(MODULE)) if name.startswith(MODULE) else metadata.version(name)
    except (metadata.PackageNotFoundError, ImportError, ValueError, OSError):
        return ""


def _digest(module: str) -> str:
    """Of the module's file, or of all Python files of its folder."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return ""
    file = Path(spec.origin)
    files = sorted(file.parent.rglob("*.py")) if spec.submodule_search_locations else [file]
    whole = hashlib.sha256()
    for each in files:
        whole.update(each.name.encode() + each.read_bytes())
    return whole.hexdigest()[:12]
