"""Comparisons whose arms are models: one p_0, one evaluator, the same episodes, and how the variance splits."""

from pathlib import Path

import pytest
from memento.core.errors import UsageError
from memento.core.provenance import GIVEN
from memento.evidence.episode_tables import variances
from memento.evidence.experiment import build_experiment, load_experiment
from memento.evidence.findings import SEVERAL, find
from memento.evidence.folder import ComparisonFolder
from memento.evidence.loading import load_comparison, load_runs
from memento.evidence.page import list_parts
from memento.evidence.plan import Beginning, arguments_of, check, effects_of, list_jobs, with_flags
from memento.evidence.scheduling import Progress
from memento.evidence.summary import rows_of

from .logs import comparison, log, store

ARMS = [
    {"name": "large", "method": "memento", "model": "openai:gpt-5.2"},
    {"name": "small", "method": "memento", "model": "compatible:lab@http://127.0.0.1:1/v1#small"},
    {
        "name": "own", "method": "memento", "model": "openai:gpt-5.2", "evaluator": "evolve",
        "set": {"evaluator_model": "openai:gpt-5-mini"},
    },
]


def build(**table: object):
    given = {"domains": ["hanoi-kinematic"], "arms": ARMS, "seeds": "1-2", "preset": "smoke", **table}
    return build_experiment(given, name="t", origin="t")


def test_arms_are_models_that_share_what_one_of_them_settles() -> None:
    experiment = build()
    jobs = [job for job in list_jobs(experiment) if job.seed == 1]
    assert [(job.arm.name, job.model, job.leads) for job in jobs] == [
        ("large", "openai:gpt-5.2", True), ("small", ARMS[1]["model"], False), ("own", "openai:gpt-5.2", False)
    ]
    assert len({job.beginning for job in jobs}) == 1
    settings = check(experiment, GIVEN)
    assert {each.salt for each in settings.values()} == {"none"}
    assert {each.model for each in settings.values()} == {"openai:gpt-5.2", ARMS[1]["model"]}
    assert [settings[job.name].evaluator_model for job in jobs] == [None, None, "openai:gpt-5-mini"]
    begun = Beginning(initial=Path("p.py"), evaluator=Path("e.py"))
    evaluators = [arguments_of(experiment, job, None if job.leads else begun)[0]["evaluator"] for job in jobs]
    assert evaluators == ["evolve", "e.py", "evolve"]
    assert {arguments_of(experiment, job, begun)[0]["initial"] for job in jobs[1:]} == {"p.py"}
    assert any("http://127.0.0.1:1/v1" in effect for effect in effects_of(experiment)), "a plan from elsewhere asks"


def test_a_plan_keeps_the_models_of_its_arms(tmp_path: Path) -> None:
    folder = ComparisonFolder(tmp_path / "c")
    folder.write_plan(build())
    assert folder.plan() == build()
    rows = rows_of(build(), list_jobs(build()), Progress(phases={}), {}, {})
    assert [(row.arm, row.model, row.runs) for row in rows] == [
        ("large", "openai:gpt-5.2", 2), ("small", ARMS[1]["model"], 2), ("own", "openai:gpt-5.2", 2)
    ]


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"models": ["openai:gpt-5.2", "offline"]}, "its arms do so, too"),
        ({"arms": [*ARMS, {"method": "random"}]}, "'random' names no model"),
        ({"arms": [*ARMS, {"method": "sac-her", "model": "offline"}]}, "'sac-her' is trained without one"),
        ({"arms": [{**ARMS[0], "model": 3}]}, "model"),
    ],
)
def test_half_of_the_models_is_one_sentence(table: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        build(**table)
    with pytest.raises(UsageError, match="leave models and --model out"):
        with_flags(build(), models=["offline", "openai:gpt-5.2"])


def test_the_report_compares_the_models_and_splits_the_variance(tmp_path: Path) -> None:
    folder = comparison(
        tmp_path / "c", domains=["hanoi"], arms=[{key: arm[key] for key in ("name", "method", "model")}
                                                 for arm in ARMS[:2]], methods=[],
    )
    evidence = load_comparison(folder)
    findings = find(evidence)
    [group] = findings.groups
    assert (group.model, [arm.arm for arm in group.arms]) == (SEVERAL, ["large", "small"])
    assert {test.one for test in group.tests} == {"large"}
    table = variances(findings)
    assert table is not None
    success = next(row for row in table.rows if row[2] == "success: Cube")
    assert success[:5] == ("hanoi", "memento", "success: Cube", "2", "4")
    assert sum(int(cell.removesuffix(" %")) for cell in success[-3:]) in range(99, 102)
    _, shown = list_parts(evidence)
    titles = [each.title for each in shown]
    assert table.title in titles and any(title.startswith("Costs: hanoi; several models") for title in titles)


def test_models_of_an_experiment_and_single_runs_are_split_too(tmp_path: Path) -> None:
    """Each model of `models` has a separate p_0 and evaluator, so F is no quantity there."""
    folder = comparison(tmp_path / "c", methods=["memento"], models=["offline", "openai:gpt-5.2"])
    table = variances(find(load_comparison(folder)))
    assert table is not None
    assert {row[2] for row in table.rows} >= {"success: Cube", "fitness: Cube"}
    runs = [
        store(tmp_path / f"{model.replace(':', '-')}-{seed}", log(seed=seed, model=model))
        for model in ("offline", "openai:gpt-5.2") for seed in (1, 2)
    ]
    single = variances(find(load_runs(runs)))
    assert single is not None and {row[3:5] for row in single.rows} == {("2", "2")}
    assert variances(find(load_runs(runs[:2]))) is None, "one model"


def test_the_shipped_experiment_has_proposers_and_writers() -> None:
    experiment = load_experiment("models")
    settings = check(experiment, GIVEN)
    pairs = {(each.model, each.evaluator_model, each.evaluator) for each in settings.values()}
    assert len({model for model, _, _ in pairs}) == 2
    assert len({writer for _, writer, _ in pairs if writer is not None}) == 2
