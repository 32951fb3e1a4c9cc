"""The story of an episode as the bounded text that models read, and its conditions as bounded values."""

import math

from ...core.ports import MAX_ROWS, Story
from ...core.text import one_line, text_table
from ...core.values import JSON

MAX_STORY = 4300  # characters of a story as text
LAST_ROWS = 12  # of the last steps, before the table loses some
LEAST_ROWS = 4  # of the table, before the last steps lose more
MAX_NOTES = 10  # lines below it
MAX_CONDITIONS = 8
_CELL = 40  # characters of a cell
_NOTE = 240  # characters of a line below the table, and of a line that has to be shortened


def story_text(story: Story, limit: int = MAX_STORY) -> str:
    """The table and its notes as lines, at most `limit` (> 0) characters; the rows of least importance go first."""
    rows = [tuple(one_line(cell, _CELL) for cell in row) for row in story.rows]
    notes = [one_line(note, _NOTE) for note in story.notes[:MAX_NOTES]]
    head = [tuple(one_line(cell, _CELL) for cell in story.head)] if story.head else []
    last = [tuple(one_line(cell, _CELL) for cell in row) for row in story.last]
    shown = min(len(rows), MAX_ROWS)
    while True:
        last_table = [text_table(last)] if last else []
        text = "\n".join([*_table(head, rows, shown, ranked=story.ranked), *notes, *last_table])
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
    return [text_table([*head, *rows[:first], *gap, *rows[len(rows) - (shown - first) :]])]
