"""The contract of every model: inherit ModelContract and define the fixtures `model` and `questions`."""

import asyncio
import inspect
from typing import Any

import pytest
from memento.core.errors import ModelError
from memento.core.ports import Ask, Model, Reply

STOPS = {"end", "length", "refusal", "error"}
SECRET = "sk-planted"       # prefix of every API key in tests


def check_reply(reply: Reply) -> None:
    """A reply is complete, whatever its text."""
    assert isinstance(reply.text, str) and reply.model and reply.stop in STOPS
    usage = reply.usage
    assert usage.input_tokens >= 0 and usage.output_tokens >= 0 and usage.latency_s >= 0 and usage.attempts >= 1
    assert usage.cost_usd is None or usage.cost_usd >= 0


class ModelContract:
    """`model` is open, `questions` are three or more that have different answers.

    `failing` is a model with a question that fails permanently; `silent` one with a question that its service
    never answers, under a deadline of less than 5 s. None if a model cannot fail in this way.
    """

    @pytest.fixture
    async def model(self) -> Model:
        raise NotImplementedError

    @pytest.fixture
    def questions(self) -> list[Ask]:
        raise NotImplementedError

    @pytest.fixture
    async def failing(self) -> tuple[Model, Ask] | None:
        return None

    @pytest.fixture
    async def silent(self) -> tuple[Model, Ask] | None:
        return None

    async def test_it_has_a_name(self, model: Model) -> None:
        assert isinstance(model.name, str) and model.name.strip() == model.name != ""

    async def test_every_question_gets_its_own_answer(self, model: Model, questions: list[Ask]) -> None:
        alone = [await model.complete(ask) for ask in questions]
        together = await asyncio.gather(*(model.complete(ask) for ask in questions * 3))
        for reply in alone:
            check_reply(reply)
        assert len({reply.text for reply in alone}) == len(questions) >= 3
        assert [reply.text for reply in together] == [reply.text for reply in alone] * 3

    async def test_a_question_taken_back_disturbs_no_other(self, model: Model, questions: list[Ask]) -> None:
        expected = [(await model.complete(ask)).text for ask in questions]
        calls = [asyncio.create_task(model.complete(ask)) for ask in questions * 2]
        await asyncio.sleep(0)
        for call in calls[: len(questions)]:
            call.cancel()
        async with asyncio.timeout(30):
            replies = await asyncio.gather(*calls, return_exceptions=True)
        assert [reply.text for reply in replies[len(questions) :]] == expected
        assert all(isinstance(reply, Reply | asyncio.CancelledError) for reply in replies)

    async def test_a_call_that_fails_for_good_is_a_model_error(self, failing: tuple[Model, Ask] | None) -> None:
        if failing is None:
            pytest.skip("nothing can fail")
        model, ask = failing
        for _ in range(2):
            with pytest.raises(ModelError) as raised:
                await model.complete(ask)
            said = str(raised.value)
            assert said and "\n" not in said and SECRET not in said

    async def test_a_call_ends_within_its_deadline(self, silent: tuple[Model, Ask] | None) -> None:
        if silent is None:
            pytest.skip("this model does not wait for a service")
        model, ask = silent
        async with asyncio.timeout(20):
            with pytest.raises(ModelError):
                await model.complete(ask)

    async def test_it_may_be_closed_twice(self, model: Any, questions: list[Ask]) -> None:
        await model.complete(questions[0])
        close = getattr(model, "close", None)
        if close is None:
            pytest.skip("it holds nothing")
        assert inspect.iscoroutinefunction(close)
        await close()
        await close()
