"""The trajectories of a run: one recording a file."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ..core.errors import StoreError
from ..core.recording import Recording
from ..core.recording_file import SUFFIX, read_recording, write_recording
from .runs import TRAJECTORIES

_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


class Trajectories:
    """The recordings in the trajectories folder of one run, by key; key "g1/macro/7/e3" is that path.

    Workers write the same files themselves with core.recording_file, so this holds no state.
    """

    def __init__(self, run_folder: str | os.PathLike[str]) -> None:
        self.folder = Path(run_folder) / TRAJECTORIES

    def load(self, key: str) -> Recording:
        """The recording with this key. Raises StoreError where it is gone or damaged."""
        try:
            return read_recording(self.path(key))
        except FileNotFoundError as error:
            raise StoreError(
                f'the trajectory "{key}" is not in {self.folder}: it was dropped after its generation '
                "(settings can keep all), or never written"
            ) from error
        except (OSError, ValueError) as error:
            raise StoreError(f'the trajectory "{key}" cannot be read: {error}') from error

    def save(self, key: str, recording: Recording) -> None:
        """Write a recording, whole or not at all. Raises StoreError."""
        try:
            write_recording(self.path(key), recording)
        except (OSError, ValueError) as error:
            raise StoreError(f'the trajectory "{key}" cannot be written: {error}') from error

    def keys(self) -> Iterator[str]:
        """All keys, sorted."""
        for path in sorted(self.folder.rglob(f"*{SUFFIX}")):
            if not path.name.startswith("."):
                yield path.relative_to(self.folder).as_posix().removesuffix(SUFFIX)

    def sizes(self, keys: Iterable[str] | None = None) -> dict[str, int]:
        """The size of each file in bytes, or of those with these keys; an absent one is left out."""
        found = {}
        for key in self.keys() if keys is None else keys:
            with suppress(FileNotFoundError):
                found[key] = self.path(key).stat().st_size
        return found

    def delete(self, keys: Iterable[str]) -> int:
        """Remove these recordings and return how many bytes that freed. An absent one is no error."""
        freed = 0
        for key in keys:
            path = self.path(key)
            try:
                size = path.stat().st_size
                path.unlink()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StoreError(f'the trajectory "{key}" cannot be deleted: {error.strerror}') from error
            freed += size
        return freed

    def path(self, key: str) -> Path:
        """The file of a key. Raises StoreError for a key that would leave the folder."""
        if not all(_SEGMENT.fullmatch(segment) for segment in key.split("/")):
            raise StoreError(f'"{key}" is no key of a trajectory')
        return self.folder / f"{key}{SUFFIX}"
