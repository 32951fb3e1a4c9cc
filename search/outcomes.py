"""The conclusions of a search: the result of a branch, the elite of a generation, and the end."""

from ..core.events import BranchEnded, EliteChanged, SearchEnded
from ..core.values import CandidateState, Operator


def branch_ended(generation: int, operator: Operator, winner: CandidateState | None) -> BranchEnded:
    """The result of one operator's slots."""
    return BranchEnded(
        generation=generation,
        operator=operator,
        winner=winner.id if winner else None,
        fitness=winner.fitness if winner else None,
    )


def elite_changed(generation: int, elite: CandidateState, before: CandidateState | None) -> EliteChanged:
    """The elite of a generation; `before` is the previous generation's elite, None for the first."""
    return EliteChanged(
        generation=generation,
        candidate=elite.id,
        origin=elite.operator,
        fitness=elite.fitness,
        success_rate=elite.success_rate,
        mean_return=elite.mean_return,
        changed=before is None or elite.id != before.id,
        version=elite.version,
    )


def search_ended(elite: CandidateState) -> SearchEnded:
    """The last elite is the result."""
    return SearchEnded(
        elite=elite.id, program=elite.program, fitness=elite.fitness, success_rate=elite.success_rate
    )
