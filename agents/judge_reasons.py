"""The reasons of the judges who chose a parent, for the writers of the next evaluators. They are data, and bounded."""

from collections.abc import Sequence

from ..core.labels import label
from ..core.text import one_line
from ..core.values import JudgeReason
from .verdict import MAX_REASON

MAX_REASONS = 10


def reasons_list(reasons: Sequence[JudgeReason]) -> str:
    """One line per judge: its vote, the label under which it saw the parent, and its reason."""
    lines = []
    for number, reason in enumerate(reasons[:MAX_REASONS], start=1):
        vote = "voted for the parent" if reason.agrees else "voted for another evaluator"
        name = "" if reason.place is None else f", which it saw as {label(reason.place)}"
        name = name if reason.agrees or not name else f" (it saw the parent as {label(reason.place or 0)})"
        lines.append(f"{number}. {vote}{name}: {one_line(reason.text, MAX_REASON) or 'no reason given'}")
    if len(reasons) > MAX_REASONS:
        lines.append(f"… and {len(reasons) - MAX_REASONS} more")
    return "\n".join(lines)
