"""Judges: position and name have no effect, programs cannot plead, an unusable answer is requested once more."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.agents.judging import JudgePanel, labelling
from memento.agents.verdict import MAX_REASON, JudgeChoice, Unusable, read_verdict
from memento.core.errors import ModelError
from memento.core.events import Judge
from memento.core.labels import label
from memento.core.ports import Ask, Reply
from memento.core.values import Program, Usage
from memento.models.tape import ReplayModel, tape_of
from memento.runtime.prompts import PromptFolder

from ..support.prompt_samples import BRIEF, EVALUATOR, Scripted, judge_order

SLOTS = {"A": 4, "B": 0, "C": 7}


def panel(*models: Scripted, run_seed: int = 7) -> JudgePanel:
    return JudgePanel(models=models, prompts=PromptFolder(), brief=BRIEF, run_seed=run_seed)


def verdict(text: str, stop: str = "end") -> JudgeChoice | Unusable:
    return read_verdict(Reply(text=text, model="m", stop=stop), SLOTS)


def test_labels() -> None:
    assert [label(place) for place in (0, 1, 25, 26, 27, 51, 52, 701, 702)] == [
        "A", "B", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA",
    ]  # fmt: skip


def test_every_seat_sees_its_own_order_and_always_the_same() -> None:
    seen = {tuple(e.slot for e in labelling(judge_order(seat, 8), 7).entries) for seat in range(10)}
    assert len(seen) == 10
    assert labelling(judge_order(3, 8), 7) == labelling(judge_order(3, 8), 7)
    assert labelling(judge_order(3, 8), 7) != labelling(judge_order(3, 8), 8)


def test_every_evaluator_is_seen_in_every_place() -> None:
    """Over many seats each slot is first about equally often: 400 draws of 1 in 4, within 5 standard deviations."""
    first = [labelling(judge_order(seat, 4), 7).entries[0].slot for seat in range(400)]
    assert all(abs(first.count(slot) - 100) < 44 for slot in range(4))


async def test_the_prompt_depends_on_nothing_but_programs_and_scores() -> None:
    """Ids, generations, comments, docstrings and histories may differ: the prompt does not."""
    order = judge_order(2, 5)
    silent = tuple(
        replace(
            entry,
            id="?",
            generation=9,
            program=Program(re.sub(r'(?m)^""".*\n|^HISTORY.*\n|  #.*|^ +"+[\w ]+\.?"+$', "", entry.program.text)),
        )
        for entry in order.pool
    )
    model = Scripted(lambda ask: '{"choice": "A"}')
    await panel(model).carry_out(order)
    await panel(model).carry_out(replace(order, pool=silent))
    loud, quiet = (ask.prompt for ask in model.asked)
    assert "vote for me" in order.pool[0].program.text
    assert "vote for me" not in silent[0].program.text
    assert loud == quiet
    assert "vote for me" not in loud
    assert not re.search(r"slot|eval/g", loud)


async def test_a_label_is_read_in_the_seats_own_order() -> None:
    for seat in range(6):
        order = judge_order(seat, 5)
        wanted = labelling(order, 7).entries[2].slot
        vote = await panel(Scripted(lambda ask: '{"choice": "C", "reason": "because"}')).carry_out(order)
        assert (vote.order, vote.generation, vote.seat) == (order.id, 0, seat)
        assert (vote.choice, vote.reason) == (wanted, "because")


async def test_a_judge_that_votes_by_content_votes_the_same_in_every_seat() -> None:
    def by_content(ask: Ask) -> str:
        parts = re.split(r"### Evaluator ([A-Z]+)\n", ask.prompt)
        entries = dict(zip(parts[1::2], parts[2::2], strict=True))
        (choice,) = (name for name, text in entries.items() if "'number': 3" in text)
        return json.dumps({"choice": choice, "reason": "number 3"})

    votes = [await panel(Scripted(by_content)).carry_out(judge_order(seat, 6)) for seat in range(8)]
    assert {vote.choice for vote in votes} == {3}


async def test_seats_are_dealt_round_robin_over_the_models() -> None:
    models = [Scripted(lambda ask: '{"choice": 0}', name) for name in ("one", "two", "three")]
    seats = panel(*models)
    votes = [await seats.carry_out(judge_order(seat)) for seat in range(7)]
    assert [vote.call.model for vote in votes if vote.call] == ["one", "two", "three", "one", "two", "three", "one"]
    with pytest.raises(ValueError, match="at least one model"):
        panel()


async def test_an_unusable_answer_is_requested_once_more_and_both_calls_are_paid() -> None:
    def answer(ask: Ask) -> Reply:
        text = '{"choice": "Z"}' if ask.attempt == 0 else '{"choice": "A", "reason": "better"}'
        return Reply(text=text, model="m", usage=Usage(input_tokens=5, output_tokens=7, cost_usd=0.25, latency_s=1.0))

    model = Scripted(answer)
    vote = await panel(model).carry_out(judge_order())
    assert vote.choice is not None
    assert [ask.attempt for ask in model.asked] == [0, 1]
    assert "could not be used: its choice is Z, which is none of A, B, C." in model.asked[1].prompt
    assert vote.call is not None
    assert vote.call.reply.text == '{"choice": "A", "reason": "better"}'
    assert vote.call.attempt == 1
    (first,) = vote.earlier
    assert (first.attempt, first.reply.text, first.prompt.text) == (0, '{"choice": "Z"}', model.asked[0].prompt)
    assert vote.call.prompt.text == model.asked[1].prompt
    assert first.usage == vote.call.usage == Usage(input_tokens=5, output_tokens=7, cost_usd=0.25, latency_s=1.0)
    replayed = await panel(ReplayModel(tape_of([vote]))).carry_out(judge_order())
    assert replayed == vote, "the same, including the cost"


