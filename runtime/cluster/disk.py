"""The recordings of a run on the controller's disk: what nodes return is written for good, many at once."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from ...core.errors import RecordingLost, StoreError, os_problem
from ...core.files import replacing
from ...core.recording import trajectory_path

WRITERS: Final = 32     # recordings flushed to the disk at once: most of the time they wait for it


class Disk:
    """The folder of a run's recordings. Every method raises StoreError if the disk refuses."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="recordings")

    def make(self) -> None:
        """Make the folder."""
        self._folder.mkdir(parents=True, exist_ok=True)

    def has(self, key: str) -> bool:
        """Whether a recording is here."""
        return trajectory_path(self._folder, key).exists()

    async def read(self, key: str) -> bytes:
        """The bytes of a recording. Raises RecordingLost if it is not here."""
        return await asyncio.to_thread(self._read, key)

    async def write(self, files: Mapping[str, bytes]) -> None:
        """Write recordings and flush them to the disk."""
        if files:
            await asyncio.get_running_loop().run_in_executor(self._writers, self._write, files)

    async def close(self) -> None:
        """Wait for the writers, and remove what they left unfinished."""
        await asyncio.to_thread(self._writers.shutdown)
        for left in self._folder.glob(".*.partial"):
            left.unlink(missing_ok=True)

    def _read(self, key: str) -> bytes:
        path = trajectory_path(self._folder, key)
        try:
            return path.read_bytes()
        except FileNotFoundError as error:
            raise RecordingLost(f"the trajectory {path.name} is neither in {path.parent} nor on a node") from error
        except OSError as error:
            raise StoreError(f"the trajectory {path.name} cannot be read: {os_problem(error)}") from error

    def _write(self, files: Mapping[str, bytes]) -> None:
        for key, data in files.items():
            path = trajectory_path(self._folder, key)
            try:
                with replacing(path, durable=True) as partial_path:
                    partial_path.write_bytes(data)
            except OSError as error:
                raise StoreError(
                    f"the trajectory {path.name} cannot be written to {path.parent}: {os_problem(error)}"
                ) from error
