"""The feedback on evaluated programs in later prompts: fitness, metrics, endings and faults, bounded, as data."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.faults import Fault
from ..core.figures import REGULAR_ENDS, figure_of
from ..core.metrics import OMITTED, aggregate
from ..core.programs.marks import MarkedBody, never_ran
from ..core.text import excerpt, fenced_text, one_line, plural, text_table
from ..core.values import CandidateState, Episode, EvaluatorCandidate, FeedbackDetail, Score
from .episode_table import compare, metrics_lines, metrics_table
from .figure_text import early_words
from .stories import fresh_table, said_of_worst, stories

# How far the fitness F of a program can be trusted: its spread over the episodes, and its smallest step.


FINEST = 0.001  # a smaller step of f_e counts as none
_TOLERANCE = 1e-6  # f_e that differ by less are equal


@dataclass(frozen=True, slots=True, kw_only=True)
class FitnessSpread:
    """`standard_error` of the mean F over the episodes; `step` is the smallest difference that F can show.

    Both are None where they cannot be estimated: from one episode, or from f_e that are all equal or in no steps.
    """

    standard_error: float | None
    step: float | None


def spread_of(fitnesses: Sequence[float]) -> FitnessSpread:
    """The spread of F, the mean of these f_e in [0, 1].

    The step is estimated: the largest number of which 1 and all f_e seen are multiples, over the number of episodes.
    """
    count = len(fitnesses)
    if count < 2:
        return FitnessSpread(standard_error=None, step=None)
    mean = math.fsum(fitnesses) / count
    variance = math.fsum((fitness - mean) ** 2 for fitness in fitnesses) / (count - 1)
    return FitnessSpread(standard_error=math.sqrt(variance / count), step=_step(fitnesses))


def _step(fitnesses: Sequence[float]) -> float | None:
    if max(fitnesses) - min(fitnesses) < _TOLERANCE:
        return None
    step = 1.0
    for fitness in fitnesses:
        larger, smaller = max(step, fitness), min(step, fitness)
        while smaller > _TOLERANCE:
            rest = math.fmod(larger, smaller)
            larger, smaller = smaller, rest if smaller - rest > _TOLERANCE else 0.0
        step = larger
        if step < FINEST:
            return None
    return step / len(fitnesses)


MAX_EPISODES = 24  # rows of an episode table
MAX_FAULTS = 3  # different faults shown
MAX_MESSAGE = 240
MAX_PLACES = 14  # of a program that never ran
MAX_PLACE = 120  # characters of one
MAX_TRACEBACK = 1200
LITTLE = 0.05  # loss of F below which feedback compares it with the standard error
FEW = 20  # episodes below which feedback says what they cannot show,
RARE = 0.05  # with the chance that a flaw stayed unseen
FULL = 1.0 - 1e-9  # f_e from which an episode loses nothing


def policy_feedback(candidate: CandidateState, detail: FeedbackDetail = "stories", courses: int = 2) -> str:
    """F, M, endings and faults of a policy, without its success rate.

    With "stories" the episodes are compared with one another, and the worst and the best one are described; only the
    worst one with 1 of `courses`, and with 0 what the program said of it. With "metrics" it is the paper's F and M, and
    f_e of each episode.
    """
    if candidate.fault is not None:
        return f"This program failed as a whole and has no fitness:\n\n{fenced_text(fault_text(candidate.fault))}"
    whole = detail == "stories" and 0 < len(candidate.scores) == len(candidate.episodes)
    parts = _comparison(candidate) if whole else _measures(candidate)
    faults = faults_text([episode.fault for episode in candidate.episodes if episode.fault is not None])
    if faults:
        parts += ["Faults (each ended its episode at once, with f_e = 0):", fenced_text(faults)]
    if whole:
        parts += [coverage_text(candidate), stories(candidate, courses) if courses else said_of_worst(candidate)]
    return "\n\n".join(filter(None, parts))


def coverage_text(candidate: CandidateState) -> str:
    """Which functions and branches of the program never ran in its episodes; "" for none, or where it is not known."""
    masks = [episode.notes.ran for episode in candidate.episodes if episode.notes.ran]
    idle = never_ran(candidate.program.text, masks)
    if not idle:
        return ""
    lines = [_place(place) for place in idle[:MAX_PLACES]]
    if len(idle) > MAX_PLACES:
        lines.append(f"and {len(idle) - MAX_PLACES} more")
    count, whole = len(masks), len(candidate.episodes)
    seen = plural(whole, "episode") if count == whole else f"{count} of the {whole} episodes of which it is known"
    return (f"These bodies never ran in {seen}, so nothing shows whether they work (a condition itself may have been "
            f"tested):\n\n{fenced_text(chr(10).join(lines))}")


def _place(place: MarkedBody) -> str:
    where = place.function or "outside of functions"
    return one_line(f"{where}: {place.branch or 'the whole of it'}", MAX_PLACE)


def _comparison(candidate: CandidateState) -> list[str]:
    """F with its spread, the episodes side by side, and the metrics that have no row there."""
    scores, count = candidate.scores, len(candidate.scores)
    metrics = aggregate(scores)
    comparison = compare(candidate.episodes, scores, [name for name in metrics if name != OMITTED])
    parts = [
        f"{_fitness(candidate)}{_spread(candidate)}",
        "The episodes, the worst first. A dash is no value; the last column is the mean over all episodes.",
        fenced_text(comparison.table),
        fresh_table(candidate),
    ]
    others = {name: entry for name, entry in metrics.items() if name in {*comparison.left_out, OMITTED}}
    if others:
        parts += ["More metrics that differ, by mean (least to most):", fenced_text(metrics_lines(others, count))]
    return parts


def _measures(candidate: CandidateState) -> list[str]:
    """F, M, and f_e and ending of each episode."""
    parts = [_fitness(candidate)]
    if candidate.metrics:
        table = metrics_table(candidate.metrics, max(len(candidate.scores), len(candidate.episodes)))
        parts += ["Metrics over the episodes:", fenced_text(table)]
    if candidate.episodes:
        rows = ["ended regularly" if each.ended_by in REGULAR_ENDS else each.ended_by
                for each in candidate.episodes]
        parts += ["Episodes:", fenced_text(episode_table(candidate.episodes, candidate.scores, rows))]
    return parts


def _fitness(candidate: CandidateState) -> str:
    """F over all known episodes; its parts where some are fresh; never the success rate."""
    figure = figure_of(candidate)
    if not figure.fresh:
        return f"Fitness F = {figure.fitness:.4f}, the mean of f_e over {plural(figure.episodes, 'episode')}."
    return (
        f"Fitness F = {figure.fitness:.4f}, the mean of f_e over all {figure.episodes} episodes that are known: "
        f"{figure.on_fresh:.4f} over {plural(figure.fresh, 'fresh one')}, by which it was not selected, and "
        f"{candidate.fitness:.4f} over {_search_words(figure.episodes - figure.fresh)}, on which it is compared with "
        "other programs."
    )


def _search_words(count: int) -> str:
    return f"the {count} of the search" if count > 1 else "the one of the search"


def _spread(candidate: CandidateState) -> str:
    """The range of f_e, its steps if it has any, how often episodes end early, and whether much is left to gain."""
    figure, own = figure_of(candidate), [score.fitness for score in candidate.scores]
    fresh = [score.fitness for score in candidate.fresh.scores] if candidate.fresh else []
    fitnesses = [*own, *fresh]
    spread = spread_of(fitnesses)
    if min(fitnesses) >= FULL:
        return " This is the most that F can be on these episodes: only other situations can show a loss."
    if spread.standard_error is None:
        return ""
    lost = 1.0 - math.fsum(fitnesses) / len(fitnesses)
    text = f" They range from {min(fitnesses):.4g} to {max(fitnesses):.4g}"
    text = f"{text}; the smallest step of F seems to be {spread.step:.4g}." if spread.step else f"{text}."
    if figure.early:
        text += f" {early_words(figure)}"
    elif figure.episodes < FEW:
        unseen = 1.0 - RARE ** (1.0 / len(fitnesses))
        text += f" A flaw that shows at up to {unseen:.0%} of all starts may not have shown in these episodes."
    if lost <= min(LITTLE, spread.standard_error * (1 + 1e-9)):
        text += f" Little is left to gain on these episodes: {lost:.4f}, less than the standard error of F."
    return text


def evaluator_feedback(entry: EvaluatorCandidate, episodes: Sequence[Episode] = ()) -> str:
    """F, M and faults of an evaluator on T_0."""
    scores = entry.examination.scores
    if entry.examination.fault is not None:
        return f"It is not valid:\n\n{fenced_text(fault_text(entry.examination.fault))}"
    fitnesses = [score.fitness for score in scores]
    parts = []
    if fitnesses:
        parts.append(f"Fitness of p_0: F = {math.fsum(fitnesses) / len(fitnesses):.4f}, the mean of f_e.")
    if episodes:
        parts += ["f_e of each rollout:", fenced_text(episode_table(episodes, scores, [e.ended_by for e in episodes]))]
    elif fitnesses:
        shown = "  ".join(f"{fitness:.4f}" for fitness in fitnesses[:MAX_EPISODES])
        parts += ["f_e of each rollout:", fenced_text(shown)]
    metrics = aggregate(scores)
    if metrics:
        parts += ["Metrics over the rollouts:", fenced_text(metrics_table(metrics, len(scores)))]
    return "\n\n".join(parts)


def rollouts_table(episodes: Sequence[Episode]) -> str:
    """T_0 for evaluator writers: length, ending and success of each rollout, and its faults."""
    late = {episode.index for episode in episodes if episode.success and episode.ended_by != "success"}
    rows = [episode.ended_by + ", with success" * (episode.index in late) for episode in episodes]
    faults = faults_text([episode.fault for episode in episodes if episode.fault is not None])
    table = fenced_text(episode_table(episodes, (), rows, steps=True))
    return f"{table}\n\nFaults of the policy:\n\n{fenced_text(faults)}" if faults else table


def episode_table(
    episodes: Sequence[Episode], scores: Sequence[Score], ends: Sequence[str], *, steps: bool = False
) -> str:
    """One line per episode: its scene if there is one, its steps if requested, f_e and its ending."""
    scenes = any(episode.scene for episode in episodes)
    head = ["episode", *["scene"] * scenes, *["steps"] * steps, *["f_e"] * bool(scores), "ended"]
    rows: list[tuple[str, ...]] = [tuple(head)]
    for place, (episode, end) in enumerate(zip(episodes, ends, strict=True)):
        if place == MAX_EPISODES:
            rows.append((f"… and {len(episodes) - place} more",))
            break
        cells = [str(episode.index)]
        cells += [one_line(episode.scene or "-", 40)] if scenes else []
        cells += [str(episode.steps)] if steps else []
        if scores:
            cells.append(f"{scores[place].fitness:.4f}" if place < len(scores) else "-")
        rows.append((*cells, one_line(end, 60)))
    return text_table(rows)


def faults_text(faults: Sequence[Fault]) -> str:
    """The different faults of some episodes with their counts, the most frequent first; "" for none."""
    tally = Counter((str(fault.kind), one_line(fault.message, MAX_MESSAGE)) for fault in faults)
    examples = {(str(fault.kind), one_line(fault.message, MAX_MESSAGE)): fault for fault in reversed(faults)}
    ranked = sorted(tally.items(), key=lambda item: (-item[1], item[0]))
    texts = [f"{count} × {fault_text(examples[key])}" for key, count in ranked[:MAX_FAULTS]]
    if len(ranked) > MAX_FAULTS:
        texts.append(f"… and {len(ranked) - MAX_FAULTS} other kinds")
    return "\n".join(texts)


def fault_text(fault: Fault) -> str:
    """A fault with its bounded traceback."""
    line = f"{fault.kind}: {one_line(fault.message, MAX_MESSAGE)}"
    trace = excerpt(fault.traceback, MAX_TRACEBACK).strip()
    return f"{line}\n{trace}" if trace else line
