"""The page's further tables: the paper's layout, published values, budgets of episodes, learned baselines. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from ..core.text import DASH, number, plus_minus, share
from . import published as paper
from .findings import (
    FITNESS,
    SEVERAL,
    ArmFinding,
    Findings,
    GroupFinding,
    MeasureFinding,
    find,
    pairs_of,
    same_evaluators,
)
from .learned import BaselineRow
from .loading import Evidence
from .published import (
    YARDSTICKS,
    Yardstick,
    differences,
    horizon,
    same_measure,
    searched_one_kitchen,
    task_differences,
    training_differences,
)
from .records import RunRecord
from .statistics import VarianceSplit, correlate, ratio, variance_split
from .statistics import spread as spread_of
from .tables import Table, mean_return, measured, spread


def paper_tables(evidence: Evidence) -> tuple[Table, ...]:
    """The tables that name the paper; none if no run is of its tasks."""
    records = [record for record in evidence.counted if record.domain in paper.FINAL]
    same = [record for record in records if not differences(record, evidence.records)]
    found: list[Table] = []
    for model in dict.fromkeys(record.model for record in same):
        chosen = tuple(record for record in same if record.model == model)
        of_model = replace(evidence, records=chosen)
        findings = find(of_model)
        found.append(paper_generalisation(of_model, findings))
        domains = [domain for domain in paper.FINAL if any(record.domain == domain for record in chosen)]
        found += [paper_final(of_model, findings, domain) for domain in domains]
    scenes = paper_scenes(evidence)
    others = [record for record in records if differences(record, evidence.records)]
    return (*found, *([scenes] if scenes else []), *([other_settings(evidence, others)] if others else []))


def paper_generalisation(evidence: Evidence, findings: Findings) -> Table:
    """Final success on original and held-out domains in the paper's layout: for each method the measured and the
    published value. All runs of `evidence` have the paper's setting and one model."""
    arms = paper.chosen_arms(evidence.counted)
    rows = []
    for method, published in paper.GENERALISATION.items():
        here = [_value(evidence, findings, column, arms.get(method)) for column in paper.GENERALISATION_COLUMNS]
        if method in paper.LEARNED.values():
            here[0] = _learned(evidence, method)
        rows.append((method, "here", *here))
        rows.append(("", "paper", *(plus_minus(value) for value in published)))
    return Table(
        title=f"Final success rate on original and held-out domains; {evidence.counted[0].model}",
        columns=("Method", "", *(column.title for column in paper.GENERALISATION_COLUMNS)),
        groups=(("", 2), (paper.DOMAIN_TITLES[paper.HANOI], 3), (paper.DOMAIN_TITLES[paper.KITCHEN], 2)),
        rows=tuple(rows),
        texts=2,
        strong=frozenset({4}),
        note=f"Mean ± standard deviation over seeds; “{DASH}”: not evaluated. Here: {_episodes(evidence)}. The paper "
        "does not give its number of episodes. Its values come from its own simulators, language model and three "
        "seeds.",
    )


def _value(evidence: Evidence, findings: Findings, column: paper.PaperColumn, name: str | None) -> str:
    arm = _arm(findings, column.domain, name)
    return spread(measured(arm, column.measure, fitness=False)) if arm and _is_measured(evidence, column) else DASH


def _learned(evidence: Evidence, method: str) -> str:
    """The success of the trainings in the paper's setting, over their seeds."""
    found = [
        row.success for row in evidence.baselines
        if paper.LEARNED.get(row.reward) == method and row.success is not None and not training_differences(row)
    ]
    return spread(spread_of(found)) if found else DASH


def _is_measured(evidence: Evidence, column: paper.PaperColumn) -> bool:
    """Whether the comparison has the final measure of this column, as in the paper."""
    measures = () if evidence.experiment is None else evidence.experiment.measures
    return any(same_measure(one, column) for one in measures if one.name == column.measure)


def _arm(findings: Findings, domain: str, name: str | None) -> ArmFinding | None:
    groups = [group for group in findings.groups if group.domain == domain]
    return next((arm for group in groups for arm in group.arms if arm.arm == name), None)