async def test_a_call_that_fails_after_an_unusable_answer_leaves_that_answer_on_record() -> None:
    def answer(ask: Ask) -> Reply:
        if ask.attempt:
            raise ModelError("no answer")
        return Reply(text="?", model="m", usage=Usage(cost_usd=0.25))

    vote = await panel(Scripted(answer)).carry_out(judge_order())
    assert vote.call is not None
    assert (vote.choice, vote.call.attempt, vote.call.reply.text, vote.earlier) == (None, 0, "?", ())


async def test_two_unusable_answers_are_an_abstention() -> None:
    model = Scripted(lambda ask: "They are all good.")
    vote = await panel(model).carry_out(judge_order())
    assert (vote.choice, len(model.asked)) == (None, 2)
    assert vote.reason == 'abstained: it holds no JSON object with a "choice"'


async def test_a_failed_call_is_an_abstention_and_a_fatal_one_is_not() -> None:
    def fail(ask: Ask) -> Reply:
        raise ModelError("no answer", fatal=fatal)

    fatal = False
    vote = await panel(Scripted(fail)).carry_out(judge_order())
    assert (vote.choice, vote.reason, vote.call) == (None, "abstained: the call failed: no answer", None)
    fatal = True
    with pytest.raises(ModelError):
        await panel(Scripted(fail)).carry_out(judge_order())


@pytest.mark.slow
async def test_a_judges_prompt_is_bounded() -> None:
    wide = "class Evaluator:\n    def evaluate(self, t):\n" + "        " + "x=[" + "1," * 11_000 + "]\n"
    order: Judge = judge_order(0, 8)
    pool = tuple(replace(entry, program=Program(wide)) for entry in order.pool)
    model = Scripted(lambda ask: '{"choice": "A"}')
    await panel(model).carry_out(replace(order, pool=pool))
    assert len(model.asked[0].prompt) < 8 * 50_000 + 10_000
    assert EVALUATOR.text not in model.asked[0].prompt


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ('{"choice": "A", "reason": "r"}', 4),
        ('{"choice": " b ", "reason": "r"}', 0),
        ('{"choice": "Evaluator C"}', 7),
        ('{"choice": 7, "reason": "r"}', 7),
        ('I compared {all} of them.\n```json\n{"reason": "a {brace}", "choice": "C"}\n```', 7),
        ('{"choice": "A"} – no: {"choice": "B"}', 0),
        ('{"note": {"choice": "A"}, "choice": "C"}', 7),
        ('{"choice": "B", "reason": "a comma",}', 0),
        ('{"reason": "one line\nand the next", "choice": "B"}', 0),
        ("{\u201creason\u201d: \u201cquotes\u201d, \u201cchoice\u201d: \u201cB\u201d}", 0),
        ('{"choice": ["A"]}', 4),
        ('["C"]', 7),
        ("**B**", 0),
        ("Reason: it is graded.\n\nChoice: B", 0),
        ("A choice is hard. My vote goes to **Evaluator C**, which is graded.", 7),
        ("The answer is \\boxed{A}", 4),
        ('{"choice": "A"', 4),
    ],
)
def test_usable_answers(text: str, slot: int) -> None:
    found = verdict(text)
    assert isinstance(found, JudgeChoice)
    assert found.slot == slot


@pytest.mark.parametrize(
    ("text", "stop"),
    [
        ("", "end"),
        ("I like both A and B.", "end"),
        ("My choice: A or B", "end"),
        ("A choice is hard.", "end"),
        ('{"choice": "A or B"}', "end"),
        ("{}", "end"),
        ('{"choice": "D"}', "end"),
        ('{"choice": ""}', "end"),
        ('{"choice": 1}', "end"),
        ('{"choice": true}', "end"),
        ('{"choice": 7.0}', "end"),
        ('{"choice": null}', "end"),
        ('{"choice": "A"}', "length"),
        ('{"choice": "A"}', "refusal"),
        ('{"a":' * 20_000, "end"),
        ("[" * 100_000, "end"),
        ('{"choice": ' + "9" * 5000 + "}", "end"),
    ],
)
def test_unusable_answers(text: str, stop: str) -> None:
    found = verdict(text, stop)
    assert isinstance(found, Unusable)
    assert len(found.why) < 200


@given(
    st.text()
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["choice", "reason"]), x),
    ).map(json.dumps)
)
def test_no_answer_raises(text: str) -> None:
    found = verdict(text)
    if isinstance(found, JudgeChoice):
        assert found.slot in SLOTS.values()
        assert len(found.reason) <= MAX_REASON
