"""Replay by order and attempt, and models tried in turn."""

import asyncio
from dataclasses import replace

import pytest
from memento.core.errors import BudgetSpent, ModelError
from memento.core.events import AskedAgain, Fact, ProposalFailed, ProposalMade, VoteCast
from memento.core.faults import Fault, FaultKind
from memento.core.ports import Ask, Reply
from memento.core.values import Call, Document, Program, Usage
from memento.memory.spending import SpendingTally
from memento.models.budget import PastSpending
from memento.models.fallback import FallbackModel
from memento.models.tape import ContinuedModel, ReplayModel, Tape, tape_of

from .asking import ask


def call(reply: str, *, prompt: str = "p", attempt: int = 0, stop: str = "end") -> Call:
    usage = Usage(input_tokens=3, cost_usd=0.25, attempts=2)
    return Call(
        model="m", prompt=Document(prompt), reply=Document(reply), usage=usage, stop=stop, attempt=attempt
    )


FACTS: tuple[Fact, ...] = (
    ProposalMade(order="g1/macro/1", program=Program("x"), summary="", call=call("one")),
    ProposalMade(order="g1/macro/0", program=Program("x"), summary="", call=call("zero")),
    ProposalFailed(
        order="g1/macro/2", fault=Fault(kind=FaultKind.TRUNCATED, message=""), call=call("cut", stop="length")
    ),
    ProposalFailed(order="g1/macro/3", fault=Fault(kind=FaultKind.MODEL_FAILED, message="m is down")),
    VoteCast(
        order="eval/g0/judge/0", generation=0, seat=0, choice=1, reason="r",
        call=call("B", prompt="p2", attempt=1), earlier=(call("?"),),
    ),
    VoteCast(order="eval/g0/judge/1", generation=0, seat=1, choice=None, reason="call failed", call=call("?")),
    VoteCast(order="eval/g0/judge/2", generation=0, seat=2, choice=None, reason="call failed"),
    VoteCast(order="eval/g0/judge/3", generation=0, seat=3, choice=1, reason="r", call=call("B", attempt=1)),
)
TAPE = tape_of(FACTS)


async def test_equal_prompts_are_distinguished_by_their_orders() -> None:
    model = ReplayModel(TAPE)
    replies = [await model.complete(ask("p", order=f"g1/macro/{slot}")) for slot in (2, 0, 1)]
    assert [(reply.text, reply.stop) for reply in replies] == [("cut", "length"), ("zero", "end"), ("one", "end")]
    assert replies[0].model == "m"
    assert replies[0].usage == Usage(input_tokens=3, cost_usd=0.25, attempts=2)


async def test_another_prompt_is_an_error() -> None:
    with pytest.raises(ModelError, match="does not fit: the prompt of the order g1/macro/0, attempt 0") as caught:
        await ReplayModel(TAPE).complete(ask("q", order="g1/macro/0"))
    assert caught.value.fatal


async def test_a_prompt_may_differ_in_the_measured_times() -> None:
    recorded = ProposalMade(
        order="g1/macro/0", program=Program("x"), summary="", call=call("one", prompt="F 0.5, median under 1 ms")
    )
    model = ReplayModel(tape_of([recorded]))
    assert (await model.complete(ask("F 0.5, median about 20 ms", order="g1/macro/0"))).text == "one"
    with pytest.raises(ModelError, match="does not fit"):
        await model.complete(ask("F 0.6, median under 1 ms", order="g1/macro/0"))


async def test_both_attempts_of_a_judge() -> None:
    model = ReplayModel(TAPE)
    order = "eval/g0/judge/0"
    assert (await model.complete(ask("p", order=order, role="judge"))).text == "?"
    assert (await model.complete(ask("p2", order=order, role="judge", attempt=1))).text == "B"


@pytest.mark.parametrize(
    ("order", "attempt", "says"),
    [("g1/macro/3", 0, "m is down"), ("eval/g0/judge/1", 1, "call failed"), ("eval/g0/judge/2", 0, "call failed")],
)
async def test_a_call_that_failed_fails_again(order: str, attempt: int, says: str) -> None:
    with pytest.raises(ModelError, match=says) as caught:
        await ReplayModel(TAPE).complete(ask("p", order=order, attempt=attempt))
    assert not caught.value.fatal


async def test_an_empty_reply_stands_for_attempts_that_were_not_kept() -> None:
    model = ReplayModel(TAPE)
    assert (await model.complete(ask("p", order="eval/g0/judge/3"))).text == ""
    assert (await model.complete(ask("p", order="eval/g0/judge/3", attempt=1))).text == "B"


async def test_a_withdrawn_order_stays_open_until_it_is_withdrawn_again() -> None:
    waiting = asyncio.create_task(ReplayModel(TAPE).complete(ask("p", order="g1/hill/9")))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_an_order_that_is_not_withdrawn_is_an_error() -> None:
    with pytest.raises(ModelError, match="holds no reply for the order g1/hill/9, attempt 0") as caught:
        await ReplayModel(TAPE, patience_s=0.01).complete(ask("p", order="g1/hill/9"))
    assert caught.value.fatal


