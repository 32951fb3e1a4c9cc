"""The numbers of a recording over time: what they are called, which lead every trace of a task, which say most."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.recording import Array
from ...core.text import one_line

Visible = Mapping[str, Sequence[str]]  # fields, and names of their numbers

MAX_PARTS = 64  # numbers of a field that are looked at
MAX_FIELDS = 64
EXPLAINED = 0.02  # of a number's variance: what is left of one that others show
SAMPLES = 256  # rows by which numbers are compared with one another
SECRET = frozenset({"success"})  # policy search never uses the success predicate (paper, section 3.2)
PARTS = 200  # of a range: values that differ by less may look alike
MOST_DECIMALS = 6
LARGE = 1e6  # from which a number has an exponent
NOISE = 1e-9  # a number whose range is smaller does not change
_WORDS = 32  # characters of what a number is
_SMALL = re.compile(  # what is not needed in a name
    r"\s+in \S+/s\b.*|\b(?:of|the|an?|in|to|its|and|between|along|current)\s+|\s+(?:direction|axis)\b"
    r"|(?<=[xyz])-?coordinate\b|\s*[,;:(].*", re.IGNORECASE
)
UNNAMED = 0.5  # the weight of a number without a name in a field that names others
FEW = 8  # numbers: all of them lead

# Which numbers lead, and how many of each group, by their names: first where the trunk is and how it leans and moves,
# then what is moved and by what, then the joints of the legs, then what touches the ground or is held.
_TRUNK = r"torso|hull|trunk|pelvis|root|front tip|heading|\bcart\b|\bpole\b"
_MOVED = r"object|block|fingertip|end effector|palm|handle|\bball\b|latch|door|nail|\btool\b"
_LEG = r"hip|knee|ankle|thigh|shin|\bleg\b|foot|link"
_TURN = r"angle|angular|orientation|rotation|cosine|sine\b"
_RATE = r"velocity|speed"
_BESIDE = r"between|relative|difference|goal|target|touches|contact|lidar|\bw-"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Numbers whose names have all words of `has` and none of `lacks`: at most `most` lead."""

    has: tuple[str, ...]
    lacks: str
    most: int
    at_points: bool = True  # whether 8 points of time show something of it

    def holds(self, name: str) -> bool:
        found = (re.search(words, name, re.IGNORECASE) for words in self.has)
        return all(found) and re.search(self.lacks, name, re.IGNORECASE) is None


