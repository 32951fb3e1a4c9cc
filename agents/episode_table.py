"""One table in which the episodes of a program can be compared: a column per episode, the worst first."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..core.figures import REGULAR_ENDS
from ..core.metrics import MAX_ENTRIES, NEVER, OMITTED, finite, flat_metrics, mean
from ..core.rank_correlation import rank_correlation
from ..core.text import one_line, text_table
from ..core.values import JSON, Episode, Score

# Metrics in words: the table of M over the episodes, and the numbers, flags and texts of one episode.


MAX_WORDS = 120  # characters of a metric that is not a number
NAME = 80  # characters of a name
LINE = 120  # characters of a line of `metrics_lines`
MISSING = "-"  # an episode without a value


def metrics_table(metrics: Mapping[str, JSON], episodes: int) -> str:
    """A compact table of metrics aggregated over so many episodes (`core.metrics.aggregate`), one name per line.

    Metrics that are the same in every episode share one line, and so do those that no episode has.
    """
    rows: list[tuple[str, ...]] = []
    same: dict[str, str] = {}
    never: list[str] = []
    for name, entry in list(metrics.items())[:MAX_ENTRIES]:
        only = _only_value(entry)
        if entry == NEVER:
            never.append(name)
        elif only is not None:
            same[name] = only
        else:
            rows.append((one_line(name, NAME), *_cells(name, entry, episodes)))
    table = [text_table([("metric", "mean", "min", "max", ""), *rows])] if rows else []
    return "\n".join([*table, *equal_lines(same, never, episodes)])


def metrics_lines(metrics: Mapping[str, JSON], episodes: int) -> str:
    """The same metrics without a table: `name mean (min to max)`, as many in a line as fit; texts in lines below."""
    words: list[str] = []
    texts: list[str] = []
    for name, entry in list(metrics.items())[:MAX_ENTRIES]:
        mean, low, high, *notes = _cells(name, entry, episodes)
        shown = one_line(name, NAME)
        if not mean:
            texts.append(" ".join([shown, *notes]))
        elif low:
            words.append(" ".join([f"{shown} {mean} ({low} to {high})", *notes]))
        else:
            words.append(" ".join([shown, mean, *notes]))
    lines = [""]
    for word in words:
        joined = f"{lines[-1]}, {word}" if lines[-1] else word
        lines[-1:] = [joined] if len(joined) <= LINE else [lines[-1], word]
    return "\n".join(filter(None, [*lines, *texts]))


def equal_lines(same: Mapping[str, str], never: Sequence[str], episodes: int) -> list[str]:
    """The line of the metrics that are the same in every episode, and that of those that no episode has."""
    lines = []
    if same:
        pairs = ", ".join(f"{one_line(name, NAME)} {value}" for name, value in same.items())
        lines.append(f"the same in {'the episode' if episodes == 1 else f'all {episodes} episodes'}: {pairs}")
    if never:
        lines.append(f"never (0 of {episodes}): {', '.join(one_line(name, NAME) for name in never)}")
    return lines


def value_text(value: JSON, limit: int = MAX_WORDS) -> str:
    """One value as short text: a number, yes or no, a quoted text; a dash for None."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number_text(value)
    return one_line(json.dumps(value, ensure_ascii=False), limit)


def number_text(value: JSON, digits: int = 4) -> str:
    """A number with so many significant digits, without an exponent from 1,000 to a milliard; a dash for none."""
    if not isinstance(value, int | float):
        return MISSING
    return f"{value:.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.{digits}g}"


def report_words(report: Mapping[str, JSON], limit: int) -> str:
    """A program's report in about `limit` characters: whole entries, and how many more there are."""
    pairs = [f"{one_line(name, NAME)} {value_text(value)}" for name, value in report.items()]
    shown = len(pairs)
    while shown > 1 and len("; ".join(pairs[:shown])) > limit:
        shown -= 1
    return "; ".join([*pairs[:shown], *([f"and {len(pairs) - shown} more"] if shown < len(pairs) else [])])


