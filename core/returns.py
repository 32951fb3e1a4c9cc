"""The return of an episode: the sum of its rewards, for tasks that have rewards. It is shown next to F, never used."""

import math
from collections.abc import Iterable

from .metrics import mean
from .values import Episode

RETURN = "return"  # in Recording.info and Episode.info


def return_of(episode: Episode) -> float | None:
    """The return that the environment reports; None if the task has no rewards, or a fault cut the episode short."""
    value = episode.info.get(RETURN)
    if episode.fault is not None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def mean_return(episodes: Iterable[Episode]) -> float | None:
    """The mean of the known returns; None if there is none."""
    known = [value for value in map(return_of, episodes) if value is not None]
    return mean(known) if known else None
