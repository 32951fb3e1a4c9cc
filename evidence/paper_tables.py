"""The paper's own tables, in its layout, with published and measured values. Pure: evidence -> tables.

A measured value stands next to a published one only where the run has the paper's setting; all other runs are in a
separate table, with what differs.
"""

from collections.abc import Sequence
from dataclasses import replace

from ..core.text import DASH, plus_minus
from . import paper
from .findings import ArmFinding, Findings, find
from .loading import Evidence
from .paper_setting import differences, same_measure, searched_one_kitchen
from .records import RunRecord
from .tables import Table, measured, spread


def paper_tables(evidence: Evidence) -> tuple[Table, ...]:
    """The tables that name the paper; none if no run is of its tasks."""
    records = [record for record in evidence.counted if record.domain in paper.FINAL]
    same = [record for record in records if not differences(record)]
    found: list[Table] = []
    for model in dict.fromkeys(record.model for record in same):
        chosen = tuple(record for record in same if record.model == model)
        of_model = replace(evidence, records=chosen)
        findings = find(of_model)
        found.append(paper_generalisation(of_model, findings))
        domains = [domain for domain in paper.FINAL if any(record.domain == domain for record in chosen)]
        found += [paper_final(of_model, findings, domain) for domain in domains]
    scenes = paper_scenes(evidence)
    others = [record for record in records if differences(record)]
    return (*found, *([scenes] if scenes else []), *([other_settings(evidence, others)] if others else []))


def paper_generalisation(evidence: Evidence, findings: Findings) -> Table:
    """Final success on original and held-out domains in the paper's layout: for each method the measured and the
    published value. All runs of `evidence` have the paper's setting and one model."""
    arms = paper.chosen_arms(evidence.counted)
    rows = []
    for method, published in paper.GENERALISATION.items():
        here = [_value(evidence, findings, column, arms.get(method)) for column in paper.GENERALISATION_COLUMNS]
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


def _value(evidence: Evidence, findings: Findings, column: paper.Column, name: str | None) -> str:
    arm = _arm(findings, column.domain, name)
    return spread(measured(arm, column.measure, fitness=False)) if arm and _is_measured(evidence, column) else DASH


def _is_measured(evidence: Evidence, column: paper.Column) -> bool:
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
    records = [record for record in evidence.counted if searched_one_kitchen(record)]
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


def other_settings(evidence: Evidence, records: Sequence[RunRecord]) -> Table:
    """The runs whose setting is not the paper's, and what differs. No published value stands next to them."""
    findings = find(replace(evidence, records=tuple(records)))
    rows = [
        (group.task, arm.arm, group.model, "; ".join(differences(arm.records[0])), str(len(arm.records)),
         spread(arm.fitness), spread(arm.success),
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
