"""Charts as SVG text. Pure: numbers in, markup out. Colours come from the page's style sheet, text is escaped.

A chart is 360 units wide, about the width of a phone, so that its letters stay readable there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

WIDTH, HEIGHT = 360, 220
LEFT, RIGHT, TOP, BOTTOM = 34, 10, 10, 34
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "1 2", "12 4", "6 2 1 2")
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A mean curve with its band: (x, mean, low, high). `place` picks colour and dashes."""

    name: str
    place: int
    points: Sequence[tuple[float, float, float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots:
    """One row of a dot plot: the values of single runs, their mean and its interval."""

    name: str
    place: int
    values: Sequence[float]
    mean: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One point of a scatter plot."""

    x: float
    y: float
    place: int


def curves(lines: Sequence[Line], *, label: str, x_label: str = "generation") -> Markup:
    """Best-so-far curves with bands, y in [0, 1]. The steps of x are whole numbers."""
    last = max((point[0] for line in lines for point in line.points), default=0.0)
    span = last or 1.0

    def at(x: float, y: float) -> str:
        return f"{_x(x / span):.1f},{_y(y):.1f}"

    parts = [_frame(x_label), *(_x_tick(value / span, f"{value:g}") for value in _whole(last))]
    for line in lines:
        if len(line.points) > 1:
            low = " ".join(at(x, low) for x, _, low, _ in line.points)
            high = " ".join(at(x, high) for x, _, _, high in reversed(line.points))
            parts.append(Markup('<polygon class="band c{}" points="{} {}"/>').format(line.place, low, high))
    for line in lines:
        path = " ".join(at(x, mean) for x, mean, _, _ in line.points)
        dashes = DASHES[line.place % len(DASHES)]
        parts.append(
            Markup('<polyline class="line c{}" stroke-dasharray="{}" points="{}"><title>{}</title></polyline>').format(
                line.place, dashes, path, line.name
            )
        )
        parts += [
            Markup('<circle class="dot c{}" cx="{}" cy="{}" r="2.4"/>').format(line.place, *at(x, mean).split(","))
            for x, mean, _, _ in line.points
        ]
    return _svg(parts, label=label)


def scatter(marks: Sequence[Mark], *, label: str, x_label: str, y_label: str) -> Markup:
    """Points (x, y), both in [0, 1]."""
    parts = [_frame(x_label, y_label), *(_x_tick(value, f"{value:g}") for value in TICKS)]
    parts += [
        Markup('<circle class="mark c{}" cx="{:.1f}" cy="{:.1f}" r="3.2"/>').format(mark.place, _x(mark.x), _y(mark.y))
        for mark in marks
    ]
    return _svg(parts, label=label)


def dot_rows(rows: Sequence[Dots], *, label: str, x_label: str) -> Markup:
    """One row for each method: every run a dot, the mean a bar, its interval a line; x in [0, 1]."""
    step, head = 34, 8
    height = head + step * len(rows) + BOTTOM
    bottom = height - BOTTOM

    def x_of(value: float) -> float:
        return 12 + (WIDTH - 24) * value

    parts = [
        Markup('<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"/>'
               '<text class="tick" x="{0:.1f}" y="{3}" text-anchor="middle">{4:g}</text>').format(
            x_of(tick), head, bottom, bottom + 13, tick
        )
        for tick in TICKS
    ]
    parts.append(Markup('<text class="label" x="{}" y="{}" text-anchor="middle">{}</text>').format(
        WIDTH / 2, height - 4, x_label))
    for place, row in enumerate(rows):
        middle = head + step * place + 24
        parts.append(Markup('<text class="name" x="12" y="{}">{}</text>').format(middle - 10, row.name))
        if row.low is not None and row.high is not None:
            parts.append(Markup('<line class="whisker c{}" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>').format(
                row.place, x_of(row.low), x_of(row.high), middle, middle))
        for value, lift in spread_out(row.values):
            parts.append(Markup('<circle class="mark c{}" cx="{:.1f}" cy="{:.1f}" r="3"/>').format(
                row.place, x_of(value), middle + lift))
        parts.append(Markup('<line class="mean c{0}" x1="{1:.1f}" x2="{1:.1f}" y1="{2}" y2="{3}"/>').format(
            row.place, x_of(row.mean), middle - 7, middle + 7))
    return _svg(parts, label=label, height=height)


def spread_out(values: Iterable[float]) -> list[tuple[float, float]]:
    """Values with a sideways shift, so that equal ones are visible next to each other."""
    seen: dict[float, int] = {}
    found = []
    for value in values:
        before = seen.get(value, 0)
        seen[value] = before + 1
        found.append((value, (1 if before % 2 else -1) * min(6.0, 2.0 * ((before + 1) // 2))))
    return found


def bars(rows: Sequence[tuple[str, Sequence[tuple[int, float]]]], *, label: str) -> Markup:
    """Stacked shares: for each name its parts (place, amount), drawn as parts of their sum."""
    step, head = 34, 8
    height = head + step * len(rows) + 4
    parts = []
    for row, (name, amounts) in enumerate(rows):
        top = head + step * row
        parts.append(Markup('<text class="name" x="12" y="{}">{}</text>').format(top + 10, name))
        left, whole = 12.0, sum(amount for _, amount in amounts)
        for place, amount in amounts:
            width = (WIDTH - 24) * amount / whole if whole else 0.0
            if width:
                parts.append(Markup('<rect class="bar c{}" x="{:.1f}" y="{}" width="{:.1f}" height="13"/>').format(
                    place, left, top + 15, width))
                if width > 14:
                    parts.append(Markup('<text class="on" x="{:.1f}" y="{}" text-anchor="middle">{:g}</text>').format(
                        left + width / 2, top + 25, amount))
            left += width
    return _svg(parts, label=label, height=height)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of a rail: its lane, the rows of its parents, and whether it was an elite."""

    lane: int
    parents: Sequence[int]
    elite: bool
    place: int


def rail(nodes: Sequence[Node], *, row_height: int, lane_width: int = 22) -> Markup:
    """A descent next to a list whose rows are `row_height` high: nodes below each other, joined to their parents."""
    width = lane_width * (max((node.lane for node in nodes), default=0) + 1)
    height = row_height * len(nodes)

    def at(row: int) -> tuple[float, float]:
        return lane_width * (nodes[row].lane + 0.5), row_height * (row + 0.5)

    parts = []
    for row, node in enumerate(nodes):
        x, y = at(row)
        for parent in node.parents:
            from_x, from_y = at(parent)
            bend = min(row_height * 0.7, (y - from_y) / 2)
            path = f"M{from_x:.1f} {from_y:.1f}V{y - 2 * bend:.1f}"
            path += f"C{from_x:.1f} {y - bend:.1f} {x:.1f} {y - bend:.1f} {x:.1f} {y:.1f}"
            parts.append(Markup('<path class="edge c{}" d="{}"/>').format(node.place, path))
    for row, node in enumerate(nodes):
        x, y = at(row)
        kind = "elite" if node.elite else "node"
        parts.append(Markup('<circle class="{} c{}" cx="{:.1f}" cy="{:.1f}" r="{}"/>').format(
            kind, node.place, x, y, 7 if node.elite else 5))
    svg = Markup('<svg class="rail" width="{0}" height="{1}" viewBox="0 0 {0} {1}" aria-hidden="true">{2}</svg>')
    return svg.format(width, height, Markup("").join(parts))


def swatch(place: int) -> Markup:
    """The sample of a legend: colour and dashes of a line."""
    return Markup(
        '<svg class="swatch" width="26" height="10" viewBox="0 0 26 10" aria-hidden="true">'
        '<line class="line c{}" stroke-dasharray="{}" x1="1" x2="25" y1="5" y2="5"/></svg>'
    ).format(place, DASHES[place % len(DASHES)])


def _frame(x_label: str, y_label: str = "") -> Markup:
    rows = Markup("").join(
        Markup('<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>'
               '<text class="tick" x="{}" y="{:.1f}" text-anchor="end">{:g}</text>').format(
            LEFT, WIDTH - RIGHT, _y(tick), _y(tick), LEFT - 5, _y(tick) + 3.5, tick)
        for tick in TICKS
    )
    x_text = Markup('<text class="label" x="{}" y="{}" text-anchor="middle">{}</text>').format(
        (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, x_label)
    y_text = Markup('<text class="label" x="{}" y="{}">{}</text>').format(LEFT + 4, TOP + 9, y_label)
    return rows + x_text + (y_text if y_label else Markup(""))


def _x_tick(share: float, text: str) -> Markup:
    return Markup('<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(
        _x(share), HEIGHT - BOTTOM + 14, text)


def _whole(last: float) -> list[int]:
    """Whole numbers from 0 to `last`, at most about ten of them."""
    step = max(1, -(-int(last) // 10))
    return [*range(0, int(last) + 1, step)]


def _x(share: float) -> float:
    return LEFT + 6 + (WIDTH - LEFT - RIGHT - 12) * share


def _y(value: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(1.0, max(0.0, value)))


def _svg(parts: Iterable[Markup], *, label: str, height: int = HEIGHT) -> Markup:
    return Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, height, label, Markup("").join(parts))
