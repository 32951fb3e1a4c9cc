"""The tables of a run, from the facts of whole searches."""

import json

import pytest
from memento.core.events import (
    AskedAgain,
    CandidateScored,
    EpisodeEnded,
    EpisodeScored,
    ProposalMade,
    RunStarted,
    ToolAnswered,
)
from memento.core.turns import Passage
from memento.core.values import Call, Document, Program, Score, Usage
from memento.extensions.exports.plain_values import column, metric_numbers, shown_settings
from memento.extensions.exports.rows import COLUMNS, METRIC, CallFinder, Tables, extra_columns
from memento.extensions.exports.sink import ExportedRun, Texts
from memento.memory.run_status import status_of
from memento.memory.store import Entry

from ...evidence.logs import log
from ...support.recorded_facts import episode

pytestmark = pytest.mark.quick

PLAIN = Texts()
SALT = "0123456789abcdef0123456789abcdef"


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    facts = log(seed=3)
    [start] = [fact for fact in facts if isinstance(fact, RunStarted)]
    start.settings["salt"] = SALT
    return [Entry(seq=place, at=1000.0 + place, fact=fact) for place, fact in enumerate(facts, 1)]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> ExportedRun:
    return ExportedRun(folder=tmp_path_factory.mktemp("one"), identity="1" * 64)


def tables_of(source: ExportedRun, entries: list[Entry], texts: Texts = PLAIN) -> Tables:
    tables = Tables(source, texts)
    for entry in entries:
        tables.apply(entry)
    return tables


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("texts", [PLAIN, Texts(programs=True, prompts=True)], ids=["plain", "texts"])
def test_every_row_has_the_documented_columns_and_metrics(source, entries, name, texts):
    rows = tables_of(source, entries, texts).rows(name)
    assert rows
    wanted = {*COLUMNS[name], *extra_columns(name, texts)}
    for row in rows:
        assert {key for key in row if not key.startswith(METRIC)} == wanted


def test_no_table_holds_the_salt_or_a_text_that_nobody_asked_for(source, entries):
    tables = tables_of(source, entries)
    written = json.dumps([tables.rows(name) for name in COLUMNS])
    assert SALT not in written
    programs = [entry.fact.program.text for entry in entries if isinstance(entry.fact, ProposalMade)]
    prompts = [entry.fact.call.prompt.text for entry in entries if isinstance(entry.fact, ProposalMade)]
    assert programs and prompts and all(prompts)
    assert not [text for text in programs + prompts if json.dumps(text)[1:-1] in written]


def test_practice_is_a_row_with_its_score(source):
    tried = episode("g1/hill/0/tool1").episode
    practice = ToolAnswered(
        order="g1/hill/0/tool1", answer=Passage("x"), episode=tried, score=Score(fitness=0.75, metrics={"way_m": 2})
    )
    looked = ToolAnswered(order="g1/hill/0/tool2", answer=Passage("x"))
    rows = tables_of(source, [Entry(seq=1, at=9.0, fact=practice), Entry(seq=2, at=9.5, fact=looked)]).rows("episodes")
    shown = ("episode", "candidate", "fitness", f"{METRIC}way_m", "ended_at")
    assert [[row[key] for key in shown] for row in rows] == [["g1/hill/0/tool1", "g1/hill/0", 0.75, 2.0, 9.0]]


def test_the_rows_are_those_of_the_log(source, entries):
    tables = tables_of(source, entries)
    scored = [entry.fact.candidate for entry in entries if isinstance(entry.fact, CandidateScored)]
    rows = {row["candidate"]: row for row in tables.rows("candidates")}
    assert {each.id for each in scored} < set(rows), "and p_0"
    for each in scored:
        sound = each.fault is None and each.bound is None
        assert rows[each.id]["fitness"] == (each.fitness if sound else None)
    rolled = {entry.fact.order: entry.fact.episode for entry in entries if isinstance(entry.fact, EpisodeEnded)}
    episodes = {row["episode"]: row for row in tables.rows("episodes")}
    assert {key: row["seed"] for key, row in episodes.items()} == {key: each.seed for key, each in rolled.items()}
    for entry in entries:
        if isinstance(entry.fact, EpisodeScored) and entry.fact.order.removesuffix("/score") in episodes:
            assert episodes[entry.fact.order.removesuffix("/score")]["fitness"] == entry.fact.score.fitness
    [run] = tables.rows("runs")
    status = status_of(entries)
    assert (run["candidates"], run["episodes"]) == (status.candidates, status.episodes)
    assert run["calls"] == status.spending.total.calls == len(tables.rows("calls"))
    assert len(tables.rows("generations")) == status.generation + 1


def test_the_scores_of_the_first_policy_are_those_of_the_frozen_evaluator(source, entries):
    tables = tables_of(source, entries)
    [first] = [row for row in tables.rows("candidates") if row["operator"] == "initial"]
    own = [row for row in tables.rows("episodes") if row["candidate"] == first["candidate"]]
    assert own and all(row["fitness"] is not None for row in own)
    assert sum(row["fitness"] for row in own) / len(own) == pytest.approx(first["fitness"])


def test_an_answer_that_was_asked_again_is_one_call_at_its_own_time():
    calls = [
        Call(model="m", prompt=Document("p"), reply=Document("r"), usage=Usage(latency_s=latency))
        for latency in (2.0, 3.0)
    ]
    times = CallFinder()
    first = [*times.of(AskedAgain(order="g1/macro/0", call=calls[0], reason="no program"), 10.0)]
    made = ProposalMade(order="g1/macro/0", program=Program("p"), summary="", call=calls[1], earlier=(calls[0],))
    second = [*times.of(made, 14.0)]
    assert [(each.number, each.began, each.ended) for each in first + second] == [(0, 8.0, 10.0), (1, 11.0, 14.0)]
    # Logs of older versions have no separate fact for the first answer.
    alone = [*CallFinder().of(made, 14.0)]
    assert [(each.number, each.began, each.ended) for each in alone] == [(0, 9.0, 11.0), (1, 11.0, 14.0)]


def test_names_and_numbers_for_columns():
    assert column("max speed [m/s] ü") == "max_speed__m_s___"
    assert metric_numbers({"a": {"mean": 1, "min": 0}, "b": {"rate": 0.5}, "c": True, "d": "text", "e": None}) == {
        "a": 1.0, "b": 0.5, "c": 1.0,
    }
    assert shown_settings({"seed": 1, "salt": SALT, "options": {"horizon": 5, "rules": {}}, "judges": ["x"]}) == {
        "seed": 1, "options.horizon": 5, "options.rules": {}, "judges": ["x"],
    }
