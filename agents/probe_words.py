"""Probes in words: the recordings with their known order, and the pairs that an evaluator ranks wrongly. All data."""

from collections.abc import Mapping, Sequence

from ..core.probes import CUT, known_order, violations
from ..core.text import fenced_text, one_line, plural, text_table
from ..core.values import Episode, Examination, Probe
from .stories import story_within

MAX_PROBES = 32  # rows
MAX_VIOLATIONS = 6  # pairs shown
MAX_ORDERS = 16  # lines of known orders
MAX_COURSE = 1_800  # characters of the course of a recording
NAME = 60

CERTAIN = (
    "A recording that its table lists as worth less than another must score less, and so must every failure than "
    "every success (of the rollouts that were cut, only the beginnings of a success count as failures)."
)


def probes_table(probes: Sequence[Probe]) -> str:
    """The probes for writers of evaluators: steps, ending, and what is certain of their order."""
    rows: list[tuple[str, ...]] = [("probe", "steps", "ended", "worth less than")]
    for probe in [each for each in probes if not each.invariant][:MAX_PROBES]:
        below = ", ".join(one_line(name, NAME) for name in probe.below) or "-"
        rows.append((one_line(probe.name, NAME), str(probe.episode.steps), ending(probe.episode), below))
    return f"{fenced_text(text_table(rows))}\n\n{CERTAIN}"


def courses(episodes: Sequence[Episode], values: Mapping[int, float] | None = None) -> list[str]:
    """The course of a success and of a failure in the domain's words, each with a title; [] without any.

    With `values`, f_e by episode, it is that of a failure alone: the one in the middle, which got part of the way.
    """
    told = [each for each in episodes if each.notes.story]
    failures = [each for each in told if not each.success]
    if values is not None:
        failures.sort(key=lambda each: (values.get(each.index, 0.0), each.index))
        chosen = failures[len(failures) // 2 :][:1]
    else:
        chosen = [*[each for each in told if each.success][:1], *failures[:1]]
    return [
        f"The course of episode {each.index} ({ending(each)} after {each.steps} steps):\n\n"
        f"{fenced_text(story_within(each.notes.story, MAX_COURSE))}"
        for each in chosen
    ]


def orders_list(episodes: Sequence[Episode], probes: Sequence[Probe]) -> str:
    """The known orders, one line for each recording with those that are worth less; "" for none."""
    below: dict[str, list[str]] = {}
    for better, worse in known_order(episodes, probes):
        below.setdefault(better, []).append(one_line(worse, NAME))
    lines = [f"{one_line(better, NAME)} > {', '.join(worse)}" for better, worse in below.items()]
    more = [f"and {len(lines) - MAX_ORDERS} more"] if len(lines) > MAX_ORDERS else []
    return "\n".join([*lines[:MAX_ORDERS], *more])


def ending(episode: Episode) -> str:
    """How a recording ended."""
    late = ", with success" if episode.success and episode.ended_by != "success" else ""
    return "cut short" if episode.ended_by == CUT else one_line(episode.ended_by, 40) + late


def order_line(examination: Examination) -> str:
    """How many known orders an evaluator violates."""
    return f"{examination.order_violations} of {plural(examination.order_pairs, 'known order')}"


def violations_list(examination: Examination, episodes: Sequence[Episode], probes: Sequence[Probe]) -> str:
    """The pairs that are ranked the wrong way round or alike, one per line, the largest errors first; "" for none."""
    found = violations(episodes, examination.scores, probes, examination.probe_scores)
    ranked = sorted(found, key=lambda pair: pair.better_fitness - pair.worse_fitness)
    lines = [
        f"{one_line(pair.better, NAME)} ({pair.better_fitness:.4f}) should score more than "
        f"{one_line(pair.worse, NAME)} ({pair.worse_fitness:.4f})"
        for pair in ranked[:MAX_VIOLATIONS]
    ]
    if len(ranked) > MAX_VIOLATIONS:
        lines.append(f"… and {len(ranked) - MAX_VIOLATIONS} more")
    return "\n".join(lines)


def probe_scores_table(examination: Examination, probes: Sequence[Probe]) -> str:
    """What one evaluator gave on the probes."""
    rows: list[tuple[str, ...]] = [("probe", "f_e")]
    scored = zip(probes, examination.probe_scores, strict=False)
    for probe, score in [each for each in scored if not each[0].invariant][:MAX_PROBES]:
        rows.append((one_line(probe.name, NAME), f"{score.fitness:.4f}"))
    return text_table(rows)


