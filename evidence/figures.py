"""The figures of a report: the charts of a group of runs, each with title and legend. Pure: findings -> figures.

A figure that would show a single dot is left out: the number stands in the tables and, for one run, in the opening.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ..core.operators import OPERATORS
from ..core.text import plural
from ..core.values import Operator
from .baseline_rows import BaselineRow
from .findings import ArmFinding, GroupFinding
from .svg import Dots, Line, Mark, bars, curves, dot_rows, scatter

LINES, BOXES = "lines", "boxes"
MOST_NOTED = 4  # runs in a footnote


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart. `legend` holds names with their places in the colours; `samples` says how the legend shows these."""

    title: str
    about: str              # the task, for a figure that stands alone
    chart: Markup
    legend: tuple[tuple[str, int], ...] = ()
    samples: str = LINES
    measure: str = ""       # of held-out rows: "success: NAME" or "fitness: NAME"
    note: str = ""          # a footnote


def list_figures(group: GroupFinding) -> Iterator[Figure]:
    """The figures of a group, those of the search first."""
    arms = tuple((arm.arm, place) for place, arm in enumerate(group.arms))

    def figure(title: str, chart: Markup, *, measure: str = "", note: str = "") -> Figure:
        legend = () if measure else arms
        return Figure(title=title, about=group.task, chart=chart, legend=legend, measure=measure, note=note)

    for which, title, words in (
        ("fitness_curve", "Best fitness so far, under the run's own evaluator", "fitness F"),
        ("success_curve", "Success of the best so far, on the search's own episodes", "success S"),
    ):
        if any(len(getattr(arm, which)) > 1 for arm in group.arms):
            yield figure(title, _curves(group, which, words), note=_scales(group))
    for name in dict.fromkeys(measure.name for arm in group.arms for measure in arm.measures):
        for kind, title in (("success", "Success"), ("fitness", "Reference fitness")):
            quantity = f"{kind}: {name}"
            rows = [row for place, arm in enumerate(group.arms) for row in dots_of(arm, quantity, place=place)]
            if sum(len(row.values) for row in rows) > 1:
                yield figure(f"{title} on held-out seeds: {name}", held_out_rows(rows, quantity), measure=quantity)
    places = {arm.arm: place for place, arm in enumerate(group.arms)}
    marks = [Mark(x=fitness, y=success, place=places[arm]) for arm, fitness, success in group.pairs]
    if len({(mark.x, mark.y) for mark in marks}) > 1:
        chart = scatter(marks, label=f"F against S in {group.task}", x_label="fitness F", y_label="success S")
        yield figure("F against S of each generation's elite", chart)
    yield from _origins(group)


def dots_of(arm: ArmFinding, quantity: str, *, place: int, name: str = "") -> Iterator[Dots]:
    """The row of an arm in a held-out measure, "success: NAME" or "fitness: NAME"; none if it was not measured."""
    kind, _, measure = quantity.partition(": ")
    found = next((one for one in arm.measures if one.name == measure), None)
    spread = None if found is None else found.success if kind == "success" else found.fitness
    if spread is not None:
        values = [*arm.values(quantity).values()]
        yield Dots(name=name or arm.arm, place=place, values=values, mean=spread.mean, low=spread.low, high=spread.high)


def held_out_rows(rows: Sequence[Dots], quantity: str) -> Markup:
    """The chart of these rows."""
    kind, _, name = quantity.partition(": ")
    words = "share of episodes that succeed" if kind == "success" else "fitness under the reference evaluator"
    return dot_rows(rows, label=f"{words}, {name}", x_label=words)


def evaluation_figures(rows: Sequence[BaselineRow]) -> Iterator[Figure]:
    """Success, and the reached goals of hindsight, in the evaluations of each training, by its steps."""
    points = [(place, row, row.evaluations) for place, row in enumerate(rows) if row.evaluations]
    legend = tuple((row.name, place) for place, row, _ in points)
    largest = max((each.steps for _, _, found in points for each in found), default=0)
    unit, words = (1_000_000, "million steps") if largest >= 10_000_000 else (1_000, "thousand steps")
    for which, title in (("success", "Success"), ("reached", "Goal reached")):
        lines = [
            Line(name=row.name, place=place, points=[
                (each.steps / unit, value, value, value)
                for each in found if (value := getattr(each, which)) is not None
            ])
            for place, row, found in points
        ]
        if any(len(line.points) > 1 for line in lines):
            chart = curves(lines, label=f"{title} in evaluations by steps of the training", x_label=words)
            yield Figure(title=f"{title} during the training", about="learned baselines", chart=chart, legend=legend)


def operators_shown(used: Iterable[Operator]) -> tuple[tuple[str, int], ...]:
    """The operators of a legend, with their places in the colours."""
    rows = [OPERATORS[operator] for operator in OPERATORS.ordered(used)]
    return tuple((row.title, row.colour) for row in rows)


def _curves(group: GroupFinding, which: str, words: str) -> Markup:
    lines = [
        Line(
            name=arm.arm,
            place=place,
            points=[(point.generation, point.mean, point.low, point.high) for point in getattr(arm, which)],
        )
        for place, arm in enumerate(group.arms)
    ]
    return curves(lines, label=f"{words} by generation in {group.task}")


def _scales(group: GroupFinding) -> str:
    """Where the episodes behind F changed: the best before plural other starts, and its F was withdrawn; or ""."""
    found = [
        f"{record.name}: from generation {point.generation} on, with {plural(point.starts, 'more start')}"
        for arm in group.arms for record in arm.records for point in record.curve if point.starts
    ]
    if not found:
        return ""
    left = f"; and {len(found) - MOST_NOTED} more" if len(found) > MOST_NOTED else ""
    words = "; ".join(found[:MOST_NOTED])
    return f"The best begins again where starts on which the elite failed joined. {words}{left}."


def _origins(group: GroupFinding) -> Iterator[Figure]:
    rows = []
    for arm in group.arms:
        counts = Counter(point.origin for record in arm.records for point in record.curve[1:] if point.changed)
        rows.append((arm.arm, [(OPERATORS[each].colour, float(counts[each])) for each in OPERATORS.ordered(counts)]))
    if any(count for _, counts in rows for _, count in counts):
        used = (count.operator for arm in group.arms for record in arm.records for count in record.operators)
        yield Figure(
            title="Where new elites came from", about=group.task, samples=BOXES, legend=operators_shown(used),
            chart=bars(rows, label=f"branch of origin of new elites in {group.task}"),
        )
