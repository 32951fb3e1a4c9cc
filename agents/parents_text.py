"""The two parents of a crossover in a prompt: what each of them is, and their results in one table."""

import json
from collections.abc import Mapping

from ..core.events import Propose
from ..core.metrics import MAX_ENTRIES, OMITTED
from ..core.operators import OPERATORS
from ..core.order_ids import parse
from ..core.text import counted, one_line
from ..core.values import JSON, Candidate, Operator
from .feedback import MAX_EPISODES

MAX_NAME = 64
MAX_CELL = 80
ABSENT = "-"


def title_of(parent: Candidate, order: Propose) -> str:
    """What a parent is: the elite, the winner of the climb, the best macro-mutation, or a program of a generation."""
    proposal = OPERATORS[parent.operator].proposal
    if parent.id == order.elite:
        if parent.operator is Operator.INITIAL:
            return "the elite, which is the first policy"
        return f"the elite of generation {order.generation - 1}, a {proposal} of generation {parent.generation}"
    if parent.generation == order.generation and parent.operator is Operator.HILL_CLIMB:
        edits = sum(_is_climb_of(order.generation, ancestor.id) for ancestor in parent.lineage)
        return f"the winner of this generation's climb, after {counted(edits, 'accepted edit')}"
    if parent.generation == order.generation:
        return f"the best {proposal} of this generation"
    if parent.operator is Operator.INITIAL:
        return "the first policy"
    return f"a {proposal} of generation {parent.generation}"


def pair_table(first: Candidate, second: Candidate) -> str:
    """F, f_e of each episode and every metric of two programs next to each other, one line each."""
    rows = [("", "parent A", "parent B"), ("F", f"{first.fitness:.4f}", f"{second.fitness:.4f}")]
    shown = max(len(first.scores), len(second.scores))
    places = range(min(shown, MAX_EPISODES))
    rows += [(f"f_e, episode {place}", _fitness(first, place), _fitness(second, place)) for place in places]
    if shown > MAX_EPISODES:
        rows.append((f"({shown - MAX_EPISODES} more episodes are left out)", "", ""))
    names = [name for name in dict.fromkeys([*first.metrics, *second.metrics]) if name != OMITTED]
    rows += [
        (one_line(name, MAX_NAME), _cell(first.metrics.get(name)), _cell(second.metrics.get(name)))
        for name in names[:MAX_ENTRIES]
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _is_climb_of(generation: int, name: str) -> bool:
    named = parse(name)
    return named.generation == generation and named.branch == OPERATORS[Operator.HILL_CLIMB].word


def _fitness(candidate: Candidate, place: int) -> str:
    return f"{candidate.scores[place].fitness:.4f}" if place < len(candidate.scores) else ABSENT


def _cell(entry: JSON) -> str:
    """One aggregated metric (`core.metrics.aggregate`) in a few characters."""
    if not isinstance(entry, Mapping):
        return ABSENT if entry is None else one_line(json.dumps(entry), MAX_CELL)
    count = entry.get("count")
    if entry == {"count": 0}:
        return "never"
    some = f" (in {count} episodes)" if isinstance(count, int) else ""
    low, mean, high = (_short(entry.get(key)) for key in ("min", "mean", "max"))
    if "mean" in entry:
        return f"{mean}{some}" if low == high else f"{mean} ({low} to {high}){some}"
    if "rate" in entry:
        return f"true: {_short(entry['rate'])}{some}"
    common = entry.get("most_common")
    if isinstance(common, Mapping):
        words = ", ".join(f"{json.dumps(text, ensure_ascii=False)} × {times}" for text, times in common.items())
        return one_line(words + some, MAX_CELL)
    return one_line(json.dumps(entry), MAX_CELL)


def _short(value: JSON) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else ABSENT
