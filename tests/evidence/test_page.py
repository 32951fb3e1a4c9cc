"""The page is self-contained, escapes hostile texts, and agrees with the runs."""

import csv
import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import (
    EliteChanged,
    VoteCast,
)
from memento.core.programs.line_diff import diff_lines
from memento.core.text import DASH
from memento.core.values import Program
from memento.evidence import episode_tables, page_tables, tables
from memento.evidence.archive import read_archive, write_archive
from memento.evidence.baseline_rows import BaselineRow
from memento.evidence.csv_files import write_csv
from memento.evidence.descent import lines_of_diff
from memento.evidence.experiment import is_learned, load_experiment
from memento.evidence.findings import find
from memento.evidence.loading import Evidence, load_comparison
from memento.evidence.page import PageOrigin, Picture, render
from memento.evidence.page_tables import paper_generalisation, paper_tables
from memento.evidence.plan import check, list_jobs
from memento.evidence.published import CORRELATION
from memento.evidence.published_setting import FREE, PAPER, SHARED_FILES, TASKS, differences, training_differences
from memento.evidence.published_tables import yardstick_tables
from memento.evidence.sentences import sentences
from memento.evidence.svg import Dots, Line, Mark, Node, bars, curves, dot_rows, rail, scatter, spread_out
from memento.extensions.rl.arm import given_of
from memento.extensions.rl.settings import BaselineArguments, build
from memento.settings import Settings

from .logs import HOSTILE, comparison, hostile_log, log, record

FRAME = PageOrigin(
    made="2026-11-21 03:00 UTC", version="0.1.0", command="memento report", expected_layers=("landlock",)
)


