"""The paper's own tables, in its layout, with published and measured values. Pure: findings -> tables."""

from ..core.text import DASH, plus_minus
from . import paper
from .findings import Findings
from .loading import Evidence
from .tables import Table, measured, spread


def paper_generalisation(evidence: Evidence, findings: Findings) -> Table:
    """Final success on original and held-out domains in the paper's layout: for each method the measured and the
    published value."""
    arms = paper.chosen_arms(evidence.counted)
    rows = []
    for method, published in paper.GENERALISATION.items():
        here = [_published_here(findings, column, arms.get(method)) for column in paper.GENERALISATION_COLUMNS]
        rows.append((method, "here", *here))
        rows.append(("", "paper", *(plus_minus(value) for value in published)))
    return Table(
        title="Final success rate on original and held-out domains",
        columns=("Method", "", *(column.title for column in paper.GENERALISATION_COLUMNS)),
        groups=(("", 2), (paper.DOMAIN_TITLES[paper.HANOI], 3), (paper.DOMAIN_TITLES[paper.KITCHEN], 2)),
        rows=tuple(rows),
        texts=2,
        strong=frozenset({4}),
        note=f"Mean ± standard deviation over seeds; “{DASH}”: not evaluated. Here: success on held-out seeds. The "
        "paper's values come from its own simulators, language model and three seeds.",
    )


def _published_here(findings: Findings, column: paper.Column, arm: str | None) -> str:
    for group in findings.groups:
        if group.domain == column.domain:
            for one in group.arms:
                if one.arm == arm:
                    return spread(measured(one, column.measure, fitness=False))
    return DASH


def paper_final(evidence: Evidence, findings: Findings, domain: str) -> Table:
    """F and S at the last generation, for the methods and ablations of the paper."""
    arms = paper.chosen_arms(evidence.counted)
    rows = []
    for method, published in paper.FINAL[domain].items():
        here = next((one for group in findings.groups if group.domain == domain for one in group.arms
                     if one.arm == arms.get(method)), None)
        fitness = published.fitness
        rows.append((
            method,
            spread(here.fitness if here else None),
            plus_minus(fitness),
            spread(here.success if here else None),
            plus_minus(published.success),
        ))
    return Table(
        title=f"Fitness and success at the last generation: {paper.DOMAIN_TITLES[domain]}",
        columns=("Method", "Fitness F", "F, paper", "Success S", "S, paper"),
        rows=tuple(rows),
        strong=frozenset({2}),
        note="On the search's own episodes, best so far, mean ± standard deviation over seeds. The paper gives the "
        "values of the ablations in its text, not in a table.",
    )


def paper_scenes(findings: Findings) -> Table | None:
    """Success of a search in one kitchen, measured over all 29; None if that was not measured."""
    rows = []
    for group in findings.groups:
        for arm in group.arms:
            found = measured(arm, paper.ONE_KITCHEN_MEASURE, fitness=False)
            if found is not None:
                one = arm.arm.startswith("one")
                value = plus_minus(paper.ONE_KITCHEN if one else None)
                rows.append((arm.arm, spread(found), value))
    if not rows:
        return None
    return Table(
        title="Search-scene diversity: success over all 29 kitchens",
        columns=("Searched in", "Success", "Paper"),
        rows=tuple(rows),
    )
