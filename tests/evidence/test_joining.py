"""Archives with parts of one comparison give the page of the whole comparison."""

from dataclasses import replace

import pytest
from memento.api.reporting import load
from memento.core.errors import UsageError
from memento.evidence.archive import join, write_archive
from memento.evidence.export import write_csv
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
    ({"seeds": (3, 4)}, "seed 3 is in both a and b"),
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


def test_a_report_takes_several_archives(parts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [name for name, _ in parts]
    for name, evidence in parts:
        write_archive(evidence, {evidence.records[0].name: (Picture(uri="data:,", caption=name),)}, tmp_path / name)
    evidence, pictures = load(names, tmp_path)
    assert len(evidence.records) == 6
    assert [drawn.caption for (drawn,) in pictures.by_run.values()] == names
