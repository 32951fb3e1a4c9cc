"""The committed results: complete, isolated, and described with the numbers that they hold."""

from pathlib import Path
from statistics import fmean

import pytest
from memento.app.isolation import ISOLATING
from memento.domains.robosuite.domain import WITH_SHELF
from memento.evidence.archive import SUFFIX, read_archive
from memento.evidence.findings import find
from memento.evidence.learned_tables import baseline_table
from memento.evidence.page import PageOrigin, render
from memento.evidence.published_elsewhere import YARDSTICKS

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def table(evidence) -> str:
    """The table in the README: each method on held-out seeds, and the paired difference MEMENTO − method."""
    (group,) = find(evidence).groups
    lines = [
        "| method | success, held-out | reference fitness, held-out | area under F "
        "| Δ success (MEMENTO − method) | adjusted p |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    tests = {one.other: one for one in group.tests if one.quantity == "success: unseen"}
    for arm in group.arms:
        (measure,) = arm.measures
        test = tests.get(arm.arm)
        against = "–" if test is None else f"{test.test.difference:+.2f} [{test.test.low:+.2f}, {test.test.high:+.2f}]"
        lines.append(
            f"| `{arm.arm}` | {measure.success.mean:.2f} ± {measure.success.std:.2f} "
            f"| {measure.fitness.mean:.2f} ± {measure.fitness.std:.2f} | {arm.area.mean:.2f} ± {arm.area.std:.2f} "
            f"| {against} | {'–' if test is None else f'{test.adjusted:.3f}'} |"
        )
    return "\n".join(lines)


def test_the_committed_kinematic_figures_are_those_of_the_readme() -> None:
    evidence, _ = read_archive(RESULTS / f"kinematic{SUFFIX}")
    assert table(evidence) in (RESULTS / "README.md").read_text(encoding="utf-8"), table(evidence)


def test_the_committed_learned_baselines_are_those_of_their_page() -> None:
    evidence, _ = read_archive(RESULTS / f"learned{SUFFIX}")
    learned = baseline_table(evidence.baselines)
    assert learned is not None
    page = (RESULTS / "learned.html").read_text(encoding="utf-8")
    assert all(f">{cell}</td>" in page for row in learned.rows for cell in row)


def returns_table(evidence) -> str:
    """The table of the open tasks: the mean return on unseen episodes with its interval over seeds, task by arm."""
    groups = find(evidence).groups
    arms = [arm.arm for arm in groups[0].arms]
    lines = [f"| task | {' | '.join(f'`{arm}`' for arm in arms)} |", "| --- " * (1 + len(arms)) + "|"]
    for group in groups:
        returns = [arm.measures[0].returns for arm in group.arms]
        cells = (f"{each.mean:.1f} [{each.low:.1f}, {each.high:.1f}]" for each in returns)
        lines.append(f"| {group.task.removeprefix('gym:')} | {' | '.join(cells)} |")
    return "\n".join(lines)


def luck_table(evidence) -> str:
    """The fresh-seed test: F of the elite in the search less F on unseen episodes, the mean over seeds and tasks."""
    groups = find(evidence).groups
    lines = ["| arm | F in the search − F unseen | of the runs above 0.02 |", "| --- | --- | --- |"]
    for place, arm in enumerate(groups[0].arms):
        gaps = [
            record.curve[-1].fitness - group.arms[place].measures[0].fitness_by_seed[record.seed]
            for group in groups for record in group.arms[place].records
        ]
        lines.append(f"| `{arm.arm}` | {fmean(gaps):+.3f} | {sum(gap > 0.02 for gap in gaps)} of {len(gaps)} |")
    return "\n".join(lines)


@pytest.mark.slow
def test_the_committed_open_tasks_are_those_of_their_page() -> None:
    evidence, _ = read_archive(RESULTS / f"open-tasks{SUFFIX}")
    page = (RESULTS / "open-tasks.md").read_text(encoding="utf-8")
    assert returns_table(evidence) in page, returns_table(evidence)
    assert luck_table(evidence) in page, luck_table(evidence)


def published_table(evidence, yardstick) -> str:
    """One seed of each task that was run, next to the published values; a dash for an arm that the task has not."""
    found = find(evidence)
    arms = list(dict.fromkeys(arm.arm for group in found.groups for arm in group.arms))
    heads = ["task", "F, p_0 → elite", *(f"`{arm}`" for arm in arms), *yardstick.columns]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    groups = {group.domain: group for group in found.groups}
    for domain, published in yardstick.values.items():
        here = {} if domain not in groups else {arm.arm: arm for arm in groups[domain].arms}
        first = [one.records[0] for one in here.values()]
        search = f"{first[0].initial_fitness:.2f} → {first[0].best_fitness:.2f}" if first else "–"
        ours = [f"{here[arm].measures[0].returns.mean:.2f}" if arm in here else "–" for arm in arms]
        cells = [search, *ours, *(f"{value:.2f}" for value in published)]
        lines.append(f"| {domain.removeprefix('gym:')} | {' | '.join(cells)} |")
    return "\n".join(lines)


def robosuite_table(evidence, yardstick) -> str:
    """One seed of each task that was run; the others, with the reason."""
    lines = ["| task | F, p_0 → elite | success on unseen episodes | fitness on unseen episodes |", "| --- " * 4 + "|"]
    found = {record.domain: (record, evidence.held_out_of(record)["unseen"]) for record in evidence.records}
    for domain in yardstick.values:
        name = domain.removeprefix("robosuite:")
        if domain in found:
            record, unseen = found[domain]
            cells = (f"{record.initial_fitness:.2f} → {record.best_fitness:.2f}",
                     f"{unseen.successes} of {unseen.episodes}", f"{unseen.fitness:.2f}")
        else:
            cells = ("not run" if name in WITH_SHELF else "no shelf for the offline model", "–", "–")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


@pytest.mark.parametrize(("name", "table_of", "yardstick"), [
    ("core16", published_table, YARDSTICKS[0]), ("robosuite", robosuite_table, YARDSTICKS[1]),
])
def test_the_committed_tasks_of_others_are_those_of_their_page(name: str, table_of, yardstick) -> None:
    evidence, _ = read_archive(RESULTS / f"{name}{SUFFIX}")
    page = (RESULTS / "core16.md").read_text(encoding="utf-8")
    assert table_of(evidence, yardstick) in page, table_of(evidence, yardstick)
    assert_whole(evidence)


def assert_whole(evidence) -> None:
    """Nothing is missing, everything was isolated and measured."""
    assert evidence.records
    assert not evidence.missing
    assert all(record.status == "done" and {*ISOLATING} <= {*record.sandbox} for record in evidence.records)
    assert evidence.measured.keys() == {(record.name, "unseen") for record in evidence.records}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kinematic", "open-tasks"])
def test_a_committed_result_is_whole_and_its_reading_true(name: str) -> None:
    evidence, _ = read_archive(RESULTS / f"{name}{SUFFIX}")
    assert_whole(evidence)
    page = render(evidence, PageOrigin(made="", version=""))
    kept = (RESULTS / f"{name}.html").read_text(encoding="utf-8")
    words = page[page.index("<h2>In words") :]
    assert words[: words.index("</ul>")] in kept
