"""Probes in words: the recordings with their known order, and the pairs that an evaluator ranks wrongly. All data."""

from collections.abc import Sequence

from ..core.probes import CUT, violations
from ..core.story import aligned
from ..core.text import counted, one_line
from ..core.values import Episode, Examination, Probe
from .fencing import fenced

MAX_PROBES = 32  # rows
MAX_VIOLATIONS = 6  # pairs shown
NAME = 60

CERTAIN = (
    "A recording that its table lists as worth less than another must score less, and so must every failure than "
    "every success (of the rollouts that were cut, only the beginnings of a success count as failures)."
)


def probes_table(probes: Sequence[Probe]) -> str:
    """The probes for writers of evaluators: steps, ending, and what is certain of their order."""
    rows: list[tuple[str, ...]] = [("probe", "steps", "ended", "worth less than")]
    for probe in probes[:MAX_PROBES]:
        below = ", ".join(one_line(name, NAME) for name in probe.below) or "-"
        rows.append((one_line(probe.name, NAME), str(probe.episode.steps), ending(probe.episode), below))
    return f"{fenced(aligned(rows))}\n\n{CERTAIN}"


def ending(episode: Episode) -> str:
    """How a recording ended."""
    late = ", with success" if episode.success and episode.ended_by != "success" else ""
    return "cut short" if episode.ended_by == CUT else one_line(episode.ended_by, 40) + late


def order_line(examination: Examination) -> str:
    """How many known orders an evaluator violates."""
    return f"{examination.order_violations} of {counted(examination.order_pairs, 'known order')}"


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
    for probe, score in zip(probes[:MAX_PROBES], examination.probe_scores, strict=False):
        rows.append((one_line(probe.name, NAME), f"{score.fitness:.4f}"))
    return aligned(rows)
