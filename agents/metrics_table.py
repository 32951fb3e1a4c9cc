"""Metrics in words: the table of M over the episodes, and the numbers, flags and texts of one episode."""

import json
from collections.abc import Mapping, Sequence

from ..core.metrics import MAX_ENTRIES, NEVER, OMITTED
from ..core.story import aligned
from ..core.text import one_line
from ..core.values import JSON

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
    table = [aligned([("metric", "mean", "min", "max", ""), *rows])] if rows else []
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
