"""The descent of an elite for a page: nodes on a rail, and the change at each step. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from ..core.events import CandidateScored, Fact, InitialChosen
from ..core.faults import Fault
from ..core.operators import OPERATORS
from ..core.programs.line_diff import LineDiff, diff_lines
from ..core.text import excerpt, number, one_line, share
from ..core.values import JSON, Operator, Program
from ..memory.slots import Slot, Slots, ancestors_of
from .svg import Node, rail

# The candidates of a run with their programs and metrics, for tables and for the descent of the elite. Pure.


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
    version: int = 1  # of the evaluator that F is by


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
        version=slot.version,
    )


def trace_lineage(slots: Slots, rows: Sequence[CandidateRow]) -> tuple[CandidateRow, ...]:
    """The last elite and all its ancestors, parents before children; empty where there is no elite."""
    if not slots.elites:
        return ()
    line = {*ancestors_of(slots, [slots.elites[-1].candidate])}
    return tuple(row for row in rows if row.id in line)


ROW_HEIGHT = 58  # pixels, as in the style sheet
DIFF_LINES = 400
LINE = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """One line of a diff. `kind` is "add", "del", "at" or "same"."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DescentStep:
    """One candidate of the descent, and its program against its first parent's."""

    id: str
    operator: str
    what: str
    summary: str
    elite_of: str
    parent: str
    added: int
    removed: int
    diff: tuple[DiffLine, ...]
    left_out: int  # lines of the diff that are not shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Descent:
    """The whole lineage, parents before children."""

    rail: Markup
    steps: tuple[DescentStep, ...]


def descend(rows: Sequence[CandidateRow]) -> Descent:
    """The descent of the last of these candidates."""
    place_of = {row.id: place for place, row in enumerate(rows)}
    nodes = [
        Node(
            lane=OPERATORS[row.operator].lane,
            parents=[place_of[parent] for parent in row.parents if parent in place_of],
            elite=bool(row.elite_of),
            place=OPERATORS[row.operator].colour,
        )
        for row in rows
    ]
    by_id = {row.id: row for row in rows}
    return Descent(rail=rail(nodes, row_height=ROW_HEIGHT), steps=tuple(_step(row, by_id) for row in rows))


def _step(row: CandidateRow, by_id: dict[str, CandidateRow]) -> DescentStep:
    parent = next((by_id[each] for each in row.parents if each in by_id), None)
    diff = diff_lines((parent or row).program.text, row.program.text, context=2)
    lines = lines_of_diff(diff)
    return DescentStep(
        id=row.id,
        operator=OPERATORS[row.operator].title,
        what=f"F {number(row.fitness)}, S {share(row.success_rate)}",
        summary=one_line(row.summary, 200),
        elite_of=", ".join(f"g{generation}" for generation in row.elite_of),
        parent=parent.id if parent is not None else "",
        added=diff.added,
        removed=diff.removed,
        diff=tuple(lines[:DIFF_LINES]),
        left_out=max(0, len(lines) - DIFF_LINES),
    )


def lines_of_diff(diff: LineDiff) -> list[DiffLine]:
    """The lines of a diff, bounded and printable; its note where it has one instead."""
    kinds = {"+": "add", "-": "del", "@": "at"}
    if diff.note:
        return [DiffLine(kind="at", text=diff.note)]
    return [DiffLine(kind=kinds.get(line[:1], "same"), text=excerpt(line, LINE)) for line in diff.lines]