def rows_in(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


class Reading(HTMLParser):
    """Checks that tags are closed in order, and keeps what a page is made of."""

    VOID = frozenset({"meta", "img", "br", "hr", "link", "input"})

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], set(), [], []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> within {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


def read(page):
    reading = Reading()
    reading.feed(page)
    reading.close()
    assert not reading.open
    return reading


def test_hostile_texts_are_shown_and_never_obeyed():
    one = replace(record(hostile_log(), HOSTILE), arm=HOSTILE, task=HOSTILE, model=f"offline{HOSTILE}",
                  versions={HOSTILE: HOSTILE})
    evidence = Evidence(title=HOSTILE, records=(one,), missing={HOSTILE: HOSTILE})
    page = render(evidence, replace(FRAME, command=HOSTILE))
    reading = read(page.encode("utf-8", "backslashreplace").decode())
    assert not reading.tags & {"script", "iframe", "object", "embed", "link", "form"}
    assert not [name for name, _ in reading.attributes if name.startswith("on")]
    assert "alert(1)" in "".join(reading.text), "it is shown as text"
    assert "{{ 7*7 }}" in "".join(reading.text)


def test_nothing_is_loaded_from_anywhere():
    reading = read(render(Evidence(title="t", records=(record(log()),)), FRAME))
    sources = [value for name, value in reading.attributes if name in ("src", "href", "srcset", "action", "xlink:href")]
    assert all(value.startswith(("#", "data:")) for value in sources)
    policy = [value for name, value in reading.attributes if name == "content" and "default-src" in (value or "")]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    folder = comparison(tmp_path_factory.mktemp("c") / "c", methods=["memento", "random", "eureka-elite"], seeds="1-4")
    return load_comparison(folder)


def test_a_page_names_no_folder_of_the_machine():
    """A comparison gives p_0 to its runs as a file, and a command line may name folders."""
    made = record(log(seed=5))
    given = {**made.settings, "initial": "/srv/person/runs/x/programs/p0.py"}
    page = render(Evidence(title="t", records=(replace(made, settings=given),)),
                  replace(FRAME, command="memento report parts/a.json.xz /srv/person/b.json.xz"))
    assert "/srv/person" not in page and "p0.py" in page
    assert "memento report parts/a.json.xz b.json.xz" in page


def test_the_page_says_what_the_runs_say(made_up):
    page = render(made_up, FRAME)
    [group] = find(made_up).groups
    text = "".join(read(page).text)
    for arm in group.arms:
        assert tables.spread(arm.fitness) in text
        assert tables.spread(arm.measures[0].success) in text
    for one in made_up.records:
        assert one.name in text
    assert "is not a language model" in text, "the page names the offline model"
    assert "0.97 ± 0.06" not in text, "these runs are not in the paper's setting"
    assert "0.97 ± 0.06" in "".join(read(render(as_in_the_paper(made_up), FRAME)).text)


def as_in_the_paper(evidence, domain="hanoi", **options):
    """The same runs, recorded as if they had the paper's setting but for these options."""
    search = {key: value for key, value in PAPER.items() if key not in {*FREE, *SHARED_FILES}}
    given = {**search, "options": {**TASKS[domain], **options}}
    records = [replace(one, domain=domain, settings={**one.settings, **given}) for one in evidence.records]
    measures = [replace(measure, episodes=10) for measure in evidence.experiment.measures]
    return replace(evidence, records=tuple(records), experiment=replace(evidence.experiment, measures=tuple(measures)))


def test_the_banners():
    done, other = record(log(seed=2), "one"), record(log(seed=3)[:-5], "two")
    evidence = Evidence(title="t", records=(done, other), missing={"three": "failed: no money"})
    text = "".join(read(render(evidence, FRAME)).text)
    assert "2 of 3 runs are not done; the statistics leave them out." in text
    assert "failed: no money" in text
    assert "not fully isolated" not in text
    bare = Evidence(title="t", records=(replace(done, sandbox=(), model="openai:gpt-5.2"),))
    text = "".join(read(render(bare, FRAME)).text)
    assert "In this run generated programs were not fully isolated" in text
    assert "offline model" not in text


def test_single_runs_show_their_own_final_measure():
    one = record(log(seed=2), "one")
    page = "".join(read(render(Evidence(title="t", records=(one,)), FRAME)).text)
    assert f"the run's own {one.final.elite_success:.2f}" in page
    [group] = find(Evidence(title="t", records=(one,))).groups
    assert group.arms[0].measures[0].success.mean == one.final.elite_success
    assert group.arms[0].measures[0].episodes == one.final.episodes


def test_a_budget_of_episodes_and_confirmations_have_a_table_where_there_are_some():
    plain = record(log(seed=2), "one")
    [group] = find(Evidence(title="t", records=(plain,))).groups
    assert episode_tables.episodes(group) is None
    used = replace(
        plain, settings={**plain.settings, "budget_episodes": 128}, search_episodes=120, confirmations=4, refuted=1
    )
    evidence = Evidence(title="t", records=(used,))
    [group] = find(evidence).groups
    assert episode_tables.episodes(group).rows == ((used.arm, "128", "120", "4", "1", "25 %"),)
    assert "Episodes of the search" in "".join(read(render(evidence, FRAME)).text)


def test_pictures_are_shown_where_there_are_some():
    evidence = Evidence(title="t", records=(record(log(seed=2), "one"),))
    picture = Picture(uri="data:image/png;base64,AAAA", caption="episode 3 <b>")
    page = render(evidence, replace(FRAME, pictures={"one": [picture]}))
    assert 'src="data:image/png;base64,AAAA"' in page
    assert "episode 3 &lt;b&gt;" in page
    assert "No pictures: no camera." in render(evidence, replace(FRAME, no_pictures="no camera"))


def test_the_paper_s_table_has_its_layout_and_its_values(made_up):
    made_up = as_in_the_paper(made_up)
    table = paper_generalisation(made_up, find(made_up))
    assert [row[0] for row in table.rows[::2]] == ["Eureka", "REvolve", "MEMENTO", "SAC+HER sparse", "SAC+HER dense"]
    rows = {name[0]: (here[2:], published[2:]) for name, here, published in
            zip(table.rows[::2], table.rows[::2], table.rows[1::2], strict=True)}
    here, published = rows["MEMENTO"]
    assert published == ("0.97 ± 0.06", "0.87 ± 0.23", "0.63 ± 0.17", "1.00 ± 0.00", "0.78 ± 0.08")
    [group] = find(made_up).groups
    arms = {arm.method: arm for arm in group.arms}
    assert here[0] == tables.spread(arms["memento"].measures[0].success)
    assert rows["Eureka"][0][0] == tables.spread(arms["eureka-elite"].measures[0].success)
    assert {*rows["REvolve"][0]} == {DASH}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"domain": "hanoi", "randomisation": "light"}, "randomisation = light"),
        ({"domain": "hanoi", "rules": "strict"}, "rules = strict"),
        ({"domain": "hanoi", "horizon": 500}, "horizon = 500"),
        ({"domain": "hanoi", "variant": "cylinder"}, "variant = cylinder"),
        ({"domain": "kitchen", "backend": "generated"}, "backend = generated"),
        ({"domain": "kitchen", "backend": "recorded"}, "backend = recorded"),
        ({"domain": "kitchen", "targets.reveal_unseen": True}, "targets.reveal_unseen = True"),
    ],
)
def test_a_run_in_another_setting_never_stands_next_to_a_published_value(made_up, changed, words):
    [table] = paper_tables(as_in_the_paper(made_up, **changed))
    assert table.title == "Runs in other settings than the paper's"
    assert {row[3] for row in table.rows} == {words}


