"""Finds the Unity build of AI2-THOR, or explains how to get one. This module downloads nothing."""

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ....core.errors import UsageError

RELEASES: Final = Path(".ai2thor/releases")     # in the home folder; the client stores builds there
PLATFORMS: Final = ("CloudRendering", "Linux64") if sys.platform.startswith("linux") else ("OSXIntel64",)
_PLATFORM: Final = PLATFORMS[0]
HOW_TO_GET_ONE: Final = (
    "on a machine with a network run python -c \"from ai2thor.controller import Controller; from ai2thor.platform"
    f" import {_PLATFORM}; Controller(platform={_PLATFORM}, download_only=True)\" (CloudRendering needs libvulkan1)"
    " and copy its ~/.ai2thor/releases here, or name a build with kitchen.unity_build=PATH;"
    " kitchen.backend=generated needs none"
)


def installed() -> list[Path]:
    """The builds that fit the installed client, in the order of preference."""
    commit = client_commit()
    if commit is None:
        return []
    folders = (releases() / f"thor-{platform}-{commit}" for platform in PLATFORMS)
    return [found for folder in folders if (found := _program(folder)) is not None]


def releases() -> Path:
    """The folder in which the client looks for builds."""
    return Path(os.path.expanduser("~")) / RELEASES     # noqa: PTH111 - like the client: no home, no error


def find(given: str | None) -> Path:
    """The program of the build at `given` (a program, or the folder of a build), else of an installed one.

    Raises UsageError that explains how to get one.
    """
    if given is not None:
        path = Path(given).expanduser().resolve()
        program = _program(path)
        if program is None:
            flaw = "does not exist" if not path.exists() else "is neither a program nor the folder of a build"
            raise UsageError(f"the Unity build {path} {flaw}: {HOW_TO_GET_ONE}")
        return program
    builds = installed()
    if not builds:
        raise UsageError(f"no Unity build of AI2-THOR is in {releases()}: {HOW_TO_GET_ONE}")
    return builds[0]


def client_commit() -> str | None:
    """The build that the installed client belongs to, read without importing it; None if no client is installed."""
    spec = find_spec("ai2thor")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        text = Path(folder) / "_builds.py"
        found = re.search(r"COMMIT_ID\s*=\s*['\"]([0-9a-f]+)['\"]", text.read_text()) if text.exists() else None
        if found:
            return found[1]
    return None


def _program(path: Path) -> Path | None:
    """The executable for a path: the path itself, or the one in a build's folder that has the folder's name."""
    inside = path / path.name
    on_a_mac = sorted((path / f"{path.name}.app" / "Contents" / "MacOS").glob("*"))
    return next((each for each in (path, inside, *on_a_mac) if each.is_file() and os.access(each, os.X_OK)), None)
