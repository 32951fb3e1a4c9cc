"""The story of a recording of any domain: what moved, its largest changes, and each of the last steps."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

from ...core.ports import MAX_ROWS, Domain, Narrating, Story
from ...core.recording import STAGE_CHANGES, STAGES, Array, Recording
from ...core.text import one_line
from ...core.values import JSON
from .tracks import NOISE, SECRET, Track, Visible, leading, parts_of, telling, value_words

POINTS = 8  # points of time
MAX_CHANGES = 3
SLOW = 10  # rows of the overview
SWINGING = 6  # swinging numbers with their range
PER_LINE = 3
RESTLESS = 8.0  # how often a number crosses its range, from which it swings
LAST = 30  # steps of which each is shown: at changes of stages or contacts, and at the end
LEAST = 14  # of those, where many numbers lead
CELLS = 340  # of their table
ACTIONS = 4  # and of actions
QUIET = 5  # last steps in which nothing changes: more of them are not shown
STILL = 0.02  # of half a number's range: what counts as no change
AROUND = 2  # steps before and after such a change
MOMENTS = 3  # changes whose steps are shown
ENDING = 7  # rows of that table, where fewer numbers lead,
OTHERS = 2  # and at least of numbers that do not
FLAGS = 4  # with a timeline
CONSTANT = 4  # numbers of a field that never changed and is shown with its value
TOLD = 6  # changes of one
STAGE = 10  # characters of a stage's name
SPANS = 10  # entries of stages in a line
MOST_BEYOND = 5.0  # times its earlier range
SUDDEN = 0.25  # of a number's range in one step: a change worth a line
UNSEEN = frozenset({"reward", "terminated", "truncated"})  # by a policy


def story_of(domain: Domain, recording: Recording, visible: Visible | None = None) -> Story:
    """The domain's own story of a recording; the generic one if it has none."""
    return domain.story(recording) if isinstance(domain, Narrating) else generic_story(recording, visible)


def generic_story(recording: Recording, visible: Visible | None = None) -> Story:
    """What happened in a recording: an overview, a timeline of flags, sudden changes, and steps one by one.

    `visible` are the states that a policy observes, with the names of their numbers, where they have any; None for all
    but the reward. Some numbers lead by their names (`leading`): they are the first rows of both tables in every
    episode of a task. The others are those that say most in this episode. The overview has slow numbers at 8 points of
    time and of swinging ones the range, mean and period; 8 samples of those say nothing. The second table has each
    step around a few changes of the program's stages, or of contacts and flags, and at the end, with the actions: up to
    where nothing changes any more, and a whole cycle of a motion that went on to the horizon. Numbers that repeat
    what others show (by their correlation) come last, and so do no more than fit. Conditions are the small constants.
    """
    states = [part for part in parts_of(recording.states, visible or {}) if _is_shown(part.field, visible)]
    actions = [part for part in parts_of(recording.actions) if part.field not in UNSEEN] if recording.steps else []
    leads = leading(states) if visible is not None else []
    led = {part.name for part in leads}
    changing = [part for part in (*states, *actions) if part.changes]
    moving = [part for part in _distinct(part for part in changing if not part.ends) if part.name not in led]
    flags = [part for part in (*leads, *moving) if part.is_flag and part.changes and not part.ends]
    plain = [part for part in states if not part.is_flag]
    first = [part for part in leads if part.at_points]
    slow = [part for part in moving if not part.is_flag and part.restlessness <= RESTLESS]
    swinging = [part for part in (*leads, *moving) if not part.is_flag and part.restlessness > RESTLESS]
    swinging = [part for part in swinging if part not in first]
    room = max(OTHERS, SLOW - len(leads))
    listed = [*first, *telling(slow, room, _width(slow))] if moving or first else [*states, *actions][:MAX_ROWS]
    points = sorted({int(step) for step in np.linspace(0, recording.steps, POINTS).round()})
    wide = telling(swinging, SWINGING, _width(swinging))
    notes = [f"swinging: {'; '.join(map(_swing, wide[at : at + PER_LINE]))}" for at in range(0, len(wide), PER_LINE)]
    notes += _still(states, actions, changing) if moving or first else []
    notes += [] if listed or notes else ["nothing that can be shown was recorded"]
    return Story(
        head=("step", *map(str, points)) if listed else (),
        rows=tuple((part.name + part.words, *map(part.shown(points), points)) for part in listed),
        notes=(*_stage_line(recording), *_timeline(flags), *_changes(plain), *notes),
        last=_steps(leads, moving, actions, [part for part in flags if part not in actions], recording, swinging),
        conditions=_conditions(recording.constants),
        ranked=True,
    )


