"""CPU time of a policy's calls: its summary, its words in a prompt, and the limit on it. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import log10
from statistics import median
from typing import Any, Final

import numpy as np

from .faults import Fault, FaultKind
from .ports import Practice
from .values import CallTimes, Episode

SPARED: Final = 2    # slowest calls that never count against a policy, however short the episode
_WORDS: Final = re.compile(r"\b(?:under 1|about \d+(?:,\d{3})*) ms\b")
_STEPS: Final = ((1.5, 1), (3.5, 2), (7.5, 5))    # leading digits up to this are rounded to this


def call_times(calls_s: Sequence[float], start_s: float) -> CallTimes | None:
    """The summary of the CPU time of each call of `compute_action`, and of load and `reset`, in s; None without calls.

    The 99 % value is the time of one of the calls. Results are in ms, rounded to 0.001 ms.
    """
    if not len(calls_s):
        return None
    times = np.asarray(calls_s, dtype=float)
    return CallTimes(
        median_ms=_ms(float(np.median(times))),
        p99_ms=_ms(float(np.percentile(times, 99, method="higher"))),
        most_ms=_ms(float(times.max())),
        start_ms=_ms(start_s),
        steady_ms=_ms(_steady_s(times)),
    )


def _steady_s(times: "np.ndarray[Any, np.dtype[np.float64]]") -> float:
    """The longest call after the slowest 1 % are left out, at least SPARED; the shortest if there are too few calls."""
    spared = max(SPARED, len(times) // 100)
    return float(np.sort(times)[max(0, len(times) - 1 - spared)])


def times_of_all(episodes: Iterable[Episode]) -> CallTimes | None:
    """The times of all episodes: the median of their medians, otherwise the longest; None if none was measured."""
    measured = [episode.notes.times for episode in episodes if episode.notes.times is not None]
    if not measured:
        return None
    return CallTimes(
        median_ms=round(median(times.median_ms for times in measured), 3),
        p99_ms=max(times.p99_ms for times in measured),
        most_ms=max(times.most_ms for times in measured),
        start_ms=max(times.start_ms for times in measured),
        steady_ms=max(times.steady_ms for times in measured),
    )


def expected_cpu_s(episodes: Iterable[Episode]) -> float | None:
    """The CPU time in s that an episode of these takes the policy: loading, `reset`, and its calls at their median.

    The mean over the episodes whose calls were measured; None if there are none.
    """
    spent = [cpu_s(episode) for episode in episodes if episode.notes.times is not None]
    return sum(spent) / len(spent) if spent else None


def cpu_s(episode: Episode) -> float:
    """The CPU time in s that a policy took in one episode, with every call at the median; 0 if it was not measured."""
    times = episode.notes.times
    return 0.0 if times is None else (times.start_ms + episode.steps * times.median_ms) / 1000


def exact_time_words(times: CallTimes) -> str:
    """The same as `call_time_words` with the measured values, for a person."""
    return (
        f"CPU time of a call: median {_exact_ms(times.median_ms)}, 99 % {_exact_ms(times.p99_ms)}, "
        f"most {_exact_ms(times.most_ms)}; of loading and reset {_exact_ms(times.start_ms)}"
    )


def _exact_ms(value_ms: float) -> str:
    return f"{value_ms:,.0f} ms" if value_ms >= 1000 else f"{value_ms:.3g} ms"


def coarse_ms(value_ms: float) -> str:
    """A time in coarse words: "under 1 ms", then "about 1 ms", 2, 5, 10, 20, 50 and so on."""
    if value_ms < 1:
        return "under 1 ms"
    scale = 10 ** int(log10(value_ms))
    digit = next((digit for most, digit in _STEPS if value_ms / scale <= most), 10)
    return f"about {digit * scale:,} ms"


def call_time_words(times: CallTimes) -> str:
    """One line on the time of a policy's calls, for a prompt."""
    return (
        f"CPU time of a call: median {coarse_ms(times.median_ms)}, 99 % {coarse_ms(times.p99_ms)}, "
        f"most {coarse_ms(times.most_ms)}; of loading and reset: {coarse_ms(times.start_ms)}"
    )


def without_call_times(prompt: str) -> str:
    """The prompt with every measured time replaced by the same words, to compare prompts of two rollouts."""
    return _WORDS.sub("some ms", prompt)


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 3)


# The limit on the CPU time of a policy's calls: an episode that misses it is a fault. Pure.
#
# A measured time differs between two rollouts of the same episode, by a few percent on an idle machine. So the slowest
# calls do not count, nor does a small excess: an episode fails only if more than 1 % of its calls, and at least three
# of them (all, if it has fewer), each took over MARGIN times the limit. CPU time does not contain waiting for a
# processor. The verdict is part of the recorded episode; a resumed run never measures again.


MARGIN: Final = 1.25
PRACTICE_S: Final = 10.0  # of CPU time in a practice episode besides its steps: what loading and a first call may take
REAL_TIME: Final = "real-time"  # in place of a number: the control period of the domain


def judged(episode: Episode, limit_ms: float | None) -> Episode:
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
