import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.errors import StoreError
from memento.core.events import (
    CandidateScored,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorChosen,
    EvaluatorExamined,
    EvaluatorPoolScored,
    Fact,
    ProposalMade,
    StageEntered,
)
from memento.core.values import (
    Call,
    CandidateState,
    Document,
    Episode,
    EpisodeNotes,
    EvaluatorCandidate,
    Examination,
    Operator,
    Program,
    Score,
    Stage,
)
from memento.memory.codec import FACTS, Blob, decode, encode, revive

from ..support.strategies import FACT_CLASSES, PATIENT, instances
from ..support.volatile_store import round_trip


def with_types(value: object) -> str:
    """repr distinguishes 1 from 1.0 and True, -0.0 from 0.0, a tuple from a list and a Program from a Document."""
    return repr(value)


def test_every_fact_is_known():
    every, left = set(), [Fact]
    while left:
        cls = left.pop()
        every.add(cls.__name__)
        left.extend(cls.__subclasses__())
    assert set(FACTS) == every - {"Fact"}
    assert len(FACTS) == len(FACT_CLASSES) > 15


@pytest.mark.parametrize("cls", FACT_CLASSES, ids=lambda cls: cls.__name__)
@settings(PATIENT, max_examples=12)
@given(data=st.data())
def test_round_trip_is_exact(cls, data):
    fact = data.draw(instances(cls))
    again = round_trip(fact)
    assert again == fact
    assert with_types(again) == with_types(fact)


def test_two_lone_surrogates_stay_two():
    fact = EpisodeScored(score=Score(fitness=0.5, metrics={"text": "\ud83d\ude00"}))
    assert round_trip(fact) == fact


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        (1, 2),
        {1: "key"},
        np.int64(3),
        np.array([1.0]),
        b"bytes",
        {"set"},
        object(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_would_bend_is_refused(value):
    for metrics in ({"m": value}, {"m": [{"deeper": value}]}):
        with pytest.raises(StoreError, match=r"EpisodeScored of order g1/macro/0/e0/score cannot be kept exactly"):
            encode(EpisodeScored(order="g1/macro/0/e0/score", score=Score(fitness=0.5, metrics=metrics)))


@pytest.mark.parametrize(
    "fact",
    [
        StageEntered(stage=("search",)),  # type: ignore[arg-type]
        StageEntered(stage=np.int64(3)),  # type: ignore[arg-type]
        CandidateScored(
            candidate=CandidateState(
                id="c", program=Program(""), operator=Operator.MACRO, generation=0, slot=0, parents=["a", "b"]
            )
        ),  # type: ignore[arg-type]
    ],
)
def test_values_of_another_type_than_declared_are_refused(fact):
    with pytest.raises(StoreError, match="belongs"):
        encode(fact)


def test_a_nan_fitness_is_refused():
    with pytest.raises(StoreError, match="cannot be kept exactly"):
        encode(EpisodeScored(score=Score(fitness=float("nan"))))


def test_bottomless_metrics_are_refused():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(StoreError, match="cannot be kept exactly"):
        encode(EpisodeScored(score=Score(fitness=0.5, metrics={"m": deep})))  # type: ignore[dict-item]


def candidate_scored() -> CandidateScored:
    return CandidateScored(
        candidate=CandidateState(
            id="g1/hill/0",
            program=Program("class Policy: ...\n" * 300),
            operator=Operator.HILL_CLIMB,
            generation=1,
            slot=0,
            parents=("init/0",),
        )
    )


def test_facts_share_programs_and_examinations():
    program = candidate_scored().candidate.program
    examination = Examination(scores=tuple(Score(fitness=e / 10, metrics={"m": "y" * 500}) for e in range(10)))
    entry = EvaluatorCandidate(id="eval/g0/1", generation=0, slot=1, program=program, examination=examination)
    facts = [
        EvaluatorExamined(examination=examination),
        EvaluatorPoolScored(generation=0, pool=(entry,)),
        EvaluatorChosen(generation=0, chosen=entry),
        candidate_scored(),
    ]
    encoded = [encode(fact) for fact in facts]
    assert max(len(one.body) for one in encoded) < 500
    assert len({reference for one in encoded for reference in one.blobs}) == 2


def test_a_program_and_a_document_of_the_same_text_keep_their_types():
    call = Call(model="m", prompt=Document("same"), reply=Document("same"))
    again = round_trip(ProposalMade(program=Program("same"), summary="", call=call))
    assert isinstance(again, ProposalMade)
    assert (type(again.program), type(again.call.prompt)) == (Program, Document)


def test_the_digest_of_a_document_is_its_own():
    assert Blob("program", "text \ud800").digest == Program("text \ud800").digest


def test_an_unknown_fact_is_of_another_version():
    with pytest.raises(StoreError, match="'Teleported' that this version"):
        decode("Teleported", None, "{}", {})


@pytest.mark.parametrize("body", ["", "null", "[]", '{"episode": 3}', '{"mood": "good"}', '{"score":'])
def test_a_damaged_fact_is_reported(body):
    with pytest.raises(StoreError, match="EpisodeEnded of order g1/macro/0/e0 is damaged"):
        decode("EpisodeEnded", "g1/macro/0/e0", body, {})


def test_a_changed_blob_is_reported():
    examined = EvaluatorExamined(examination=Examination(scores=(Score(fitness=0.5),)))
    ((reference, blob),) = encode(examined).blobs.items()
    with pytest.raises(StoreError, match="its content has another hash"):
        revive(reference, blob.content.replace("0.5", "0.6"))


def test_a_field_added_later_has_its_default():
    encoded = encode(candidate_scored())
    fields = json.loads(encoded.body)
    del fields["candidate"]["summary"], fields["candidate"]["fault"]
    values = {ref: revive(ref, blob.content) for ref, blob in encoded.blobs.items()}
    assert decode(encoded.kind, None, json.dumps(fields), values) == candidate_scored()


def test_an_episode_of_an_old_log_has_empty_notes():
    noted = EpisodeNotes(story="it rose", stages=(Stage(name="lift", first_step=3),), report={"gain": 0.5})
    episode = Episode(index=0, seed=1, steps=5, ended_by="horizon", success=False, notes=noted)
    encoded = encode(EpisodeEnded(episode=episode))
    fields = json.loads(encoded.body)
    del fields["episode"]["notes"]
    old = decode(encoded.kind, None, json.dumps(fields), {})
    assert old == EpisodeEnded(episode=replace(episode, notes=EpisodeNotes()))
    assert round_trip(EpisodeEnded(episode=episode)) == EpisodeEnded(episode=episode)