def _episodes(evidence: Evidence) -> str:
    counts = sorted({measure.episodes - measure.skip for measure in evidence.experiment.measures}
                    if evidence.experiment is not None else ())
    if not counts:
        return "no measure of a comparison is that of the paper's table"
    return f"success on held-out seeds, {' or '.join(map(str, counts))} episodes for each run"


def paper_final(evidence: Evidence, findings: Findings, domain: str) -> Table:
    """F and S at the last generation, for the methods and ablations of the paper."""
    arms = paper.chosen_arms(evidence.counted)
    rows = []
    for method, published in paper.FINAL[domain].items():
        here = _arm(findings, domain, arms.get(method))
        rows.append((
            method,
            spread(here.fitness if here else None),
            plus_minus(published.fitness),
            spread(here.success if here else None),
            plus_minus(published.success),
        ))
    return Table(
        title=f"Fitness and success at the last generation: {paper.DOMAIN_TITLES[domain]}; {evidence.counted[0].model}",
        columns=("Method", "Fitness F", "F, paper", "Success S", "S, paper"),
        rows=tuple(rows),
        strong=frozenset({2}),
        note="On the search's own 10 episodes, best so far, mean ± standard deviation over seeds. The paper gives the "
        "values of the ablations in its text, not in a table.",
    )


def paper_scenes(evidence: Evidence) -> Table | None:
    """Success of a search in one kitchen, measured over all 29, in the paper's setting; None if there is none."""
    records = [record for record in evidence.counted if searched_one_kitchen(record, evidence.records)]
    if not records or not _is_measured(evidence, paper.ALL_KITCHENS):
        return None
    findings = find(replace(evidence, records=tuple(records)))
    rows = [
        (arm.arm, group.model, spread(measured(arm, paper.ALL_KITCHENS.measure, fitness=False)),
         plus_minus(paper.ONE_KITCHEN))
        for group in findings.groups for arm in group.arms
    ]
    return Table(
        title="Search-scene diversity: success over all 29 kitchens, searched in one",
        columns=("Method", "Model", "Success", "Paper"),
        rows=tuple(rows),
        texts=2,
    )


def correlations(findings: Findings, among: Sequence[RunRecord]) -> Table:
    """F against S of the elites of every generation, p_0 included, as the paper pairs them: of all arms of a task, and
    of the paper's three methods in its setting. `among` are all runs of the report."""
    rows = []
    for group in findings.groups:
        records = [record for arm in group.arms for record in arm.records]
        chosen = _correlated_in_the_paper(records, among)
        published = paper.CORRELATION.get(group.domain) if chosen else None
        if len(chosen) < len(records):
            rows.append(_correlation(group, records, None))
        if chosen:
            rows.append(_correlation(group, chosen, published))
    return Table(
        title="Correlation of fitness and success",
        columns=("Task", "Model", "Arms", "Pairs", "Pearson r", "Spearman ρ", "Pearson r", "Spearman ρ"),
        groups=(("", 4), ("here", 2), ("paper, 54 pairs", 2)),
        rows=tuple(rows),
        texts=3,
        note="Pairs (F, S) of each generation's elite: methods × seeds × (G + 1). The pairs of one run depend on one "
        "another, so this describes the selected candidates and is not a test. The paper's values stand next to "
        f"{', '.join(paper.CORRELATED[:-1])} and {paper.CORRELATED[-1]} together, in the paper's setting only.",
    )


def _correlated_in_the_paper(records: Sequence[RunRecord], among: Sequence[RunRecord]) -> list[RunRecord]:
    """The runs of the paper's three methods in its setting; none unless there are some of each."""
    same = [record for record in records if not differences(record, among)]
    arms = paper.chosen_arms(tuple(same))
    if not {*paper.CORRELATED} <= arms.keys():
        return []
    wanted = {arms[name] for name in paper.CORRELATED}
    return [record for record in same if record.arm in wanted]


def _correlation(
    group: GroupFinding, records: Sequence[RunRecord], published: tuple[float, float, int] | None
) -> tuple[str, ...]:
    pairs = pairs_of(records)
    found = correlate([(fitness, success) for _, fitness, success in pairs])
    return (
        group.task, group.model, ", ".join(dict.fromkeys(record.arm for record in records)), str(len(pairs)),
        number(found.pearson), number(found.spearman),
        *((number(published[0]), number(published[1])) if published else (DASH, DASH)),
    )


