"""The feedback on evaluated programs in later prompts: fitness, metrics, endings and faults, bounded, as data."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from ..core.metrics import MAX_ENTRIES, OMITTED, aggregate
from ..core.text import bounded, one_line
from ..core.values import JSON, Candidate, Episode, EvaluatorCandidate, Fault, Score

MAX_EPISODES = 24  # rows of an episode table
MAX_FAULTS = 3  # different faults shown
MAX_MESSAGE = 240
MAX_TRACEBACK = 1200
MAX_WORDS = 120  # characters of a metric that is not a number

REGULAR_ENDS = frozenset({"success", "horizon"})
"""Endings that policy prompts do not distinguish: policy search never uses S (paper, section 3.2)."""


def fenced(text: str, language: str = "text") -> str:
    """`text` as a Markdown code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def policy_feedback(candidate: Candidate) -> str:
    """F, M, endings and faults of a policy, without its success rate."""
    if candidate.fault is not None:
        return f"This program failed as a whole and has no fitness:\n\n{fenced(fault_text(candidate.fault))}"
    parts = [f"Fitness F = {candidate.fitness:.4f}, the mean of f_e over {len(candidate.episodes)} episodes."]
    if candidate.metrics:
        parts += ["Metrics over the episodes:", fenced(metrics_table(candidate.metrics))]
    if candidate.episodes:
        rows = [_ending(episode) for episode in candidate.episodes]
        parts += ["Episodes:", fenced(episode_table(candidate.episodes, candidate.scores, rows))]
    faults = faults_text([episode.fault for episode in candidate.episodes if episode.fault is not None])
    if faults:
        parts += ["Faults (each ended its episode at once, with f_e = 0):", fenced(faults)]
    return "\n\n".join(parts)


def evaluator_feedback(entry: EvaluatorCandidate, episodes: Sequence[Episode] = ()) -> str:
    """F, M and faults of an evaluator on T_0."""
    scores = entry.examination.scores
    if entry.examination.fault is not None:
        return f"It is not valid:\n\n{fenced(fault_text(entry.examination.fault))}"
    fitnesses = [score.fitness for score in scores]
    parts = []
    if fitnesses:
        parts.append(f"Fitness of p_0: F = {math.fsum(fitnesses) / len(fitnesses):.4f}, the mean of f_e.")
    if episodes:
        parts += ["f_e of each rollout:", fenced(episode_table(episodes, scores, [e.ended_by for e in episodes]))]
    elif fitnesses:
        shown = "  ".join(f"{fitness:.4f}" for fitness in fitnesses[:MAX_EPISODES])
        parts += ["f_e of each rollout:", fenced(shown)]
    metrics = aggregate(scores)
    if metrics:
        parts += ["Metrics over the rollouts:", fenced(metrics_table(metrics))]
    return "\n\n".join(parts)


def rollouts_table(episodes: Sequence[Episode]) -> str:
    """T_0 for evaluator writers: length, ending and success of each rollout, and its faults."""
    late = {episode.index for episode in episodes if episode.success and episode.ended_by != "success"}
    rows = [episode.ended_by + ", with success" * (episode.index in late) for episode in episodes]
    faults = faults_text([episode.fault for episode in episodes if episode.fault is not None])
    table = fenced(episode_table(episodes, (), rows, steps=True))
    return f"{table}\n\nFaults of the policy:\n\n{fenced(faults)}" if faults else table


def metrics_table(metrics: Mapping[str, JSON]) -> str:
    """A compact table of aggregated metrics (`core.metrics.aggregate`), one name per line."""
    rows: list[tuple[str, ...]] = [("metric", "mean", "min", "max", "")]
    for name, entry in list(metrics.items())[:MAX_ENTRIES]:
        rows.append((one_line(name, 80), *_metric_cells(name, entry)))
    return _aligned(rows)


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
    return _aligned(rows)


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
    trace = bounded(fault.traceback, MAX_TRACEBACK).strip()
    return f"{line}\n{trace}" if trace else line


def _ending(episode: Episode) -> str:
    return "regularly" if episode.ended_by in REGULAR_ENDS else episode.ended_by


def _metric_cells(name: str, entry: JSON) -> tuple[str, ...]:
    """Mean, min, max and a note for one aggregated metric."""
    if not isinstance(entry, Mapping):
        return ("", "", "", one_line(json.dumps(entry), MAX_WORDS))
    notes = [f"in {_number(entry['count'])} episodes"] if "count" in entry else []
    if "mean" in entry:
        return (*(_number(entry.get(key)) for key in ("mean", "min", "max")), *notes)
    if "rate" in entry:
        return (_number(entry["rate"]), "", "", "; ".join(["share of true", *notes]))
    common = entry.get("most_common")
    if isinstance(common, Mapping):
        words = ", ".join(f"{json.dumps(text, ensure_ascii=False)} × {count}" for text, count in common.items())
        return ("", "", "", one_line("; ".join([words, *notes]), 2 * MAX_WORDS))
    if name == OMITTED and "omitted" in entry:
        return ("", "", "", f"{_number(entry['omitted'])} more are left out")
    return ("", "", "", one_line(json.dumps(entry), MAX_WORDS))


def _number(value: JSON) -> str:
    if not isinstance(value, int | float):
        return "-"
    return f"{value:.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as left-aligned columns; a row of one cell may be wider than its column."""
    columns = zip_longest(*(row for row in rows if len(row) > 1), fillvalue="")
    widths = [max(map(len, column)) for column in columns]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
