"""The edits of a program with a shelf: methods replaced by alternatives, constants changed."""

import ast
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...core.ports import Shelf, ShelfPart
from ...core.values import JSON
from .source import Alternative, Edit, ParsedProgram, Piece, alternative_of, fits, number_of

REACHED = 0.6     # a milestone metric of at least this value counts as reached
FLOOR = 0.05      # minimum weight, because metrics and reports may mislead
LATER = 0.3       # factor for each milestone beyond the first unreached one
TRIED = 0.5       # factor for recently edited parts


def milestones(parts: Iterable[ShelfPart]) -> tuple[str, ...]:
    """The metrics of a shelf in the order in which its parts first mention them, which is the order of the task."""
    return tuple(dict.fromkeys(name for part in parts for name in part.metrics))


def needs(levels: Mapping[str, JSON], order: Sequence[str]) -> dict[str, float]:
    """How much each of these measures needs an edit: the more, the farther it is from 1.

    `order` lists the measures in the order of the task: those after an unreached one cannot improve before it, so they
    have lower needs. Measures that are not levels in [0, 1] are left out.
    """
    found: dict[str, float] = {}
    blocked = 1.0
    for name in order:
        value = level(levels.get(name))
        if value is None:
            continue
        found[name] = blocked * (1.0 - value) ** 2
        if value < REACHED:
            blocked *= LATER
    return found


def needs_of_report(report: Mapping[str, JSON], signs: Sequence[str]) -> dict[str, float]:
    """How much each sign of trouble in a program's own report needs an edit; empty if it reports none of them."""
    shares = {name: level(report.get(name)) for name in signs}
    return needs({name: 1.0 - share for name, share in shares.items() if share is not None}, signs)


def weights(parts: Sequence[ShelfPart], need: Mapping[str, float], tried: Sequence[str] = ()) -> list[float]:
    """A positive weight for every part, from what needs an edit.

    Parts that bear on nothing known have the average weight; `tried` are summaries of recent edits, whose parts weigh
    less.
    """
    found = []
    for part in parts:
        own = [need[name] for name in (*part.signs, *part.metrics) if name in need]
        found.append(max(own) + FLOOR if own else None)
    known = [weight for weight in found if weight is not None]
    average = sum(known) / len(known) if known else 1.0
    return [
        (average if weight is None else weight) * TRIED ** mentions(part.name, tried)
        for part, weight in zip(parts, found, strict=True)
    ]


def mentions(name: str, summaries: Sequence[str]) -> int:
    """How many of these edit summaries name the part `name`."""
    return sum(f"{name}:" in summary for summary in summaries)


def level(value: JSON) -> float | None:
    """The level of a milestone metric over the episodes, in [0, 1]; None for any other metric."""
    if isinstance(value, Mapping):
        value = value.get("mean", value.get("rate"))
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)


SPREAD = 0.35            # standard deviation of the logarithm of a perturbation's factor
NEAR = 0.04              # a new value within this fraction of the old one, or of the range, is not an edit
HARM_LIMIT = 8           # attempts at a new perturbation


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodPart:
    """A method part with its parsed alternatives."""

    part: ShelfPart
    alternatives: tuple[Alternative, ...]