def other_settings(evidence: Evidence, records: Sequence[RunRecord]) -> Table:
    """The runs whose setting is not the paper's, and what differs. No published value stands next to them."""
    findings = find(replace(evidence, records=tuple(records)))
    rows = [
        (group.task, arm.arm, group.model, "; ".join(differences(arm.records[0], evidence.records)),
         str(len(arm.records)), spread(arm.fitness), spread(arm.success),
         ", ".join(f"{one.name} {spread(one.success)}" for one in arm.measures) or DASH)
        for group in findings.groups for arm in group.arms
    ]
    return Table(
        title="Runs in other settings than the paper's",
        columns=("Task", "Method", "Model", "What differs", "Runs", "F", "S", "Held-out success"),
        rows=tuple(rows),
        texts=4,
        note="These values cannot be compared with published ones. F and S are on the search's own episodes.",
    )


# Tables of our final measures next to values that others have published. Pure: evidence -> tables.


def yardstick_tables(evidence: Evidence) -> tuple[Table, ...]:
    """A table for each yardstick whose tasks were run and measured."""
    found = []
    for yardstick in YARDSTICKS:
        records = tuple(record for record in evidence.counted if record.domain in yardstick.values)
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


# Tables of the episodes of a search: a budget of episodes, confirmations, and a gate. Pure: findings -> table.


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


# Learned baselines in a report: what was trained exactly, what it cost, and what it does on unseen episodes. Pure.


def baseline_table(rows: Sequence[BaselineRow]) -> Table | None:
    """One row per training, in the order given; None without any."""
    if not rows:
        return None
    more = next((row.cpu_hours_of for row in rows if row.cpu_hours_of), ())
    return Table(
        title="Learned baselines",
        columns=("Run", "Task", "Method", "Reward", "Status", "Seed", "Environments", "Simulator steps", "CPU hours",
                 "Dollars", "Success", "Goal reached", "Return", "Reference F", "Episodes",
                 *(f"CPU hours for {steps / 1e6:g} M steps" for steps, _ in more)),
        rows=tuple(_cells(row, [steps for steps, _ in more]) for row in rows),
        texts=5,
        note="Trained for the simulator steps that the row says, of all environments together, and no more; the "
        "columns on the right extrapolate the measured pace. Success is the task's own on unseen episodes; goal "
        "reached is that of hindsight, every part of the goal within the tolerance at the last step. A row without "
        "episodes has no measure: its status says whether the training or only the measure is missing.",
    )


def evaluation_table(rows: Sequence[BaselineRow]) -> Table | None:
    """One row per evaluation during a training; None without any."""
    found = tuple(
        (row.name, row.task, row.reward, f"{point.steps:,}", share(point.success), share(point.reached),
         number(point.mean_return, digits=2), str(point.episodes))
        for row in rows for point in row.evaluations
    )
    if not found:
        return None
    return Table(
        title="Evaluations during the training",
        columns=("Run", "Task", "Reward", "Simulator steps", "Success", "Goal reached", "Return", "Episodes"),
        rows=found,
        texts=3,
        note="The agent without exploration, on the task of its training, in the same episodes at every point; they "
        "are not those of the measure, and nothing was chosen by them. The paper evaluates 5 episodes every 1,000,000 "
        "steps.",
    )


def _cells(row: BaselineRow, more: Sequence[int]) -> tuple[str, ...]:
    hours = dict(row.cpu_hours_of)
    return (
        row.name, row.task, row.method, row.reward, row.status,
        str(row.seed), str(row.environments), _steps(row), number(row.cpu_hours, digits=2),
        f"{row.usd:.2f}", share(row.success), share(row.reached), number(row.mean_return, digits=2),
        number(row.fitness), str(row.episodes) if row.episodes else DASH,
        *(number(hours[steps], digits=0) if steps in hours else DASH for steps in more),
    )


def _steps(row: BaselineRow) -> str:
    """The steps that were done, and of how many if that is not all."""
    return f"{row.steps:,}" if row.steps >= row.planned_steps else f"{row.steps:,} of {row.planned_steps:,}"