def _only_value(entry: JSON) -> str | None:
    """The value of a metric that is the same in every episode; None if it is not."""
    if not isinstance(entry, Mapping) or "count" in entry:
        return None
    if "mean" in entry:
        return number_text(entry["mean"]) if entry.get("min") == entry.get("max") else None
    if entry.get("rate") in (0.0, 1.0):
        return value_text(entry["rate"] == 1.0)
    common = entry.get("most_common")
    return value_text(next(iter(common))) if isinstance(common, Mapping) and len(common) == 1 else None


def _cells(name: str, entry: JSON, episodes: int) -> tuple[str, ...]:
    """Mean, min, max and a note for one aggregated metric."""
    if not isinstance(entry, Mapping):
        return ("", "", "", one_line(json.dumps(entry), MAX_WORDS))
    notes = [f"in {number_text(entry['count'])} of {episodes}"] if "count" in entry else []
    if "mean" in entry:
        return (*(number_text(entry.get(key)) for key in ("mean", "min", "max")), *notes)
    if "rate" in entry:
        return (number_text(entry["rate"]), "", "", "; ".join(["share of yes", *notes]))
    common = entry.get("most_common")
    if isinstance(common, Mapping):
        words = ", ".join(f"{json.dumps(text, ensure_ascii=False)} × {count}" for text, count in common.items())
        return ("", "", "", one_line("; ".join([words, *notes]), 2 * MAX_WORDS))
    if name == OMITTED and "omitted" in entry:
        return ("", "", "", f"{number_text(entry['omitted'])} more are left out")
    return ("", "", "", one_line(json.dumps(entry), MAX_WORDS))


