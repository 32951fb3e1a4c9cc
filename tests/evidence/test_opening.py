"""What a report opens with, and its figures and tables as files."""

import base64
import csv
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from memento.evidence.figures import BOXES, Figure, list_figures
from memento.evidence.findings import find
from memento.evidence.loading import Evidence, load_comparison
from memento.evidence.opening import open_page
from memento.evidence.page import PageOrigin, Picture, list_parts, render
from memento.evidence.parts import (
    can_write_pdf,
    figure_pdf,
    figure_svg,
    flat_style,
    latex,
    slug,
    table_csv,
    table_latex,
    write_parts,
)
from memento.evidence.svg import bars
from memento.evidence.tables import Table

from .logs import HOSTILE, comparison, log, record

FRAME = PageOrigin(made="2026-11-21 03:00 UTC", version="0.1.0")


def opening_of(evidence):
    findings = find(evidence)
    return open_page(evidence, findings, [each for group in findings.groups for each in list_figures(group)])


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c") / "c"
    return load_comparison(comparison(folder, methods=["memento", "random", "eureka-elite"], seeds="1-4"))


def test_a_run_opens_with_what_it_returned_and_the_held_out_number_with_its_interval():
    one = record(log(seed=2), "one")
    opening = opening_of(Evidence(title="one", records=(one,)))
    assert opening.sentence.startswith("MEMENTO searched hanoi with the offline model (seed 2)")
    assert f"It returned {one.curve[-1].elite}, a " in opening.sentence
    assert f"succeeds in {100 * one.final.elite_success:.0f} % of 2 held-out episodes" in opening.sentence
    held_out = opening.numbers[0]
    assert held_out.value == f"{100 * one.final.elite_success:.0f} %"
    assert "95 %: [" in held_out.detail and "2 episodes" in held_out.detail


@pytest.mark.parametrize(("lost", "name"), [(["elite_success"], "return"), (["elite_success", "elite_return"], "F")])
def test_without_a_success_predicate_the_return_decides_then_f(lost, name):
    one = record(log(seed=2), "one")
    final = replace(one.final, elite_return=12.5, initial_return=3.0)
    one = replace(one, card=None, final=replace(final, **dict.fromkeys(lost)))
    number = opening_of(Evidence(title="one", records=(one,))).numbers[0]
    assert number.name == f"{name}, held-out"
    assert number.value == ("12.5" if name == "return" else f"{one.final.elite_fitness:.3f}")
    assert "[" not in number.detail, "an interval needs the single episodes"


def test_a_run_that_goes_on_says_so():
    facts = [fact for fact in log(seed=3) if type(fact).__name__ != "FinalMeasured"]
    one = replace(record(facts, "one"), status="running")
    opening = opening_of(Evidence(title="one", records=(one,)))
    assert "is searching" in opening.sentence and "not yet measured" in opening.sentence
    assert opening.numbers[0].name == "best F so far"
    assert "This run is not done" in render(Evidence(title="t", records=(one,)), FRAME)


def test_a_comparison_opens_with_its_answer_and_its_main_figure(made_up):
    opening, (group,) = opening_of(made_up), find(made_up).groups
    means = {arm.arm: arm.measures[0].success.mean for arm in group.arms}
    best = max((arm for arm in means if arm != "memento"), key=means.get)
    assert f"success rate of {means['memento']:.2f} on held-out episodes" in opening.sentence
    assert f"{best}, the best of the 2 others, {means[best]:.2f}" in opening.sentence
    assert opening.sentence.endswith("no difference is significant, and with 4 seeds none could be.")
    assert opening.figure.measure == "success: Cube"
    page = render(made_up, FRAME)
    assert page.index(opening.sentence) < page.index("In words")
    assert page.count(str(opening.figure.chart)) == 1, "it is not repeated below"


def test_a_significant_difference_is_part_of_the_answer(made_up):
    (group,) = find(made_up).groups
    clear = tuple(replace(one, adjusted=0.01, test=replace(one.test, difference=0.4)) for one in group.tests)
    findings = replace(find(made_up), groups=(replace(group, tests=clear),))
    sentence = open_page(made_up, findings, []).sentence
    assert "it is significantly above random and eureka-elite." in sentence


def test_several_tasks_open_with_how_often_the_method_is_ahead(tmp_path):
    two = load_comparison(comparison(tmp_path / "c", domains=["hanoi", "kitchen"], seeds="1-2"))
    opening = opening_of(two)
    assert "in 2 of 2 tasks" in opening.sentence or "in 1 of 2 tasks" in opening.sentence
    assert "hanoi · memento" in opening.figure.chart and "kitchen · random" in opening.figure.chart


