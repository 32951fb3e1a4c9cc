"""The priority of the parts of a program for edits, from the feedback metrics of its rollouts."""

from collections.abc import Iterable, Mapping, Sequence

from ...core.ports import Part
from ...core.values import JSON

REACHED = 0.6     # a milestone metric of at least this value counts as reached
FLOOR = 0.05      # minimum weight, because metrics may mislead
LATER = 0.3       # factor for each milestone beyond the first unreached one
TRIED = 0.5       # factor for recently edited parts


def milestones(parts: Iterable[Part]) -> tuple[str, ...]:
    """The metrics of a shelf in the order in which its parts first mention them, which is the order of the task."""
    return tuple(dict.fromkeys(name for part in parts for name in part.metrics))


def weights(
    parts: Sequence[Part], metrics: Mapping[str, JSON], order: Sequence[str], tried: Sequence[str] = ()
) -> list[float]:
    """A positive weight for every part.

    The weight of an unreached milestone grows with its distance from success. `order` lists the milestones in the
    order of the task: those after an unreached one cannot improve before it, so they have lower weights. Parts
    without known metrics have the average weight; `tried` are summaries of recent edits, whose parts weigh less.
    """
    need: dict[str, float] = {}
    blocked = 1.0
    for name in order:
        value = level(metrics.get(name))
        if value is None:
            continue
        need[name] = blocked * (1.0 - value) ** 2
        if value < REACHED:
            blocked *= LATER
    found = []
    for part in parts:
        needs = [need[name] for name in part.metrics if name in need]
        found.append(max(needs) + FLOOR if needs else None)
    known = [weight for weight in found if weight is not None]
    average = sum(known) / len(known) if known else 1.0
    return [
        (average if weight is None else weight) * (TRIED if mentioned(part.name, tried) else 1.0)
        for part, weight in zip(parts, found, strict=True)
    ]


def mentioned(name: str, summaries: Sequence[str]) -> bool:
    """Whether one of these edit summaries names the part `name`."""
    return any(f"{name}:" in summary for summary in summaries)


def level(value: JSON) -> float | None:
    """The level of a milestone metric over the episodes, in [0, 1]; None for any other metric."""
    if isinstance(value, Mapping):
        value = value.get("mean", value.get("rate"))
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)
