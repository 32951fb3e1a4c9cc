"""Recorded trajectories on disk: one npz file of plain arrays per episode, named after its order.

Members are "states/NAME.npy", "actions/NAME.npy" and "constants/NAME.npy", deflated, and "info.json". Workers write
these files, the controller reads them; numpy alone reads them too.
"""

import hashlib
import io
import json
import math
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .errors import StoreError, os_problem
from .files import open_regular, replacing
from .recording import Recording
from .values import JSON

KINDS: Final = "biufUS"     # dtypes that need no pickle
SUFFIX: Final = ".npz"
MOST_BYTES: Final = 2**29       # unpacked; a file from elsewhere must not fill the memory
MOST_INFO_BYTES: Final = 2**24


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
    with _replacement(path) as partial:
        _write(partial, recording)


def packed_recording(recording: Recording) -> bytes:
    """The content of the file of `save_recording`. Raises TypeError and ValueError as that does."""
    file = io.BytesIO()
    _write(file, recording)
    return file.getvalue()


def save_packed(path: Path, data: bytes) -> None:
    """Write what `packed_recording` returned, as `save_recording` writes. Raises StoreError."""
    with _replacement(path) as partial:
        partial.write_bytes(data)


@contextmanager
def _replacement(path: Path) -> Iterator[Path]:
    try:
        # durable: where the power fails the store may keep the episode's fact, so this file is kept, too
        with replacing(path, durable=True) as partial:
            yield partial
    except OSError as error:
        problem = f"the trajectory {path.name} cannot be written to {path.parent}: {os_problem(error)}"
        raise StoreError(problem) from error


def _write(file: Path | io.BytesIO, recording: Recording) -> None:
    groups = {"states": recording.states, "actions": recording.actions, "constants": recording.constants}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for group, arrays in groups.items():
            for name, array in arrays.items():
                if array.dtype.kind not in KINDS:
                    raise TypeError(f"recorded array {name} has dtype {array.dtype}, which is not plain data")
                with archive.open(f"{group}/{name}.npy", "w", force_zip64=True) as member:
                    np.save(member, array, allow_pickle=False)
        archive.writestr("info.json", json.dumps(dict(recording.info), allow_nan=False))


def load_recording(path: Path) -> Recording:
    """Read a recording back. Raises StoreError where the file is missing, damaged, too large or no recording."""
    try:
        with os.fdopen(open_regular(path), "rb") as file, zipfile.ZipFile(file) as archive:
            return _recording(archive)
    except FileNotFoundError:
        raise StoreError(
            f"the trajectory {path.name} is not in {path.parent}: it was dropped after its generation (settings can "
            "keep all), or never written"
        ) from None
    except Exception as error:      # a file from elsewhere can make zipfile, zlib and numpy raise anything
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
        raise StoreError(f"the trajectory {path.name} cannot be read: {said}") from error


def _recording(archive: zipfile.ZipFile) -> Recording:
    """The recording in an archive. Sizes are checked before anything is unpacked. Raises ValueError, KeyError."""
    if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
        raise ValueError(f"it would unpack to more than {MOST_BYTES >> 20} MiB")
    if archive.getinfo("info.json").file_size > MOST_INFO_BYTES:
        raise ValueError(f"its info is larger than {MOST_INFO_BYTES >> 20} MiB")
    info: dict[str, JSON] = json.loads(archive.read("info.json"))
    groups: dict[str, dict[str, NDArray[Any]]] = {"states": {}, "actions": {}, "constants": {}}
    for member in archive.infolist():
        group, _, name = member.filename.removesuffix(".npy").partition("/")
        if group in groups:
            groups[group][name] = _array(archive, member)
    if not groups["states"]:
        raise ValueError("it holds no states")
    if not isinstance(info, dict):
        raise ValueError("its info is not an object")
    _require_rows(groups["states"], groups["actions"])
    return Recording(**groups, info=info)


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """One array, whose header must fit the member's size: numpy reserves what the header says."""
    with archive.open(member) as stream:
        header: Any = np.lib.format     # which has no types
        readers = {(1, 0): header.read_array_header_1_0, (2, 0): header.read_array_header_2_0}
        shape, _, dtype = readers[header.read_magic(stream)](stream)
        size = math.prod(shape) * dtype.itemsize
        if not dtype.hasobject and (min(shape, default=0) < 0 or stream.tell() + size != member.file_size):
            raise ValueError(f"the array {member.filename!r} is not as large as its header says")
    with archive.open(member) as stream:
        array: NDArray[Any] = np.load(stream, allow_pickle=False)
    if array.dtype.kind not in KINDS:
        raise ValueError(f"the array {member.filename!r} has dtype {array.dtype}, which is not plain data")
    return array


def _require_rows(states: Mapping[str, NDArray[Any]], actions: Mapping[str, NDArray[Any]]) -> None:
    """Raises ValueError where an array has no rows to be one per step; states have at least one row."""
    if not all(array.ndim and len(array) for array in states.values()) or not all(a.ndim for a in actions.values()):
        raise ValueError("an array of its states or actions has no rows")
