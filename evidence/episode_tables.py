"""Tables of the episodes of a search: a budget of episodes, confirmations, and a gate. Pure: findings -> table."""

from collections.abc import Sequence

from ..core.text import DASH, number, share
from .findings import GroupFinding
from .records import RunRecord
from .statistics import ratio
from .tables import Table


def episodes(group: GroupFinding) -> Table | None:
    """The use of a budget of episodes and the confirmations; None for runs with neither."""
    records = [record for arm in group.arms for record in arm.records]
    if not any(record.confirmations or record.settings.get("budget_episodes") for record in records):
        return None
    rows = []
    for arm in group.arms:
        limits = sorted({str(record.settings.get("budget_episodes") or DASH) for record in arm.records})
        made = sum(record.confirmations for record in arm.records)
        refuted = sum(record.refuted for record in arm.records)
        rows.append((
            arm.arm, " ".join(limits), _mean(arm.records),
            str(made), str(refuted), share(ratio(refuted, made)),
        ))
    return Table(
        title=f"Episodes of the search: {group.title}",
        columns=("Method", "Budget", "Used per run", "Confirmations", "Order differed", "Share"),
        rows=tuple(rows),
        strong=frozenset({0}),
        note="Episodes of p_0, the candidates and the confirmations count; those of a final measure do not. In a "
        "confirmation a candidate and the elite meet on fresh episodes; where the order differed, the elite stayed.",
    )


def gates(group: GroupFinding) -> Table | None:
    """What the gate of each run stopped, and how often it was wrong; None without a gate."""
    found = [(record, record.gate) for arm in group.arms for record in arm.records if record.gate is not None]
    if not found:
        return None
    return Table(
        title=f"The gate: {group.title}",
        columns=("Run", "Tried", "Episodes", "Stopped", "Rolled out as a check", "Wrong", "Compared", "Spearman ρ"),
        rows=tuple(
            (
                record.name, str(gate.tried), str(record.gate_episodes), str(gate.stopped), str(gate.audited),
                f"{gate.wrong} of {gate.audited - gate.undecided}", str(gate.compared), number(gate.correlation),
            )
            for record, gate in found
        ),
        note="Candidates are tried on a cheap twin of the task first; its episodes are in no other count. A stop was "
        "wrong if the candidate, rolled out as a check, was as fit as its parent. The correlation is that of the mean "
        "on the twin with F, over the candidates that passed and those rolled out as a check.",
    )


def _mean(records: Sequence[RunRecord]) -> str:
    return f"{sum(record.search_episodes for record in records) / len(records):,.0f}"
