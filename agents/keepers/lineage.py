"""The lineage of a candidate: the edits that led to it, with F before and after. Pure.

The keepers know it from parents, summaries and fitness, so no program has to carry it.
"""

from collections.abc import Sequence

from ...core.operators import OPERATORS
from ...core.order_ids import parse
from ...core.values import Ancestor, Candidate, Operator

LINEAGE = 20  # the latest edits that a candidate carries: bounds prompts and memory

_PLACES = {operator: place for place, operator in enumerate(OPERATORS)}  # within a generation: climbs come first


def inherited(parents: Sequence[Candidate]) -> tuple[Ancestor, ...]:
    """The edits that led to these parents, oldest first, each once; the latest of them where there are many."""
    merged = {ancestor.id: ancestor for parent in parents for ancestor in parent.lineage}
    return tuple(sorted(merged.values(), key=_when))[-LINEAGE:]


def extended(
    lineage: tuple[Ancestor, ...], *, name: str, operator: Operator, summary: str, before: tuple[float, ...],
    fitness: float,
) -> tuple[Ancestor, ...]:
    """The lineage of a candidate: that of its parents, and its own edit. `before` holds F of each parent."""
    own = Ancestor(id=name, operator=operator, summary=summary, before=before, fitness=fitness)
    return (*lineage, own)[-LINEAGE:]


def _when(ancestor: Ancestor) -> tuple[int, int, int]:
    named = parse(ancestor.id)
    return named.generation, _PLACES[ancestor.operator], named.slot
