"""Which draft is submitted for a model that ends its conversation without a submission. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.programs.program_text import digest
from ..core.turns import Draft
from ..core.values import Program


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """A draft, its number, and the mean of f_e in its practice episodes; None if a fault ended one of them."""

    number: int
    program: Program
    fitness: float | None


def stand_in(drafts: Sequence[Draft], parents: Sequence[Program]) -> StandIn | None:
    """The best draft in practice, without parents that were rolled out unchanged; None if there is none.

    A program counts with the mean over all its practice episodes. One that a fault ended in practice counts less than
    any other; of equal ones the last counts.
    """
    unchanged = {digest(parent) for parent in parents}
    found = [
        StandIn(number=number, program=draft.program, fitness=_fitness(draft.program, drafts))
        for number, draft in enumerate(drafts, start=1) if digest(draft.program) not in unchanged
    ]
    return max(found, key=lambda each: (-1.0 if each.fitness is None else each.fitness, each.number), default=None)


def _fitness(program: Program, drafts: Sequence[Draft]) -> float | None:
    own = [draft for draft in drafts if draft.program == program]
    if any(draft.episode.fault is not None for draft in own):
        return None
    return sum(draft.fitness for draft in own) / len(own)
