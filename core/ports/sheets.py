"""The port of what draws sheets of recorded episodes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawTask:
    """One sheet to draw: these rows of a recording, into the file `path` (a JPEG, which is replaced)."""

    order: str
    split: str
    trajectory: str
    rows: tuple[int, ...]
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The captions of a sheet's frames and the digest of its file; with a `problem`, why there is none."""

    captions: tuple[str, ...] = ()
    digest: str = ""
    problem: str = ""


class Artist(Protocol):
    """Draws sheets with the domain's renderer, on a trusted worker.

    The recording is drawn without the arrays that policies never learn (`core.turns.HIDDEN`).
    """

    async def draw(self, task: DrawTask) -> Drawn:
        """Draw one sheet; its file is complete when this returns. Raises RolloutError, and StoreError for the disk."""
