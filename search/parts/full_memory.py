"""A full memory: why each edit was rejected, and what was tried of the elite's ancestors and beside them."""

from dataclasses import replace

from ...core.values import CandidateState, Operator, Rejection
from ..branches.climb import Chain
from ..state import Search
from ..tried import BESIDE, not_chosen, of_lineage, with_details
from .memory import Memory, Rejections


class FullMemory(Memory):
    """Remembers verdicts of edits, and every program that did not become the elite.

    Where programs are not all `measured`, since racing prunes some, only what does not depend on it is remembered.
    """

    shows_fitness = True

    def __init__(self, *, measured: bool) -> None:
        self._measured = measured

    def details(
        self, found: Rejections, edit: Rejection, one: CandidateState, current: CandidateState
    ) -> Rejection:
        """The edit with its verdict."""
        return with_details(super().details(found, edit, one, current), one, current, found.edits)

    def with_edit(self, found: Rejections, edit: Rejection) -> Rejections:
        """Also among what was tried."""
        return replace(super().with_edit(found, edit), tried=(*found.tried, edit))

    def at_elite(self, search: Search, elite: CandidateState) -> Search:
        """What did not become the elite was tried, too."""
        found, climbed = search.slice(Rejections), search.slice(Chain).current
        beside = [slots for operator, slots in search.slots.items() if operator is not Operator.HILL_CLIMB]
        spent = [None if climbed.id == search.elite.id else climbed, *(one for slots in beside for one in slots)]
        tried = (*found.tried, *not_chosen(spent, elite, search.records, measured=self._measured))
        return search.with_slice(replace(found, tried=of_lineage(tried, elite, search.generation - BESIDE + 1)))