def test_a_smoke_run_and_a_run_of_another_budget_are_in_another_setting(made_up):
    for key, value in (("n_roll", 1), ("generations", 1), ("k_hc", 1)):
        one = next(one for one in as_in_the_paper(made_up).records if one.method == "memento")
        assert differences(replace(one, settings={**one.settings, key: value})) == (f"{key} = {value}",)


def test_every_setting_is_the_paper_s_or_changes_no_result(made_up):
    """A setting that is new is one of the two as well."""
    one = next(one for one in as_in_the_paper(made_up).records if one.method == "memento")
    slots, one_more = {"k"}, {
        "gate": "on", "proposer_turns": 3, "critic": "openai:m", "probes": "on", "evaluator_tests": "on",
            "islands": 2, "evaluator_attacks": 2,
    }
    needs_more = {
        "gate_episodes", "gate_audit", "practice_episodes", "practice_on", "practice_starts",
        "critic_judges", "evaluator_tests", "evaluator_attacks",
            "attacker_model", "exploits", "island_dealing",
    }
    assert {*PAPER} == {*Settings.model_fields}
    for key, value in PAPER.items():
        settings = {**one.settings, **(one_more if key in needs_more else {}), key: other(value)}
        words = differences(replace(one, settings=settings))
        assert any(word.startswith(f"{key} = ") for word in words) == (key not in FREE | slots), key
    for key in ("racing", "workers", "budget_usd", "seed"):
        assert differences(replace(one, settings={**one.settings, key: 3})) == ()


def test_the_shipped_experiment_has_the_paper_s_setting_but_for_the_simulator(made_up):
    runs = {
        name: replace(made_up.records[0], method=made.method, domain=made.domain, settings=made.as_json())
        for name, made in check(load_experiment("paper")).items()
    }
    found = {name: differences(one, runs.values()) for name, one in runs.items()}
    assert {word.partition(" = ")[0] for words in found.values() for word in words} == {"backend", "scenes"}


PROGRAMS = {"initial": "p0.py", "evaluator": "evaluator.py"}


@pytest.mark.parametrize(("key", "file"), PROGRAMS.items())
def test_a_program_in_a_file_is_the_paper_s_if_a_run_in_its_setting_wrote_it(made_up, key, file):
    first, second, *_ = as_in_the_paper(made_up).records
    given = replace(second, seed=first.seed, settings={**second.settings, key: f"/srv/c/{file}"},
                    **{key: getattr(first, key)})
    assert differences(given, [first, given]) == ()
    by_hand = replace(given, **{key: Program("written by hand")})
    assert differences(by_hand, [first, by_hand]) == (f"{key} = {file}",)
    for writer in (
        replace(first, model="another"), replace(first, hints=1), replace(first, settings={**first.settings, "k": 1}),
        replace(first, settings={**first.settings, key: "/srv/given.py"}),
    ):
        expected = () if writer.settings.get("k") == 1 and writer.method == "memento" else (f"{key} = {file}",)
        assert differences(given, [writer, given]) == expected
    tuned = replace(given, settings={**given.settings, "n_roll": 1})
    assert differences(tuned, [first, tuned]) == ("n_roll = 1",)