async def test_loosely_other_prompts_get_the_reply_of_their_order_and_the_first_is_named() -> None:
    model, named = ReplayModel(TAPE, loosely=True, patience_s=0.01), []
    model.differed = lambda ask: named.append(ask.order.id)
    assert (await model.complete(ask("p", order="g1/macro/0"))).text == "zero"
    with pytest.raises(ModelError) as caught:
        await model.complete(ask("p", order="g1/hill/8"))
    assert caught.value.fatal and named == []       # so far it is an exact replay
    assert (await model.complete(ask("q", order="g1/macro/1"))).text == "one"
    assert (await model.complete(ask("r", order="g1/macro/0"))).text == "zero"
    assert named == ["g1/macro/1"]
    with pytest.raises(ModelError, match="holds no reply") as caught:
        await model.complete(ask("p", order="g1/hill/8"))
    assert not caught.value.fatal                   # the search took another way, and loses this slot alone


async def test_a_tape_of_a_plain_mapping() -> None:
    model = ReplayModel(Tape(calls={("init/0", 0): call("text")}))
    assert (await model.complete(ask("p", order="init/0"))).text == "text"


class Scripted:
    """A model that fails a given number of times, then answers; records that it was closed."""

    def __init__(self, name: str, *errors: ModelError) -> None:
        self.name = name
        self.errors = list(errors)
        self.asked = 0
        self.closed = False

    async def complete(self, ask: Ask) -> Reply:
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        return Reply(text="ok", model=self.name, usage=Usage(attempts=1))

    async def close(self) -> None:
        self.closed = True


async def test_the_next_model_answers_for_one_that_failed() -> None:
    first = Scripted("first", ModelError("first is down", attempts=3))
    second = Scripted("second")
    both = FallbackModel([first, second])
    reply = await both.complete(ask())
    assert (reply.model, reply.usage.attempts) == ("second", 4)
    assert (await both.complete(ask())).model == "first", "it had failed for one call only"
    await both.close()
    assert first.closed
    assert second.closed


async def test_a_model_that_failed_for_good_is_not_called_again() -> None:
    first = Scripted("first", ModelError("first refused the key", fatal=True))
    both = FallbackModel([first, Scripted("second")])
    for _ in range(3):
        assert (await both.complete(ask())).model == "second"
    assert first.asked == 1


@pytest.mark.parametrize(("first_fatal", "fatal"), [(True, True), (False, False)])
async def test_all_fail(first_fatal: bool, fatal: bool) -> None:
    both = FallbackModel([
        Scripted("a", ModelError("a fails", fatal=first_fatal, attempts=2)),
        Scripted("b", ModelError("b fails", fatal=True, attempts=1)),
    ])
    with pytest.raises(ModelError, match="a fails; b fails") as caught:
        await both.complete(ask())
    assert (caught.value.fatal, caught.value.attempts) == (fatal, 3)


async def test_a_spent_budget_does_not_lead_to_another_model() -> None:
    second = Scripted("second")
    with pytest.raises(BudgetSpent):
        await FallbackModel([Scripted("first", BudgetSpent("spent")), second]).complete(ask())
    assert second.asked == 0


def test_a_call_is_replayed_as_it_was_recorded() -> None:
    recorded = call("text", stop="refusal")
    assert tape_of([replace(FACTS[0], call=recorded)]).calls == {("g1/macro/1", 0): recorded}  # type: ignore[call-arg]


class Counting:
    """A model that counts its questions."""

    name = "m"

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def complete(self, asked: Ask) -> Reply:
        self.asked.append(asked.attempt)
        return Reply(text="new", model="m")


async def test_a_continued_run_repeats_unusable_answers_to_the_same_prompt_only() -> None:
    model = Counting()
    continued = ContinuedModel(model, {("g1/macro/0", 0): call("zero")})
    replies = [
        await continued.complete(replace(ask(prompt, order="g1/macro/0"), attempt=attempt))
        for prompt, attempt in (("p", 0), ("q", 0), ("p", 1))
    ]
    assert [reply.text for reply in replies] == ["zero", "new", "new"]
    assert model.asked == [0, 1]


def test_an_unusable_answer_counts_once_before_and_after_its_order_is_answered() -> None:
    first, second = call("?"), call("B", attempt=1)
    asked = AskedAgain(order="g1/macro/7", call=first, reason="prose")
    made = ProposalMade(order="g1/macro/7", program=Program("x"), summary="", call=second, earlier=(first,))
    for facts, calls in (((asked,), 1), ((asked, made), 2), ((made,), 2)):
        past, tally = PastSpending(), SpendingTally()
        for fact in facts:
            past.apply(fact)
            tally.apply(fact)
        assert past.by_role()["proposer"].calls == tally.so_far().total.calls == calls
        assert past.asked_again() == ({"g1/macro/7"} if calls == 1 else set())
        assert len(tape_of(facts).calls) == calls
