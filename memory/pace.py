"""How fast a policy is: the CPU time of its calls, and how long one of its episodes takes. Read from the slots."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from .run_view import sources_of
from .slots import Slot, Slots

COLD = 5.0      # times as long as a rollout mostly takes: it started a simulator
SLOW = 3.0      # times as much CPU time for an episode as the candidates mostly need,
SLOW_S = 1.0    # and at least so many seconds: a candidate is called slow


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A policy's times. `median_ms` and `p99_ms` are as in `core.call_times.times_of_all`.

    `episode_s` is a mean, without episodes in which a worker had to start its simulator.
    """

    median_ms: float
    p99_ms: float
    episode_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowCandidates:
    """The candidates that slow a search down, the slowest first, with the CPU time that an episode takes them in s.

    `usual_s` is the median over all candidates, `share` the part of the CPU time of all policies that these took.
    """

    each_s: Mapping[str, float] = field(default_factory=dict)
    usual_s: float = 0.0
    share: float = 0.0


def pace_of(slots: Slots, candidate: str) -> Pace | None:
    """The times of a candidate, or of the one with the same program whose episodes it reused; None if not measured."""
    for name in (candidate, *sources_of(slots, candidate)):
        slot = slots.get(name)
        if slot is not None and slot.calls_ms:
            typical_s = _typical_s(slots)
            warm = [wall_s for wall_s in slot.walls_s if wall_s < COLD * typical_s] or slot.walls_s
            return Pace(
                median_ms=round(median(slot.calls_ms), 3), p99_ms=slot.p99_ms, episode_s=sum(warm) / len(warm)
            )
    return None


def start_up_s(slots: Slots, workers: int) -> float:
    """How much longer the first rollout of each worker took than rollouts mostly take: simulators start there."""
    typical_s = _typical_s(slots)
    return sum(wall_s - typical_s for wall_s in slots.first_s[:workers] if wall_s >= COLD * typical_s)


def _typical_s(slots: Slots) -> float:
    return median(each.wall_s for each in slots.recent) if slots.recent else 0.0


def slow_candidates(slots: Slots) -> SlowCandidates:
    """The candidates that need far more CPU time for an episode than the others, from the episodes so far."""
    measured = [slot for slot in slots.candidates.values() if slot.calls_ms]
    if not measured:
        return SlowCandidates()
    usual_s = median(_episode_cpu_s(slot) for slot in measured)
    slow = [slot for slot in measured if _episode_cpu_s(slot) >= max(SLOW_S, SLOW * usual_s)]
    total_s = sum(slot.cpu_s for slot in measured)
    return SlowCandidates(
        each_s={slot.id: _episode_cpu_s(slot) for slot in sorted(slow, key=_episode_cpu_s, reverse=True)},
        usual_s=usual_s, share=sum(slot.cpu_s for slot in slow) / total_s if total_s else 0.0,
    )


def _episode_cpu_s(slot: Slot) -> float:
    return slot.cpu_s / len(slot.calls_ms)