def test_a_run_with_hints_is_in_another_setting(made_up):
    for one in as_in_the_paper(made_up).records:
        assert differences(replace(one, hints=2)) == ("hints = 2",)


def test_the_correlation_is_of_the_paper_s_three_methods_whatever_else_ran(tmp_path):
    folder = comparison(tmp_path / "c", seeds="1-3", methods=[], arms=[
        {"method": "memento"}, {"method": "eureka-elite"}, {"method": "revolve"}, {"method": "eureka"},
        {"name": "memento-defaults", "method": "memento"},
    ])
    ours = as_in_the_paper(load_comparison(folder))
    five = tuple(
        replace(one, settings={**one.settings, "macro_focus": True}) if one.arm == "memento-defaults" else one
        for one in ours.records
    )
    published = tuple(map(tables.number, CORRELATION["hanoi"][:2]))

    def rows(records):
        return page_tables.correlations(find(replace(ours, records=records)), records).rows

    every, papers = rows(five)
    assert every[3] == str(5 * 3 * 4) and every[6:] == (DASH, DASH)
    assert papers[2:4] == ("memento, eureka-elite, revolve", str(3 * 3 * 4)) and papers[6:] == published
    three = tuple(one for one in five if one.arm in ("memento", "eureka-elite", "revolve"))
    assert rows(three) == (papers,)
    [two] = rows(tuple(one for one in three if one.method != "revolve"))
    assert two[6:] == (DASH, DASH)
    [light] = rows(as_in_the_paper(replace(ours, records=three), randomisation="light").records)
    assert light[6:] == (DASH, DASH)


def trained(reward, **changed):
    """A training in the paper's setting but for these changes, which `build` accepts."""
    given = {"steps": 50_000_000, "reward": reward, "domain": "hanoi", "seed": 1, "salt": "none", "flags": {},
             "assignments": ("hanoi.rules=paper", "hanoi.randomisation=none", "train.physics=exact"), **changed}
    settings = json.loads(json.dumps(build(BaselineArguments(**given)).as_json()))
    return BaselineRow(
        name=f"sac-{reward}", task="hanoi", method="sac-her", reward=reward, seed=1, done=True,
        steps=settings["steps"], cpu_hours=1.0, usd=0.0, success=0.25, reached=0.5, mean_return=-1.0, fitness=0.1,
        episodes=settings["episodes"], planned_steps=settings["steps"], settings=settings,
    )


def test_trainings_in_the_paper_s_setting_fill_its_rows(made_up, tmp_path):
    ours = as_in_the_paper(made_up)
    rows = (trained("sparse"), replace(trained("sparse", seed=2), success=0.75), trained("dense", steps=1000))
    write_archive(replace(ours, baselines=rows), {}, tmp_path / "a.json.xz")
    read_back, _ = read_archive(tmp_path / "a.json.xz")
    here = {row[0]: row[2] for row in paper_tables(read_back)[0].rows if row[0]}
    assert here["SAC+HER sparse"] == "0.50 ± 0.35" and here["SAC+HER dense"] == DASH


@pytest.mark.parametrize(("changed", "words"), [
    ({"steps": 300_000}, "steps = 300000"),
    ({"environments": 16}, "environments = 16"),
    ({"episodes": 5}, "5 episodes"),
    ({"assignments": ("hanoi.rules=paper", "train.physics=exact")}, "randomisation = table"),
    ({"assignments": ("hanoi.rules=paper", "hanoi.randomisation=none")}, "physics = fast"),
    ({"assignments": ("hanoi.rules=paper", "hanoi.randomisation=none", "train.physics=exact", "sac.gamma=0.99")},
     "hyper = "),
])
def test_a_training_in_another_setting_fills_no_row(changed, words):
    assert training_differences(trained("dense")) == ()
    assert any(each.startswith(words) for each in training_differences(trained("dense", **changed)))
    assert training_differences(replace(trained("dense"), done=False, status="stopped")) == ("stopped",)


