"""The story of a recording of any domain: what moved, its largest changes, and each of the last steps."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .ports import Domain, Narrating
from .recording import Array, Recording
from .story import MAX_ROWS, Story
from .text import one_line
from .values import JSON

Visible = Mapping[str, Sequence[str]]  # fields, and names of their numbers

POINTS = 8  # points of time
MAX_PARTS = 64  # numbers of a field that are looked at
MAX_FIELDS = 64
MAX_CHANGES = 3
SLOW = 10  # rows of the overview
SWINGING = 6  # swinging numbers with their range
PER_LINE = 3
RESTLESS = 8.0  # how often a number crosses its range, from which it swings
LAST = 30  # steps at the end, each of which is shown
ENDING = 7  # numbers of those
FLAGS = 3  # with a timeline
TOLD = 6  # changes of one
EXPLAINED = 0.02  # of a number's variance: what is left of one that others show
SAMPLES = 256  # rows by which numbers are compared with one another
MOST_BEYOND = 5.0  # times its earlier range
SUDDEN = 0.25  # of a number's range in one step: a change worth a line
UNSEEN = frozenset({"reward", "terminated", "truncated"})  # by a policy
SECRET = frozenset({"success"})  # policy search never uses the success predicate (paper, section 3.2)
NOISE = 1e-9  # a number whose range is smaller does not change
_WORDS = 26  # characters of what a number is
_SMALL = re.compile(r"\b(?:of|the|an?|in|to|its)\s+|(?<=[xyz])-?coordinate\b", re.IGNORECASE)  # not needed in a name
_TRUNK = re.compile(r"torso|hull|trunk|pelvis|root|fingertip|object|heading", re.IGNORECASE)
LEADS = 4.0  # the weight of a number of the trunk or of what is moved, which show how an episode went,
UNNAMED = 0.5  # and of one without a name in a field that names others
_NAME = 24  # characters of a name
_VALUE = 10  # characters of a text


def story_of(domain: Domain, recording: Recording, visible: Visible | None = None) -> Story:
    """The domain's own story of a recording; the generic one if it has none."""
    return domain.story(recording) if isinstance(domain, Narrating) else generic_story(recording, visible)


def generic_story(recording: Recording, visible: Visible | None = None) -> Story:
    """What moved in a recording: an overview, a timeline of flags, sudden changes, and the last steps, each of them.

    `visible` are the states that a policy observes, with the names of their numbers, where they have any; None for all
    but the reward. The overview has slow numbers at 8
    points of time and of swinging ones the range, mean and period; 8 samples of those say nothing. The last 30 steps
    have the numbers that left their earlier range most, or moved most. Numbers that repeat what others show (by their
    correlation) come last, and so do no more than fit. Conditions are the small constants.
    """
    states = [part for part in _parts(recording.states, visible or {}) if _is_shown(part.field, visible)]
    actions = [part for part in _parts(recording.actions) if part.field not in UNSEEN] if recording.steps else []
    changing = [part for part in (*states, *actions) if part.changes]
    moving = _distinct(part for part in changing if not part.ends)
    flags = [part for part in moving if part.is_flag]
    slow = [part for part in moving if not part.is_flag and part.restlessness <= RESTLESS]
    swinging = [part for part in moving if not part.is_flag and part.restlessness > RESTLESS]
    shown = _telling(slow, SLOW, _width(slow)) if moving else [*states, *actions][:MAX_ROWS]
    points = sorted({int(step) for step in np.linspace(0, recording.steps, POINTS).round()})
    still = list(dict.fromkeys(part.field for part in (*states, *actions)))
    still = [name for name in still if moving and name not in {part.field for part in changing}]
    wide = _telling(swinging, SWINGING, _width(swinging))
    left = len(slow) - len(shown) + len(swinging) - len(wide) if moving else 0
    notes = [f"swinging: {'; '.join(map(_swing, wide[at : at + PER_LINE]))}" for at in range(0, len(wide), PER_LINE)]
    notes += [f"{left} more numbers change; they go with these, or are left out"] if left else []
    notes += [f"never changed: {', '.join(still)}"] if still else []
    notes += [] if shown or notes else ["nothing that can be shown was recorded"]
    return Story(
        head=("step", *map(str, points)) if shown else (),
        rows=tuple((part.name + part.words, *map(part.at, points)) for part in shown),
        notes=(*_timeline(flags), *_changes([part for part in states if not part.is_flag]), *notes),
        last=_last(moving, recording.steps),
        conditions=_conditions(recording.constants),
    )


