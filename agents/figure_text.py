"""The figure of a program in words for a prompt: all its known episodes, and how often they ended early. As data."""

from collections.abc import Mapping

from ..core.figures import KnownFitness
from ..core.intervals import share_interval
from ..core.text import one_line, plural

MAX_ENDING = 24  # characters of the word for an ending


def figure_words(figure: KnownFitness) -> str:
    """F over all known episodes, how many these are, and how many of them ended early."""
    fresh = f", {figure.fresh} of them fresh" if figure.fresh else ""
    words = f"F {figure.fitness:.4f} on {plural(figure.episodes, 'episode')}{fresh}"
    return f"{words}, {figure.ended_early} ended early" if figure.early else words


def early_share(figure: KnownFitness) -> str:
    """How many episodes ended early, with the 95 % interval of their share of all starts."""
    low, high = share_interval(figure.ended_early, figure.episodes) or (0.0, 1.0)
    return f"{figure.ended_early} of {figure.episodes} ({100 * low:.0f} to {100 * high:.0f} %)"


def early_words(figure: KnownFitness) -> str:
    """The sentence on the episodes that ended early; "" where none did."""
    if not figure.early:
        return ""
    low, high = share_interval(figure.ended_early, figure.episodes) or (0.0, 1.0)
    count = f"{figure.ended_early} of {plural(figure.episodes, 'episode')} ended early ({endings(figure.early)})"
    return f"{count}: as far as {figure.episodes} can show, {100 * low:.0f} to {100 * high:.0f} % of all starts do."


def endings(early: Mapping[str, int]) -> str:
    """The endings with their counts, or the only one."""
    words = [(one_line(word, MAX_ENDING), count) for word, count in early.items()]
    return words[0][0] if len(words) == 1 else ", ".join(f"{count} {word}" for word, count in words)
