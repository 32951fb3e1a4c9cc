"""What a critic is shown of a recorded episode, and what it says about it."""

from dataclasses import dataclass

MAX_WORDS = 120  # of a critique


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetFrame:
    """One picture of a sheet: the row of the recording, and the domain's caption on one line."""

    row: int
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Captioned frames of one episode in one picture, which is a file of the run's folder; a fact holds its digest."""

    frames: tuple[SheetFrame, ...]
    digest: str  # SHA-256 of the file, in hexadecimal
    file: str  # its name in the folder of sheets
    focus: str = ""  # around what the frames are closer together; empty if they are evenly spaced


@dataclass(frozen=True, slots=True, kw_only=True)
class Critique:
    """One look at an episode, for later prompts. `words` is empty where nothing was said, `sheet` None without one."""

    candidate: str  # whose prompt shows it
    episode: int
    look: str  # the id of the order that asked for it
    words: str
    sheet: Sheet | None
