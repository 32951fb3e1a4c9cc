"""Tables of the episodes of a search: a budget of episodes, confirmations, and a gate. Pure: findings -> table."""

from collections.abc import Sequence

from ..core.text import DASH, number, share
from .findings import (
    FITNESS,
    SEVERAL,
    ArmFinding,
    Findings,
    GroupFinding,
    same_evaluators,
)
from .records import RunRecord
from .statistics import VarianceSplit, ratio, variance_split
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


def variances(findings: Findings) -> Table | None:
    """How much of what differs between runs is due to the model, to the seed and to the search; None for one model.

    Models are the arms of a group, or the models of groups that have the same arm.
    """
    rows = []
    for (task, contest), arms in _by_models(findings).items():
        shared = same_evaluators(record for arm in arms.values() for record in arm.records)
        measures = list(dict.fromkeys(measure.name for arm in arms.values() for measure in arm.measures))
        quantities = [FITNESS] if shared else []
        quantities += [f"{kind}: {name}" for name in measures for kind in ("success", "fitness", "return")]
        for quantity in quantities:
            split = variance_split({model: found for model, arm in arms.items() if (found := arm.values(quantity))})
            if split is not None:
                rows.append((task, contest, quantity, *_split_cells(split)))
    if not rows:
        return None
    return Table(
        title="Variance between runs, by model, seed and search",
        columns=("Task", "Method", "Quantity", "Models", "Seeds", "Mean", "Standard deviation", "Model", "Seed",
                 "Search"),
        groups=(("", 7), ("share of the variance", 3)),
        rows=tuple(rows),
        texts=3,
        note="Components of variance of models × common seeds with one run each; a negative estimate counts 0. A seed "
        "stands for its p_0, evaluator and episodes. Search is the rest: the draws of single searches, and what a model"
        " does on one seed alone. Success, fitness under the reference evaluator and return were measured on held-out "
        "seeds; F is left out where models had different evaluators.",
    )


def _by_models(findings: Findings) -> dict[tuple[str, str], dict[str, ArmFinding]]:
    """By task and method: what each model did with it."""
    found: dict[tuple[str, str], dict[str, ArmFinding]] = {}
    for group in findings.groups:
        for arm in group.arms:
            method, model = (arm.method, arm.arm) if group.model == SEVERAL else (arm.arm, group.model)
            found.setdefault((group.task, method), {})[model] = arm
    return found


def _split_cells(split: VarianceSplit) -> tuple[str, ...]:
    parts = (split.model, split.seed, split.search)
    digits = 3 if abs(split.mean) < 10 else 1     # returns are of any size
    return (
        str(split.models), str(split.seeds), number(split.mean, digits=digits),
        number(split.total**0.5, digits=digits), *(share(ratio(part, split.total)) for part in parts),
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