MAX_COLUMNS = 12  # episodes in the table
MAX_TABLE = 4000  # characters of the rows of metrics
MAX_ROWS = 20  # metrics in the table
REGULAR = "regularly"
_RULE = 24  # characters of the rule that ended an episode, with the value and the bound
PARTS = 20  # of the range of a row: values that differ by less may look alike,
NEARLY_EQUAL = 1e-4  # and so may those that differ by less than this share
MOST_DIGITS = 6
_WORD = 16  # characters of a text in a cell; a metric with longer ones is no row


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The table, and the metrics that differ between the episodes and are no row of it."""

    table: str
    left_out: tuple[str, ...]


def compare(
    episodes: Sequence[Episode], scores: Sequence[Score], names: Sequence[str], *, limit: int = MAX_TABLE
) -> Comparison:
    """The episodes side by side, the worst first: f_e, ending, conditions, and the metrics `names` that differ.

    `scores` belong to the episodes in their order, at least one. There are at most 20 rows of metrics, of at most
    `limit` characters: those whose values go least with f_e leave first (`informative`). Metrics that are the same in
    every episode share one line, and so do those that look like an earlier one.
    """
    ranked = ranking(scores)
    shown = _evenly(ranked, MAX_COLUMNS)
    flats = [flat_metrics(score.metrics) for score in scores]
    rows, same, never = _rows(names, flats, ranked)
    rows, twins = _without_twins(rows)
    kept, wide = _fitting(rows, [scores[place].fitness for place in ranked], limit)
    head = _head([episodes[place] for place in shown], [scores[place] for place in shown])
    fitness = mean([score.fitness for score in scores])
    ends = [episodes[place] for place in ranked]
    columns = [ranked.index(place) for place in shown]
    table = [
        *head[:1],
        ("f_e", *(f"{scores[place].fitness:.4f}" for place in shown), f"{fitness:.4f}"),
        *head[1:],
        *((one_line(row.name, NAME), *(row.cells[column] for column in columns), row.mean) for row in kept),
    ]
    lines = [text_table(table), *equal_lines({**_equal_conditions(episodes), **same}, never, len(scores))]
    if twins:
        pairs = (f"{one_line(name, NAME)} is {one_line(like, NAME)}" for name, like in twins.items())
        lines.append(f"the same numbers: {', '.join(pairs)}")
    if all(episode.ended_by in REGULAR_ENDS for episode in ends):
        lines.append("every episode ended regularly: no fall, fault or broken rule ended it")
    if len(shown) < len(ranked):
        lines.append(f"{len(shown)} of {len(ranked)} episodes, chosen evenly from the worst to the best")
    return Comparison(table="\n".join(lines), left_out=tuple(wide))


def ranking(scores: Sequence[Score]) -> list[int]:
    """The places of the scores, the lowest fitness first; of equal ones the earliest episode."""
    return sorted(range(len(scores)), key=lambda place: (scores[place].fitness, place))


def informative(values: Sequence[JSON], fitnesses: Sequence[float]) -> tuple[float, float]:
    """How much a metric says about f_e, for sorting: its correlation with f_e, then its spread.

    The correlation is that of the ranks, from 0 to 1 whatever its sign; an episode without a value ranks lowest. For
    texts it is the share of the variance of f_e between the texts, less for more texts. The spread is the range of the
    numbers over the largest one.
    """
    if any(isinstance(value, str) for value in values):
        return round(_between_parts(values, fitnesses), 3), 0.0
    numbers = [finite(value) for value in values]
    present = [number for number in numbers if number is not None]
    ranked = [-math.inf if number is None else number for number in numbers]
    largest = max(map(abs, present), default=0.0)
    spread = (max(present) / largest - min(present) / largest) if largest else 0.0
    return round(abs(rank_correlation(ranked, fitnesses, least=1) or 0.0), 3), spread


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    name: str
    values: tuple[JSON, ...]  # in the order of the ranking
    cells: tuple[str, ...]
    mean: str


def _rows(
    names: Sequence[str], flats: Sequence[Mapping[str, JSON]], ranked: Sequence[int]
) -> tuple[list[_Row], dict[str, str], list[str]]:
    """The metrics that differ as rows; those that look the same in every episode; those that no episode has."""
    rows, same, never = [], {}, []
    for name in names:
        values = tuple(flats[place].get(name) for place in ranked)
        digits = _digits(values)
        cells = tuple(_cell(value, digits) for value in values)
        if all(cell == MISSING for cell in cells):
            never.append(name)
        elif len(set(cells)) == 1:
            same[name] = cells[0]
        else:
            rows.append(_Row(name=name, values=values, cells=cells, mean=_mean_cell(values, digits)))
    return rows, same, never


def _without_twins(rows: Sequence[_Row]) -> tuple[list[_Row], dict[str, str]]:
    """The rows without those whose cells all look like an earlier row's; the name of that row for each of these."""
    seen: dict[tuple[str, ...], str] = {}
    for row in rows:
        seen.setdefault(row.cells, row.name)
    kept = [row for row in rows if seen[row.cells] == row.name]
    return kept, {row.name: seen[row.cells] for row in rows if seen[row.cells] != row.name}


def _fitting(rows: Sequence[_Row], fitnesses: Sequence[float], limit: int) -> tuple[list[_Row], list[str]]:
    """The rows that fit into 20 rows and `limit` characters, in the given order, and the names of the others."""
    short = [row for row in rows if max(map(len, row.cells)) <= _WORD]
    best = sorted(short, key=lambda row: informative(row.values, fitnesses), reverse=True)
    while len(best) > MAX_ROWS or (best and _size(best) > limit):
        best.pop()
    names = {row.name for row in best}
    return [row for row in short if row.name in names], [row.name for row in rows if row.name not in names]


def _size(rows: Sequence[_Row]) -> int:
    """The characters of these rows in a table, with all their columns."""
    widths = [max(map(len, column)) + 2 for column in zip(*map(_whole, rows), strict=True)]
    return len(rows) * sum(widths)


def _whole(row: _Row) -> tuple[str, ...]:
    return one_line(row.name, NAME), *row.cells, row.mean


