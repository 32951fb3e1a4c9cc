"""The models: each role's calls with latency, tokens and cost, then every call."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from ....core.order_ids import owner_of
from ....core.text import cost, one_line, share
from ....core.values import Usage
from ....memory.slots import CallLine, Slot
from ...snapshot import RunSnapshot, asked_slots
from ...words import clock, fault_words
from ..colours import BAD, DIM, WARN
from ..keys import bindings
from ..rows import Cell, Column, Rows
from .page import Page

ROLES = (
    Column(title="role", width=15), Column(title="model", width=1, grows=True),
    Column(title="calls", width=6, right=True), Column(title="tries", width=6, right=True, least=90),
    Column(title="in", width=10, right=True), Column(title="cached", width=6, right=True, least=110),
    Column(title="out", width=9, right=True), Column(title="median", width=7, right=True),
    Column(title="slowest", width=7, right=True),
    Column(title="cost", width=13, right=True),
)
CALLS = (
    Column(title="at", width=8, right=True), Column(title="for", width=16), Column(title="role", width=16, least=90),
    Column(title="seconds", width=8, right=True), Column(title="in", width=8, right=True),
    Column(title="out", width=8, right=True), Column(title="cost", width=13, right=True),
    Column(title="model", width=10, grows=True),
)


class ModelsScreen(Page):
    """Two lists; Enter opens the prompt and the reply of a call."""

    name_of_page: ClassVar[str] = "models"
    BINDINGS: ClassVar[list[BindingType]] = bindings("models")

    def __init__(self) -> None:
        super().__init__()
        self._calls: Sequence[CallLine] = ()
        self._asked: Sequence[Slot] = ()
        self._began = 0.0

    def body(self) -> ComposeResult:
        """The roles, then the calls."""
        roles, calls = Rows(ROLES, id="roles"), Rows(CALLS, id="calls")
        roles.border_title, calls.border_title = "Models by role", "Calls, newest first"
        yield roles
        yield calls

    def on_mount(self) -> None:
        """Focus the calls."""
        self.query_one("#calls").focus()

    def draw(self, snapshot: RunSnapshot) -> None:
        """Show both lists; open calls come first."""
        self._calls, self._began = snapshot.slots.calls, snapshot.run.began or 0.0
        self._asked = [*asked_slots(snapshot)]
        roles = _roles(snapshot)
        self.query_one("#roles", Rows).show(len(roles), lambda index: roles[index])
        self.query_one("#calls", Rows).show(len(self._asked) + len(self._calls), self._call)

    def _call(self, index: int) -> list[Cell]:
        if index < len(self._asked):
            slot = self._asked[index]
            return [clock(slot.at - self._began), slot.id, "", Content.styled("asked", WARN), "", "", "", ""]
        line = self._calls[len(self._calls) - 1 - (index - len(self._asked))]
        usage = line.usage
        wrong = f"  {fault_words(line.fault)}" if line.fault is not None else ""
        return [
            clock(line.at - self._began), line.order, line.role, f"{usage.latency_s:.1f}", f"{usage.input_tokens:,}",
            f"{usage.output_tokens:,}", cost(usage.cost_usd), Content.assemble(one_line(line.model, 60), (wrong, BAD)),
        ]

    @on(Rows.Opened, "#calls")
    def open(self, event: Rows.Opened) -> None:
        """Open the candidate or vote of the call."""
        index = event.index - len(self._asked)
        name = self._asked[event.index].id if index < 0 else self._calls[len(self._calls) - 1 - index].order
        if name:
            self.post_message(self.Open(owner_of(name)))


def _roles(snapshot: RunSnapshot) -> list[list[Cell]]:
    groups: dict[tuple[str, str], list[CallLine]] = {}
    for line in snapshot.slots.calls:
        groups.setdefault((line.role, line.model), []).append(line)
    rows: list[list[Cell]] = []
    for (role, model), lines in sorted(groups.items()):
        usages = [line.usage for line in lines]
        times = sorted(usage.latency_s for usage in usages)
        prices = [usage.cost_usd for usage in usages]
        known = [price for price in prices if price is not None]
        rows.append([
            role, one_line(model, 60), str(len(lines)), str(sum(usage.attempts for usage in usages)),
            f"{sum(usage.input_tokens for usage in usages):,}", _cache_share(usages),
            f"{sum(usage.output_tokens for usage in usages):,}",
            f"{times[len(times) // 2]:.1f} s", f"{times[-1]:.1f} s",
            cost(sum(known) if len(known) == len(prices) else None),
        ])
    total = snapshot.run.spending.total
    cached = _cache_share([line.usage for line in snapshot.slots.calls])
    rows.append([
        Content.styled("all", DIM), "", str(total.calls), str(total.attempts), f"{total.input_tokens:,}", cached,
        f"{total.output_tokens:,}", "", "", cost(total.cost_usd),
    ])
    return rows


def _cache_share(usages: Sequence[Usage]) -> str:
    """The share of the input tokens that came from a service's cache; empty where none did."""
    cached, whole = sum(usage.cached_tokens for usage in usages), sum(usage.input_tokens for usage in usages)
    return share(cached / whole) if cached and whole else ""
