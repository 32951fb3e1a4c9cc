"""The focus of a macro-mutation or crossover, different in every slot of a generation. Pure."""

import random
import re
from collections.abc import Mapping, Sequence
from math import fsum
from typing import get_args

from ..core.errors import UsageError
from ..core.figures import REGULAR_ENDS, figure_of
from ..core.metrics import flat_metrics, mean
from ..core.ports import Prompts
from ..core.text import fenced_text, one_line, plural
from ..core.values import CandidateState, Focus, Score, TaskKind
from .figure_text import endings

NEARLY = 0.95  # f_e from which an episode counts as nearly perfect
MAX_GAINS = 6  # episodes that are named for each parent
MAX_NAME = 64  # characters of a metric's name
NOTABLE = 0.02  # of f_e: smaller differences between the episodes of one program point at nothing
NO_LOSS = "none is measured: find it from the task and the program"
SOURCE = "macro-foci"  # the prompt file that lists the remedies
CROSSOVERS = "crossover-foci"  # and that of the ways to combine two parents
MECHANISMS = "climb-foci"  # that of what the edits of a step of a wide climb change
EMPHASES = "evaluator-emphases"  # that of what evaluator writers take special care of
EACH_BETTER = "each better somewhere"  # what a way or remedy may need, in brackets at its beginning,
FITTER = "F differs"
UNEVEN = "episodes differ"
EARLY = "some end early"
LASTING = "most end regularly"
FAILING = "some fail"  # by an early end, or by a loss that others do not have
LIMITED = "limits are met"  # an action at its bound, or an early end
SATURATED = "action_saturated"  # the metric of actions at their bounds
FOR = "for "  # or the kinds of tasks that it is for
_NEEDS = "|".join((EACH_BETTER, FITTER, UNEVEN, EARLY, LASTING, FAILING, LIMITED))
_NEED = re.compile(rf"\[({_NEEDS}|{FOR}[a-z, ]+)\]\s*")


def remedies(prompts: Prompts, source: str = SOURCE) -> tuple[str, ...]:
    """The kinds of remedies, one for each line that begins with "- ". Raises UsageError if there is none."""
    found = tuple(line[2:].strip() for line in prompts.fill(source).splitlines() if line.startswith("- "))
    if not found:
        raise UsageError(f"prompt {source}.md lists no focus: write each on a line that begins with '- '")
    return found


def check_foci(prompts: Prompts) -> None:
    """Raises UsageError unless every kind of task has a remedy, and a way to combine equally fit parents."""
    for source in (SOURCE, CROSSOVERS, MECHANISMS):
        for task in get_args(TaskKind):
            if not suitable(remedies(prompts, source), task):
                raise UsageError(f"prompt {source}.md lists no focus that fits every {task!r} task: write one on a "
                                 "line that begins with '- ' and no bracket")


def suitable(kinds: Sequence[str], task: TaskKind, holds: Sequence[str] = ()) -> list[str]:
    """Those of the kinds that are for this kind of task and need only what `holds`, without their brackets."""
    return [
        _NEED.sub("", kind) for kind in kinds
        if all(task in need.removeprefix(FOR).split(", ") if need.startswith(FOR) else need in holds
               for need in _NEED.findall(kind))
    ]


def crossing_of(
    focus: Focus, first: CandidateState, second: CandidateState, kinds: Sequence[str], task: TaskKind = "arm"
) -> dict[str, str]:
    """The variables of the prompt crossover-focus: the others, the way to combine, and where each parent is better.

    The ways that fit are shuffled by the focus's seed and dealt in turn.
    """
    gains = [
        (episode.index, one.fitness - other.fitness)
        for episode, one, other in zip(first.episodes, first.scores, second.scores, strict=False)
    ]
    both = any(gain > 0 for _, gain in gains) and any(gain < 0 for _, gain in gains)
    holds = [*([EACH_BETTER] if both else []), *([FITTER] if first.fitness != second.fitness else [])]
    ways = suitable(kinds, task, holds)
    _shuffle(ways, focus)
    return {
        "among": among(focus, "crossover"),
        "way": ways[focus.place % len(ways)],
        "gains": fenced_text(f"parent A is better in {_better(gains)}\n"
                        f"parent B is better in {_better([(index, -gain) for index, gain in gains])}"),
    }


def _better(gains: Sequence[tuple[int, float]]) -> str:
    """The episodes with a gain, the largest first."""
    ranked = sorted((pair for pair in gains if pair[1] > 0), key=lambda pair: (-pair[1], pair[0]))
    words = [f"episode {index} (by {gain:.4f})" for index, gain in ranked[:MAX_GAINS]]
    more = [f"{len(ranked) - MAX_GAINS} more"] if len(ranked) > MAX_GAINS else []
    return ", ".join([*words, *more]) or "no episode"


def among(focus: Focus, noun: str) -> str:
    """Which proposal this is of those of its generation; "" for the only one."""
    if focus.of < 2:
        return ""
    each = "Each has another focus, so that they differ in kind. Yours:"
    return f"This is {noun} {focus.place + 1} of {focus.of} of this generation. {each}\n\n"


