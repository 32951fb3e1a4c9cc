"""The focus of a macro-mutation or crossover, different in every slot of a generation. Pure."""

import random
import re
from collections.abc import Mapping, Sequence
from math import fsum
from typing import get_args

from ..core.errors import UsageError
from ..core.figures import NOISE, REGULAR_ENDS, figure_of
from ..core.metrics import flat_metrics, mean
from ..core.ports import Prompts
from ..core.text import fenced_text, one_line, plural
from ..core.values import CandidateState, Episode, Focus, Score, TaskKind
from .figure_text import endings
from .stories import NOTABLE

NEARLY = 0.95  # f_e from which an episode counts as nearly perfect
MAX_GAINS = 6  # episodes that are named for each parent
MAX_NAME = 64  # characters of a metric's name
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
    both = any(gain > NOISE for _, gain in gains) and any(gain < -NOISE for _, gain in gains)
    holds = [*([EACH_BETTER] if both else []), *([FITTER] if first.fitness != second.fitness else [])]
    ways = suitable(kinds, task, holds)
    _shuffle(ways, focus)
    return {
        "among": among(focus, "crossover"),
        "way": ways[focus.place % len(ways)],
        "gains": fenced_text("\n".join([
            f"parent A is better in {_better(gains)}",
            f"parent B is better in {_better([(index, -gain) for index, gain in gains])}", *_equal(gains),
        ])),
    }


def _better(gains: Sequence[tuple[int, float]]) -> str:
    """The episodes with a gain that is no noise, the largest first."""
    ranked = sorted((pair for pair in gains if pair[1] > NOISE), key=lambda pair: (-pair[1], pair[0]))
    words = [f"episode {index} (by {gain:.4f})" for index, gain in ranked[:MAX_GAINS]]
    more = [f"{len(ranked) - MAX_GAINS} more"] if len(ranked) > MAX_GAINS else []
    return ", ".join([*words, *more]) or "no episode"


def _equal(gains: Sequence[tuple[int, float]]) -> list[str]:
    """The line on the episodes in which neither parent is better."""
    alike = sum(abs(gain) <= NOISE for _, gain in gains)
    if not alike:
        return []
    which = "all episodes" if alike == len(gains) > 1 else plural(alike, "episode")
    return [f"about equal (f_e differs by at most {NOISE}) in {which}"]


def among(focus: Focus, noun: str) -> str:
    """Which proposal this is of those of its generation; "" for the only one."""
    if focus.of < 2:
        return ""
    each = "Each has another focus, so that they differ in kind. Yours:"
    return f"This is {noun} {focus.place + 1} of {focus.of} of this generation. {each}\n\n"


