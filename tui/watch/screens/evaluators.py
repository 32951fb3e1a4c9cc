"""The evolution of the evaluator: each pool with its scores, every judge's vote and reason."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from ....core.events import VoteCast
from ....core.order_ids import evaluator as evaluator_id
from ....core.text import number, one_line
from ....memory.evaluator_pools import EvaluatorPool, list_pools
from ...snapshot import RunSnapshot
from ...words import fault_words
from ..colours import BAD, DIM, GOOD
from ..keys import bindings
from ..rows import Cell, Column, Rows
from .page import Page

POOL = (
    Column(title="evaluator", width=11), Column(title="on T_0", width=6, right=True),
    Column(title="from", width=6, right=True, least=100), Column(title="to", width=6, right=True, least=100),
    Column(title="votes", width=5, right=True), Column(title="", width=9),
    Column(title="what was changed, or what is wrong", width=10, grows=True),
)
VOTES = (
    Column(title="judge", width=16), Column(title="votes for", width=11), Column(title="model", width=18, least=100),
    Column(title="because", width=10, grows=True),
)


class EvaluatorsScreen(Page):
    """Two lists, one over the other; Enter opens an evaluator, or a judge's prompt and reply."""

    name_of_page: ClassVar[str] = "evaluators"
    BINDINGS: ClassVar[list[BindingType]] = bindings("two lists")

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[str] = []
        self._votes: list[VoteCast] = []

    def body(self) -> ComposeResult:
        """The pools, then the votes."""
        pool, votes = Rows(POOL, id="pool"), Rows(VOTES, id="votes")
        pool.border_title, votes.border_title = "Pools, scored on the rollouts T_0", "Votes"
        yield pool
        yield votes

    def on_mount(self) -> None:
        """Focus the pools."""
        self.query_one("#pool").focus()

    def draw(self, snapshot: RunSnapshot) -> None:
        """Show the pools and the votes, newest generation first."""
        pools = list_pools(snapshot.slots.evaluation)
        rows: list[tuple[str, list[Cell]]] = [row for pool in reversed(pools) for row in _rows(pool)]
        self._entries = [name for name, _ in rows]
        self.query_one("#pool", Rows).show(len(rows), lambda index: rows[index][1])
        self._votes = [vote for pool in reversed(pools) for vote in pool.votes]
        self.query_one("#votes", Rows).show(len(self._votes), self._vote)

    def _vote(self, index: int) -> list[Cell]:
        vote = self._votes[index]
        choice: Cell = Content.styled("abstains", BAD) if vote.choice is None else \
            str(evaluator_id(vote.generation, vote.choice))
        model = "" if vote.call is None else one_line(vote.call.model, 40)
        return [f"g{vote.generation} judge {vote.seat}", choice, model, one_line(vote.reason, 400)]

    def selected_id(self) -> str | None:
        """The evaluator under the cursor."""
        cursor = self.query_one("#pool", Rows).cursor
        return self._entries[cursor] if cursor < len(self._entries) else None

    @on(Rows.Opened, "#pool")
    def open_evaluator(self, event: Rows.Opened) -> None:
        """Open the evaluator."""
        self.post_message(self.Open(self._entries[event.index]))

    @on(Rows.Opened, "#votes")
    def open_vote(self, event: Rows.Opened) -> None:
        """Open the judge's prompt and reply."""
        order = self._votes[event.index].order
        if order is not None:
            self.post_message(self.Open(order))


def _rows(pool: EvaluatorPool) -> list[tuple[str, list[Cell]]]:
    rows: list[tuple[str, list[Cell]]] = []
    chosen = None if pool.chosen is None else pool.chosen.id
    for entry in pool.entries:
        candidate = entry.candidate
        scores = [score.fitness for score in candidate.examination.scores]
        fault = candidate.examination.fault
        known = fault is None and bool(scores)
        what = Content.styled(fault_words(fault, 300), BAD) if fault is not None else \
            Content(one_line(candidate.summary, 300))
        tests = candidate.examination.tests
        if tests is not None and tests.flaw:
            what = Content.styled(f"flaw: {one_line(tests.flaw, 300)}", BAD)
        rows.append((candidate.id, [
            candidate.id, number(entry.fitness), number(min(scores) if known else None),
            number(max(scores) if known else None), str(entry.votes) if entry.votes else Content.styled("–", DIM),
            _standing(candidate.id == chosen, pool.final), what,
        ]))
    if pool.chosen is not None and chosen not in {name for name, _ in rows}:
        again = "kept: no other was chosen" if pool.chosen.carried_over else "given"
        rows.append((pool.chosen.id, [pool.chosen.id, "", "", "", "", _standing(True, pool.final), again]))
    return rows


def _standing(chosen: bool, final: bool) -> Content:
    if not chosen:
        return Content("")
    return Content.styled("E* frozen" if final else "chosen", f"bold {GOOD}")