def _is_shown(field: str, visible: Visible | None) -> bool:
    return field not in UNSEEN if visible is None else field in visible


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One number, flag or text of a field over time, of shape (rows,)."""

    field: str
    name: str
    values: Array
    words: str = ""  # what it is, where that is known
    weight: float = 1.0

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

    def short(self, row: int) -> str:
        """As `at`, with as many decimals as the range needs."""
        if row >= len(self.values) or self.values.dtype.kind != "f":
            return self.at(row)
        decimals = 1 - math.floor(math.log10(self.spread)) if self.spread > NOISE else 1
        number = float(self.values[row])
        return f"{number + 0.0:.{max(0, decimals)}f}" if decimals < 6 and abs(number) < 1e6 else f"{number:.2e}"

    def at(self, row: int) -> str:
        """The value in a row as text; "" after the last row, as for the action of the last state."""
        return _shown(self.values[row], self.values) if row < len(self.values) else ""


def _parts(fields: Mapping[str, Array], names: Visible = MappingProxyType({})) -> Iterator[_Part]:
    """The numbers, flags and texts of recorded fields, in their order, without secret ones, with these names."""
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
            called = names.get(name, ())[column : column + 1]
            text = "".join(f" {one_line(_SMALL.sub('', word), _WORDS)}" for word in called if word)
            weight = _weight("".join(called)) if any(names.get(name, ())) else 1.0
            yield _Part(label, f"{label}[{','.join(map(str, place))}]", flat[:, column], text, weight)


def _weight(word: str) -> float:
    """Of a number with this name, in a field that names its numbers."""
    return LEADS if _TRUNK.search(word) else 1.0 if word else UNNAMED


def _distinct(parts: Iterable[_Part]) -> list[_Part]:
    """The parts without those whose values an earlier one has."""
    found: dict[tuple[str, bytes], _Part] = {}
    for part in parts:
        found.setdefault((part.values.dtype.str, part.values.tobytes()), part)
    return list(found.values())


def _telling(parts: list[_Part], most: int, score: Callable[[_Part], float]) -> list[_Part]:
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


def _width(parts: list[_Part]) -> Callable[[_Part], float]:
    """From 1 to 2 by the range of a part, compared with the widest of its field."""
    widest: dict[str, float] = {}
    for part in parts:
        widest[part.field] = max(widest.get(part.field, NOISE), part.spread)
    return lambda part: part.weight * (1.0 + part.spread / widest[part.field])


def _late(part: _Part) -> float:
    """How far the last steps leave the earlier range, and what share of the whole range they use."""
    numbers = part.numbers
    if numbers is None or part.spread <= NOISE:
        return part.weight
    numbers = np.nan_to_num(numbers / 2, nan=0.0, posinf=0.0, neginf=0.0)
    late, early = numbers[-LAST:], numbers[:-LAST]
    share = float(late.max() - late.min()) / part.spread
    if not len(early):
        return part.weight * share
    low, high = np.percentile(early, (2, 98))
    beyond = max(float(late.max() - high), float(low - late.min()), 0.0)
    return part.weight * (share + 4 * min(MOST_BEYOND, beyond / max(float(high - low), part.spread / 10, NOISE)))


def _last(parts: list[_Part], steps: int) -> tuple[tuple[str, ...], ...]:
    """Each of the last steps: a row of their numbers, then one for each part that says most of them."""
    first = max(0, steps - LAST + 1)
    ends = [replace(part, values=part.values[first : steps + 1]) for part in parts]
    changed = [part for part, end in zip(parts, ends, strict=True) if len(end.values) > 1 and end.changes]
    if steps <= POINTS or not changed:
        return ()
    chosen = _telling(changed, ENDING, _late)
    rows = range(first, steps + 1)
    return (("last steps", *map(str, rows)), *((part.name + part.words, *map(part.short, rows)) for part in chosen))


def _swing(part: _Part) -> str:
    """Range, mean and period of a number that swings."""
    numbers = part.numbers
    assert numbers is not None
    finite = numbers[np.isfinite(numbers)]
    each = (finite.min(), (finite / len(finite)).sum(), finite.max())
    low, middle, high = (_shown(value, part.values) for value in each)
    centred = np.nan_to_num(numbers / 2, nan=0.0, posinf=0.0, neginf=0.0)
    above = centred > (centred / len(centred)).sum()
    rises = int((above[1:] & ~above[:-1]).sum())
    period = f", rises every {len(above) / rises:.0f} steps" if rises > 1 else ""
    return f"{part.name} {low} to {high}, mean {middle}{period}"


def _timeline(flags: list[_Part]) -> list[str]:
    """When each flag, contact or text changed: all changes where they are few, else their number and the last ones."""
    lines = []
    for part in flags[:FLAGS]:
        at = [int(step) + 1 for step in np.flatnonzero(part.values[1:] != part.values[:-1])]
        told = [f"{part.at(step)} from {step}" for step in at[-TOLD:]]
        head = f"{part.name} {part.at(0)} at 0"
        if len(at) > TOLD:
            numbers = part.numbers
            if numbers is not None:
                most = int(numbers.argmax())
                head += f", {part.at(most)} in {(numbers == numbers[most]).mean():.0%}"
            head += f", {len(at)} changes; the last"
        lines.append(f"{head}: {', '.join(told)}")
    return lines


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
