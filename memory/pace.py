"""How fast a policy is: the CPU time of its calls, and how long one of its episodes takes. Read from the slots."""

from dataclasses import dataclass
from statistics import median

from .run_view import sources_of
from .slots import Slots


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A policy's times. `median_ms` and `p99_ms` are as in `core.call_times.times_of_all`, `episode_s` is a mean."""

    median_ms: float
    p99_ms: float
    episode_s: float


def pace_of(slots: Slots, candidate: str) -> Pace | None:
    """The times of a candidate, or of the one with the same program whose episodes it reused; None if not measured."""
    for name in (candidate, *sources_of(slots, candidate)):
        slot = slots.get(name)
        if slot is not None and slot.calls_ms:
            return Pace(
                median_ms=round(median(slot.calls_ms), 3), p99_ms=slot.p99_ms, episode_s=slot.wall_s / slot.rolled
            )
    return None
