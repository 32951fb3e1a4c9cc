"""A list of any length that makes only its visible rows: its cost does not depend on the length."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from .keys import bindings

Cell = str | Content
GAP = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of `width` characters; one that `grows` takes the remaining width. Below a list width of `least`
    the column is left out."""

    title: str
    width: int
    right: bool = False
    grows: bool = False
    least: int = 0


class Rows(ScrollView, can_focus=True):
    """A table with a cursor. `show` sets the number of rows and the function that makes the cells of a row."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--title", "rows--cursor", "rows--cursor-away"}
    BINDINGS: ClassVar[list[BindingType]] = bindings("rows")
    DEFAULT_CSS = """
    Rows { height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    Rows > .rows--title { text-style: bold; color: $foreground 60%; }
    Rows > .rows--cursor { background: $primary 45%; }
    Rows > .rows--cursor-away { background: $primary 18%; }
    """

    cursor: reactive[int] = reactive(0)

    class Moved(Message):
        """The cursor is on another row."""

        def __init__(self, rows: "Rows", index: int) -> None:
            self.rows, self.index = rows, index
            super().__init__()

        @property
        def control(self) -> "Rows":
            """The list."""
            return self.rows

    class Opened(Message):
        """A row was chosen: Enter, or a click on the row with the cursor."""

        def __init__(self, rows: "Rows", index: int) -> None:
            self.rows, self.index = rows, index
            super().__init__()

        @property
        def control(self) -> "Rows":
            """The list."""
            return self.rows

    def __init__(self, columns: Sequence[Column], *, follows: bool = False, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._columns = tuple(columns)
        self._follows = follows
        self._count = 0
        self._cells: Callable[[int], Sequence[Cell]] = lambda index: ()
        self._started = False

    @property
    def count(self) -> int:
        """The number of rows."""
        return self._count

    def show(self, count: int, cells: Callable[[int], Sequence[Cell]]) -> None:
        """Show these rows. The cursor keeps its index; in a list that follows, it stays on the last row."""
        at_end = self._follows and (self.cursor >= self._count - 1 or not self._started)
        self._count, self._cells = count, cells
        self._started = self._started or count > 0
        self._resize()
        self.cursor = max(0, count - 1) if at_end else min(self.cursor, max(0, count - 1))
        if at_end:
            self._reveal()
        self.refresh()

    def _resize(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, self._count + 1)

    def on_resize(self) -> None:
        """Adapt the rows to the width of the list."""
        self._resize()
        self._reveal()

    # ---------------------------------------------------------------------------------------- drawing

    def render_line(self, y: int) -> Strip:
        """One row; the titles stay on top."""
        base = self.visual_style
        if y == 0:
            titles = [Content(column.title) for column in self._columns]
            return self._strip(titles, base + self.get_visual_style("rows--title", partial=True))
        index = self.scroll_offset.y + y - 1
        if not 0 <= index < self._count:
            return Strip.blank(self.size.width, base.rich_style)
        if index == self.cursor:
            base += self.get_visual_style("rows--cursor" if self.has_focus else "rows--cursor-away", partial=True)
        return self._strip(self._cells(index), base)

    def _strip(self, cells: Sequence[Cell], style: Style) -> Strip:
        width = self.scrollable_content_region.width
        segments: list[Segment] = []
        for column, room, cell in self._columns_within(cells, width):
            content = cell if isinstance(cell, Content) else Content(cell)
            content = content.truncate(room, ellipsis=True)
            short = room - content.cell_length
            if short > 0:
                content = content.pad_left(short) if column.right else content.pad_right(short)
            for text, made in content.render(style, "", parse_style=self.app.stylesheet.parse_style):
                segments.append(Segment(text, made.rich_style))
            segments.append(Segment(" " * GAP, style.rich_style))
        return Strip(segments).adjust_cell_length(self.size.width, style.rich_style)

    def _columns_within(self, cells: Sequence[Cell], width: int) -> list[tuple[Column, int, Cell]]:
        shown = [(column, cell) for column, cell in zip(self._columns, cells, strict=False) if width >= column.least]
        left = width - sum(column.width + GAP for column, _ in shown if not column.grows)
        growing = sum(column.grows for column, _ in shown)
        return [
            (column, max(column.width, left // growing - GAP) if column.grows else column.width, cell)
            for column, cell in shown
        ]

    # --------------------------------------------------------------------------------------- moving

    def watch_cursor(self, old: int, new: int) -> None:
        """Post the message `Moved`, and keep the cursor visible."""
        if old != new:
            self._reveal()
            self.refresh()
            self.post_message(self.Moved(self, new))

    def validate_cursor(self, value: int) -> int:
        """Limit the cursor to the existing rows."""
        return max(0, min(value, self._count - 1)) if self._count else 0

    def _reveal(self) -> None:
        if self.is_attached and self._count:
            region = Region(0, self.cursor, 1, 2)      # below the line of titles
            top, height = self.scroll_offset.y, self.size.height
            if region.y < top:
                self.scroll_to(y=region.y, animate=False, force=True)
            elif region.bottom > top + height:
                self.scroll_to(y=region.bottom - height, animate=False, force=True)

    def action_move(self, by: int) -> None:
        """One row up or down."""
        self.cursor += by

    def action_page(self, by: int) -> None:
        """A screenful up or down."""
        self.cursor += by * max(1, self.size.height - 2)

    def action_first(self) -> None:
        """To the first row."""
        self.cursor = 0

    def action_last(self) -> None:
        """To the last row."""
        self.cursor = self._count - 1

    def action_open(self) -> None:
        """Choose the row with the cursor."""
        if self._count:
            self.post_message(self.Opened(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """A first click puts the cursor on a row, a click on the cursor opens it."""
        index = self.scroll_offset.y + event.y - 1
        if event.y == 0 or not 0 <= index < self._count:
            return
        if index == self.cursor:
            self.action_open()
        else:
            self.cursor = index
