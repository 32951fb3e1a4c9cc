"""The memory of rejected edits: the summaries of what this generation's climb rejected (H of the paper)."""

from dataclasses import dataclass, replace
from typing import Literal

from ...core.events import Propose
from ...core.faults import is_service_failure
from ...core.methods import SearchPart
from ...core.values import CandidateState, MemoryDetail, Operator, Rejection
from ..part import Part, Rejudged
from ..setting_groups import PartSettings, SettingGroup
from ..state import Search
from ..tried import without_figures

CLIMB = SettingGroup(name="climb", parts=frozenset({SearchPart.CLIMB}))


class MemorySettings(PartSettings):
    """What is remembered, and for how long."""

    memory_detail: MemoryDetail = CLIMB.field("full", "what prompts show of edits that did not stay")
    memory_scope: Literal["generation", "run", "until-changed"] = CLIMB.field(
        "generation", "how long rejected edits are kept"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejections:
    """H, oldest first; with a full memory also what did not stay of the elite and its ancestors."""

    edits: tuple[Rejection, ...] = ()
    tried: tuple[Rejection, ...] = ()


class Memory(Part):
    """The paper's memory. Others add to it: see `full_memory` and `long_memory`."""

    shows_fitness = False

    def at_start(self, search: Search) -> Search:
        """Nothing is rejected yet."""
        return search.with_slice(Rejections())

    def at_generation(self, search: Search) -> Search:
        """H is empty."""
        return search.with_slice(replace(search.slice(Rejections), edits=()))

    def at_move(self, search: Search, rejudged: Rejudged) -> Search:
        """What lost under the evaluator before may win under this one."""
        found, full = search.slice(Rejections), self.shows_fitness
        edits, tried = (without_figures(each, full=full) for each in (found.edits, found.tried))
        return search.with_slice(Rejections(edits=edits, tried=tried))

    def show(self, search: Search, order: Propose) -> Propose:
        """A climb shows H."""
        found = search.slice(Rejections)
        return replace(
            order, rejections=found.edits if order.operator is Operator.HILL_CLIMB else (), tried=found.tried
        )

    def after_accept(self, search: Search, current: CandidateState, one: CandidateState) -> Search:
        """The climb goes on from `one` in place of `current`."""
        return search

    def after_reject(
        self, search: Search, current: CandidateState, one: CandidateState, edit: Rejection
    ) -> Search:
        """An edit of `current` was rejected. A failure of the service says nothing about it."""
        if is_service_failure(one.fault):
            return search
        found = search.slice(Rejections)
        return search.with_slice(self.with_edit(found, self.details(found, edit, one, current)))

    def details(
        self, found: Rejections, edit: Rejection, one: CandidateState, current: CandidateState
    ) -> Rejection:
        """The edit as it is remembered."""
        return edit

    def with_edit(self, found: Rejections, edit: Rejection) -> Rejections:
        """The memory with one more edit."""
        return replace(found, edits=(*found.edits, edit))
