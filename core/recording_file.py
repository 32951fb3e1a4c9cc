"""A recorded trajectory as one .npz file: the layout that the rollout pool writes and the store reads.

The file is an uncompressed NumPy archive, never pickle. Members are "states.NAME", "actions.NAME" and
"constants.NAME", one for each array, and "info", the JSON text of the info as UTF-8 bytes.
"""

import json
import os
import secrets
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .recording import Recording
from .values import JSON

GROUPS = ("states", "actions", "constants")
SUFFIX = ".npz"


def write_recording(path: str | os.PathLike[str], recording: Recording) -> None:
    """Write `recording` to `path`, whole or not at all, making the folder where it is missing.

    Raises ValueError for an array of Python objects and for info that is not JSON (NaN included),
    OSError where the disk refuses.
    """
    target = Path(path)
    members = _members(recording)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            np.savez(file, **members)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def read_recording(path: str | os.PathLike[str]) -> Recording:
    """The recording at `path`. Raises FileNotFoundError, and ValueError for a file that is none or damaged."""
    groups: dict[str, dict[str, NDArray[Any]]] = {group: {} for group in GROUPS}
    try:
        # NumPy leaves a file that it opened itself open where it is no archive.
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            for member in archive.files:
                group, _, name = member.partition(".")
                if group in groups and name:
                    groups[group][name] = archive[member]
            info: Mapping[str, JSON] = json.loads(archive["info"].tobytes())
    except (zipfile.BadZipFile, KeyError, EOFError, TypeError) as error:
        raise ValueError(f"{os.fspath(path)} is not a recorded trajectory: {error}") from error
    if not groups["states"]:
        raise ValueError(f"{os.fspath(path)} is not a recorded trajectory: it has no states")
    return Recording(**groups, info=info)


def _members(recording: Recording) -> dict[str, NDArray[Any]]:
    """The arrays of the archive by member name."""
    members: dict[str, NDArray[Any]] = {}
    for group in GROUPS:
        for name, array in getattr(recording, group).items():
            rows = np.asarray(array)
            if rows.dtype.hasobject:
                raise ValueError(f"{group}.{name} holds Python objects, not numbers or texts")
            members[f"{group}.{name}"] = rows
    text = json.dumps(recording.info, allow_nan=False)
    members["info"] = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    return members
