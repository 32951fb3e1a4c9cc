"""The focus of a macro-mutation: a kind of remedy and a loss to look at first, different in every slot. Pure."""

import random
from collections.abc import Mapping, Sequence

from ..core.errors import UsageError
from ..core.ports import Prompts
from ..core.text import one_line
from ..core.values import Candidate, Focus
from .fencing import fenced

MAX_NAME = 64  # characters of a metric's name
NO_LOSS = "none is measured: find it from the task and the program"
SOURCE = "macro-foci"  # the prompt file that lists the remedies


def remedies(prompts: Prompts) -> tuple[str, ...]:
    """The kinds of remedies, one for each line that begins with "- ". Raises UsageError if there is none."""
    found = tuple(line[2:].strip() for line in prompts.fill(SOURCE).splitlines() if line.startswith("- "))
    if not found:
        raise UsageError(f"prompt {SOURCE}.md lists no focus: write each on a line that begins with '- '")
    return found


def focus_of(focus: Focus, parent: Candidate, kinds: Sequence[str]) -> dict[str, str]:
    """The variables of the prompt macro-focus: the place among the proposals, the remedy, and the loss.

    The remedies are shuffled by the focus's seed and dealt in turn. The losses follow in turn, the largest first.
    """
    order = list(range(len(kinds)))
    random.Random(focus.seed).shuffle(order)
    losses = losses_of(parent)
    return {
        "place": str(focus.place + 1),
        "of": str(focus.of),
        "remedy": kinds[order[focus.place % len(kinds)]],
        "loss": fenced(losses[focus.place % len(losses)] if losses else NO_LOSS),
    }


def losses_of(parent: Candidate) -> list[str]:
    """Where a program loses fitness: stages that it misses in some episode, and its worst episodes, alternating."""
    stages = [_stage(name, entry) for name, entry in _missed(parent)]
    pairs = zip(parent.episodes, parent.scores, strict=False)
    ranked = sorted(pairs, key=lambda pair: (pair[1].fitness, pair[0].index))
    episodes = [
        f"episode {episode.index}: f_e = {score.fitness:.4f}, number {rank} from below"
        for rank, (episode, score) in enumerate(ranked, start=1)
        if score.fitness < 1.0
    ]
    found: list[str] = []
    for place in range(max(len(stages), len(episodes))):
        found += [*stages[place : place + 1], *episodes[place : place + 1]]
    return found


def _missed(parent: Candidate) -> list[tuple[str, float]]:
    """The yes-or-no metrics that are not true everywhere: those that are true most often come first in a task."""
    rates = {
        name: float(rate)
        for name, entry in parent.metrics.items()
        if isinstance(entry, Mapping) and isinstance(rate := entry.get("rate"), int | float) and rate < 1
    }
    return sorted(rates.items(), key=lambda item: (-item[1], item[0]))


def _stage(name: str, rate: float) -> str:
    return f"{one_line(name, MAX_NAME)}: true in {100 * rate:.0f} % of the episodes"