def _head(episodes: Sequence[Episode], scores: Sequence[Score]) -> list[tuple[str, ...]]:
    """The rows above the metrics: numbers, scenes, endings and conditions, where they differ."""
    rows: list[tuple[str, ...]] = [("episode", *(str(episode.index) for episode in episodes), "mean")]
    if any(episode.scene for episode in episodes):
        rows.append(("scene", *(one_line(episode.scene or MISSING, _WORD) for episode in episodes)))
    if any(episode.ended_by not in REGULAR_ENDS for episode in episodes):
        rows.append(("ended", *(one_line(_ending(episode), _WORD) for episode in episodes)))
        if any(_broken_rule(episode) != MISSING for episode in episodes):
            rows.append(("broken rule", *map(_broken_rule, episodes)))
        rows.append(("after steps", *(_steps(episode) for episode in episodes)))
    if any(episode.notes.begins_solved for episode in episodes):
        rows.append(("begins solved", *(value_text(episode.notes.begins_solved) for episode in episodes)))
    equal = _equal_conditions(episodes)
    names = dict.fromkeys(name for episode in episodes for name in episode.notes.conditions if name not in equal)
    conditions = [[_cell(episode.notes.conditions.get(name)) for episode in episodes] for name in names]
    return [*rows, *((one_line(name, NAME), *cells) for name, cells in zip(names, conditions, strict=True))]


def _equal_conditions(episodes: Sequence[Episode]) -> dict[str, str]:
    """The conditions that are the same in every episode."""
    found: dict[str, list[str]] = {}
    for episode in episodes:
        for name, value in episode.notes.conditions.items():
            found.setdefault(name, []).append(_cell(value))
    return {name: each[0] for name, each in found.items() if len(each) == len(episodes) and len(set(each)) == 1}


def _ending(episode: Episode) -> str:
    return REGULAR if episode.ended_by in REGULAR_ENDS else episode.ended_by


def _broken_rule(episode: Episode) -> str:
    """The rule of the task that ended the episode, in the domain's word."""
    rule = episode.info.get("broken_rule")
    return one_line(rule, _RULE) if isinstance(rule, str) else MISSING


def _steps(episode: Episode) -> str:
    """The steps of an episode that ended early; none of a regular one, which would tell success from failure."""
    return MISSING if episode.ended_by in REGULAR_ENDS else str(episode.steps)


def _cell(value: JSON, digits: int = 3) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number_text(finite(value), digits)
    return one_line(value, 2 * _WORD) if isinstance(value, str) else value_text(value)


def _digits(values: Sequence[JSON]) -> int:
    """3 significant digits; up to 6 where numbers would look alike and differ by a part of the range that counts."""
    known = sorted(number for value in values if (number := _number(value)) is not None)
    if not known:
        return 3
    least = max((known[-1] - known[0]) / PARTS, NEARLY_EQUAL * max(map(abs, known)))
    pairs = [pair for pair in pairwise(known) if pair[1] - pair[0] > least]
    return next((each for each in range(3, MOST_DIGITS)
                 if all(number_text(low, each) != number_text(high, each) for low, high in pairs)), MOST_DIGITS)


def _number(value: JSON) -> float | None:
    return None if isinstance(value, bool) else finite(value)


def _mean_cell(values: Sequence[JSON], digits: int) -> str:
    """The mean of the numbers or the share of yes; with how many episodes have one, if not all."""
    numbers = [number for number in map(finite, values) if number is not None]
    if not numbers or any(isinstance(value, str) for value in values):
        return ""
    word = number_text(mean(numbers), digits)
    return word if len(numbers) == len(values) else f"{word} ({len(numbers)} of {len(values)})"


def _evenly(places: Sequence[int], most: int) -> list[int]:
    """At most `most` of the places, evenly from the first to the last."""
    if len(places) <= most:
        return list(places)
    return [places[round(step * (len(places) - 1) / (most - 1))] for step in range(most)]


def _between_parts(values: Sequence[JSON], fitnesses: Sequence[float]) -> float:
    """The share of the variance of f_e that lies between the texts, reduced by the number of different texts."""
    groups: dict[str, list[float]] = {}
    for value, fitness in zip(values, fitnesses, strict=True):
        groups.setdefault(str(value), []).append(fitness)
    whole = mean(fitnesses)
    total = math.fsum((fitness - whole) ** 2 for fitness in fitnesses)
    between = math.fsum(len(group) * (mean(group) - whole) ** 2 for group in groups.values())
    return between / total * (1 - (len(groups) - 1) / (len(values) - 1)) if total > 0 else 0.0
