"""Archives with parts of one comparison give the page of the whole comparison."""

from dataclasses import replace

import pytest
from memento.app.api.reporting import load
from memento.core.errors import UsageError
from memento.evidence.archive import write_archive
from memento.evidence.archive_join import join
from memento.evidence.csv_files import write_csv
from memento.evidence.loading import load_comparison
from memento.evidence.page import PageOrigin, Picture, render

from .logs import comparison

FRAME = PageOrigin(made="2026-11-23 09:00 UTC", version="0.1.0")
METHODS = ["memento", "eureka-elite"]


def part(folder, seeds):
    return load_comparison(comparison(folder, methods=METHODS, seeds=seeds))


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    return [(f"{seeds[0]}.json.xz", part(tmp_path_factory.mktemp("part"), seeds)) for seeds in ([1, 3], [2])]


def without_folders(evidence):
    return replace(evidence, records=tuple(replace(one, folder=one.name) for one in evidence.records))


@pytest.mark.parametrize("order", [1, -1])
def test_the_page_and_the_rows_are_those_of_the_whole(parts, order, tmp_path):
    whole = without_folders(load_comparison(comparison(tmp_path / "whole", methods=METHODS, seeds=[1, 2, 3])))
    both = without_folders(join(parts[::order]))
    assert both == whole
    assert render(both, FRAME) == render(whole, FRAME)
    for name, evidence in (("one", both), ("other", whole)):
        write_csv(evidence, tmp_path / name)
    assert [path.read_bytes() for path in sorted((tmp_path / "one").iterdir())] == [
        path.read_bytes() for path in sorted((tmp_path / "other").iterdir())]


def test_one_part_is_itself(parts):
    assert join(parts[:1]) is parts[0][1]


def test_a_salt_is_kept_only_if_all_parts_have_it(parts):
    salted = [
        (name, replace(one, experiment=replace(one.experiment, settings={"salt": salt, "generations": 2})))
        for (name, one), salt in zip(parts, ("aa", "bb"), strict=True)
    ]
    assert join(salted).experiment.settings == {"generations": 2}
    assert join([salted[0], ("x", replace(parts[1][1], experiment=replace(
        parts[1][1].experiment, settings={"salt": "aa", "generations": 2})))]).experiment.settings["salt"] == "aa"


def test_what_is_missing_in_a_part_is_missing_in_the_whole(parts):
    (name, first), second = parts
    lost, *kept = first.records
    broken = replace(first, records=tuple(kept), missing={lost.name: "failed: no memory"})
    assert join([(name, broken), second]).missing == {lost.name: "failed: no memory"}


@pytest.mark.parametrize(("changes", "sentence"), [
    ({"preset": "quick"}, "a and b are not parts of one comparison: they differ in preset"),
    ({"settings": {"n_roll": 4}}, "they differ in settings"),
    ({"seeds": (3, 4)}, "hanoi with seed 3 is in both a and b"),
])
def test_parts_that_do_not_belong_together_are_refused(parts, changes, sentence):
    (_, first), (_, second) = parts
    other = replace(second, experiment=replace(second.experiment, **changes))
    with pytest.raises(UsageError, match=sentence):
        join([("a", first), ("b", other)])


def test_a_run_that_its_plan_does_not_name_is_kept(parts):
    (name, first), second = parts
    odd = replace(first, records=(*first.records, replace(first.records[0], name="odd")))
    assert "odd" in {record.name for record in join([(name, odd), second]).records}


def test_single_runs_are_refused(parts):
    with pytest.raises(UsageError, match="b holds single runs"):
        join([("a", parts[0][1]), ("b", replace(parts[1][1], experiment=None))])


