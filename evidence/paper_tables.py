"""The paper's own tables, in its layout, with its published values beside ours. Pure: findings -> tables."""

from . import paper
from .findings import Findings
from .loading import Evidence
from .tables import NOTHING, Table, measured, plus_minus


def paper_generalisation(evidence: Evidence, findings: Findings) -> Table:
    """Final success on original and held-out domains in the paper's layout: for each method what was found here,
    and what is published."""
    arms = paper.chosen_arms(evidence.counted)
    rows = []
    for method, published in paper.GENERALISATION.items():
        here = [_published_here(findings, column, arms.get(method)) for column in paper.GENERALISATION_COLUMNS]
        rows.append((method, "here", *here))
        rows.append(("", "paper", *(NOTHING if v is None else f"{v[0]:.2f} ± {v[1]:.2f}" for v in published)))
    return Table(
        title="Final success rate on original and held-out domains",
        columns=("Method", "", *(column.title for column in paper.GENERALISATION_COLUMNS)),
        groups=(("", 2), (paper.DOMAIN_TITLES[paper.HANOI], 3), (paper.DOMAIN_TITLES[paper.KITCHEN], 2)),
        rows=tuple(rows),
        texts=2,
        strong=frozenset({4}),
        note=f"Mean ± standard deviation over seeds; “{NOTHING}”: not evaluated. Here: success on unseen seeds. The "
        "paper's values come from its own simulators, language model and three seeds.",
    )


def _published_here(findings: Findings, column: paper.Column, arm: str | None) -> str:
    for group in findings.groups:
        if group.domain == column.domain:
            for one in group.arms:
                if one.arm == arm:
                    return plus_minus(measured(one, column.measure, fitness=False))
    return NOTHING


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
            plus_minus(here.fitness if here else None),
            NOTHING if fitness is None else f"{fitness[0]:.2f} ± {fitness[1]:.2f}",
            plus_minus(here.success if here else None),
            f"{published.success[0]:.2f} ± {published.success[1]:.2f}",
        ))
    return Table(
        title=f"Fitness and success at the last generation: {paper.DOMAIN_TITLES[domain]}",
        columns=("Method", "Fitness F", "F, paper", "Success S", "S, paper"),
        rows=tuple(rows),
        strong=frozenset({2}),
        note="On the search's own episodes, best so far, mean ± standard deviation over seeds. The rows of ablations "
        "stand in the paper's text, not in a table.",
    )


def paper_scenes(findings: Findings) -> Table | None:
    """Searching in one kitchen, measured over all 29; None where that was not measured."""
    rows = []
    for group in findings.groups:
        for arm in group.arms:
            found = measured(arm, paper.ONE_KITCHEN_MEASURE, fitness=False)
            if found is not None:
                one = arm.arm.startswith("one")
                value = f"{paper.ONE_KITCHEN[0]:.2f} ± {paper.ONE_KITCHEN[1]:.2f}" if one else NOTHING
                rows.append((arm.arm, plus_minus(found), value))
    if not rows:
        return None
    return Table(
        title="Search-scene diversity: success over all 29 kitchens",
        columns=("Searched in", "Success", "Paper"),
        rows=tuple(rows),
    )