_GROUPS = (
    _Group(has=(_TRUNK, r"coordinate|position|height"), lacks=f"{_TURN}|{_RATE}|{_BESIDE}", most=3),
    _Group(has=(_TRUNK, _TURN), lacks=f"{_RATE}|{_LEG}|{_BESIDE}|angular", most=2),
    _Group(has=(_TRUNK, _RATE), lacks=f"angular|{_LEG}|{_BESIDE}", most=3),
    _Group(has=(_MOVED,), lacks=f"{_RATE}|{_BESIDE}", most=6),
    _Group(has=(_LEG, _TURN), lacks=f"{_RATE}|\\barm\\b|relative|goal|contact|touches", most=8, at_points=False),
    _Group(has=(r"contact|touches|finger.*displacement",), lacks=f"{_RATE}|force", most=4, at_points=False),
)
_NAME = 24  # characters of a name
_VALUE = 10  # characters of a text


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """One number, flag or text of a field over time, of shape (rows,)."""

    field: str
    name: str
    values: Array
    words: str = ""  # what it is, where that is known
    weight: float = 1.0
    group: int | None = None  # of those that lead a trace

    @property
    def at_points(self) -> bool:
        """Whether the overview has it: for one that leads."""
        return self.group is not None and _GROUPS[self.group].at_points

    @property
    def numbers(self) -> NDArray[np.float64] | None:
        """The values as floats, None for texts."""
        return self.values.astype(np.float64) if self.values.dtype.kind in "iuf" else None

    @property
    def changes(self) -> bool:
        """Whether the value changes in the episode."""
        return bool((self.values[1:] != self.values[:-1]).any()) and self.spread > NOISE

    @property
    def is_flag(self) -> bool:
        """Whether it is a flag, a text, or a number with two values."""
        if self.values.dtype.kind in "bU":
            return True
        return len(np.unique(self.values[:100])) <= 2 and len(np.unique(self.values)) <= 2  # the first is the quick one

    @property
    def ends(self) -> bool:
        """Whether it is a flag that changes in the last step alone: it only says that the episode ended."""
        return self.values.dtype.kind == "b" and not (self.values[1:-1] != self.values[:-2]).any()

    @property
    def spread(self) -> float:
        """Half the range of the finite numbers; 1 for flags and texts."""
        numbers = self.numbers
        if numbers is None:
            return 1.0
        finite = numbers[np.isfinite(numbers)]
        return float(finite.max() / 2 - finite.min() / 2) if len(finite) else 0.0

    @property
    def restlessness(self) -> float:
        """How often the value crosses its range: the sum of its changes over the range. 1 for a steady rise."""
        numbers = self.numbers
        if numbers is None:
            return float((self.values[1:] != self.values[:-1]).sum())
        halves = np.where(np.isfinite(numbers), numbers, np.nan) / 2  # so that no difference overflows
        return float(np.nansum(np.abs(np.diff(halves)) / max(self.spread, NOISE)))

    def shown(self, rows: Sequence[int], *, by_range: bool = False) -> Callable[[int], str]:
        """How the values in these rows are written: as by `at`, or with as many decimals as the range needs.

        There are more where three in a row would look alike and differ by a two-hundredth of the range.
        """
        numbers = self.numbers
        if numbers is None or self.values.dtype.kind != "f" or self.spread <= NOISE:
            return self.at
        base = 1 - math.floor(math.log10(self.spread)) if by_range else _decimals(self.values)
        base = 0 if by_range and (self.values == self.values.round()).all() else max(0, base)
        if base > MOST_DECIMALS:
            return self.at
        least = 2 * self.spread / PARTS
        finest = min(MOST_DECIMALS, max(base, math.ceil(-math.log10(least))))
        near = [float(numbers[row]) for row in rows if row < len(numbers)]
        decimals = next((each for each in range(base, finest) if not _alike(near, each, least)), finest)

        def text(row: int) -> str:
            if row >= len(self.values):
                return ""
            number = float(self.values[row])
            return f"{number:z.{decimals}f}" if abs(number) < LARGE else f"{number:.2e}"

        return text

    def at(self, row: int) -> str:
        """The value in a row as text; "" after the last row, as for the action of the last state."""
        return value_words(self.values[row], self.values) if row < len(self.values) else ""


def parts_of(fields: Mapping[str, Array], names: Visible = MappingProxyType({})) -> Iterator[Track]:
    """The numbers, flags and texts of recorded fields, in their order, without secret ones, with these names."""
    for name, array in list(fields.items())[:MAX_FIELDS]:
        rows = np.asarray(array)
        if name in SECRET or rows.ndim == 0 or rows.dtype.kind not in "biufU":
            continue
        label = one_line(name, _NAME)
        if rows.ndim == 1:
            yield Track(label, label, rows)
            continue
        flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))
        named = any(names.get(name, ()))
        for column, place in zip(range(min(flat.shape[1], MAX_PARTS)), np.ndindex(rows.shape[1:]), strict=False):
            called = "".join(names.get(name, ())[column : column + 1])
            group = _group(called) if called and "goal" not in name else None
            weight = UNNAMED if named and not called else 1.0
            yield Track(label, f"{label}[{','.join(map(str, place))}]", flat[:, column], _short(called), weight, group)


def _group(called: str) -> int | None:
    return next((number for number, group in enumerate(_GROUPS) if group.holds(called)), None)


