"""The base class of screens with a filter above a list."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from ..keys import bindings
from ..rows import Column, Rows
from .page import Page


class FilteredPage(Page):
    """A list of rows; `/` goes to the filter, Enter back to the list, Escape clears the filter."""

    COLUMNS: ClassVar[tuple[Column, ...]] = ()
    LOOKS_FOR: ClassVar[str] = ""       # the fields that the filter's words match
    BINDINGS: ClassVar[list[BindingType]] = bindings("filtered")

    def body(self) -> ComposeResult:
        """The filter, then the list."""
        yield Input(placeholder=f"filter: {self.LOOKS_FOR}  ( / )", id="filter")
        yield Rows(self.COLUMNS, follows=True, id="list")

    def on_mount(self) -> None:
        """Focus the list."""
        self.query_one(Rows).focus()

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the filter; without any, the list shows everything."""
        return tuple(self.query_one("#filter", Input).value.split())

    @on(Input.Changed, "#filter")
    def filter_changed(self) -> None:
        """Show the matching rows."""
        self.refilter()

    def refilter(self) -> None:
        """Show the rows that match the filter's words."""
        if self.snapshot is not None:
            self.draw(self.snapshot)

    @on(Input.Submitted, "#filter")
    def filter_done(self) -> None:
        """Return to the list."""
        self.query_one(Rows).focus()

    def action_filter(self) -> None:
        """Focus the filter."""
        self.query_one("#filter").focus()

    def action_all(self) -> None:
        """Clear the filter."""
        self.query_one("#filter", Input).value = ""
        self.query_one(Rows).focus()
