"""Every candidate of the run in a list with filter and sorting."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from textual import on
from textual.binding import BindingType
from textual.content import Content

from ....core.text import one_line
from ....memory.pace import slow_candidates
from ....memory.slots import Slot
from ...snapshot import RunSnapshot, search_slots
from ...words import success_or_return
from ..colours import BAD, DIM, GOOD, WARN, difference, fitness_of, mark, state_of_slot, why_failed
from ..keys import bindings
from ..rows import Cell, Column, Rows
from .filtered import FilteredPage

COLUMNS = (
    Column(title="candidate", width=12), Column(title="", width=1), Column(title="state", width=14),
    Column(title="F", width=6, right=True), Column(title="gain", width=7, right=True),
    Column(title="S/return", width=8, right=True), Column(title="e", width=3, right=True, least=90),
    Column(title="from", width=24, least=130), Column(title="what was changed", width=10, grows=True),
)
ORDERS: tuple[tuple[str, Callable[[Slot], Any] | None], ...] = (
    ("as they came", None), ("newest first", None),
    ("best first", lambda slot: (0, 0.0) if slot.fitness is None else (slot.version, slot.fitness)),
    ("largest gain first", lambda slot: -9.0 if slot.difference is None else slot.difference),
)


class CandidatesScreen(FilteredPage):
    """The list; Enter opens a candidate."""

    name_of_page: ClassVar[str] = "candidates"
    COLUMNS: ClassVar[tuple[Column, ...]] = COLUMNS
    LOOKS_FOR: ClassVar[str] = "words of id, state, operator, failure or summary"
    BINDINGS: ClassVar[list[BindingType]] = bindings("candidates")

    def __init__(self) -> None:
        super().__init__()
        self._order = 0
        self._slots: Sequence[Slot] = ()
        self._slow: Mapping[str, float] = {}

    def draw(self, snapshot: RunSnapshot) -> None:
        """The slots that match, in order. The cursor stays on its candidate."""
        rows = self.query_one(Rows)
        under = self._slots[rows.cursor].id if rows.cursor < len(self._slots) else None
        at_end = rows.cursor >= len(self._slots) - 1
        words = [word.lower() for word in self.words]
        slots = [slot for slot in search_slots(snapshot) if not words or _matches(slot, words)]
        name, key = ORDERS[self._order]
        if name == "newest first":
            slots.reverse()
        elif key is not None:
            slots.sort(key=key, reverse=True)
        self._slots, self._slow = slots, slow_candidates(snapshot.slots).each_s
        rows.show(len(slots), self._cells)
        rows.border_title = None
        if under is not None and not (at_end and self._order == 0):
            rows.cursor = next((place for place, slot in enumerate(slots) if slot.id == under), rows.cursor)

    def _cells(self, index: int) -> list[Cell]:
        slot = self._slots[index]
        what = Content.styled(why_failed(slot), BAD) if slot.fault is not None else Content(one_line(slot.summary, 300))
        if slot.id in self._slow:
            what = Content.assemble((f"slow: {self._slow[slot.id]:.2g} s of CPU time an episode  ", WARN), what)
        elite = bool(slot.elite_of)
        return [
            Content.styled(slot.id, f"bold {GOOD}") if elite else slot.id, mark(slot.state), state_of_slot(slot),
            fitness_of(slot), difference(slot.difference),
            success_or_return(slot.success_rate, slot.mean_return), str(slot.rolled),
            Content.styled(" ".join(slot.parents), DIM), what,
        ]

    def selected_id(self) -> str | None:
        """The candidate under the cursor."""
        cursor = self.query_one(Rows).cursor
        return self._slots[cursor].id if cursor < len(self._slots) else None

    @on(Rows.Opened)
    def show_opened(self, event: Rows.Opened) -> None:
        """Open the candidate."""
        self.post_message(self.Open(self._slots[event.index].id))

    def action_order(self) -> None:
        """Sort the list in the next order."""
        self._order = (self._order + 1) % len(ORDERS)
        self.notify(f"candidates {ORDERS[self._order][0]}", timeout=2)
        if self.snapshot is not None:
            self.draw(self.snapshot)


def _matches(slot: Slot, words: Sequence[str]) -> bool:
    text = f"{slot.id} {slot.state} {slot.operator} {slot.summary} {why_failed(slot)}".lower()
    return all(word in text for word in words)
