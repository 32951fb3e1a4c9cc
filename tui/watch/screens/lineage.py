"""The tree of descent: what led to the elites, or everything."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from ...lines import one_line
from ..descent import Branching, ancestors_of, tree_of
from ..rows import Cell, Column, Rows
from ..snapshot import DIM, Sight, fitness_of, mark, share, signed, why_failed
from .page import Page

COLUMNS = (
    Column(title="descent", width=34), Column(title="F", width=6, right=True),
    Column(title="gain", width=7, right=True, least=100), Column(title="S", width=5, right=True),
    Column(title="elite of", width=9, least=70), Column(title="what was changed", width=10, grows=True),
)
NAMED = 4       # generations that a cell names


class LineageScreen(Page):
    """Enter opens a candidate; `a` shows all of them."""

    name_of_page: ClassVar[str] = "lineage"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("a", "all", "all / elites"), Binding("e", "export", "export")]

    def __init__(self) -> None:
        super().__init__()
        self._all = False
        self._lines: list[Branching] = []

    def body(self) -> ComposeResult:
        """One list."""
        yield Rows(COLUMNS, id="tree")

    def on_mount(self) -> None:
        """The list has the keys."""
        self.query_one(Rows).focus()

    def draw(self, sight: Sight) -> None:
        """The tree."""
        view = sight.view
        only = None if self._all else ancestors_of(view.candidates, (elite.candidate for elite in view.elites))
        self._lines = tree_of(view.candidates, only=only)
        self.query_one(Rows).show(len(self._lines), self._cells)

    def _cells(self, index: int) -> list[Cell]:
        line = self._lines[index]
        slot = line.slot
        name = Content.assemble(
            (line.lead, DIM), mark(slot.state), " ", (slot.id, "bold $text-success" if slot.elite_of else "")
        )
        also = f"with {' and '.join(line.also)}: " if line.also else ""
        elite_of = " ".join(f"g{generation}" for generation in slot.elite_of[-NAMED:])
        what = why_failed(slot) or one_line(slot.summary, 300)
        return [name, fitness_of(slot), signed(slot.difference), share(slot.success_rate), elite_of,
                Content.assemble((also, DIM), what)]

    def chosen(self) -> str | None:
        """The candidate under the cursor."""
        cursor = self.query_one(Rows).cursor
        return self._lines[cursor].slot.id if cursor < len(self._lines) else None

    @on(Rows.Opened)
    def open(self, event: Rows.Opened) -> None:
        """Open the candidate."""
        self.watch_app.open_candidate(self._lines[event.index].slot.id)

    def action_all(self) -> None:
        """Everything, or only what led to the elites."""
        self._all = not self._all
        if self.watch_app.sight is not None:
            self.draw(self.watch_app.sight)