def test_the_shipped_trainings_have_the_paper_s_setting():
    experiment = load_experiment("sac-her")
    jobs = [job for job in list_jobs(experiment) if is_learned(job.arm)]
    assert {job.arm.settings["reward"] for job in jobs} == {"sparse", "dense"} and len(jobs) == 6
    for job in jobs:
        given = given_of(experiment, job)
        row = trained(given.reward, assignments=given.assignments, steps=given.steps, episodes=given.episodes,
                      environments=given.environments)
        assert training_differences(row) == ()


def other(value):
    """Another value of a setting, of whatever type."""
    return not value if isinstance(value, bool) else value + 1 if isinstance(value, int | float) else f"not {value}"


def test_a_run_under_the_reference_evaluator_is_in_another_setting(made_up):
    for one in as_in_the_paper(made_up).records:
        given = replace(one, settings={**one.settings, "evaluator": "reference"})
        assert differences(given) == ("evaluator = reference",) or one.method == "random"


def test_of_a_mixed_folder_only_the_runs_in_the_paper_s_setting_are_in_its_tables(made_up):
    same, light = as_in_the_paper(made_up), as_in_the_paper(made_up, randomisation="light")
    light = replace(light, records=tuple(replace(one, task="light", name=f"light-{one.name}") for one in light.records))
    mixed = replace(same, records=(*light.records, *same.records))
    assert paper_tables(mixed)[:2] == paper_tables(same)
    assert paper_tables(mixed)[2] == paper_tables(light)[0]


def test_a_short_measure_does_not_count_as_the_paper_s(made_up):
    short = as_in_the_paper(made_up)
    short = replace(short, experiment=made_up.experiment)
    [here] = [row for row in paper_tables(short)[0].rows if row[:2] == ("MEMENTO", "here")]
    assert here[2] == DASH


def test_published_values_of_other_tasks_stand_next_to_ours_with_what_differs(made_up):
    def searched(budget, **options):
        return replace(made_up, records=tuple(
            replace(one, domain="gym:HalfCheetah-v5", settings={**one.settings, "budget_episodes": budget, "options": {
                "max_episode_steps": 1000, "kwargs": {}, **options}})
            for one in made_up.records
        ))

    assert yardstick_tables(made_up) == ()
    [table] = yardstick_tables(searched(128))
    assert {row[3:5] for row in table.rows} == {(DASH, "1000")}
    assert {row[-5:] for row in table.rows} == {("601.83", "452.02", "606.15", "-0.47", "-291.84")}
    [table] = yardstick_tables(searched(None, kwargs={"terrain": "hills"}))
    assert {row[3] for row in table.rows} == {"kwargs = {'terrain': 'hills'}; no budget of episodes"}
    assert "Claude Opus 4.7" in "".join(read(render(searched(1200), FRAME)).text)


def test_words_are_no_stronger_than_the_test():
    few = tuple(replace(record(log(method, seed=seed), f"{method}{seed}"), seed=seed) for seed in (1, 2)
                for method in ("memento", "random"))
    elsewhere = tuple(replace(one, task="kitchen", name=f"{one.name}-kitchen") for one in few)
    for records in (few, few + elsewhere):
        lines = list(sentences(find(Evidence(title="t", records=records))))
        assert any("shows no significant difference from" in line for line in lines)
        assert lines[-1] == "With 2 seeds no paired test can reach p < 0.05, whatever the methods do."
        assert sum("no paired test can reach" in line for line in lines) == 1
    many = []
    for seed in range(10):
        for method, height in (("memento", 0.9 - seed / 100), ("random", 0.1 + seed / 100)):
            one = record(log(method, seed=1), f"{method}{seed}")
            curve = tuple(replace(point, best_fitness=height) for point in one.curve)
            many.append(replace(one, seed=seed, final=None, evaluator=Program("E"), curve=curve))
    lines = list(sentences(find(Evidence(title="t", records=tuple(many)))))
    assert any("fitness in the search: memento is above random by" in line for line in lines)
    lines = list(sentences(find(Evidence(title="t", records=(*many, *elsewhere)))))
    assert lines[-1].startswith("On kitchen with ") and ": with 2 seeds no paired test can reach" in lines[-1]


