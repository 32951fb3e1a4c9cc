"""A report on runs shows learned baselines next to them, from their logs or from an archive."""

from pathlib import Path

from memento.app.api.reporting import load
from memento.evidence.archive import read_archive, write_archive
from memento.evidence.learned_tables import baseline_table
from memento.evidence.page import PageOrigin, list_parts, render
from memento.extensions.rl.log import BaselineLog, EvaluationPoint, TrainingProgress
from memento.extensions.rl.results import read_row
from memento.extensions.rl.settings import BaselineArguments, build

from ...evidence.logs import log, store

FRAME = PageOrigin(made="2026-11-21 03:00 UTC", version="0.1.0")


def test_a_baseline_is_a_row_that_says_what_was_run(tmp_path: Path) -> None:
    store(tmp_path / "search", log())
    trained = tmp_path / "trained"
    trained.mkdir()
    settings = build(BaselineArguments(domain="hanoi", steps=5000, seed=3, salt="none", flags={"randomisation": "none"},
                           environments=16))
    written = BaselineLog(trained)
    written.add("started", {"settings": settings.as_json(), "versions": {}})
    for steps in (1000, 5000):
        written.progress(TrainingProgress(
            steps=steps, updates=steps, episodes=1, wall_s=steps / 10, cpu_s=steps / 5, mean_return=None, success=None,
            reached=None,
        ))
        written.evaluated(EvaluationPoint(
            steps=steps, episodes=5, mean_return=-steps, success=0.0, reached=0.2, wall_s=1.0, cpu_s=4.0,
        ))
    written.add("measured", {
        "success_rate": 0.0, "reached_rate": 0.25, "fitness": 0.125, "return_mean": -900.0,
        "episodes": [{"seed": number} for number in range(4)],
    })
    evidence, _ = load(["search", "trained"], tmp_path)
    page = render(evidence, FRAME)
    table = page.partition('<section id="learned">')[2].partition("</section>")[0]
    cells = [
        "trained", "hanoi, variant cube, randomisation none", "sac-her", "sparse", "done", "3", "16", "5,000", "0.28",
        "0.00", "0 %", "25 %", "-900.00", "0.125", "4", "800", "2,778",
    ]
    ours, evaluations = (part.partition("</tbody>")[0] for part in table.split("<tbody>")[1:])
    assert [cell.partition(">")[2].partition("<")[0] for cell in ours.split("<td")[1:]] == cells
    assert [cell.partition(">")[2].partition("<")[0] for cell in evaluations.split("<td")[4:8]] == [
        "1,000", "0 %", "20 %", "-1,000.00"]
    assert evaluations.count("<tr>") == 2
    figures, tables = list_parts(evidence)
    shown = ["Success during the training", "Goal reached during the training"]
    assert [figure.title for figure in figures][-2:] == shown
    assert all(figure.title in table for figure in figures[-2:])
    assert "Evaluations during the training" in {each.title for each in tables}
    write_archive(evidence, {}, tmp_path / "a.json.xz")
    assert read_archive(tmp_path / "a.json.xz")[0].baselines == evidence.baselines
    alone, _ = load(["trained"], tmp_path)
    assert alone.baselines == evidence.baselines
    page = render(alone, FRAME)
    assert table in page and "<h2>All runs</h2>" not in page and "<dt>reward</dt><dd>sparse</dd>" in page


def test_a_row_without_a_measure_says_what_is_missing(tmp_path: Path) -> None:
    rows = {}
    for steps in (3000, 5000):
        trained = tmp_path / f"at-{steps}"
        trained.mkdir()
        written = BaselineLog(trained)
        settings = build(BaselineArguments(domain="hanoi-kinematic", steps=5000, seed=3, salt="none", flags={}))
        written.add("started", {"settings": settings.as_json(), "versions": {}})
        written.progress(TrainingProgress(
            steps=steps, updates=0, episodes=0, wall_s=1.0, cpu_s=1.0, mean_return=None, success=None, reached=None,
        ))
        written.add("checkpoint", {"steps": steps})
        rows[steps] = dict(zip(*columns_and_cells(trained), strict=True))
    for row in rows.values():
        assert [row[name] for name in ("Success", "Goal reached", "Return", "Reference F", "Episodes")] == ["–"] * 5
    assert (rows[3000]["Status"], rows[3000]["Simulator steps"]) == ("stopped", "3,000 of 5,000")
    assert (rows[5000]["Status"], rows[5000]["Simulator steps"]) == ("trained but not measured", "5,000")


def columns_and_cells(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    table = baseline_table([read_row(folder)])
    assert table is not None
    return tuple(table.columns), table.rows[0]
