"""Tables of our final measures next to values that others have published. Pure: evidence -> tables."""

from dataclasses import replace

from ..core.text import DASH
from .findings import (
    ArmFinding,
    Findings,
    MeasureFinding,
    find,
)
from .loading import Evidence
from .published_elsewhere import YARDSTICKS, Yardstick, horizon, task_differences
from .tables import Table, mean_return, spread


def yardstick_tables(evidence: Evidence) -> tuple[Table, ...]:
    """A table for each yardstick whose tasks were run and measured."""
    found = []
    for yardstick in YARDSTICKS:
        records = tuple(record for record in evidence.used_records if record.domain in yardstick.values)
        findings = find(replace(evidence, records=records)) if records else None
        table = _table(yardstick, findings) if findings is not None else None
        if table is not None:
            found.append(table)
    return tuple(found)


def _table(yardstick: Yardstick, findings: Findings) -> Table | None:
    rows = [
        _row(yardstick, group.domain, group.model, arm, measure)
        for group in findings.groups for arm in group.arms for measure in arm.measures
    ]
    if not rows:
        return None
    totals = "".join(f" Over the seven tasks, {whose}: {value}." for whose, value in yardstick.total.items())
    return Table(
        title=yardstick.title,
        columns=(
            "Task", "Method", "Model", "What differs", "Steps", "Runs", "Episodes", f"Our {yardstick.quantity}",
            *yardstick.columns,
        ),
        groups=(("", 4), ("measured here", 4), *([("published", len(yardstick.columns))] if yardstick.columns else [])),
        rows=tuple(rows),
        texts=4,
        note=f"Ours: mean ± standard deviation over runs, each on this many unseen episodes of at most this "
        "many steps. "
        f"{yardstick.differs}{totals}",
    )


def _row(yardstick: Yardstick, domain: str, model: str, arm: ArmFinding, measure: MeasureFinding) -> tuple[str, ...]:
    ours = mean_return(measure.returns) if yardstick.quantity == "return" else spread(measure.success)
    first = arm.records[0]
    return (
        domain, arm.arm, model, task_differences(first, yardstick) or DASH, str(horizon(first) or DASH),
        str(len(arm.records)), str(measure.episodes // max(1, len(arm.records))), ours,
        *(f"{value:,.2f}" for value in yardstick.values[domain]),
    )
