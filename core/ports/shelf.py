"""The parts from which the offline model builds programs of a domain."""

from dataclasses import dataclass

from ..values import Program


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One place in a shelf program with alternatives.

    kind "method": each alternative is the source of one method, indented as at class level.
    kind "constant": each alternative is the text of a literal; the offline model may also perturb it
    within [low, high].
    """

    name: str
    kind: str
    alternatives: tuple[str, ...]
    low: float | None = None
    high: float | None = None
    metrics: tuple[str, ...] = ()  # metrics of the reference evaluator that this part affects most


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """Alternatives of mixed quality, from which the offline model writes and edits policies."""

    initial: Program  # p_0, built of the first alternatives; it fails the task
    parts: tuple[Part, ...]
    evaluators: tuple[Program, ...]  # whole evaluator programs of mixed quality, some of them invalid
    tuned: bool = False  # its constants matter as much as its methods, so edits change them as often
