"""What is said of the paper's setting: in the first lines of a run, and in the estimate of a comparison."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ..app.estimate import Estimate
from ..core.methods import candidates_expected
from ..core.text import plural
from ..core.values import JSON
from ..evidence.published_setting import TASKS, settings_that_differ

NAMED: Final = 4        # differences in a line
RATES: Final[Mapping[str, float]] = {"exact": 400.0, "near-exact": 460.0, "fast": 1_130.0}
"""Steps of `hanoi` a second of one processor, by physics; as measured in docs/physics.md."""


def setting_words(settings: Mapping[str, JSON]) -> str | None:
    """Whether a run has the paper's setting, and what differs; None for a task that is not in the paper."""
    if settings["domain"] not in TASKS:
        return None
    different = settings_that_differ(settings)
    return f"not the paper's setting: {_listed(different)}" if different else "in the paper's setting"


Part = tuple[str, int, Estimate]      # the task and the arm, how many runs, the estimate of one


def unlike_the_paper(parts: Sequence[Part]) -> Iterator[tuple[str, list[Part]]]:
    """The parts of a comparison whose rows do not stand beside the paper's values, by what differs."""
    groups: dict[str, list[Part]] = {}
    for part in parts:
        settings = part[2].settings.as_json()
        different = settings_that_differ(settings) if settings["domain"] in TASKS else ()
        if different:
            groups.setdefault(_listed(different), []).append(part)
    yield from groups.items()


def rollout_words(found: Estimate) -> str | None:
    """The most hours of rollouts of a run, where the steps a second of its task were measured; else None."""
    settings = found.settings
    horizon, rate = settings.options.get("horizon"), RATES.get(str(settings.options.get("physics")))
    if settings.domain != "hanoi" or rate is None or not isinstance(horizon, int):
        return None
    episodes = candidates_expected(settings.as_json()) * settings.n_roll + 2 * settings.final_episodes
    hours = episodes * horizon / rate / 3600
    each = f"{plural(episodes, 'episode')} of {horizon:,} steps, {rate:,.0f} a second"
    return f"at most {hours:,.1f} h of one processor ({each})"


def _listed(different: Sequence[str]) -> str:
    more = len(different) - NAMED
    return ", ".join(different[:NAMED]) + (f" and {more} more" if more > 0 else "")
