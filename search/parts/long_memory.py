"""A memory of rejected edits that lasts over generations, with marks of what has changed since an edit was rejected."""

from dataclasses import replace

from ...core.programs.program_text import changed_parts
from ...core.values import CandidateState, Program, Rejection
from ..branches.climb import Chain
from ..part import Rejudged
from ..state import Search
from .memory import Memory, Rejections


class LastingMemory(Memory):
    """Remembers what the `inner` memory does, and keeps H over generations."""

    def __init__(self, inner: Memory) -> None:
        self._inner = inner
        self.shows_fitness = inner.shows_fitness

    def at_generation(self, search: Search) -> Search:
        """H stays."""
        return search

    def at_elite(self, search: Search, elite: CandidateState) -> Search:
        """As the inner memory."""
        return self._inner.at_elite(search, elite)

    def at_move(self, search: Search, rejudged: Rejudged) -> Search:
        """As the inner memory."""
        return self._inner.at_move(search, rejudged)

    def details(
        self, found: Rejections, edit: Rejection, one: CandidateState, current: CandidateState
    ) -> Rejection:
        """As the inner memory."""
        return self._inner.details(found, edit, one, current)

    def with_edit(self, found: Rejections, edit: Rejection) -> Rejections:
        """As the inner memory."""
        return self._inner.with_edit(found, edit)


class MarkedMemory(LastingMemory):
    """Says of each edit which of the parts that it touched have changed since."""

    def at_generation(self, search: Search) -> Search:
        """The climb goes on from another program than the last one ended with."""
        return _after_change(search, search.slice(Chain).current.program, search.elite.program)

    def after_accept(self, search: Search, current: CandidateState, one: CandidateState) -> Search:
        """The program changed."""
        return _after_change(search, current.program, one.program)

    def details(
        self, found: Rejections, edit: Rejection, one: CandidateState, current: CandidateState
    ) -> Rejection:
        """The edit with the parts that it touched."""
        known = super().details(found, edit, one, current)
        return replace(known, touched=changed_parts(current.program, one.program)) if one.program.text else known


def _after_change(search: Search, old: Program, new: Program) -> Search:
    parts = frozenset(changed_parts(old, new))

    def with_mark(one: Rejection) -> Rejection:
        more = tuple(part for part in one.touched if part in parts and part not in one.changed)
        return replace(one, changed=(*one.changed, *more)) if more else one

    found = search.slice(Rejections)
    edits, tried = (tuple(map(with_mark, each)) for each in (found.edits, found.tried))
    return search.with_slice(Rejections(edits=edits, tried=tried))
