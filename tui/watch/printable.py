"""Takes control characters out of everything that the terminal program draws: names and texts come from any log."""

from unicodedata import category

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter


def _drawable(sign: str) -> bool:
    return sign.isprintable() or category(sign) == "Zs"     # a space of any width


class PrintableFilter(LineFilter):
    """Removes what a terminal would obey. Such characters have no width, so that the layout stays."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments without unprintable characters."""
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [
            Segment("".join(filter(_drawable, segment.text)), segment.style, segment.control)
            for segment in segments
        ]
