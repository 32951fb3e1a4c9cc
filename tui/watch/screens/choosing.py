"""Small questions over a screen: where to write a file, when to stop."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option

from ..keys import bindings
from ..run_controls import STOP, STOP_AFTER_CANDIDATE, STOP_AFTER_GENERATION


class ExportScreen(ModalScreen[str | None]):
    """Asks for the path of a file."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("dialog")

    def __init__(self, question: str, path: str) -> None:
        super().__init__(classes="dialog")
        self._question, self._path = question, path

    def compose(self) -> ComposeResult:
        """The question and a line to type in."""
        with Container():
            yield Label(self._question, markup=False)
            yield Input(self._path, id="path")
            yield Label("Enter does it, Escape leaves it", classes="hint")

    @on(Input.Submitted)
    def done(self, event: Input.Submitted) -> None:
        """The path."""
        self.dismiss(event.value.strip() or None)


class StopScreen(ModalScreen[str | None]):
    """Asks when to stop."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("dialog")

    def __init__(self) -> None:
        super().__init__(classes="dialog")

    def compose(self) -> ComposeResult:
        """The choices; nothing is lost by any of them."""
        with Container():
            yield Label("Stop this run? Nothing is lost: memento resume goes on.")
            yield OptionList(
                Option("when the present candidate is settled", id=STOP_AFTER_CANDIDATE),
                Option("when the present generation is over", id=STOP_AFTER_GENERATION),
                Option("now", id=STOP),
                Option("no, let it run", id="no"),
            )

    @on(OptionList.OptionSelected)
    def done(self, event: OptionList.OptionSelected) -> None:
        """The kind of request, or nothing."""
        self.dismiss(None if event.option_id == "no" else event.option_id)
