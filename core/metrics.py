"""Feedback metrics of many episodes, aggregated to a bounded size: M(p) of the paper."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from .text import one_line
from .values import JSON, Score

MAX_ENTRIES = 48  # names in a summary, the entry for omitted ones included
MAX_NAME = 64  # characters of a name
MAX_TEXT = 60  # characters of a text value
MAX_DEPTH = 4  # levels of nesting that become dotted names; deeper ones are shown as text
MAX_LIST = 8  # longer lists are shown by their length
MAX_VALUES_PER_SCORE = 2048
MOST_COMMON = 3
OMITTED = "…"  # the name under which omitted entries are counted
LEFT_OUT = "left-out"  # the same for the names of one score


def aggregate(scores: Iterable[Score], *, limit: int = MAX_ENTRIES) -> dict[str, JSON]:
    """The metrics of all episodes by dotted name, at most `limit` entries, in alphabetical order.

    Numbers become {"mean", "min", "max"}, booleans {"rate"}, anything else {"most_common": {text: episodes}}.
    "count" is added if some scores lack the value; nulls and numbers that are not finite count as absent.
    With more than `limit` names the deepest are dropped first, and the entry "…" holds how many. The result
    depends neither on the order of the scores nor on that of the names.
    """
    values: dict[str, list[JSON]] = {}
    episodes = 0
    for score in scores:
        episodes += 1
        for name, value in islice(_flat(score.metrics, "", 1), MAX_VALUES_PER_SCORE):
            values.setdefault(name, []).append(value)
    summaries = {name: _summary(found, episodes) for name, found in values.items()}
    names = sorted((name for name in summaries if summaries[name]), key=_by_depth)
    kept = names if len(names) <= limit else names[: max(0, limit - 1)]
    result: dict[str, JSON] = {name: summaries[name] for name in sorted(kept)}
    if len(kept) < len(names) and limit > 0:
        result[OMITTED] = {"omitted": len(names) - len(kept)}
    return result


def bounded_metrics(metrics: Mapping[str, JSON], *, limit: int = MAX_ENTRIES) -> dict[str, JSON]:
    """What `aggregate` can use of one score's metrics: at most `limit` dotted names, numbers and bounded texts.

    Where there are more names the deepest go first, and "left-out" counts them. For fewer, all of them different,
    `aggregate` gives the same for the result as for `metrics`.
    """
    found = dict(islice(_flat(metrics, "", 1), MAX_VALUES_PER_SCORE))
    names = sorted(found, key=_by_depth)
    kept = names if len(names) <= limit else names[: max(0, limit - 1)]
    result: dict[str, JSON] = {name: _leaf(found[name]) for name in sorted(kept)}
    if len(kept) < len(names) and limit > 0:
        result[LEFT_OUT] = len(names) - len(kept)
    return result


def _by_depth(name: str) -> tuple[int, str]:
    return name.count("."), name


def _leaf(value: JSON) -> JSON:
    return value if value is None or isinstance(value, int | float) else _text(value)


def _flat(metrics: Mapping[str, JSON], prefix: str, depth: int) -> Iterator[tuple[str, JSON]]:
    """The leaves of nested metrics under dotted names, in alphabetical order within a level."""
    for key in sorted(metrics, key=str):
        name = one_line(f"{prefix}{key}", MAX_NAME)
        if name == OMITTED:
            name = "?"  # the name of the omitted entries is reserved
        value = metrics[key]
        if isinstance(value, list):
            if len(value) > MAX_LIST:
                yield f"{name}.length", len(value)
                continue
            value = {str(place): item for place, item in enumerate(value)}
        if not isinstance(value, Mapping):
            yield name, value
        elif depth < MAX_DEPTH:
            yield from _flat(value, f"{name}.", depth + 1)
        else:
            yield name, _text(dict(value))


def _summary(values: Sequence[JSON], episodes: int) -> dict[str, JSON]:
    """The summary of one name's values over the episodes; empty if there are no values."""
    present = [value for value in values if value is not None]
    if all(isinstance(value, int | float) for value in present):
        numbers = [number for number in map(_finite, present) if number is not None]
        if not numbers:
            return {}
        summary: dict[str, JSON] = (
            {"rate": mean(numbers)}
            if all(isinstance(value, bool) for value in present)
            else {"mean": mean(numbers), "min": min(numbers), "max": max(numbers)}
        )
        counted = len(numbers)
    else:
        tally = Counter(_text(value) for value in present)
        common = sorted(tally.items(), key=lambda item: (-item[1], item[0]))[:MOST_COMMON]
        summary, counted = {"most_common": dict(common)}, len(present)
    return summary if counted >= episodes else {**summary, "count": counted}


def mean(numbers: Sequence[float]) -> float:
    """The arithmetic mean of finite numbers, with an exactly rounded sum (`math.fsum`), never outside their range."""
    largest = max(map(abs, numbers))
    scale = largest if largest > 1e300 else 1.0  # so that the sum cannot overflow
    value = math.fsum(number / scale for number in numbers) / len(numbers) * scale
    return min(max(value, min(numbers)), max(numbers))


def _finite(value: JSON) -> float | None:
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer beyond the range of doubles
        return None
    return number if math.isfinite(number) else None


def _text(value: JSON) -> str:
    if isinstance(value, str):
        return one_line(value, MAX_TEXT)
    try:
        return one_line(json.dumps(value, sort_keys=True), MAX_TEXT)
    except (ValueError, RecursionError):  # an integer with more digits than Python prints; endless nesting
        return "unprintable"
