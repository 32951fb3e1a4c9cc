"""The tree of descent: the elites' ancestors, or all candidates."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from ....core.text import one_line
from ....memory.slots import Slot, ancestors_of
from ...snapshot import RunSnapshot
from ...words import success_or_return
from ..colours import DIM, GOOD, difference, fitness_of, mark, why_failed
from ..keys import bindings
from ..rows import Cell, Column, Rows
from .page import Page

# The descent of candidates as the lines of a tree. Pure.


@dataclass(frozen=True, slots=True)
class Branching:
    """One line: the branches of the tree before it, and the candidate. `also` are its other parents."""

    lead: str
    slot: Slot
    also: tuple[str, ...] = ()


ONLY = "↓ "     # before an only child


def tree_of(candidates: Mapping[str, Slot], *, only: Iterable[str] | None = None) -> list[Branching]:
    """Every candidate under its first parent, in the order of the run; with `only`, a part of them.

    A candidate whose first parent is not shown is at the left margin, like p_0. An only child stands below its parent,
    not further right: a chain of edits would leave the screen.
    """
    shown = candidates if only is None else {key: candidates[key] for key in only if key in candidates}
    children: dict[str | None, list[Slot]] = {}
    for slot in shown.values():
        parent = next((each for each in slot.parents if each in shown and each != slot.id), None)
        children.setdefault(parent, []).append(slot)
    lines: list[Branching] = []
    waiting = [(slot, "", "") for slot in reversed(children.get(None, []))]
    while waiting:
        slot, lead, below = waiting.pop()
        also = tuple(dict.fromkeys(each for each in slot.parents[1:] if each != slot.parents[0]))
        lines.append(Branching(lead, slot, also))
        under = children.get(slot.id, [])
        if len(under) == 1:
            waiting.append((under[0], f"{below}{ONLY}", below))
            continue
        waiting += [
            (child, below + ("└─ " if child is under[-1] else "├─ "), below + ("   " if child is under[-1] else "│  "))
            for child in reversed(under)
        ]
    return lines


COLUMNS = (
    Column(title="descent", width=34), Column(title="F", width=6, right=True),
    Column(title="gain", width=7, right=True, least=100), Column(title="S/return", width=8, right=True),
    Column(title="elite of", width=9, least=70), Column(title="what was changed", width=10, grows=True),
)
NAMED = 4       # generations that a cell names


class LineageScreen(Page):
    """Enter opens a candidate; `a` shows all of them."""

    name_of_page: ClassVar[str] = "lineage"
    BINDINGS: ClassVar[list[BindingType]] = bindings("lineage")

    def __init__(self) -> None:
        super().__init__()
        self._all = False
        self._lines: list[Branching] = []

    def body(self) -> ComposeResult:
        """One list."""
        yield Rows(COLUMNS, id="tree")

    def on_mount(self) -> None:
        """Focus the list."""
        self.query_one(Rows).focus()

    def draw(self, snapshot: RunSnapshot) -> None:
        """The tree."""
        slots = snapshot.slots
        only = None if self._all else ancestors_of(slots, (elite.candidate for elite in slots.elites))
        self._lines = tree_of(slots.candidates, only=only)
        self.query_one(Rows).show(len(self._lines), self._cells)

    def _cells(self, index: int) -> list[Cell]:
        line = self._lines[index]
        slot = line.slot
        name = Content.assemble(
            (line.lead, DIM), mark(slot.state), " ", (slot.id, f"bold {GOOD}" if slot.elite_of else "")
        )
        also = f"with {' and '.join(line.also)}: " if line.also else ""
        elite_of = " ".join(f"g{generation}" for generation in slot.elite_of[-NAMED:])
        what = why_failed(slot) or one_line(slot.summary, 300)
        return [name, fitness_of(slot), difference(slot.difference),
                success_or_return(slot.success_rate, slot.mean_return), elite_of,
                Content.assemble((also, DIM), what)]

    def selected_id(self) -> str | None:
        """The candidate under the cursor."""
        cursor = self.query_one(Rows).cursor
        return self._lines[cursor].slot.id if cursor < len(self._lines) else None

    @on(Rows.Opened)
    def show_opened(self, event: Rows.Opened) -> None:
        """Open the candidate."""
        self.post_message(self.Open(self._lines[event.index].slot.id))

    def action_all(self) -> None:
        """Switch between all candidates and the elites' ancestors."""
        self._all = not self._all
        if self.snapshot is not None:
            self.draw(self.snapshot)
