"""The help screen: the keys and the marks."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen

from ...words import LEGEND
from ..colours import HEADING, LOUD
from ..keys import bindings, help_rows
from ..lines_view import LinesView


class HelpScreen(ModalScreen[None]):
    """A scrolling list of keys and marks."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("help")

    def __init__(self) -> None:
        super().__init__(classes="dialog")

    def compose(self) -> ComposeResult:
        """One list."""
        with Container():
            yield LinesView(id="help")

    def on_mount(self) -> None:
        """Fill and focus it."""
        lines: list[Content] = []
        for title, keys in help_rows():
            lines.append(Content.styled(title, HEADING))
            lines += [Content.assemble((f"  {key:<18}", LOUD), what) for key, what in keys]
            lines.append(Content(""))
        lines.append(Content.styled("Marks of slots", HEADING))
        lines += [Content(f"  {each}") for each in LEGEND]
        view = self.query_one(LinesView)
        view.show_folded(lambda width: [line.truncate(width, ellipsis=True) for line in lines])
        view.focus()
