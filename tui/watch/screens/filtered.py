"""What the screens share that are a list with a filter above it."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from ..keys import bindings
from ..rows import Column, Rows
from .page import Page


class FilteredPage(Page):
    """A list of rows; `/` goes to the filter, Enter back to the list, Escape forgets the filter."""

    COLUMNS: ClassVar[tuple[Column, ...]] = ()
    LOOKS_FOR: ClassVar[str] = ""       # what the words of the filter are compared with
    BINDINGS: ClassVar[list[BindingType]] = bindings("filtered")

    def body(self) -> ComposeResult:
        """The filter, then the list."""
        yield Input(placeholder=f"filter: {self.LOOKS_FOR}  ( / )", id="filter")
        yield Rows(self.COLUMNS, follows=True, id="list")

    def on_mount(self) -> None:
        """The list has the keys."""
        self.query_one(Rows).focus()

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the filter; none: everything is shown."""
        return tuple(self.query_one("#filter", Input).value.split())

    @on(Input.Changed, "#filter")
    def filter_changed(self) -> None:
        """Show what matches."""
        self.look_again()

    def look_again(self) -> None:
        """Show what matches the filter's words now."""
        if self.snapshot is not None:
            self.draw(self.snapshot)

    @on(Input.Submitted, "#filter")
    def filter_done(self) -> None:
        """Back to the list."""
        self.query_one(Rows).focus()

    def action_filter(self) -> None:
        """Type words to look for."""
        self.query_one("#filter").focus()

    def action_all(self) -> None:
        """No filter."""
        self.query_one("#filter", Input).value = ""
        self.query_one(Rows).focus()