def focus_of(
    focus: Focus, parent: CandidateState, kinds: Sequence[str], task: TaskKind = "arm"
) -> dict[str, str]:
    """The variables of the prompt macro-focus: the others of the generation, the remedy, and the loss.

    The remedies that fit the task and what the episodes show are shuffled by the focus's seed and dealt in turn; where
    early ends cost fitness, those against them come first. The losses follow in turn.
    """
    holds = holds_of(parent)
    fit = suitable(kinds, task, holds)
    _shuffle(fit, focus)
    losses, early = losses_of(parent), _early_loss(parent)
    if early:
        against = suitable([kind for kind in kinds if f"[{EARLY}]" in kind], task, holds)
        fit.sort(key=lambda kind: kind not in against)
    return {
        "among": among(focus, "proposal"),
        "remedy": fit[focus.place % len(fit)],
        "loss": _loss(losses[focus.place % len(losses)] if losses else "", parent.scores),
    }


def holds_of(parent: CandidateState) -> list[str]:
    """What remedies may need, as far as the episodes of a program show it."""
    figure, fitnesses = figure_of(parent), [score.fitness for score in parent.scores]
    uneven = bool(fitnesses) and max(fitnesses) - min(fitnesses) >= NOTABLE
    saturated = any(value for score in parent.scores if (value := flat_metrics(score.metrics).get(SATURATED)))
    found = {
        UNEVEN: uneven, EARLY: bool(figure.early), LASTING: 2 * figure.ended_early <= figure.episodes,
        FAILING: uneven or bool(figure.early), LIMITED: saturated or bool(figure.early),
    }
    return [need for need, holds in found.items() if holds]


def edits_of(focus: Focus, parent: CandidateState, kinds: Sequence[str], task: TaskKind = "arm") -> str:
    """What each edit of a step of a wide climb is asked for: a loss of the program, and a mechanism, a line for each.

    The losses are dealt in turn, the largest first, and the mechanisms in an order from the focus's seed.
    """
    fit, losses = suitable(kinds, task), losses_of(parent) or [NO_LOSS]
    _shuffle(fit, focus)
    return "\n".join(
        f"edit {place + 1}{' (this one)' if place == focus.place else ''}: {losses[place % len(losses)]}; "
        f"{fit[place % len(fit)]}" for place in range(focus.of)
    )


def _shuffle(kinds: list[str], focus: Focus) -> None:
    random.Random(focus.seed).shuffle(kinds)


def _loss(loss: str, scores: Sequence[Score]) -> str:
    """The loss to look at first; where no episode stands out, what that says."""
    if loss:
        return f"The loss to look at first, as data:\n\n{fenced_text(loss)}"
    if not scores:
        return f"The loss to look at first, as data:\n\n{fenced_text(NO_LOSS)}"
    fitnesses = [score.fitness for score in scores]
    least, most = min(fitnesses), max(fitnesses)
    if least >= 1.0:
        return ("No episode loses anything: these episodes test no more than this. Look for what they did not test: "
                "code that never ran, other starts, smaller margins.")
    return (f"No episode stands out: f_e is from {least:.4f} to {most:.4f} in {plural(len(scores), 'episode')}. "
            f"So look for what costs fitness in all of them ({_most(scores, len(scores))}), and for what they did not "
            "test.")


def losses_of(parent: CandidateState) -> list[str]:
    """Where a program loses fitness: early ends, then stages that it misses in some episode, and its worst episodes,
    alternating; each with what F may gain there at most.

    An episode counts if its f_e is notably below that of the best one, or if there is one only.
    """
    count = len(parent.scores)
    stages = [
        f"{_stage(name, entry)}; {_most(_without(name, parent.scores), count)}"
        for name, entry in _missing_stages(parent)
    ]
    pairs = zip(parent.episodes, parent.scores, strict=False)
    ranked = sorted(pairs, key=lambda pair: (pair[1].fitness, pair[0].index))
    most = ranked[-1][1].fitness if len(ranked) > 1 else 1.0
    episodes = [
        f"episode {episode.index}: f_e = {score.fitness:.4f}, number {rank} from below; {_most([score], count)}"
        for rank, (episode, score) in enumerate(ranked, start=1)
        if score.fitness <= most - NOTABLE
    ]
    found = [early] if (early := _early_loss(parent)) else []
    for place in range(max(len(stages), len(episodes))):
        found += [*stages[place : place + 1], *episodes[place : place + 1]]
    return found


def _most(scores: Sequence[Score], count: int) -> str:
    """What F, the mean over `count` episodes, would gain if these scores were 1."""
    return f"F may gain at most {fsum(1.0 - score.fitness for score in scores) / count:.3f}"


def _early_loss(parent: CandidateState) -> str:
    """The early ends of all known episodes, fresh ones too; "" for none, or where they go with no lower f_e."""
    fresh = parent.fresh
    pairs = [*zip(parent.episodes, parent.scores, strict=False),
             *(zip(fresh.episodes, fresh.scores, strict=False) if fresh else ())]
    early = [score for episode, score in pairs if episode.ended_by not in REGULAR_ENDS]
    lasting = [score.fitness for episode, score in pairs if episode.ended_by in REGULAR_ENDS]
    if not early or (lasting and mean([score.fitness for score in early]) >= mean(lasting)):
        return ""
    words = endings(figure_of(parent).early)
    return f"{len(early)} of {plural(len(pairs), 'episode')} ended early ({words}); {_most(early, len(pairs))}"


def _without(name: str, scores: Sequence[Score]) -> list[Score]:
    return [score for score in scores if flat_metrics(score.metrics).get(name) is not True]


def _missing_stages(parent: CandidateState) -> list[tuple[str, float]]:
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
