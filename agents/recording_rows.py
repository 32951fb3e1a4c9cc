"""Rows of a recording as a small table for a prompt."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from ..core.errors import no_such
from ..core.recording import Array, Recording
from ..core.text import one_line, plural, text_table
from ..core.turns import HIDDEN

MOST_ROWS = 40
MOST_COLUMNS = 12
MAX_LIST = 60  # arrays in the list of all
MAX_NAME = 60
MAX_CELL = 24

_NAME = re.compile(r"([^\[\]]+)(?:\[([\d,: ]*)\])?")


def rows_text(recording: Recording, first: int, last: int, fields: Sequence[str]) -> str:
    """Steps `first` to `last` of some arrays, evenly thinned out to 40 rows; without fields the list of all arrays.

    Numbers below 0 count from the end: -30 is the row 30 steps before the last one.
    A field is the name of an array, or of one of its components, such as "cube_pos[0,2]".
    """
    recording = recording.without(HIDDEN)
    if not fields:
        return _list(recording)
    columns: list[tuple[str, Array]] = []
    for field in fields:
        found = _columns(recording, field)
        if isinstance(found, str):
            return found
        columns += found
    shown = columns[:MOST_COLUMNS]
    first, last = _step(first, recording.steps), _step(last, recording.steps)
    if last < first:
        return f"there are no rows from step {first} to {last}: the recording has {plural(recording.steps, 'step')}"
    steps = np.unique(np.linspace(first, last, min(MOST_ROWS, last - first + 1)).round().astype(int))
    table = [("step", *(name for name, _ in shown))]
    table += [(str(step), *(_cell(values, int(step)) for _, values in shown)) for step in steps]
    head = f"steps {first} to {last} of {recording.steps}, {plural(len(steps), 'row')}"
    rest = len(columns) - len(shown)
    more = [f"({plural(rest, 'more column')} left out: name components, such as {_example(columns)})"] if rest else []
    return "\n".join([head, text_table(table), *more])


def _step(number: int, steps: int) -> int:
    return max(0, steps + number) if number < 0 else min(number, steps)


def _list(recording: Recording) -> str:
    lines = [f"{recording.steps} steps; the arrays, with their shapes:"]
    rows = [("name", "shape", "rows")]
    for group, rows_are in (
        (recording.states, "a state per row, one more than steps"), (recording.actions, "an action per row"),
        (recording.constants, "constant"),
    ):
        rows += [(one_line(name, MAX_NAME), str(array.shape), rows_are) for name, array in group.items()]
    lines.append(text_table(rows[: MAX_LIST + 1]))
    if len(rows) > MAX_LIST + 1:
        lines.append(f"and {len(rows) - MAX_LIST - 1} more")
    return "\n".join(lines)


def _columns(recording: Recording, field: str) -> list[tuple[str, Array]] | str:
    """The components of a field, each with its values over time, or why it has none."""
    over_time: Mapping[str, Array] = {**recording.states, **recording.actions}
    parts = _NAME.fullmatch(field)
    name = one_line(parts[1] if parts else field, MAX_NAME)
    if name in recording.constants:
        return f"{name} is constant: use compute, or look at arrays over time"
    if name not in over_time:
        return str(no_such("array", name, over_time))
    array = over_time[name]
    flat = array.reshape(len(array), -1)
    labels = [_label(name, place) for place in np.ndindex(array.shape[1:])] if array.ndim > 1 else [name]
    columns = [(label, flat[:, place]) for place, label in enumerate(labels)]
    wanted = re.sub(r"\s", "", parts[2]) if parts and parts[2] is not None else ""
    if not wanted:
        return columns
    chosen = [column for column in columns if column[0] == f"{name}[{wanted}]"]
    return chosen or f"{name} has no component [{one_line(wanted, 20)}]: its rows have the shape {array.shape[1:]}"


def _label(name: str, place: tuple[int, ...]) -> str:
    return f"{name}[{','.join(map(str, place))}]"


def _example(columns: Sequence[tuple[str, Array]]) -> str:
    return columns[-1][0]


def _cell(values: Array, step: int) -> str:
    if step >= len(values):
        return "-"
    value = values[step].item()
    return f"{value:.5g}" if isinstance(value, float) else one_line(str(value), MAX_CELL)