def _still(states: Sequence[Track], actions: Sequence[Track], changing: Sequence[Track]) -> list[str]:
    """The line of the fields of which nothing changed, with the values of small ones."""
    moved = {part.field for part in changing}
    still: dict[str, list[str]] = {}
    for part in (*states, *actions):
        if part.field not in moved:
            still.setdefault(part.field, []).append(part.at(0))
    shown = [f"{name} {' '.join(values)}" if len(values) <= CONSTANT else name for name, values in still.items()]
    return [f"never changed: {', '.join(shown)}"] if shown else []


def _is_shown(field: str, visible: Visible | None) -> bool:
    return field not in UNSEEN if visible is None else field in visible


def _distinct(parts: Iterable[Track]) -> list[Track]:
    """The parts without those whose values an earlier one has."""
    found: dict[tuple[str, bytes], Track] = {}
    for part in parts:
        found.setdefault((part.values.dtype.str, part.values.tobytes()), part)
    return list(found.values())


def _width(parts: list[Track]) -> Callable[[Track], float]:
    """From 1 to 2 by the range of a part, compared with the widest of its field."""
    widest: dict[str, float] = {}
    for part in parts:
        widest[part.field] = max(widest.get(part.field, NOISE), part.spread)
    return lambda part: part.weight * (1.0 + part.spread / widest[part.field])


def _late(part: Track, end: int) -> float:
    """How far the last steps up to `end` leave the earlier range, and what share of the whole range they use."""
    numbers = part.numbers
    if numbers is None or part.spread <= NOISE:
        return part.weight
    numbers = np.nan_to_num(numbers / 2, nan=0.0, posinf=0.0, neginf=0.0)
    numbers = numbers[: end + 1]
    late, early = numbers[-LAST:], numbers[:-LAST]
    share = float(late.max() - late.min()) / part.spread
    if not len(early):
        return part.weight * share
    low, high = np.percentile(early, (2, 98))
    beyond = max(float(late.max() - high), float(low - late.min()), 0.0)
    return part.weight * (share + 4 * min(MOST_BEYOND, beyond / max(float(high - low), part.spread / 10, NOISE)))


