"""The second parent of crossovers: C^macro, as in the paper, unless a guest is there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...core.programs.program_text import digest
from ...core.values import CandidateState
from ..branch import Branch
from ..branches.climb import Chain
from ..options import BRANCHES
from ..part import Part
from ..setting_groups import PartSettings
from ..state import Search


class PartnerSettings(PartSettings):
    """Where second parents come from."""

    partners: Literal["varied", "paper", "front"] = BRANCHES.field(
        "varied", "the second parent of crossovers; paper: C^macro, also where it is the same program as C^hc"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """A program from elsewhere that comes before any other second parent; None for none."""

    program: CandidateState | None = None


class Partners(Part):
    """The paper's second parent: the result of macro-mutation; of several `branches` the fittest, of equals the first.
    """

    def __init__(self, branches: Sequence[Branch]) -> None:
        self.branches = tuple(branches)

    def at_start(self, search: Search) -> Search:
        """No guest."""
        return search.with_slice(Guest())

    def pair(self, search: Search) -> tuple[CandidateState, CandidateState]:
        """The parents of a generation's crossovers: C^hc, and a guest or the second parent."""
        first, guest = search.slice(Chain).current, search.slice(Guest).program
        if guest is not None and digest(guest.program) != digest(first.program):
            return first, guest
        return first, self.second(search)

    def second(self, search: Search) -> CandidateState:
        """The second parent."""
        return self.usual(search)

    def usual(self, search: Search) -> CandidateState:
        """The fittest result of the branches."""
        return max(self.results(search), key=lambda one: one.fitness)

    def results(self, search: Search) -> list[CandidateState]:
        """The results of the branches; the elite where there is none."""
        found = [branch.result(search) for branch in self.branches]
        return [one for one in found if one is not None] or [search.elite]