def test_a_task_with_two_simulators_is_in_no_page(parts):
    (name, first), (other, second) = parts
    newer = replace(second, records=tuple(
        replace(one, versions={**one.versions, "mujoco": "9.9"}) for one in second.records))
    older = replace(first, records=tuple(
        replace(one, versions={**one.versions, "mujoco": "3.3"}) for one in first.records))
    with pytest.raises(UsageError, match=f"has two simulators: mujoco was 3.3 in {name} and 9.9 in {other}; repeat"):
        join([(name, older), (other, newer)])


def test_a_report_takes_several_archives(parts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [name for name, _ in parts]
    for name, evidence in parts:
        write_archive(evidence, {evidence.records[0].name: (Picture(uri="data:,", caption=name),)}, tmp_path / name)
    evidence, pictures = load(names, tmp_path)
    assert len(evidence.records) == 6
    assert [drawn.caption for (drawn,) in pictures.by_run.values()] == names


# Parts with other tasks, and with some of the arms.


TASKS = ("hanoi", "hanoi-kinematic")


def of_tasks(folder, tasks=TASKS, *, methods=METHODS, seeds=(1, 2), **table):
    return load_comparison(comparison(folder, domains=list(tasks), methods=methods, seeds=list(seeds), **table))


def test_parts_with_one_task_each_give_the_page_of_the_whole(tmp_path):
    whole = without_folders(of_tasks(tmp_path / "whole", seeds=[1]))
    both = without_folders(join([(task, of_tasks(tmp_path / task, [task], seeds=[1])) for task in TASKS]))
    assert both == whole
    assert render(both, FRAME) == render(whole, FRAME)


def test_a_part_may_leave_arms_out_and_the_whole_has_them_for_the_other_tasks_alone(tmp_path):
    first, second = of_tasks(tmp_path / "a", TASKS[:1]), of_tasks(tmp_path / "b", TASKS[1:], methods=METHODS[:1])
    both = join([("a", first), ("b", second)])
    assert [(arm.name, arm.tasks) for arm in both.experiment.arms] == [("memento", ()), ("eureka-elite", TASKS[:1])]
    assert not both.missing
    assert {(record.task, record.arm) for record in both.records} == {
        ("hanoi", "memento"), ("hanoi", "eureka-elite"), ("hanoi-kinematic", "memento")}
    assert [arm.name for arm in join([("b", second), ("a", first)]).experiment.arms] == METHODS


def test_a_measure_of_one_task_stays_its_own(tmp_path):
    cube = {"name": "Cube", "episodes": 6}
    other = {"name": "other", "episodes": 2, "tasks": ["hanoi"]}
    first = of_tasks(tmp_path / "a", TASKS[:1], measures=[cube, other])
    both = join([("a", first), ("b", of_tasks(tmp_path / "b", TASKS[1:], measures=[cube]))])
    assert [(one.name, one.tasks) for one in both.experiment.measures] == [("Cube", ()), ("other", ("hanoi",))]
    assert len(both.measured) == 2 * 2 * 3


def test_what_no_part_has_run_is_missing(tmp_path):
    first = of_tasks(tmp_path / "a", TASKS[:1], seeds=[1, 2])
    second = of_tasks(tmp_path / "b", TASKS[1:], seeds=[2])
    missing = {f"hanoi-kinematic--{arm}--s1": "in none of the parts" for arm in METHODS}
    assert join([("a", first), ("b", second)]).missing == missing


def test_a_task_with_a_seed_is_in_one_part_alone_and_means_the_same_in_all(tmp_path):
    first = of_tasks(tmp_path / "a", TASKS[:1], seeds=[1])
    with pytest.raises(UsageError, match="hanoi with seed 1 is in both a and b: name parts with different seeds or"):
        join([("a", first), ("b", of_tasks(tmp_path / "b", seeds=[1]))])
    options = {"tasks": [{"domain": "hanoi", "options": {"horizon": 9}}], "seeds": [2]}
    other = load_comparison(comparison(tmp_path / "c", domains=[], methods=METHODS, **options))
    with pytest.raises(UsageError, match=r"they differ in tasks \(hanoi\); report each alone"):
        join([("a", first), ("c", other)])
