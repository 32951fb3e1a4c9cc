"""The lineage of a candidate: the edits that led to it, with F before and after. Pure.

The keepers know it from parents, summaries and fitness, so no program has to carry it.
"""

import hashlib
from collections.abc import Sequence

from ..core.operators import OPERATORS
from ..core.order_ids import parse
from ..core.values import Ancestor, CandidateState, Episode, Operator, Score

LINEAGE = 20  # the latest edits that a candidate carries: bounds prompts and memory


def lineage_of(parents: Sequence[CandidateState]) -> tuple[Ancestor, ...]:
    """The edits that led to these parents, oldest first, each once; the latest of them where there are many."""
    merged = {ancestor.id: ancestor for parent in parents for ancestor in parent.lineage}
    return tuple(sorted(merged.values(), key=_moment))[-LINEAGE:]


def with_edit(
    lineage: tuple[Ancestor, ...], *, name: str, operator: Operator, summary: str, before: tuple[float, ...],
    fitness: float, idle: bool = False, version: int = 1,
) -> tuple[Ancestor, ...]:
    """The lineage of a candidate: that of its parents, and its own edit. `before` holds F of each parent."""
    own = Ancestor(
        id=name, operator=operator, summary=summary, before=before, fitness=fitness, idle=idle, version=version
    )
    return (*lineage, own)[-LINEAGE:]


def course_of(episodes: Sequence[Episode], scores: Sequence[Score]) -> str:
    """A digest of all that is measured of a program's episodes: equal for programs that do the same in all of them."""
    measured = [
        (episode.steps, episode.ended_by, score.fitness, sorted(score.metrics.items()))
        for episode, score in zip(episodes, scores, strict=False)
    ]
    return hashlib.sha256(repr(measured).encode("utf-8", "surrogatepass")).hexdigest() if measured else ""


def _moment(ancestor: Ancestor) -> tuple[int, int, int]:
    named = parse(ancestor.id)
    return named.generation, OPERATORS.place(ancestor.operator), named.slot
