"""The parts from which the offline model builds programs of a domain."""

from dataclasses import dataclass

from ..values import Program


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelfPart:
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
    against: tuple[tuple[str, ...], ...] = ()  # for each alternative the signs of trouble that it is meant against

    @property
    def signs(self) -> tuple[str, ...]:
        """The signs of trouble that some alternative is meant against: entries of a program's own report."""
        return tuple(dict.fromkeys(sign for signs in self.against for sign in signs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """Alternatives of mixed quality, from which the offline model writes and edits policies."""

    initial: Program  # p_0, built of the first alternatives; it fails the task
    parts: tuple[ShelfPart, ...]
    evaluators: tuple[Program, ...]  # whole evaluator programs of mixed quality, some of them invalid
    tuned: bool = False  # its constants matter as much as its methods, so edits change them as often
    signs: tuple[str, ...] = ()  # entries of its programs' reports, in the order of the task: shares of attempts, 0..1