def test_a_figure_of_one_dot_is_left_out():
    facts = log(seed=2)
    one = record(facts, "one")
    titles = [each.title for each in list_figures(find(Evidence(title="t", records=(one,))).groups[0])]
    assert "Best fitness so far, under the run's own evaluator" in titles
    assert not any("held-out" in title for title in titles), "the number of one run stands in the opening"
    begun = replace(one, curve=one.curve[:1])
    assert [*list_figures(find(Evidence(title="t", records=(begun,))).groups[0])] == []


def test_the_film_opens_the_page_and_paper_gets_a_still_picture():
    evidence = Evidence(title="t", records=(record(log(seed=2), "one"),))
    pictures = [Picture(uri="data:image/webp;base64,AAA1", caption="step 1"),
                Picture(uri="data:image/webp;base64,AAA2", caption="all steps", moving=True)]
    page = render(evidence, replace(FRAME, pictures={"one": pictures}))
    assert page.count("AAA2") == 1 and page.index("AAA2") < page.index("<nav")
    assert 'media="print, (prefers-reduced-motion: reduce)" srcset="data:image/webp;base64,AAA1"' in page


def test_counts_agree_with_their_nouns(tmp_path):
    one = load_comparison(comparison(tmp_path / "c", methods=["memento", "random"], seeds="1"))
    alone = replace(one, records=tuple(replace(each, settings={**each.settings, "n_roll": 1}) for each in one.records))
    page = render(alone, FRAME)
    assert "1 seed no" in page and "1 episode per candidate" in page
    assert "1 seeds" not in page and "1 episodes" not in page and "1 runs" not in page


# ---------------------------------------------------------------------------------------- as files


def test_every_figure_is_a_file_that_needs_no_page(made_up, tmp_path):
    figures, tables = list_parts(made_up)
    paths = write_parts(figures, tables, tmp_path / "parts")
    each = 2 if can_write_pdf() else 1
    assert len(paths) == len({*paths}) == each * len(figures) + 2 * len(tables)
    for path in paths:
        if path.suffix == ".svg":
            root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            style = root.find("{http://www.w3.org/2000/svg}style").text
            assert "var(" not in style and ".line.c0," in style
    curves = next(each for each in figures if each.title.startswith("Best fitness"))
    assert all(f">{arm}</text>" in figure_svg(curves) for arm in ("memento", "random", "eureka-elite"))
    again = write_parts(figures, tables, tmp_path / "parts")
    assert again == paths, "existing files are replaced"


@pytest.mark.skipif(not can_write_pdf(), reason="svglib is not installed: the extra `plots`")
def test_a_figure_as_pdf_is_one_page_of_its_size_and_the_same_each_time(made_up):
    svg = figure_svg(next(iter(list_parts(made_up)[0])))
    size = re.search(r'width="(\d+)" height="(\d+)"', svg)
    pdf = figure_pdf(svg)
    assert pdf.startswith(b"%PDF-") and pdf == figure_pdf(svg)
    # a pixel is three quarters of a point
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+)", pdf)
    assert [float(each) for each in box.groups()] == [0.75 * int(each) for each in size.groups()]


def test_the_page_carries_the_same_files(made_up):
    figures, tables = list_parts(made_up)
    page = render(made_up, FRAME)
    for text in (figure_svg(figures[0]), table_csv(tables[0]), table_latex(tables[0])):
        assert base64.b64encode(text.encode()).decode() in page


def test_a_table_as_csv_and_as_latex():
    table = Table(title="50 % of R_1 & more", columns=("Method", "S", "F"), groups=(("", 1), ("held-out", 2)),
                  rows=(("a_b", "0.5 ± 0.1", "–"), ("=1+1", "−0.20", "\\input{x}")), strong=frozenset({0}))
    rows = list(csv.reader(table_csv(table).splitlines()))
    assert rows[0] == ["Method", "held-out: S", "held-out: F"]
    assert rows[1:] == [["a_b", "0.5 ± 0.1", "–"], ["'=1+1", "−0.20", "\\input{x}"]]
    text = table_latex(table)
    assert "\\caption{50 \\% of R\\_1 \\& more}" in text
    assert "\\begin{tabular}{lrr}" in text and "\\multicolumn{2}{c}{held-out}" in text
    assert "\\textbf{a\\_b} & \\textbf{0.5 $\\pm$ 0.1} & \\textbf{--} \\\\" in text
    assert "\\input" not in text and "\\textbackslash{}input\\{x\\}" in text


def test_hostile_names_stay_text_in_every_file():
    figure = Figure(title=HOSTILE, about=HOSTILE, samples=BOXES, legend=((HOSTILE, 0),),
                    chart=bars([(HOSTILE, [(0, 1.0)])], label=HOSTILE))
    root = ElementTree.fromstring(figure_svg(figure))
    assert not {each.tag.rpartition("}")[2] for each in root.iter()} & {"script", "img", "pre"}
    assert not {*slug(HOSTILE)} - {*"abcdefghijklmnopqrstuvwxyz0123456789-"}
    assert "\\" not in latex("\\").replace("\\textbackslash{}", "")
    assert "<" not in flat_style()