def _short(called: str) -> str:
    """A name without what it is clear without, after a space; of a longer one whole words of its beginning and end."""
    words = one_line(_SMALL.sub("", called).strip() or called, 4 * _WORDS).split()
    first, last = words[: (len(words) + 1) // 2], words[(len(words) + 1) // 2 :]
    cut = False
    while len(text := " ".join([*first, *["…"] * cut, *last])) > _WORDS and len(first) + len(last) > 1:
        (first if len(first) > len(last) else last).pop(-1 if len(first) > len(last) else 0)
        cut = True
    return f" {text}" if text else ""


def leading(parts: Sequence[Track]) -> list[Track]:
    """The parts that lead every trace of a task, in one order: by the names of the numbers, whatever their values are.

    `parts` are what a policy observes; where those are few, all of them lead.
    """
    if len(parts) <= FEW:
        return [part if part.group is not None else replace(part, group=0) for part in parts]
    found = [[part for part in parts if part.group == number] for number in range(len(_GROUPS))]
    return [part for group, those in zip(_GROUPS, found, strict=True) for part in those[: group.most]]


def telling(parts: list[Track], most: int, score: Callable[[Track], float]) -> list[Track]:
    """At most `most` parts, in their order: always the one with the largest score that the chosen ones do not explain.

    What the chosen ones explain of a part is the share of its variance over time that is linear in them.
    """
    if not parts:
        return []
    rows = min(len(part.values) for part in parts)
    at = np.linspace(0, rows - 1, min(rows, SAMPLES)).round().astype(int)
    left = np.array([_standard(part.values[at]) for part in parts])
    scores = np.array([score(part) for part in parts])
    chosen: list[int] = []
    for _ in range(min(most, len(parts))):
        unexplained = (left**2).sum(axis=1)
        gains = np.where(unexplained > EXPLAINED, scores * unexplained, 0.0)
        best = int(gains.argmax())
        if gains[best] <= 0.0:
            break
        chosen.append(best)
        norm = float(np.linalg.norm(left[best]))
        if norm > NOISE:
            axis = left[best] / norm
            left = left - np.outer(left @ axis, axis)
    return [parts[place] for place in sorted(chosen)]


def _standard(values: Array) -> NDArray[np.float64]:
    """The values without their mean and with length 1; zeros where they are no finite numbers."""
    if values.dtype.kind == "U":
        values = np.unique(values, return_inverse=True)[1]
    numbers = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    largest = float(np.abs(numbers).max(initial=0.0))
    numbers = numbers / largest if largest > 0 else numbers
    numbers = numbers - numbers.mean()
    norm = float(np.linalg.norm(numbers))
    return numbers / norm if norm > NOISE else np.zeros(len(numbers))


def _alike(values: Sequence[float], decimals: int, least: float) -> bool:
    """Whether three values in a row differ by more than `least` and are written alike."""
    return any(
        max(three) - min(three) > least and len({f"{each:z.{decimals}f}" for each in three}) == 1
        for three in zip(values, values[1:], values[2:], strict=False)
    )


def _decimals(among: Array) -> int:
    """The decimals with which the largest of these numbers has three digits; beyond the most for very small ones."""
    finite = np.abs(among[np.isfinite(among)])
    largest = float(finite.max()) if finite.size else 0.0
    if largest and not 1e-4 <= largest < LARGE:
        return MOST_DECIMALS + 1
    return min(MOST_DECIMALS, max(0, 2 - (math.floor(math.log10(largest)) if largest else 0)))


def value_words(value: Any, among: Array) -> str:
    """A value as short text; numbers of one part have the same number of decimals."""
    if among.dtype.kind == "b":
        return "yes" if value else "no"
    if among.dtype.kind == "U":
        return one_line(str(value), _VALUE)
    if among.dtype.kind in "iu":
        return str(value)
    number = float(value)
    decimals = _decimals(among)
    if not math.isfinite(number):
        return str(number)
    return f"{number:.2e}" if decimals > MOST_DECIMALS else f"{number:z.{decimals}f}"
