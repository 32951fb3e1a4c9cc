"""The story of an episode: a short table of what happened, and the conditions that the episode had."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from .text import one_line
from .values import JSON

MAX_STORY = 4300  # characters of a story as text
LAST_ROWS = 10  # of the last steps, before the table loses some
LEAST_ROWS = 4  # of the table, before the last steps lose more
MAX_ROWS = 12  # rows of a story's table
LATEST = 7  # rows of a table for the latest changes, where there are more than it shows
MAX_NOTES = 10  # lines below it
MAX_CONDITIONS = 8
_CELL = 40  # characters of a cell
_NOTE = 240  # characters of a line below the table, and of a line that has to be shortened


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What happened in one episode, in the domain's words.

    `rows` are the lines of a table under `head`, in the order of time: 12 are shown, of more those in the middle are
    left out; where they are `ranked`, the last ones. `notes` are lines below it, such as events with their steps.
    `last` is a second table, of the last steps, with its head first and what says most of them next. `conditions` say
    what was drawn for this episode, as far as a policy may know it: names with units, and numbers, flags or short
    texts. Domains use the same names in every episode, so that episodes can be compared. `begins_solved` marks an
    episode whose task is done before the first step.
    """

    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    last: tuple[tuple[str, ...], ...] = ()
    conditions: Mapping[str, JSON] = field(default_factory=dict)
    begins_solved: bool = False
    ranked: bool = False    # the most important row comes first


def story_text(story: Story, limit: int = MAX_STORY) -> str:
    """The table and its notes as lines, at most `limit` (> 0) characters; the rows of least importance go first."""
    rows = [tuple(one_line(cell, _CELL) for cell in row) for row in story.rows]
    notes = [one_line(note, _NOTE) for note in story.notes[:MAX_NOTES]]
    head = [tuple(one_line(cell, _CELL) for cell in story.head)] if story.head else []
    last = [tuple(one_line(cell, _CELL) for cell in row) for row in story.last]
    shown = min(len(rows), MAX_ROWS)
    while True:
        text = "\n".join([*_table(head, rows, shown, ranked=story.ranked), *notes, *([aligned(last)] if last else [])])
        if len(text) <= limit:
            return text
        if shown == 0 and not notes and not last:
            return one_line(text, limit)
        if len(last) > 1 + LAST_ROWS:
            last = last[:-1]
        elif shown > LEAST_ROWS or (shown and not last):
            shown -= 1
        elif last:
            last = last[:-1] if len(last) > 2 else []
        else:
            notes.pop()


def shown_conditions(story: Story) -> dict[str, JSON]:
    """The story's conditions, at most 8: finite numbers, flags and bounded texts."""
    kept = list(story.conditions.items())[:MAX_CONDITIONS]
    return {one_line(name, _CELL): _plain(value) for name, value in kept}


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as left-aligned columns; a row of one cell may be wider than its column."""
    columns = zip_longest(*(row for row in rows if len(row) > 1), fillvalue="")
    widths = [max(map(len, column)) for column in columns] or [0]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def latest_and_spread(rows: Sequence[int], count: int) -> list[int]:
    """At most `count` (> LATEST) of these rows, in order: the latest, and others evenly spread before them."""
    if len(rows) <= count:
        return list(rows)
    early, late = rows[:-LATEST], rows[-LATEST:]
    spread = count - LATEST
    places = (round(number * (len(early) - 1) / max(spread - 1, 1)) for number in range(spread))
    return [*(early[place] for place in places), *late]


def _plain(value: JSON) -> JSON:
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return one_line(str(value), _CELL)


def _table(head: list[tuple[str, ...]], rows: list[tuple[str, ...]], shown: int, *, ranked: bool) -> list[str]:
    """The lines of the table with `shown` of its rows: the first and the last ones, or the first of `ranked` ones."""
    if not rows:
        return []
    first = shown if ranked else (shown + 1) // 2
    left_out = len(rows) - shown
    gap = [(f"… {left_out} {'row is' if left_out == 1 else 'rows are'} left out",)] if left_out else []
    return [aligned([*head, *rows[:first], *gap, *rows[len(rows) - (shown - first) :]])]
