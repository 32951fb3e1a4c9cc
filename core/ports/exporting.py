"""The port of an export: what hands the log of a run to another tool."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol


class RunExport(Protocol):
    """One run on its way to another tool. A second export of the run adds what is new, also after a kill."""

    @property
    def place(self) -> str:
        """Where it writes to, for messages."""

    def follow(self, stopped: Callable[[], bool]) -> bool:
        """Hand over all facts until the run has no writer any more; returns False if `stopped` ended it before.

        Raises UsageError if another run took the folder, StoreError, and MementoError if the destination fails.
        """

    def close(self, *, complete: bool) -> None:
        """Write everything, and release what is open. `complete`: all facts were handed over. Raises MementoError."""


class ExportTarget(Protocol):
    """Opens the export of the run in a folder to `out`, None for the tool's own default."""

    def __call__(self, folder: Path, out: str | None, *, programs: bool, prompts: bool) -> RunExport:
        """`programs` and `prompts` allow these long texts. Raises UsageError, StoreError, MementoError."""
