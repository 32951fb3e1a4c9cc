"""The focus of a macro-mutation or crossover, different in every slot of a generation. Pure."""

import random
from collections.abc import Mapping, Sequence

from ..core.errors import UsageError
from ..core.metrics import flat_metrics, mean
from ..core.ports import Prompts
from ..core.text import fenced, one_line
from ..core.values import CandidateState, Focus, Score

NEARLY = 0.95  # f_e from which an episode counts as nearly perfect
MAX_GAINS = 6  # episodes that are named for each parent
MAX_NAME = 64  # characters of a metric's name
NO_LOSS = "none is measured: find it from the task and the program"
SOURCE = "macro-foci"  # the prompt file that lists the remedies
CROSSOVERS = "crossover-foci"  # and that of the ways to combine two parents
EMPHASES = "evaluator-emphases"  # that of what evaluator writers take special care of
EACH_BETTER = "[each better somewhere]"  # the beginning of a way that needs this


def remedies(prompts: Prompts, source: str = SOURCE) -> tuple[str, ...]:
    """The kinds of remedies, one for each line that begins with "- ". Raises UsageError if there is none."""
    found = tuple(line[2:].strip() for line in prompts.fill(source).splitlines() if line.startswith("- "))
    if not found:
        raise UsageError(f"prompt {source}.md lists no focus: write each on a line that begins with '- '")
    return found


def crossing_of(focus: Focus, first: CandidateState, second: CandidateState, kinds: Sequence[str]) -> dict[str, str]:
    """The variables of the prompt crossover-focus: the place, the way to combine, and where each parent is better.

    The ways are dealt in their order, without those that need each parent to be better somewhere if one is not.
    """
    gains = [
        (episode.index, one.fitness - other.fitness)
        for episode, one, other in zip(first.episodes, first.scores, second.scores, strict=False)
    ]
    both = any(gain > 0 for _, gain in gains) and any(gain < 0 for _, gain in gains)
    ways = [kind.removeprefix(EACH_BETTER).strip() for kind in kinds if both or not kind.startswith(EACH_BETTER)]
    if not ways:
        raise UsageError(f"prompt {CROSSOVERS}.md lists no way for parents of which one is better in no episode: "
                         f"write one on a line that does not begin with '- {EACH_BETTER}'")
    return {
        "place": str(focus.place + 1),
        "of": str(focus.of),
        "way": ways[focus.place % len(ways)],
        "gains": fenced(f"parent A is better in {_better(gains)}\n"
                        f"parent B is better in {_better([(index, -gain) for index, gain in gains])}"),
    }


def _better(gains: Sequence[tuple[int, float]]) -> str:
    """The episodes with a gain, the largest first."""
    ranked = sorted((pair for pair in gains if pair[1] > 0), key=lambda pair: (-pair[1], pair[0]))
    words = [f"episode {index} (by {gain:.4f})" for index, gain in ranked[:MAX_GAINS]]
    more = [f"{len(ranked) - MAX_GAINS} more"] if len(ranked) > MAX_GAINS else []
    return ", ".join([*words, *more]) or "no episode"


def focus_of(focus: Focus, parent: CandidateState, kinds: Sequence[str]) -> dict[str, str]:
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


def losses_of(parent: CandidateState) -> list[str]:
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


def _missed(parent: CandidateState) -> list[tuple[str, float]]:
    """The yes-or-no metrics that are not true everywhere, and whose lack seems to cost fitness.

    Those that are true most often come first in a task. A flag that is not true in a nearly perfect episode costs
    nothing, and neither does one that is true in the worse episodes.
    """
    rates = {
        name: float(rate)
        for name, entry in parent.metrics.items()
        if isinstance(entry, Mapping) and isinstance(rate := entry.get("rate"), int | float) and rate < 1
        and _costs(name, parent.scores)
    }
    return sorted(rates.items(), key=lambda item: (-item[1], item[0]))


def _costs(name: str, scores: Sequence[Score]) -> bool:
    """Whether the episodes in which this flag is not true are worse than the others, and none is nearly perfect."""
    true: list[float] = []
    other: list[float] = []
    for score in scores:
        (true if flat_metrics(score.metrics).get(name) is True else other).append(score.fitness)
    if not other:
        return False
    return max(other) < NEARLY and (not true or mean(true) > mean(other))


def _stage(name: str, rate: float) -> str:
    return f"{one_line(name, MAX_NAME)}: true in {100 * rate:.0f} % of the episodes"
