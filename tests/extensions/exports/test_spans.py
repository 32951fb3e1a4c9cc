"""The trace of a run, from the facts of a whole search."""

import json
from pathlib import Path

import pytest
from memento.core.errors import UsageError
from memento.core.events import CandidateScored, EliteChanged, EpisodeEnded, ProposalMade
from memento.extensions.exports import targets
from memento.extensions.exports.otel import endpoint
from memento.extensions.exports.points import SERIES, Series
from memento.extensions.exports.sink import ExportedRun, Texts
from memento.extensions.exports.spans import RUN, Span, Spans, span_id
from memento.memory.store import Entry

from ...evidence.logs import log

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return [Entry(seq=place, at=1000.0 + place, fact=fact) for place, fact in enumerate(log(seed=3), 1)]


def spans_of(entries: list[Entry], texts: Texts) -> list[Span]:
    spans = Spans(texts)
    return [span for entry in entries for span in spans.apply(entry)] + [spans.end()]


def test_a_trace_has_one_root_and_every_other_span_has_its_parent(entries):
    spans = spans_of(entries, Texts())
    by_key = {span.key: span for span in spans}
    assert len(by_key) == len(spans)
    assert [span.key for span in spans if span.parent is None] == [RUN]
    assert {span.parent for span in spans} - {None} <= set(by_key)
    assert all(span.began <= span.ended for span in spans)
    facts = [entry.fact for entry in entries]
    assert {fact.candidate.id for fact in facts if isinstance(fact, CandidateScored)} < set(by_key)
    assert {fact.order for fact in facts if isinstance(fact, EpisodeEnded)} < set(by_key)
    generations = [fact.generation for fact in facts if isinstance(fact, EliteChanged) and fact.generation]
    assert [span.name for span in spans if span.name.startswith("generation")] == [
        f"generation {number}" for number in generations
    ]


def test_ids_follow_from_the_run_and_the_key(tmp_path):
    one, other = (ExportedRun(folder=tmp_path, identity=digit * 64) for digit in "12")
    assert span_id(one, "g1/hill/0") == span_id(one, "g1/hill/0")
    assert len({span_id(one, "g1/hill/0"), span_id(one, "g1/hill/1"), span_id(other, "g1/hill/0")}) == 3


def test_prompts_and_replies_are_in_a_trace_only_if_asked_for(entries):
    made = next(entry.fact for entry in entries if isinstance(entry.fact, ProposalMade))
    found = [{**span.attributes} for span in spans_of(entries, Texts(programs=True))]
    assert not any("gen_ai.input.messages" in each or "gen_ai.output.messages" in each for each in found)
    assert made.call.prompt.text not in json.dumps(found)
    [asked] = [
        json.loads(span.attributes["gen_ai.input.messages"]) for span in spans_of(entries, Texts(prompts=True))
        if span.attributes.get("memento.order") == made.order and span.is_call
    ]
    assert asked[0]["parts"][0]["content"] == made.call.prompt.text


def test_the_names_on_model_calls_are_those_of_the_conventions(entries):
    names = pytest.importorskip(
        "opentelemetry.semconv._incubating.attributes.gen_ai_attributes", reason="the extra otel is not installed"
    )
    known = {value for value in vars(names).values() if isinstance(value, str)}
    used = {name for span in spans_of(entries, Texts(prompts=True)) for name in span.attributes}
    assert {name for name in used if name.startswith("gen_ai.")} <= known
    assert {"gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"} <= used


def test_every_series_has_one_value_a_step_and_the_fitness_of_the_log(entries):
    series = Series()
    points = [point for entry in entries if (point := series.apply(entry)) is not None]
    assert len({point.seq for point in points}) == len(points)
    for axis in ("candidate", "generation"):
        for name in {name for point in points if point.axis == axis for name in point.values}:
            assert SERIES[name.partition("/")[0]] == axis
            steps = [point.step for point in points if name in point.values]
            assert steps == sorted({*steps})
    elites = [entry.fact for entry in entries if isinstance(entry.fact, EliteChanged)]
    drawn = {point.step: point.values["elite/fitness"] for point in points if "elite/fitness" in point.values}
    assert drawn == {fact.generation: fact.fitness for fact in elites}


def test_the_collector_is_given_or_named_by_opentelemetrys_own_variables():
    base = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://base:1/"}
    assert endpoint(None, {}) == "http://localhost:4318/v1/traces"
    assert endpoint(None, base) == "http://base:1/v1/traces"
    assert endpoint(None, {**base, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t/x"}) == "http://t/x"
    assert endpoint("https://given/v1/traces", base) == "https://given/v1/traces"


def test_what_has_no_effect_with_a_target_is_refused_before_a_run_is_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--with-programs has no effect with --to otel"):
        targets.otel(tmp_path, None, programs=True, prompts=False)
    with pytest.raises(UsageError, match="--with-prompts has no effect with --to mlflow"):
        targets.mlflow(tmp_path, None, programs=False, prompts=True)
