"""What the keys and the marks mean."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen

from ..lines_view import LinesView
from ..snapshot import LEGEND, LOUD

KEYS = (
    ("Screens", (
        ("1 … 7", "the screens named on top"), ("0", "all runs of the folder"),
        ("Esc", "back"), ("Ctrl+P", "command palette: everything by name"), ("d", "dark or light"),
        ("q", "leave; the run goes on"),
    )),
    ("Lists", (
        ("↑ ↓ j k", "a row up or down"), ("PgUp PgDn", "a screenful"), ("g G", "first, last"),
        ("Enter", "open, as a click on the cursor does"), ("/", "filter (candidates, log)"),
        ("o", "another order (candidates)"), ("a", "all, or what led to the elites (lineage)"),
        ("space", "take into the comparison (runs)"),
    )),
    ("A candidate", (
        ("n N", "next, previous"),
        ("c f l m", "code, diff to parent, diff to elite, metrics"), ("x w r", "episodes, prompt, reply"),
        ("e", "export its program"), ("v", "render a rollout"),
    )),
    ("The run", (
        ("p", "pause, or go on"), ("s", "stop: now, after a candidate, a generation"),
    )),
)


class HelpScreen(ModalScreen[None]):
    """The keys, to scroll through."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q", "dismiss(None)", "close")]

    def __init__(self) -> None:
        super().__init__(classes="dialog")

    def compose(self) -> ComposeResult:
        """One list."""
        with Container():
            yield LinesView(id="help")

    def on_mount(self) -> None:
        """Fill and focus it."""
        lines: list[Content] = []
        for title, keys in KEYS:
            lines.append(Content.styled(title, "bold $text-accent"))
            lines += [Content.assemble((f"  {key:<14}", LOUD), what) for key, what in keys]
            lines.append(Content(""))
        lines.append(Content.styled("Marks of slots", "bold $text-accent"))
        lines += [Content(f"  {each}") for each in LEGEND.split("  ")]
        view = self.query_one(LinesView)
        view.show(lines)
        view.focus()
