"""The story of a recording of any domain: its numbers at 10 points of time, and their largest changes."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .ports import Domain, Narrating
from .recording import Array, Recording
from .story import MAX_ROWS, Story
from .text import one_line
from .values import JSON

POINTS = 10  # points of time
MAX_PARTS = 64  # numbers of a field that are looked at
MAX_FIELDS = 64
MAX_CHANGES = 4
SUDDEN = 0.25  # of a number's range in one step: a change worth a line
SECRET = frozenset({"success"})  # policy search never uses the success predicate (paper, section 3.2)
NOISE = 1e-9  # a number whose range is smaller does not change
_NAME = 24  # characters of a name
_VALUE = 10  # characters of a text


def story_of(domain: Domain, recording: Recording) -> Story:
    """The domain's own story of a recording; the generic one if it has none."""
    return domain.story(recording) if isinstance(domain, Narrating) else generic_story(recording)


def generic_story(recording: Recording) -> Story:
    """The numbers, flags and texts of the recording at 10 points of time, and the largest changes of its states.

    Each row is one number of a field, such as `position[1]`; of equal ones the first. Where there are too many, every
    field keeps those that change most steadily: 10 samples say nothing about a number that swings between them.
    Conditions are the small constants.
    """
    states = list(_parts(recording.states))
    actions = list(_parts(recording.actions)) if recording.steps else []
    changing = [part for part in (*states, *actions) if part.changes]
    moving = _distinct(part for part in changing if not part.ends)
    shown = _turns(moving or [*states, *actions])
    points = sorted({int(step) for step in np.linspace(0, recording.steps, POINTS).round()})
    still = list(dict.fromkeys(part.field for part in (*states, *actions)))
    still = [name for name in still if moving and name not in {part.field for part in changing}]
    notes = [f"{len(shown) - MAX_ROWS} more numbers that change are left out"] if len(shown) > MAX_ROWS else []
    notes += [f"never changed: {', '.join(still)}"] if still else []
    notes += [] if shown else ["nothing that can be shown was recorded"]
    return Story(
        head=("step", *map(str, points)),
        rows=tuple((part.name, *map(part.at, points)) for part in shown[:MAX_ROWS]),
        notes=(*_changes(states), *notes),
        conditions=_conditions(recording.constants),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One number, flag or text of a field over time, of shape (rows,)."""

    field: str
    name: str
    values: Array

    @property
    def numbers(self) -> NDArray[np.float64] | None:
        """The values as floats, None for texts."""
        return self.values.astype(np.float64) if self.values.dtype.kind in "iuf" else None

    @property
    def changes(self) -> bool:
        """Whether the value changes in the episode."""
        return bool((self.values[1:] != self.values[:-1]).any()) and self.spread > NOISE

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

    def at(self, row: int) -> str:
        """The value in a row as text; "" after the last row, as for the action of the last state."""
        return _shown(self.values[row], self.values) if row < len(self.values) else ""


def _parts(fields: Mapping[str, Array]) -> Iterator[_Part]:
    """The numbers, flags and texts of recorded fields, in their order, without secret ones."""
    for name, array in list(fields.items())[:MAX_FIELDS]:
        rows = np.asarray(array)
        if name in SECRET or rows.ndim == 0 or rows.dtype.kind not in "biufU":
            continue
        label = one_line(name, _NAME)
        if rows.ndim == 1:
            yield _Part(label, label, rows)
            continue
        flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))
        for column, place in zip(range(min(flat.shape[1], MAX_PARTS)), np.ndindex(rows.shape[1:]), strict=False):
            yield _Part(label, f"{label}[{','.join(map(str, place))}]", flat[:, column])


def _distinct(parts: Iterable[_Part]) -> list[_Part]:
    """The parts without those whose values an earlier one has."""
    found: dict[tuple[str, bytes], _Part] = {}
    for part in parts:
        found.setdefault((part.values.dtype.str, part.values.tobytes()), part)
    return list(found.values())


def _turns(parts: list[_Part]) -> list[_Part]:
    """The parts in turns, one of each field; within a field the steadiest come first, of those the widest."""
    fields: dict[str, list[_Part]] = {}
    for part in parts:
        fields.setdefault(part.field, []).append(part)
    ranked = [sorted(each, key=lambda part: (round(part.restlessness, 3), -part.spread)) for each in fields.values()]
    turns = [part for turn in zip_longest(*ranked) for part in turn if part is not None]
    chosen = {id(part) for part in turns[:MAX_ROWS]}
    return [part for part in parts if id(part) in chosen] + turns[MAX_ROWS:]


def _changes(parts: list[_Part]) -> list[str]:
    """The largest change of each state from one step to the next, the most sudden ones, in the order of time."""
    found: dict[str, tuple[float, int, str]] = {}
    for part in parts:
        change = _largest_change(part)
        if change is not None and change[0] > found.get(part.field, (SUDDEN, 0, ""))[0]:
            found[part.field] = change
    sudden = sorted(found.values(), key=lambda change: (-change[0], change[1]))[:MAX_CHANGES]
    return [text for _, _, text in sorted(sudden, key=lambda change: change[1])]


def _largest_change(part: _Part) -> tuple[float, int, str] | None:
    """The share of its range, the step, and the words of a part's largest change; None without a change."""
    numbers = part.numbers
    if len(part.values) < 2:
        return None
    jumps: NDArray[np.float64]
    if numbers is None:
        jumps = (part.values[1:] != part.values[:-1]).astype(np.float64)
    else:
        halves = np.where(np.isfinite(numbers), numbers, np.nan) / 2  # so that no difference overflows
        jumps = np.nan_to_num(np.abs(np.diff(halves)), nan=0.0)
    step = int(jumps.argmax())
    if jumps[step] <= 0.0 or part.spread <= NOISE:
        return None
    words = f"step {step + 1}: {part.name} {part.at(step)} -> {part.at(step + 1)}"
    return float(jumps[step] / part.spread), step, words


def _conditions(constants: Mapping[str, Array]) -> dict[str, JSON]:
    """The constants of at most four numbers."""
    small = {name: np.asarray(array) for name, array in constants.items() if name not in SECRET}
    return {
        name: " ".join(_shown(value, array) for value in array.flat)
        for name, array in small.items() if 1 <= array.size <= 4 and array.dtype.kind in "biufU"
    }


def _shown(value: Any, among: Array) -> str:
    """A value as short text; numbers of one part have the same number of decimals."""
    if among.dtype.kind == "b":
        return "yes" if value else "no"
    if among.dtype.kind == "U":
        return one_line(str(value), _VALUE)
    if among.dtype.kind in "iu":
        return str(value)
    number = float(value)
    finite = np.abs(among[np.isfinite(among)])
    largest = float(finite.max()) if finite.size else 0.0
    if not math.isfinite(number):
        return str(number)
    if largest and not 1e-4 <= largest < 1e6:
        return f"{number:.2e}"
    digits = 2 - (math.floor(math.log10(largest)) if largest else 0)
    return f"{number:.{min(6, max(0, digits))}f}"
