"""The limit on the CPU time of a policy's calls: an episode that misses it is a fault. Pure.

A measured time differs between two rollouts of the same episode, by a few percent on an idle machine. So the slowest
calls do not count, nor does a small excess: an episode fails only if more than 1 % of its calls, and at least three
of them (all, if it has fewer), each took over MARGIN times the limit. CPU time does not contain waiting for a
processor. The verdict is part of the recorded episode; a resumed run never measures again.
"""

from dataclasses import replace
from typing import Final

from .faults import Fault, FaultKind
from .ports import Practice
from .values import Episode

MARGIN: Final = 1.25
PRACTICE_S: Final = 10.0  # of CPU time in a practice episode besides its steps: what loading and a first call may take
REAL_TIME: Final = "real-time"  # in place of a number: the control period of the domain


def with_step_limit(episode: Episode, limit_ms: float | None) -> Episode:
    """The episode, with a fault if it has none yet and its calls were too slow for the limit in ms."""
    times = episode.notes.times
    if limit_ms is None or times is None or episode.fault is not None or times.steady_ms <= MARGIN * limit_ms:
        return episode
    message = (
        f"the calls of compute_action are too slow for the limit of {limit_ms:g} ms of CPU time: more than 1 % of them "
        f"took {times.steady_ms:.3g} ms and more (median {times.median_ms:.3g} ms)"
    )
    fault = Fault(kind=FaultKind.TOO_SLOW, message=message)
    return replace(episode, fault=fault, success=False, ended_by="fault", scored_to_fault=episode.steps > 0)


def practice_under(limit_ms: float | None) -> Practice:
    """How practice episodes are bounded in CPU time: with a limit, by what a policy may use that keeps it.

    The verdict on an episode comes at its end. Without this bound a draft whose calls are too slow could compute until
    the bound of every episode, and print what it found.
    """
    if limit_ms is None:
        return Practice()
    return Practice(cpu_s=PRACTICE_S, step_s=MARGIN * limit_ms / 1000)


def limit_in_words(limit_ms: float) -> str:
    """The limit as one sentence for the prompts of those who write policies."""
    return (
        f"This policy runs in real time: {limit_ms:g} ms of CPU time for a call of `compute_action`. An episode in "
        f"which more than 1 % of the calls take longer than {MARGIN * limit_ms:g} ms counts as failed."
    )
