"""Tables in the paper's layout, and correlations of F with S. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from ..core.text import DASH, number, plus_minus
from . import published as paper
from .findings import (
    ArmFinding,
    Findings,
    GroupFinding,
    find,
    pairs_of,
)
from .loading import Evidence
from .published_setting import LEARNED, differences, same_measure, searched_one_kitchen, training_differences
from .records import RunRecord
from .statistics import correlate
from .statistics import spread as spread_of
from .tables import Table, spread, spread_of_measure


def paper_tables(evidence: Evidence) -> tuple[Table, ...]:
    """The tables that name the paper; none if no run is of its tasks."""
    records = [record for record in evidence.used_records if record.domain in paper.FINAL]
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
    arms = paper.chosen_arms(evidence.used_records)
    rows = []
    for method, published in paper.GENERALISATION.items():
        here = [_value(evidence, findings, column, arms.get(method)) for column in paper.GENERALISATION_COLUMNS]
        if method in LEARNED.values():
            here[0] = _learned_cell(evidence, method)
        rows.append((method, "here", *here))
        rows.append(("", "paper", *(plus_minus(value) for value in published)))
    return Table(
        title=f"Final success rate on original and held-out domains; {evidence.used_records[0].model}",
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
    if arm is None or not _is_measured(evidence, column):
        return DASH
    return spread(spread_of_measure(arm, column.measure, fitness=False))


def _learned_cell(evidence: Evidence, method: str) -> str:
    """The success of the trainings in the paper's setting, over their seeds."""
    found = [
        row.success for row in evidence.baselines
        if LEARNED.get(row.reward) == method and row.success is not None and not training_differences(row)
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
    arms = paper.chosen_arms(evidence.used_records)
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
        title="Fitness and success at the last generation: "
        f"{paper.DOMAIN_TITLES[domain]}; {evidence.used_records[0].model}",
        columns=("Method", "Fitness F", "F, paper", "Success S", "S, paper"),
        rows=tuple(rows),
        strong=frozenset({2}),
        note="On the search's own 10 episodes, best so far, mean ± standard deviation over seeds. The paper gives the "
        "values of the ablations in its text, not in a table.",
    )


def paper_scenes(evidence: Evidence) -> Table | None:
    """Success of a search in one kitchen, measured over all 29, in the paper's setting; None if there is none."""
    records = [record for record in evidence.used_records if searched_one_kitchen(record, evidence.records)]
    if not records or not _is_measured(evidence, paper.ALL_KITCHENS):
        return None
    findings = find(replace(evidence, records=tuple(records)))
    rows = [
        (arm.arm, group.model, spread(spread_of_measure(arm, paper.ALL_KITCHENS.measure, fitness=False)),
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