def focus_of(
    focus: Focus, parent: CandidateState, kinds: Sequence[str], task: TaskKind = "arm", *, has_top: bool = True
) -> dict[str, str]:
    """The variables of the prompt macro-focus: the others of the generation, the remedy, and the loss.

    The remedies that fit the task and what the episodes show are shuffled by the focus's seed and dealt in turn; where
    early ends cost fitness, those against them come first. The losses follow in turn. `has_top` is the brief's.
    """
    holds = holds_of(parent)
    fit = suitable(kinds, task, holds)
    _shuffle(fit, focus)
    losses = losses_of(parent, has_top=has_top)
    if _early(parent):
        against = suitable([kind for kind in kinds if f"[{EARLY}]" in kind], task, holds)
        fit.sort(key=lambda kind: kind not in against)
    return {
        "among": among(focus, "proposal"),
        "remedy": fit[focus.place % len(fit)],
        "loss": _loss(losses[focus.place % len(losses)] if losses else "", parent.scores, has_top=has_top),
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


def edits_of(
    focus: Focus, parent: CandidateState, kinds: Sequence[str], task: TaskKind = "arm", *, has_top: bool = True
) -> str:
    """What each edit of a step of a wide climb is asked for: a loss of the program, and a mechanism, a line for each.

    The losses are dealt in turn, the largest first, and the mechanisms in an order from the focus's seed.
    """
    fit, losses = suitable(kinds, task), losses_of(parent, has_top=has_top) or [NO_LOSS]
    _shuffle(fit, focus)
    return "\n".join(
        f"edit {place + 1}{' (this one)' if place == focus.place else ''}: {losses[place % len(losses)]}; "
        f"{fit[place % len(fit)]}" for place in range(focus.of)
    )


def _shuffle(kinds: list[str], focus: Focus) -> None:
    random.Random(focus.seed).shuffle(kinds)


def _loss(loss: str, scores: Sequence[Score], *, has_top: bool) -> str:
    """The loss to look at first; where no episode stands out, what that says."""
    if loss:
        return f"The loss to look at first, as data:\n\n{fenced_text(loss)}"
    if not scores:
        return f"The loss to look at first, as data:\n\n{fenced_text(NO_LOSS)}"
    fitnesses = [score.fitness for score in scores]
    least, greatest = min(fitnesses), max(fitnesses)
    if least >= 1.0:
        return ("No episode loses anything: these episodes test no more than this. Look for what they did not test: "
                "code that never ran, other starts, smaller margins.")
    most = f" ({_most(scores, len(scores))})" if has_top else ""
    return (f"No episode stands out: f_e is from {least:.4f} to {greatest:.4f} in {plural(len(scores), 'episode')}. "
            f"So look for what costs fitness in all of them{most}, and for what they did not test.")


def losses_of(parent: CandidateState, *, has_top: bool = True) -> list[str]:
    """Where a program loses fitness: early ends, then the worst episode, which prompts describe, and after each
    stage that it misses in some episode; each with what F may gain there.

    The worst episode counts if its f_e is notably below that of the best one, or if there is one only. Without a top
    of f_e that can be reached the best known episode says what there is to gain.
    """
    count, best = len(parent.scores), None if has_top else _best_known(parent)
    stages = [
        "; ".join(filter(None, (_stage(name, entry), _most(_without(name, parent.scores), count, best))))
        for name, entry in _missing_stages(parent)
    ]
    early = _early(parent)
    found = [_early_words(parent, early, best)] if early else []
    return [*found, *stages[:1], *_worst(parent, best), *stages[1:]]


def _worst(parent: CandidateState, best: float | None) -> list[str]:
    """The loss in the worst episode and those that are as low; none where no episode stands out."""
    ranked = sorted(zip(parent.episodes, parent.scores, strict=False),
                    key=lambda pair: (pair[1].fitness, pair[0].index))
    if not ranked:
        return []
    (episode, least), most = ranked[0], ranked[-1][1].fitness if len(ranked) > 1 else 1.0
    if least.fitness > most - NOTABLE:
        return []
    alike = [score for _, score in ranked if score.fitness <= min(least.fitness + NOTABLE, most - NOTABLE)]
    words = f"episode {episode.index}: f_e = {least.fitness:.4f}, the lowest"
    if len(alike) > 1:
        words += f"; {len(alike) - 1} more {'is' if len(alike) == 2 else 'are'} as low, to within {NOTABLE}"
    return ["; ".join(filter(None, (words, _most(alike, len(ranked), best))))]


def _most(scores: Sequence[Score], count: int, best: float | None = None) -> str:
    """What F, the mean over `count` episodes, would gain if these scores were 1, or as the `best` known f_e."""
    if best is None:
        return f"F may gain at most {fsum(1.0 - score.fitness for score in scores) / count:.3f}"
    gain = fsum(max(0.0, best - score.fitness) for score in scores) / count
    which = "it" if len(scores) == 1 else "they"
    return f"F gains {gain:.3f} if {which} went as the best known episode (f_e = {best:.4f})" if gain >= 0.0005 else ""


def _best_known(parent: CandidateState) -> float:
    """The highest f_e of all known episodes of a program."""
    fresh = parent.fresh.scores if parent.fresh else ()
    return max((score.fitness for score in (*parent.scores, *fresh)), default=0.0)


def _early(parent: CandidateState) -> list[Score]:
    """The scores of the early ends of all known episodes, fresh ones too; none where they go with no lower f_e."""
    early: list[Score] = []
    lasting: list[Score] = []
    for episode, score in _known(parent):
        (lasting if episode.ended_by in REGULAR_ENDS else early).append(score)
    if lasting and early and mean([s.fitness for s in early]) >= mean([s.fitness for s in lasting]):
        return []
    return early


def _known(parent: CandidateState) -> list[tuple[Episode, Score]]:
    fresh = parent.fresh
    return [*zip(parent.episodes, parent.scores, strict=False),
            *(zip(fresh.episodes, fresh.scores, strict=False) if fresh else ())]


def _early_words(parent: CandidateState, early: Sequence[Score], best: float | None) -> str:
    count = len(_known(parent))
    words = f"{len(early)} of {plural(count, 'episode')} ended early ({endings(figure_of(parent).early)})"
    return "; ".join(filter(None, (words, _most(early, count, best))))


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
