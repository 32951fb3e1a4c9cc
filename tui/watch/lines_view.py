"""A scrolling view of any number of lines, which draws only the visible ones."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from .keys import bindings


class LinesView(ScrollView, can_focus=True):
    """`show` sets its lines; `show_folded` sets a function that makes them for a width, called again at a new width."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("lines")
    DEFAULT_CSS = "LinesView { height: 1fr; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._lines: Sequence[Content] = ()
        self._fold: Callable[[int], Sequence[Content]] | None = None
        self._width = 0

    def show(self, lines: Sequence[Content]) -> None:
        """Show these lines from the top."""
        self._fold = None
        self._put(lines)

    def show_folded(self, fold: Callable[[int], Sequence[Content]]) -> None:
        """Show lines that depend on the width."""
        self._fold, self._width = fold, 0
        self._refold()

    def _refold(self) -> None:
        width = self.scrollable_content_region.width
        if self._fold is not None and width > 1 and width != self._width:
            self._width = width
            self._put(self._fold(width - 1))

    def _put(self, lines: Sequence[Content]) -> None:
        self._lines = lines
        self.virtual_size = Size(max((line.cell_length for line in lines), default=0), len(lines))
        self.scroll_to(0, 0, animate=False)
        self.refresh()

    def on_resize(self) -> None:
        """Make the lines for the new width."""
        self._refold()

    def render_line(self, y: int) -> Strip:
        """One line at the current scroll position."""
        left, top = self.scroll_offset
        style = self.visual_style
        if not 0 <= top + y < len(self._lines):
            return Strip.blank(self.size.width, style.rich_style)
        made = self._lines[top + y].render(style, "", parse_style=self.app.stylesheet.parse_style)
        strip = Strip([Segment(text, each.rich_style) for text, each in made])
        width = self.size.width
        return strip.crop(left, left + width).adjust_cell_length(width, style.rich_style)
