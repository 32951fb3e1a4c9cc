"""The options for drawing an episode, and their checks. Pure."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..core.errors import UsageError
from ..core.extras import require
from .flags import require_at_least

KINDS: Final = (".mp4", ".gif", ".png")
SIDE: Final = (16, 4096)        # of a picture, in pixels
SIZES: Final = {".mp4": (640, 480), ".gif": (480, 360), ".png": (640, 480)}
SHEET_SIZE: Final = (400, 300)
SPEED: Final = (0.01, 10_000.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The options for drawing an episode; None for an option that was not given."""

    out: Path
    camera: str | None
    size: str | None
    speed: float | None
    every: int | None
    at: str | None
    flag: str = "--out"         # the option that named the file, for messages

    @property
    def kind(self) -> str:
        """The kind of file, ".mp4", ".gif" or ".png"."""
        return self.out.suffix.lower()

    def check(self) -> None:
        """Raise UsageError for values out of range, flags that contradict each other, and MP4 without its encoder."""
        if self.kind not in KINDS:
            raise UsageError(f"{self.flag} {self.out}: unknown kind of file; the name must end in {', '.join(KINDS)}")
        if self.kind == ".mp4":
            require("video", "a film in MP4")
        if not self.out.parent.is_dir():
            raise UsageError(f"{self.flag} {self.out}: there is no folder {self.out.parent}")
        if not os.access(self.out.parent, os.W_OK):
            raise UsageError(f"{self.flag} {self.out}: the folder {self.out.parent} cannot be written")
        require_at_least("--every", self.every, 1)
        if self.speed is not None and not SPEED[0] <= self.speed <= SPEED[1]:
            raise UsageError(f"--speed must be from {SPEED[0]:g} to {SPEED[1]:g}, not {self.speed:g}")
        if self.kind == ".png" and self.speed is not None:
            raise UsageError("--speed has no effect on a PNG, which does not move: omit it")
        self._check_moment()
        self.pixels()

    def _check_moment(self) -> None:
        if self.at is None:
            return
        if self.kind != ".png":
            raise UsageError(f"--at is for one moment as a PNG: omit it, or let --out end in .png, not {self.kind}")
        if self.every is not None:
            raise UsageError("--at is one moment, --every a sheet of many: keep only one")
        self.row(None)

    def pixels(self) -> tuple[int, int]:
        """Width and height of one picture in pixels, without its caption. Raises UsageError."""
        if self.size is None:
            return SHEET_SIZE if self.kind == ".png" and self.at is None else SIZES[self.kind]
        found = re.fullmatch(r"(\d{1,5})[xX](\d{1,5})", self.size.strip())
        sides = (int(found[1]), int(found[2])) if found else (0, 0)
        if not all(SIDE[0] <= side <= SIDE[1] for side in sides):
            raise UsageError(
                f"--size {self.size!r}: give width and height in pixels, each {SIDE[0]} to {SIDE[1]}, as in 640x480"
            )
        return sides

    def row(self, steps: int | None) -> int:
        """The row of the moment `at`: a step, "start" or "end"; `steps` None: not known yet. Raises UsageError."""
        assert self.at is not None
        if self.at in ("start", "end"):
            return 0 if self.at == "start" else steps or 0
        if not self.at.isdecimal():
            raise UsageError(f"--at {self.at!r}: give a step, or start, or end")
        if steps is not None and int(self.at) > steps:
            raise UsageError(f"--at {self.at}: the episode has steps 0 to {steps}")
        return int(self.at)
