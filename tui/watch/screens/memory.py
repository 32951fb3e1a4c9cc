"""The rejection memory with its fitness differences, and the elites of all generations."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from ....core.events import EliteChanged
from ....core.text import number, one_line, version_words
from ....memory.run_view import gain_of
from ....memory.slots import Remembered, Slots
from ...snapshot import RunSnapshot
from ...words import success_or_return
from ..colours import DIM, difference
from ..keys import bindings
from ..rows import Cell, Column, Rows
from .page import Page

ELITES = (
    Column(title="g", width=4), Column(title="elite", width=12), Column(title="from", width=14, least=70),
    Column(title="F", width=6, right=True), Column(title="gain", width=7, right=True),
    Column(title="S/return", width=8, right=True), Column(title="what was changed", width=10, grows=True),
)
REJECTED = (
    Column(title="g", width=4), Column(title="candidate", width=12), Column(title="gain", width=7, right=True),
    Column(title="reason", width=30, least=100),
    Column(title="the edit that is not to be repeated", width=10, grows=True),
)


class MemoryScreen(Page):
    """Two lists; Enter opens a candidate."""

    name_of_page: ClassVar[str] = "memory"
    BINDINGS: ClassVar[list[BindingType]] = bindings("two lists")

    def __init__(self) -> None:
        super().__init__()
        self._slots = Slots()
        self._memory: list[Remembered] = []
        self._elites: list[EliteChanged] = []

    def body(self) -> ComposeResult:
        """The memory, then the elites."""
        memory, elites = Rows(REJECTED, id="rejected"), Rows(ELITES, id="elite-history")
        memory.border_title, elites.border_title = "Rejection memory H, newest first", "Elites, newest first"
        yield memory
        yield elites

    def on_mount(self) -> None:
        """Focus the memory."""
        self.query_one("#rejected").focus()

    def draw(self, snapshot: RunSnapshot) -> None:
        """Both lists."""
        self._slots = snapshot.slots
        self._memory = [*reversed(snapshot.slots.memory)]
        self._elites = [*reversed(snapshot.slots.elites)]
        self.query_one("#rejected", Rows).show(len(self._memory), self._rejection)
        self.query_one("#elite-history", Rows).show(len(self._elites), self._elite)

    def _rejection(self, index: int) -> list[Cell]:
        entry = self._memory[index]
        rejection = entry.rejection
        gain = difference(rejection.fitness_difference)
        if rejection.fitness_difference is None and rejection.candidate in self._slots.candidates:
            gain = Content.styled(self._slots.candidates[rejection.candidate].state, DIM)     # pruned, or failed
        return [f"g{entry.generation}", rejection.candidate, gain,
                one_line(rejection.reason, 80), one_line(rejection.summary, 400)]

    def _elite(self, index: int) -> list[Cell]:
        elite = self._elites[index]
        before = self._elites[index + 1] if index + 1 < len(self._elites) else None
        gain = difference(gain_of(elite, before, self._slots.joined))
        slot = self._slots.candidates.get(elite.candidate)
        what = one_line(slot.summary, 400) if slot is not None else ""
        return [
            f"g{elite.generation}", elite.candidate, elite.origin,
            number(elite.fitness) + version_words(elite.version), gain,
            success_or_return(elite.success_rate, elite.mean_return),
            Content(what) if elite.changed else Content.styled("stays", DIM),
        ]

    def selected_id(self) -> str | None:
        """The candidate under the cursor of the focused list."""
        rows = self.query_one("#elite-history" if self.query_one("#elite-history").has_focus else "#rejected", Rows)
        names = [each.candidate for each in self._elites] if rows.id == "elite-history" else \
            [each.rejection.candidate for each in self._memory]
        return names[rows.cursor] if rows.cursor < len(names) else None

    @on(Rows.Opened)
    def show_opened(self) -> None:
        """Open the candidate."""
        name = self.selected_id()
        if name is not None:
            self.post_message(self.Open(name))
