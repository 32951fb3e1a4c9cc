"""Pictures of a playback with captions, and several of them on one sheet."""

from collections.abc import Callable, Sequence
from math import ceil
from typing import TYPE_CHECKING, Final

from ..core.ports import Playback

if TYPE_CHECKING:
    from PIL.Image import Image

FINE: Final = 2             # a caption is drawn larger by this factor
GAP: Final = 8              # pixels between the pictures of a sheet
PAPER, INK, DIM, BAR, BOARD = (250, 249, 246), (28, 30, 34), (120, 124, 132), (38, 110, 190), (225, 225, 225)


class Captioned:
    """Pictures of a playback, each with a caption below."""

    def __init__(self, playback: Playback, *, title: str, steps: int) -> None:
        self._playback, self._title, self._steps = playback, title, steps

    def image(self, row: int, *, note: str = "") -> "Image":
        """One row, with its caption: the domain's words left, step and title right, progress below."""
        from PIL import Image

        picture = Image.fromarray(self._playback.picture(row))
        width, height = picture.size
        strip = self._strip(row, width, note)
        image = Image.new("RGB", (width, height + strip.height), PAPER)
        image.paste(picture, (0, 0))
        image.paste(strip, (0, height))
        return image

    def _strip(self, row: int, width: int, note: str) -> "Image":
        """The caption. Drawn larger and scaled down, since small letters are rendered badly."""
        from PIL import Image, ImageDraw, ImageFont

        size = FINE * max(10, min(18, width // 30))
        font, margin, line, bar = ImageFont.load_default(size), size // 2, round(1.45 * size), 4 * FINE
        words = self._playback.caption(row)
        lines = max(2, len(words))
        height = -(-(lines * line + 2 * margin + bar) // FINE)
        strip = Image.new("RGB", (width * FINE, height * FINE), PAPER)
        draw = ImageDraw.Draw(strip)
        right = [self._corner(row), (self._title + note, self._title)]
        for number in range(lines):
            top, room = margin + number * line, width * FINE - 2 * margin
            if number < len(words):
                text = _fitting_text((words[number],), room, draw.textlength, font)
                draw.text((margin, top), text, INK, font)
                room -= round(draw.textlength(text, font)) + size
            if number < len(right):
                text = _fitting_text(right[number], room, draw.textlength, font)
                draw.text((width * FINE - margin - draw.textlength(text, font), top), text, DIM, font)
        done = round(strip.width * row / self._steps) if self._steps else strip.width
        if done:
            draw.rectangle((0, strip.height - bar, done - 1, strip.height), BAR)
        return strip.resize((width, height), Image.Resampling.LANCZOS)

    def _corner(self, row: int) -> tuple[str, ...]:
        """Step and time in several forms, the longest first."""
        short = f"step {row:,}"
        step = f"{short} of {self._steps:,}"
        if self._playback.step_s is None:
            return step, short
        time = f"{row * self._playback.step_s:.1f} s"
        return f"{step}, {time}", f"{short}, {time}", short


def _fitting_text(texts: Sequence[str], room: int, length: Callable[..., float], font: object) -> str:
    """The first of the texts that is not wider than `room`, else the last one, shortened."""
    for text in texts:
        if length(text, font) <= room:
            return text
    text = texts[-1]
    while text and length(text + "...", font) > room:
        text = text[:-1]
    return text.rstrip() + "..." if text else ""


def on_a_sheet(cells: Sequence["Image"], columns: int) -> "Image":
    """Pictures of one size (at least one) in rows of at most `columns`."""
    from PIL import Image

    columns = min(columns, len(cells))
    width, height = cells[0].size
    gap = GAP if len(cells) > 1 else 0
    lines = ceil(len(cells) / columns)
    sheet = Image.new("RGB", (columns * (width + gap) + gap, lines * (height + gap) + gap), BOARD)
    for place, cell in enumerate(cells):
        sheet.paste(cell, (gap + place % columns * (width + gap), gap + place // columns * (height + gap)))
    return sheet
