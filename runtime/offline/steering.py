"""Which parts of a program an edit should touch first, read from the feedback metrics of its rollouts."""

from collections.abc import Iterable, Mapping, Sequence

from ...core.ports import Part
from ...core.values import JSON

REACHED = 0.6     # a milestone metric at least so high counts as reached
FLOOR = 0.05      # no part is ever out of question: metrics may mislead
LATER = 0.3       # each milestone beyond the first unreached one matters by this factor less
TRIED = 0.5       # a part that was edited lately has had its chance


def milestones(parts: Iterable[Part]) -> tuple[str, ...]:
    """The metrics of a shelf in the order in which its parts first mention them, which is that of the task."""
    return tuple(dict.fromkeys(name for part in parts for name in part.metrics))


def weights(
    parts: Sequence[Part], metrics: Mapping[str, JSON], order: Sequence[str], tried: Sequence[str] = ()
) -> list[float]:
    """A positive weight for every part.

    What is not reached yet weighs by how poor it is. `order` says which milestone is due before which:
    what lies behind an unreached one cannot improve before that one does, so it weighs less. Parts
    without known metrics weigh the average; `tried` are summaries of recent edits, whose parts weigh less.
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
    """Whether one of these edit summaries is of the part `name`."""
    return any(f"{name}:" in summary for summary in summaries)


def level(value: JSON) -> float | None:
    """How good a milestone metric is over the episodes, in [0, 1]; None for what is no such metric."""
    if isinstance(value, Mapping):
        value = value.get("mean", value.get("rate"))
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)
