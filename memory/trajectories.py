"""The size of a run's recorded trajectories on disk, and their removal."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ..core.errors import StoreError, os_problem
from ..core.recording_file import SUFFIX, trajectory_path
from .runs import TRAJECTORIES


class Trajectories:
    """The recordings in the trajectories folder of one run, by key. Workers write them, so this holds no state."""

    def __init__(self, run_folder: str | os.PathLike[str]) -> None:
        self.folder = Path(run_folder) / TRAJECTORIES

    def keys(self) -> Iterator[str]:
        """All keys, sorted."""
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            if not path.name.startswith("."):
                yield path.name.removesuffix(SUFFIX)

    def sizes(self, keys: Iterable[str] | None = None) -> dict[str, int]:
        """The size of each file in bytes, or of those with these keys; missing files are omitted."""
        found = {}
        for key in self.keys() if keys is None else keys:
            with suppress(FileNotFoundError):
                found[key] = self.path(key).stat().st_size
        return found

    def delete(self, keys: Iterable[str]) -> None:
        """Remove these recordings; a missing one is not an error. Raises StoreError if the disk refuses."""
        for key in keys:
            try:
                self.path(key).unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(f"the trajectory {key!r} cannot be deleted: {os_problem(error)}") from error

    def path(self, key: str) -> Path:
        """The file of a key. Raises StoreError for a key that would leave the folder."""
        return trajectory_path(self.folder, key)