def test_every_row_is_exported(made_up, tmp_path):
    write_csv(made_up, tmp_path / "rows")
    rows = {path.stem: rows_in(path) for path in (tmp_path / "rows").iterdir()}
    assert len(rows["runs"]) == len(made_up.records) == 12
    assert len(rows["curves"]) == sum(len(one.curve) for one in made_up.records)
    assert len(rows["unseen_episodes"]) == 12 * 6
    [group] = find(made_up).groups
    memento = [float(row["best_fitness"]) for row in rows["runs"] if row["arm"] == "memento"]
    assert sum(memento) / len(memento) == pytest.approx(group.arms[0].fitness.mean)
    successes = [row["success"] == "True" for row in rows["unseen_episodes"] if row["arm"] == "memento"]
    assert sum(successes) == group.arms[0].measures[0].successes
    assert len(rows["tests"]) == len(group.tests)


def test_a_spreadsheet_takes_no_text_for_a_formula(tmp_path):
    facts = [replace(fact, reason="=HYPERLINK(1)") if isinstance(fact, VoteCast) else fact for fact in log(seed=5)]
    write_csv(Evidence(title="t", records=(record(facts),)), tmp_path)
    assert {row["reason"][:2] for row in rows_in(tmp_path / "votes.csv")} == {"'="}


def test_charts_stay_within_their_frame_and_escape_names():
    lines = [Line(name=HOSTILE, place=9, points=[(0, -0.5, -1.0, 2.0), (1, 1.5, 0.0, 9.0)])]
    drawn = [
        curves(lines, label=HOSTILE),
        scatter([Mark(x=0.5, y=0.5, place=0)], label=HOSTILE, x_label=HOSTILE, y_label=HOSTILE),
        dot_rows([Dots(name=HOSTILE, place=0, values=[0.5, 0.5], mean=0.5, low=0.4, high=0.6)], label="", x_label=""),
        bars([(HOSTILE, [(0, 3.0), (1, 0.0)])], label=""),
        rail([Node(lane=0, parents=[], elite=True, place=0), Node(lane=2, parents=[0], elite=False, place=1)],
             row_height=40),
        curves([], label="nothing yet"),
    ]
    for svg in drawn:
        assert "<script" not in svg and "<img" not in svg
        read(svg)
    points = drawn[0].split('points="')[1].split('"')[0].split()
    assert all(0 <= float(each) <= 400 for point in points for each in point.split(","))


def test_equal_dots_lie_side_by_side():
    shifted = spread_out([0.5, 0.5, 0.5, 0.2])
    assert len({*shifted}) == 4
    assert [value for value, _ in shifted] == [0.5, 0.5, 0.5, 0.2]


def test_a_diff_says_what_changed():
    lines = lines_of_diff(diff_lines("a\nb\nc", "a\nB\nc"))
    assert [(line.kind, line.text) for line in lines if line.kind in ("add", "del")] == [("del", "-b"), ("add", "+B")]


def test_of_long_programs_a_page_says_how_much_differs():
    [line] = lines_of_diff(diff_lines("x\n" * 3000, "x\n" * 2000 + "y\n" * 2001))
    assert (line.kind, line.text) == (
        "at", "too long for a comparison line by line: 2,001 lines were added, 1,000 removed"
    )  # fmt: skip


def test_the_origin_of_elites_is_that_of_the_log():
    facts = log(seed=8)
    changed = [fact for fact in facts if isinstance(fact, EliteChanged) and fact.changed and fact.generation > 0]
    made = {count.operator: count.elites for count in record(facts).operators}
    for operator in made:
        assert made.get(operator, 0) >= len({fact.candidate for fact in changed if fact.origin is operator})


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), cut=st.floats(0, 1), method=st.sampled_from(["memento", "random", "revolve"]))
def test_any_beginning_of_any_run_has_a_page(seed, cut, method):
    facts = log(method, seed=seed)
    part = facts[: max(1, int(cut * len(facts)))]
    read(render(Evidence(title="part", records=(record(part),)), FRAME))
