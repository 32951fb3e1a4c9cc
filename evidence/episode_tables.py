"""The table of the episodes of a search: a budget of episodes, and confirmations. Pure: findings -> table."""

from collections.abc import Sequence

from ..core.text import DASH, share
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


def _mean(records: Sequence[RunRecord]) -> str:
    return f"{sum(record.search_episodes for record in records) / len(records):,.0f}"
