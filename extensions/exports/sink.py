"""What an export writes to, and what it may write."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ...memory.store import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedRun:
    """The run that is exported. `identity` is 64 hexadecimal digits that stay if the folder is moved or copied."""

    folder: Path
    identity: str

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.resolve().name


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Which long texts leave the log. Programs are policies; prompts also stands for replies."""

    programs: bool = False
    prompts: bool = False


class Sink(Protocol):
    """Writes facts in the form of one tool.

    It always receives the whole log, from the first fact on. A second export of the same run adds what is new, also if
    the first one was killed: a sink knows, or finds out, what has arrived.
    """

    @property
    def place(self) -> str:
        """Where it writes to, for messages."""

    def take(self, entries: Sequence[Entry]) -> None:
        """Add facts, oldest first. Raises MementoError if the destination fails."""

    def flush(self) -> None:
        """Write what was taken; it may wait for more if it wrote a moment ago. Raises MementoError."""

    def close(self, *, complete: bool) -> None:
        """Write everything, and release what is open. `complete`: the run has no writer any more, and all facts were
        taken. Raises MementoError."""