def _steps(
    leads: Sequence[Track], moving: Sequence[Track], actions: Sequence[Track], flags: Sequence[Track],
    recording: Recording, swinging: Sequence[Track],
) -> tuple[tuple[str, ...], ...]:
    """Single steps: a row of their numbers, the stages, what leads, the actions, what else says most there."""
    steps = recording.steps
    if steps <= POINTS or not (leads or moving):
        return ()
    most = max(OTHERS, ENDING - len(leads))
    driven = [part for part in moving if part in actions]
    others = [part for part in moving if part not in driven]
    shown = len(leads) + min(most, len(others)) + min(ACTIONS, len(driven))
    columns = min(LAST, max(LEAST, CELLS // max(1, shown)))
    stages, end = _stages(recording), _end_of_motion([*leads, *moving], steps)
    ended = recording.actions.get("terminated", np.zeros(1))[-1:].any()
    cycle = 0 if ended or end < steps else _cycle(swinging)
    blocks = _blocks(_moments(stages, flags, end + 1 - columns // 2), end, columns, cycle)
    if end < steps:
        blocks = [*blocks, range(steps, steps + 1)]
    rows = [step for block in blocks for step in block]

    def changed(parts: Sequence[Track]) -> list[Track]:
        return [part for part in parts if any(part.at(step) != part.at(rows[0]) for step in rows)]

    def late(part: Track) -> float:
        return _late(part, end)

    found = telling(changed(others), most, late), telling(changed(driven), ACTIONS, late)
    chosen = [*leads, *found[1], *found[0]] if leads else [*found[0], *found[1]]    # a long table loses the last rows
    if not chosen:
        return ()
    named = [("the program's stage", *_cells(blocks, lambda step: _stage_at(stages, step, rows)))] if stages else []
    return (
        ("steps at changes, and the last" if len(blocks) > 1 else "last steps", *_cells(blocks, str)),
        *named, *((part.name + part.words, *_cells(blocks, part.shown(rows, by_range=True))) for part in chosen),
    )


def _end_of_motion(parts: Sequence[Track], steps: int) -> int:
    """The second step in which all is as at the end, where it stays so for long; else the last step."""
    last = 0
    for part in parts:
        numbers = part.numbers
        away = part.values != part.values[-1] if numbers is None else np.abs(
            np.nan_to_num(numbers / 2) - np.nan_to_num(numbers[-1] / 2)
        ) > STILL * part.spread
        last = max([last, *(np.flatnonzero(away)[-1:] + 1)])
    return int(last) + 1 if steps - last > QUIET else steps


def _cycle(swinging: Sequence[Track]) -> int:
    """The steps of a cycle: the median period of what swings; 0 where nothing does."""
    found = [period for period in map(_period, swinging) if period]
    return round(median(found)) if found else 0


def _period(part: Track) -> float | None:
    """The steps from one rise of a number above its mean to the next, on the mean; None for fewer than two rises."""
    numbers = part.numbers
    if numbers is None:
        return None
    centred = np.nan_to_num(numbers / 2, nan=0.0, posinf=0.0, neginf=0.0)
    above = centred > (centred / len(centred)).sum()
    rises = int((above[1:] & ~above[:-1]).sum())
    return len(above) / rises if rises > 1 else None


def _cells(blocks: Sequence[range], text: Callable[[int], str]) -> list[str]:
    """A cell per step, with a bar between the blocks."""
    cells: list[str] = []
    for block in blocks:
        cells += ["|"] * bool(cells) + [text(step) for step in block]
    return cells


def _stages(recording: Recording) -> list[tuple[int, str]]:
    """The step and the name of each stage that the program reported, in order; none where not all are recorded."""
    found = recording.info.get(STAGES, ())
    pairs = [each for each in found if isinstance(each, list)] if isinstance(found, list) else []
    whole = len(pairs) < STAGE_CHANGES
    return [(int(str(step)), one_line(str(name) or "-", STAGE)) for name, step in pairs] if whole else []


def _stage_line(recording: Recording) -> list[str]:
    """The steps of each entry of the program's stages, where one was entered again; of many the first and last ones.

    Then a second line says how long the entries of each stage took.
    """
    stages = _stages(recording)
    ends = [step for step, _ in stages[1:]] + [recording.steps + 1]
    words = [f"{name} {first}-{after - 1}" for (first, name), after in zip(stages, ends, strict=False)]
    lengths: dict[str, list[int]] = {}
    for (first, name), after in zip(stages, ends, strict=False):
        lengths.setdefault(name, []).append(after - first)
    if len(lengths) == len(stages):
        return []
    left = len(words) - SPANS
    if left > 1:
        words[2 : 2 + left] = [f"… {left} more entries …"]
    took = [f"{name} {_span(each)} ({len(each)} times)" for name, each in lengths.items()]
    lines = [f"the program's stages by step: {', '.join(words)}"]
    return [*lines, f"steps in an entry: {', '.join(took)}"] if left > 1 else lines


def _span(counts: Sequence[int]) -> str:
    return f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else str(counts[0])


def _stage_at(stages: Sequence[tuple[int, str]], step: int, rows: Sequence[int]) -> str:
    """The stage that begins in this step, or that goes on where the steps before are not shown; else ""."""
    now = [(since, name) for since, name in stages if since <= step]
    return now[-1][1] if now and (now[-1][0] == step or step - 1 not in rows) else ""


def _moments(stages: Sequence[tuple[int, str]], flags: Sequence[Track], limit: int) -> list[int]:
    """The steps of the changes before `limit`, the most telling first: the last one, then rare and late ones.

    Changes are those of the program's stages, else those of flags. Rare is what seldom became what; of equal ones the
    first is that before which nothing changed for longest, such as a stage that ran into its limit of time. A change
    of a kind that comes before it follows all the others: a second stride looks like the first.
    """
    changes = [(step, f"{old} {new}") for (_, old), (step, new) in pairwise(stages)]
    for part in flags[:FLAGS] if not changes else ():
        at = np.flatnonzero(part.values[1:] != part.values[:-1]) + 1
        changes += [(int(step), f"{part.name} {part.at(int(step))}") for step in at]
    kinds = Counter(kind for _, kind in changes)
    changes.sort()
    lasted = {step: step - before for (before, _), (step, _) in pairwise([(0, ""), *changes])}
    found = [change for change in changes if AROUND <= change[0] < limit - AROUND]
    rare = sorted(found[:-1], key=lambda change: (kinds[change[1]], -lasted[change[0]], -change[0]))
    of_kind: dict[str, int] = {}
    for step, kind in (*found[-1:], *rare):
        of_kind.setdefault(kind, step)
    first = [*of_kind.values()]
    return [*first, *(step for step, _ in rare if step not in first)]


def _blocks(moments: Iterable[int], steps: int, columns: int, cycle: int = 0) -> list[range]:
    """The steps around at most 3 of these moments, within half the columns, and the last steps in what is left.

    Where a cycle takes more steps than that, these are evenly spread over the last one.
    """
    wide = 2 * AROUND + 1
    chosen: list[int] = []
    for step in moments:
        if len(chosen) < min(MOMENTS, columns // 2 // wide) and all(abs(step - each) >= wide for each in chosen):
            chosen.append(step)
    first = max(0, steps + 1 - columns + wide * len(chosen), *(step + AROUND + 1 for step in chosen))
    stride = min(-(-cycle // (steps + 1 - first)), (steps + 1 - first) // 2)
    if stride > 1:
        left = columns - wide * len(chosen)
        chosen = [step for step in chosen if step + AROUND < steps - stride * (left - 1)]
        first = max(steps % stride, steps - stride * (left - 1))
    blocks: list[range] = []
    final = range(first, steps + 1, max(1, stride))
    for block in (*(range(step - AROUND, step + AROUND + 1) for step in sorted(chosen)), final):
        if blocks and blocks[-1].stop == block.start and block.step == 1:
            block = range(blocks.pop().start, block.stop)
        blocks.append(block)
    return blocks


def _swing(part: Track) -> str:
    """Range, mean and period of a number that swings."""
    numbers = part.numbers
    assert numbers is not None
    finite = numbers[np.isfinite(numbers)]
    each = (finite.min(), (finite / len(finite)).sum(), finite.max())
    low, middle, high = (value_words(value, part.values) for value in each)
    every = _period(part)
    period = f", rises every {every:.0f} steps" if every else ""
    return f"{part.name} {low} to {high}, mean {middle}{period}"


def _timeline(flags: list[Track]) -> list[str]:
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


def _changes(parts: list[Track]) -> list[str]:
    """The largest change of each state from one step to the next, the most sudden ones, in the order of time."""
    found: dict[str, tuple[float, int, str]] = {}
    for part in parts:
        change = _largest_change(part)
        if change is not None and change[0] > found.get(part.field, (SUDDEN, 0, ""))[0]:
            found[part.field] = change
    sudden = sorted(found.values(), key=lambda change: (-change[0], change[1]))[:MAX_CHANGES]
    return [text for _, _, text in sorted(sudden, key=lambda change: change[1])]


def _largest_change(part: Track) -> tuple[float, int, str] | None:
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
        name: " ".join(value_words(value, array) for value in array.flat)
        for name, array in small.items() if 1 <= array.size <= 4 and array.dtype.kind in "biufU"
    }


