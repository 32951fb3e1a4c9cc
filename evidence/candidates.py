"""The candidates of a run with their programs and metrics, for tables and for the descent of the elite. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..core.events import CandidateScored, Fact, InitialChosen
from ..core.values import JSON, Fault, Operator, Program
from ..memory.slots import Slot, Slots, ancestors_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow:
    """One settled candidate. `fitness` and `success_rate` are None where it failed as a whole or was pruned."""

    id: str
    operator: Operator
    generation: int
    slot: int
    parents: tuple[str, ...]
    summary: str
    program: Program
    fitness: float | None
    success_rate: float | None
    metrics: Mapping[str, JSON] = field(default_factory=dict)
    fault: Fault | None = None
    bound: float | None = None  # of a candidate that racing pruned: its F is at most this
    duplicate_of: str | None = None  # the candidate of the same program, whose episodes it has
    episodes: int = 0  # that were rolled out for it
    accepted: bool | None = None  # by the hill-climb chain; None in the other branches
    elite_of: tuple[int, ...] = ()  # the generations whose elite it was


def list_candidates(slots: Slots, facts: Iterable[Fact]) -> tuple[CandidateRow, ...]:
    """All settled candidates in the order in which they came, p_0 first."""
    found: dict[str, tuple[Program, Mapping[str, JSON]]] = {}
    for fact in facts:
        match fact:
            case InitialChosen(order=str(order)):
                found[order] = (fact.program, {})
            case CandidateScored(candidate=candidate):
                found[candidate.id] = (candidate.program, candidate.metrics)
    return tuple(_row(slots.candidates[key], *found[key]) for key in found if key in slots.candidates)


def _row(slot: Slot, program: Program, metrics: Mapping[str, JSON]) -> CandidateRow:
    return CandidateRow(
        id=slot.id, operator=slot.operator or Operator.INITIAL, generation=slot.generation, slot=slot.place,
        parents=slot.parents, summary=slot.summary, program=program, fitness=slot.fitness,
        success_rate=slot.success_rate, metrics=metrics, fault=slot.fault, bound=slot.bound,
        duplicate_of=slot.same_as, episodes=slot.rolled, accepted=slot.accepted, elite_of=slot.elite_of,
    )


def trace_lineage(slots: Slots, rows: Sequence[CandidateRow]) -> tuple[CandidateRow, ...]:
    """The last elite and all its ancestors, parents before children; empty where there is no elite."""
    if not slots.elites:
        return ()
    line = {*ancestors_of(slots, [slots.elites[-1].candidate])}
    return tuple(row for row in rows if row.id in line)
