"""Dialogs: a line of text such as the path of a file, the time of a stop."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option

from ..actions import STOP, STOP_AFTER_CANDIDATE, STOP_AFTER_GENERATION
from ..keys import bindings


class ExportScreen(ModalScreen[str | None]):
    """A dialog for the path of a file."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("dialog")

    def __init__(self, question: str, path: str) -> None:
        super().__init__(classes="dialog")
        self._question, self._path = question, path

    def compose(self) -> ComposeResult:
        """The question and an input line."""
        with Container():
            yield Label(self._question, markup=False)
            yield Input(self._path, id="path")
            yield Label("Enter confirms, Escape cancels", classes="hint")

    @on(Input.Submitted)
    def done(self, event: Input.Submitted) -> None:
        """Close with the path, or None if it is empty."""
        self.dismiss(event.value.strip() or None)


class StopScreen(ModalScreen[str | None]):
    """A dialog for the time of a stop."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("dialog")

    def __init__(self) -> None:
        super().__init__(classes="dialog")

    def compose(self) -> ComposeResult:
        """The choices; none of them loses anything."""
        with Container():
            yield Label("Stop this run? Nothing is lost: memento resume continues it.")
            yield OptionList(
                Option("when the current candidate is settled", id=STOP_AFTER_CANDIDATE),
                Option("when the current generation is over", id=STOP_AFTER_GENERATION),
                Option("now", id=STOP),
                Option("no, let it run", id="no"),
            )

    @on(OptionList.OptionSelected)
    def done(self, event: OptionList.OptionSelected) -> None:
        """Close with the kind of request, or None."""
        self.dismiss(None if event.option_id == "no" else event.option_id)
