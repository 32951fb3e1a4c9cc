"""CPU time of a policy's calls: its summary, and its words in a prompt. Pure."""

import re
from collections.abc import Iterable, Sequence
from math import log10
from statistics import median
from typing import Any, Final

import numpy as np

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
