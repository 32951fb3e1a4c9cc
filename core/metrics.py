"""Feedback metrics of many episodes, aggregated to a bounded size: M(p) of the paper."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from .text import one_line
from .values import JSON, Score

MAX_ENTRIES = 80  # names in a summary, the entry for omitted ones included
MAX_NAME = 64  # characters of a name
MAX_TEXT = 60  # characters of a text value
MAX_DEPTH = 4  # levels of nesting that become dotted names; deeper ones are shown as text
MAX_LIST = 8  # longer lists are shown by their length
MAX_VALUES_PER_SCORE = 2048
MOST_COMMON = 3
OMITTED = "…"  # the name under which omitted entries are counted
LEFT_OUT = "left-out"  # the same for the names of one score
NEVER: Mapping[str, JSON] = {"count": 0}  # the summary of a metric that no episode has


def aggregate(scores: Iterable[Score], *, limit: int = MAX_ENTRIES) -> dict[str, JSON]:
    """The metrics of all episodes by dotted name, at most `limit` entries, in the evaluator's order.

    Numbers become {"mean", "min", "max"}, booleans {"rate"}, anything else {"most_common": {text: episodes}}.
    "count" is added if some scores lack the value, and stands alone as {"count": 0} if all do; nulls and numbers that
    are not finite count as absent. With more than `limit` names the deepest are dropped first, the last ones of a
    depth before the others, and the entry "…" holds how many. The order of the scores does not matter.
    """
    flats = [flat_metrics(score.metrics) for score in scores]
    names = _in_order(flats)
    kept = _shallowest(names, limit)
    result: dict[str, JSON] = {
        name: _summary([flat[name] for flat in flats if name in flat], len(flats)) for name in kept
    }
    if len(kept) < len(names) and limit > 0:
        result[OMITTED] = {"omitted": len(names) - len(kept)}
    return result


def bounded_metrics(metrics: Mapping[str, JSON], *, limit: int = MAX_ENTRIES) -> dict[str, JSON]:
    """What `aggregate` can use of one score's metrics: at most `limit` dotted names, numbers and bounded texts.

    Where there are more names the deepest go first, and "left-out" counts them. For fewer, all of them different,
    `aggregate` gives the same for the result as for `metrics`.
    """
    found = flat_metrics(metrics)
    kept = _shallowest(list(found), limit)
    result: dict[str, JSON] = {name: _leaf(found[name]) for name in kept}
    if len(kept) < len(found) and limit > 0:
        result[LEFT_OUT] = len(found) - len(kept)
    return result


def flat_metrics(metrics: Mapping[str, JSON]) -> dict[str, JSON]:
    """One score's metrics under dotted names, in the evaluator's order.

    A list of up to 8 values becomes one name for each place; of a longer or empty one only the length is kept.
    """
    return dict(islice(_flat(metrics, "", 1), MAX_VALUES_PER_SCORE))


def _in_order(flats: Sequence[Mapping[str, JSON]]) -> list[str]:
    """All names: in the order of the score that has most of them, then those that others add."""
    ranked = sorted(map(list, flats), key=lambda names: (-len(names), names))
    return list(dict.fromkeys(name for names in ranked for name in names))


def _shallowest(names: Sequence[str], limit: int) -> list[str]:
    """The names that stay where there are more than `limit`: room is left for the entry that counts the others."""
    if len(names) <= limit:
        return list(names)
    kept = set(sorted(names, key=lambda name: name.count("."))[: max(0, limit - 1)])
    return [name for name in names if name in kept]


def _leaf(value: JSON) -> JSON:
    return value if value is None or isinstance(value, int | float) else _text(value)


def _flat(metrics: Mapping[str, JSON], prefix: str, depth: int) -> Iterator[tuple[str, JSON]]:
    """The leaves of nested metrics under dotted names."""
    for key, value in metrics.items():
        name = one_line(f"{prefix}{key}", MAX_NAME)
        if name == OMITTED:
            name = "?"  # the name of the omitted entries is reserved
        if isinstance(value, list):
            if not 0 < len(value) <= MAX_LIST:
                yield f"{name}.length", len(value)
                continue
            value = {str(place): item for place, item in enumerate(value)}
        if not isinstance(value, Mapping):
            yield name, value
        elif not value:
            yield name, None
        elif depth < MAX_DEPTH:
            yield from _flat(value, f"{name}.", depth + 1)
        else:
            yield name, _text(dict(value))


def _summary(values: Sequence[JSON], episodes: int) -> dict[str, JSON]:
    """The summary of one name's values over the episodes."""
    present = [value for value in values if value is not None]
    if all(isinstance(value, int | float) for value in present):
        numbers = [number for number in map(finite, present) if number is not None]
        if not numbers:
            return dict(NEVER)
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


def finite(value: JSON) -> float | None:
    """The value as a float; None if it is not a number, not finite, or beyond the range of doubles."""
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
