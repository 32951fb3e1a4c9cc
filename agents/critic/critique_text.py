"""How prompts show what a critic saw and said."""

from collections.abc import Sequence

from ...core.critique import Critique, Sheet
from ...core.ports import Prompts
from ...core.text import counted, one_line
from ..fencing import fenced

MAX_CAPTION = 160  # characters of a frame's caption in a prompt
EVENLY = "The frames are evenly spaced over the episode."
SHOWN_DIGITS = 12  # of a sheet's digest


def frame_lines(sheet: Sheet) -> str:
    """One line for each frame: its number, its step, its caption."""
    return "\n".join(
        f"frame {number}, step {frame.row}: {one_line(frame.caption, MAX_CAPTION)}"
        for number, frame in enumerate(sheet.frames, start=1)
    )


def focus_words(sheet: Sheet) -> str:
    """Around what the frames are closer together."""
    return f"They are closer together around {one_line(sheet.focus, 160)}." if sheet.focus else EVENLY


def critique_text(prompts: Prompts, critique: Critique | None) -> str:
    """The part of a prompt that quotes a critique; "" without words."""
    if critique is None or critique.sheet is None or not critique.words:
        return ""
    sheet = critique.sheet
    around = f" (closer together around {one_line(sheet.focus, 160)})" if sheet.focus else ""
    return prompts.fill(
        "critique", episode=str(critique.episode), frames=counted(len(sheet.frames), "frame"), around=around,
        words=fenced(critique.words),
    )


def sheet_text(prompts: Prompts, critique: Critique | None, pictures: Sequence[Critique]) -> str:
    """The part of a prompt that says which of the attached pictures shows an episode; "" if none does."""
    if critique is None or critique.sheet is None or critique not in pictures:
        return ""
    sheet = critique.sheet
    return prompts.fill(
        "critique-sheet", place=f"Picture {pictures.index(critique) + 1}", episode=str(critique.episode),
        digest=sheet.digest[:SHOWN_DIGITS], focus=focus_words(sheet), frames=fenced(frame_lines(sheet)),
    )