class Workshop:
    """A prepared shelf: the parts that may be edited, their edits, and the order of the milestones."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.class_name = first_class(shelf.initial.text)
        self.parts = {part.name: part for part in shelf.parts}
        self.methods = tuple(
            MethodPart(part=part, alternatives=tuple(alternative_of(text) for text in part.alternatives))
            for part in shelf.parts
            if part.kind == "method"
        )
        self.constants = tuple(part for part in shelf.parts if part.kind == "constant")
        self.milestones = milestones(shelf.parts)
        initial = ParsedProgram(shelf.initial.text, self.class_name)
        self.known = {name: piece.text for name, piece in initial.constants.items()}

    def read(self, text: str) -> ParsedProgram:
        """Parse a program. Raises SyntaxError."""
        return ParsedProgram(text, self.class_name)

    # --------------------------------------------------------------------------------- what may be edited

    def swaps(self, source: ParsedProgram) -> list[tuple[ShelfPart, list[Edit]]]:
        """For every method part that fits the program: its alternatives other than the current one."""
        found = []
        for method in self.methods:
            name = method.part.name
            present = source.shape(name) if name in source.methods else None
            edits = [
                self._swap(alternative, source)
                for alternative in method.alternatives
                if alternative.shape != present and fits(alternative, source, self.known)
            ]
            if edits:
                found.append((method.part, edits))
        return found

    def _swap(self, alternative: Alternative, source: ParsedProgram) -> Edit:
        lacking = sorted(name for name in alternative.reads - source.attributes if name in self.known)
        return Edit(
            name=alternative.name,
            text=alternative.text,
            summary=f"{alternative.name}: {alternative.title}",
            adds=tuple((name, self.known[name]) for name in lacking),
        )

    def tunable(self, source: ParsedProgram) -> list[tuple[ShelfPart, Piece]]:
        """The constants that may be changed: the shelf's, else the program's own, else its bare numbers.

        Constants that no code reads are omitted, because they have no effect. A program's own constants and
        numbers are parts without a range; those of the shelf's frame are properties of the task.
        """
        read = {name: piece for name, piece in source.constants.items() if source.reads(name)}
        found = [(part, read[part.name]) for part in self.constants if part.name in read]
        own = [piece for name, piece in read.items() if name not in self.known]
        if not found:
            own += source.numbers.values()
        return found + [
            (ShelfPart(name=piece.name, kind="constant", alternatives=()), piece)
            for piece in own
            if piece.number  # a zero has no scale
        ]

    def values(self, source: ParsedProgram) -> list[tuple[ShelfPart, list[Edit]]]:
        """For every constant of the shelf that the program reads: its alternatives other than the present value."""
        return [
            (part, [constant_edit(piece, text) for text in part.alternatives if not same_value(text, piece.text, part)])
            for part, piece in self.tunable(source)
        ]

    # ---------------------------------------------------------------------------------- moving constants

    def moved(self, part: ShelfPart, piece: Piece, rng: random.Random) -> Edit | None:
        """One constant with another alternative or a perturbed value; None if no new value was found."""
        others = [text for text in part.alternatives if not same_value(text, piece.text, part)]
        if others and (piece.number is None or rng.random() < 0.5):
            return constant_edit(piece, rng.choice(others))
        if piece.number is None:
            return None
        for _ in range(HARM_LIMIT):
            text = perturbed(piece.number, part, rng)
            if not same_value(text, piece.text, part):
                return constant_edit(piece, text)
        return None


def constant_edit(piece: Piece, text: str) -> Edit:
    """Put a literal in the place of a constant or number."""
    return Edit(name=piece.name, text=text, summary=f"{piece.name}: {piece.text} -> {text}")


def perturbed(value: int | float, part: ShelfPart, rng: random.Random) -> str:
    """A number changed by a random factor, or by a fraction of its range if it may be 0 or negative."""
    low, high = part.low, part.high
    if low is not None and high is not None and (low <= 0 or value <= 0):
        moved = value + rng.gauss(0.0, 0.25) * (high - low)
    else:
        moved = value * math.exp(rng.gauss(0.0, SPREAD))
    if low is not None:
        moved = max(low, moved)
    if high is not None:
        moved = min(high, moved)
    return number_text(moved, whole=isinstance(value, int))


def number_text(value: float, *, whole: bool) -> str:
    """A number as a literal of at most three significant digits; an integer if `whole`."""
    if whole:
        return str(round(value))
    return repr(float(f"{value:.3g}"))


def same_value(one: str, other: str, part: ShelfPart) -> bool:
    """Whether two literals are equal, or numbers too close to count as an edit."""
    first, second = (number_of(ast.parse(text, mode="eval").body) for text in (one, other))
    if first is None or second is None:
        return one.strip() == other.strip()
    if isinstance(first, int) and isinstance(second, int):
        return first == second
    scale = max(abs(first), abs(second))
    if part.low is not None and part.high is not None and part.low <= 0:
        scale = part.high - part.low
    return abs(first - second) <= NEAR * scale


def first_class(text: str) -> str:
    """The name of the first class of a program. Raises SyntaxError if there is none."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            return node.name
    raise SyntaxError("the program holds no class")


# ----------------------------------------------------------------------------------------- edit summaries


def summary_of(edits: Iterable[Edit]) -> str:
    """The summary of several edits, independent of their order."""
    return "; ".join(sorted(edit.summary for edit in edits))


class Forbidden:
    """The edits that the rejection memory H excludes: rejected edits, and constants close to rejected values."""

    def __init__(self, summaries: Iterable[str], parts: Mapping[str, ShelfPart]) -> None:
        self._summaries = frozenset(summaries)
        self._parts = parts
        self._values: dict[str, list[str]] = {}
        for summary in self._summaries:
            name, arrow, value = summary.partition(" -> ")
            if arrow and ";" not in summary:
                self._values.setdefault(name.split(":")[0], []).append(value)

    def rules_out(self, edits: Sequence[Edit]) -> bool:
        """Whether these edits together were rejected before."""
        if summary_of(edits) in self._summaries:
            return True
        if len(edits) != 1 or edits[0].name not in self._values:
            return False
        edit = edits[0]
        part = self._parts.get(edit.name) or ShelfPart(name=edit.name, kind="constant", alternatives=())
        return any(same_value(edit.text, value, part) for value in self._values[edit.name] if literal(value))


def literal(text: str) -> bool:
    """Whether a text is one Python expression, so that its value can be compared."""
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True
