"""A part of a method besides its branches: it remembers something, and shows it in prompts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..core.events import Propose
from ..core.values import CandidateState
from .state import Search


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejudged:
    """What another evaluator says: `of` a candidate by its recordings, and of all that is remembered (`archive`)."""

    of: Callable[[CandidateState], CandidateState]
    archive: tuple[CandidateState, ...]


class Part:
    """A part that does nothing. Each hook is a moment of the search and gives the state after it; all are pure."""

    def at_start(self, search: Search) -> Search:
        """Before the first generation."""
        return search

    def at_generation(self, search: Search) -> Search:
        """Before a generation is opened; the slots are still those of the last one."""
        return search

    def at_candidate(self, search: Search, one: CandidateState) -> Search:
        """A candidate was evaluated or failed; its branch has not taken it yet."""
        return search

    def at_end(self, search: Search, found: Sequence[CandidateState]) -> Search:
        """The branches have ended, with these programs; the next elite is not chosen yet."""
        return search

    def at_elite(self, search: Search, elite: CandidateState) -> Search:
        """The next elite is chosen; `search` still has the old one."""
        return search

    def at_move(self, search: Search, rejudged: Rejudged) -> Search:
        """Another evaluator has taken over; `search` has the elite as this one judges it."""
        return search

    def show(self, search: Search, order: Propose) -> Propose:
        """The order with what its prompt shows of this part."""
        return order
