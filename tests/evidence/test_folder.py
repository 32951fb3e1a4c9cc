"""The folder of a comparison: finished work stays finished, whatever a killed process left behind."""

import pytest
from memento.core.errors import StoreError, UsageError
from memento.evidence.experiment import load_experiment, shipped_names
from memento.evidence.folder import MEASURES, PLAN, ComparisonFolder
from memento.evidence.loading import load_comparison
from memento.evidence.plan import list_jobs

from .logs import comparison

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("name", shipped_names())
def test_a_plan_is_read_back_as_it_was(tmp_path, name):
    experiment = load_experiment(name)
    folder = ComparisonFolder(tmp_path / "c")
    folder.write_plan(experiment)
    assert folder.plan() == experiment


def test_a_torn_line_loses_itself_only(tmp_path):
    folder = comparison(tmp_path / "c", seeds="1-2")
    whole = folder.measures()
    path = folder.path / MEASURES
    *lines, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines) + last[: len(last) // 2])
    left = folder.measures()
    lost = whole.keys() - left.keys()
    assert len(lost) == 1
    for key in lost:
        folder.append_measured(whole[key])
    assert folder.measures() == whole


def test_what_is_no_comparison_is_refused(tmp_path):
    with pytest.raises(UsageError, match="not a comparison"):
        ComparisonFolder(tmp_path).plan()
    (tmp_path / PLAN).write_text("{}")
    with pytest.raises(StoreError, match="damaged"):
        ComparisonFolder(tmp_path).plan()
    (tmp_path / PLAN).write_text('{"format": 99}')
    with pytest.raises(UsageError, match="newer version"):
        ComparisonFolder(tmp_path).plan()


def test_a_leader_s_programs_are_taken_down_once(tmp_path):
    folder = comparison(tmp_path / "c", seeds="1")
    leader, follower = list_jobs(folder.plan())
    begun = folder.settle(leader)
    assert begun.initial.read_text().startswith("program init/")
    assert begun.evaluator.read_text().startswith("program eval/")
    assert folder.beginning(follower) == begun == folder.settle(leader)


def test_runs_that_are_missing_are_said(tmp_path):
    folder = comparison(tmp_path / "c", seeds="1-2")
    job = list_jobs(folder.plan())[-1]
    for path in sorted(folder.run_of(job).rglob("*"), reverse=True):
        path.unlink()
    folder.run_of(job).rmdir()
    folder.note(at=0.0, job=job.name, event="failed", message="the account is empty")
    evidence = load_comparison(folder)
    assert evidence.missing == {job.name: "failed: the account is empty"}
    assert len(evidence.records) == 3
