"""Recorded trajectories on disk: one npz file of plain arrays per episode, named after its order.

Members are "states/NAME.npy", "actions/NAME.npy" and "constants/NAME.npy", deflated, and "info.json". Workers write
these files, the controller reads them; numpy alone reads them too.
"""

import hashlib
import json
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .errors import StoreError, os_problem
from .files import replacing
from .recording import Recording
from .values import JSON

KINDS: Final = "biufUS"     # dtypes that need no pickle
SUFFIX: Final = ".npz"


def trajectory_key(order: str) -> str:
    """A file name for the episode of an order, such as "g1_macro_3_e2" for "g1/macro/3/e2".

    Distinct orders have distinct keys; no key has a path separator or a leading dot.
    """
    plain = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*(/[A-Za-z0-9][A-Za-z0-9.-]*)*", order)
    key = re.sub(r"[^A-Za-z0-9.-]", "_", order).lstrip("._-")[:100]
    if plain and len(order) <= 100:
        return key
    return f"{key}_{hashlib.sha256(order.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def owner_of_key(key: str) -> str:
    """What the keys of all episodes of one owner begin with: "g1_macro_3" of "g1_macro_3_e2"."""
    return key.rpartition("_")[0]


def trajectory_path(folder: Path, key: str) -> Path:
    """Where the trajectory with this key lies. Raises StoreError for a key that is no plain file name."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", key):
        raise StoreError(f"{key!r} is not a valid trajectory key")
    return folder / f"{key}{SUFFIX}"


def save_recording(path: Path, recording: Recording) -> None:
    """Write a recording so that `path` holds all of it or is untouched.

    Raises TypeError for arrays that are no plain data, ValueError for info that is not JSON (NaN included), and
    StoreError with a sentence where the disk refuses.
    """
    groups = {"states": recording.states, "actions": recording.actions, "constants": recording.constants}
    try:
        with (
            # durable: where the power fails the store may keep the episode's fact, so this file is kept, too
            replacing(path, durable=True) as partial,
            zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        ):
            for group, arrays in groups.items():
                for name, array in arrays.items():
                    if array.dtype.kind not in KINDS:
                        raise TypeError(f"recorded array {name} has dtype {array.dtype}, which is not plain data")
                    with archive.open(f"{group}/{name}.npy", "w", force_zip64=True) as member:
                        np.save(member, array, allow_pickle=False)
            archive.writestr("info.json", json.dumps(dict(recording.info), allow_nan=False))
    except OSError as error:
        problem = f"the trajectory {path.name} cannot be written to {path.parent}: {os_problem(error)}"
        raise StoreError(problem) from error


_DAMAGE: Final = (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, KeyError, ValueError, EOFError)


def load_recording(path: Path) -> Recording:
    """Read a recording back. Raises StoreError where the file is missing or damaged."""
    groups: dict[str, dict[str, NDArray[Any]]] = {"states": {}, "actions": {}, "constants": {}}
    try:
        with zipfile.ZipFile(path) as archive:
            info: dict[str, JSON] = json.loads(archive.read("info.json"))
            for member in archive.namelist():
                group, _, name = member.removesuffix(".npy").partition("/")
                if group in groups:
                    with archive.open(member) as stream:
                        groups[group][name] = np.load(stream, allow_pickle=False)
    except FileNotFoundError:
        raise StoreError(
            f"the trajectory {path.name} is not in {path.parent}: it was dropped after its generation (settings can "
            "keep all), or never written"
        ) from None
    except _DAMAGE as error:
        raise StoreError(f"the trajectory {path.name} cannot be read: {error}") from error
    if not groups["states"]:
        raise StoreError(f"the trajectory {path.name} cannot be read: it holds no states")
    return Recording(**groups, info=info)
