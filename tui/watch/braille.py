"""Curves in braille dots, two by four to a character. Pure: (curves, width, height) -> lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log10

from textual.content import Content

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BLANK = 0x2800
LABEL = 6                 # columns for the numbers at the left


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Points over x = 0, 1, …; None leaves a gap. `line` joins them, otherwise each is a dot."""

    values: Sequence[float | None]
    style: str = ""
    line: bool = True
    step: bool = False      # each value holds until the next point
    stretch: bool = False   # spread over the whole width, even with few points


def draw_curves(
    curves: Sequence[Curve], *, width: int, height: int, low: float | None = None, high: float | None = None,
    x_label: str = "", x_first: int = 0,
) -> Content:
    """All curves in one picture with numbers at the left. A later curve is drawn over an earlier one.

    The axis spans the values, from one round number to another; `low` and `high` bound it where they are given. With
    an `x_label` the last line has the number of the first and of the last point, `x_first` and up.
    """
    columns, rows = max(1, width - LABEL - 1), max(1, height - bool(x_label))
    known = [value for curve in curves for value in curve.values if value is not None]
    if not known:
        return Content("\n" * (rows - 1))
    bottom, top = -inf if low is None else low, inf if high is None else high
    least, most = round_range(*(min(top, max(bottom, end)) for end in (min(known), max(known))))
    least, most = max(bottom, least), min(top, most)
    span = max((len(curve.values) for curve in curves if not curve.stretch), default=1)
    cells: dict[tuple[int, int], tuple[int, str]] = {}
    for curve in curves:
        points = _points(curve, span if not curve.stretch else len(curve.values), least, most, columns, rows)
        for x, y in points:
            cell = (y // 4, x // 2)
            bits = cells.get(cell, (0, ""))[0]
            cells[cell] = (bits | _DOTS[y % 4][x % 2], curve.style)
    lines = [_line(row, rows, cells, columns, least, most) for row in range(rows)]
    if x_label:
        lines.append(_x_axis(x_label, x_first, x_first + span - 1, columns))
    return Content("\n").join(lines)


def round_range(least: float, most: float) -> tuple[float, float]:
    """The smallest range from one round number to another that holds both; it has at least two steps."""
    span = max(most - least, 0.02)
    power = 10.0 ** floor(log10(span))
    step = next(power * part for part in (0.1, 0.2, 0.5, 1.0, 2.0) if power * part >= span / 5)
    low, high = floor(least / step + 1e-9) * step, ceil(most / step - 1e-9) * step
    return (low, high) if high - low > step else (low - step, high + step)


def _x_axis(label: str, first: int, last: int, columns: int) -> Content:
    """The numbers of the first and the last point, and what they count."""
    start, end = f"{first:,}", f"{last:,}" if last > first else ""
    middle = columns - len(start) - len(end)
    name = label.center(middle) if len(label) < middle else " " * max(0, middle)
    return Content.styled(f"{' ' * (LABEL + 1)}{start}{name}{end}", "$foreground 60%")


def _points(
    curve: Curve, span: int, least: float, most: float, columns: int, rows: int
) -> list[tuple[int, int]]:
    """The dots of a curve: (x, y) from the upper left, 2 columns and 4 rows per character."""
    wide, tall = 2 * columns - 1, 4 * rows - 1
    scale = wide / max(1, span - 1)

    def point_of(index: int, value: float) -> tuple[int, int]:
        share = min(1.0, max(0.0, (value - least) / (most - least)))
        return round(index * scale), tall - round(share * tall)

    known = enumerate(curve.values)
    if not curve.line:
        spots = {point_of(index, value) for index, value in known if value is not None}
        return [dot for point in spots for dot in _spot(point, wide, tall)]
    placed: list[tuple[int, int]] = []
    before: tuple[int, int] | None = None
    for index, value in _points_within(curve.values, wide):
        if value is None:
            before = before if curve.step else None
            continue
        point = point_of(index, value)
        if before is not None:
            placed += _stair(before, point) if curve.step else _dots_between(before, point)
        placed.append(point)
        before = point
    return placed


def _points_within(values: Sequence[float | None], wide: int) -> list[tuple[int, float | None]]:
    """(index, value) of every point; if points outnumber dots, the last point of each dot."""
    many = len(values)
    if many <= 4 * wide:
        return [*enumerate(values)]
    return [(index, values[index]) for index in sorted({(many - 1) * dot // wide for dot in range(wide + 1)})]


def _spot(point: tuple[int, int], wide: int, tall: int) -> list[tuple[int, int]]:
    """Four dots, which are easier to see than one."""
    x, y = min(point[0], wide - 1), min(point[1], tall - 1)
    return [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)]


def _stair(start: tuple[int, int], end: tuple[int, int]) -> list[tuple[int, int]]:
    (x0, y0), (x1, y1) = start, end
    flat = [(x, y0) for x in range(x0, x1)]
    return flat + [(x1, y) for y in range(min(y0, y1), max(y0, y1) + 1)]


def _dots_between(start: tuple[int, int], end: tuple[int, int]) -> list[tuple[int, int]]:
    (x0, y0), (x1, y1) = start, end
    many = max(abs(x1 - x0), abs(y1 - y0), 1)
    return [(round(x0 + (x1 - x0) * k / many), round(y0 + (y1 - y0) * k / many)) for k in range(many)]


def _line(
    row: int, rows: int, cells: dict[tuple[int, int], tuple[int, str]], columns: int, least: float, most: float
) -> Content:
    middle = rows // 2 if rows >= 5 else None
    value = most if row == 0 else (most + least) / 2 if row == middle else least
    labelled = row in (0, middle, rows - 1)
    label = f"{value:>{LABEL}.3g}" if labelled else " " * LABEL
    parts: list[tuple[str, str]] = [(f"{label}│", "$foreground 60%")]
    run, style = "", ""
    for column in range(columns):
        bits, painted = cells.get((row, column), (0, ""))
        if painted != style:
            if run:
                parts.append((run, style))
            run, style = "", painted
        run += chr(_BLANK + bits) if bits else " "
    if run:
        parts.append((run, style))
    return Content.assemble(*parts)
