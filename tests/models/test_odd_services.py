"""Servers of chat completions as they are: what they refuse, leave out, add and say, over real sockets.

The name of a row says whose answer it resembles, where that is known. No real service was asked.
"""

from dataclasses import replace
from typing import Any

import pytest
from memento.core.errors import ModelError
from memento.core.ports import THOUGHT_ONLY, Ask, Reply
from memento.models import ClientSettings, close_model, make_model
from memento.models.requests import Sampling
from memento.models.services import Services

from ..support.services import Act, chat_whole, serving
from .asking import LIMITS, JumpingClock, ask

WHOLE = chat_whole({"model": "m"}, Act())
Notices = list[tuple[str, str]]
SAMPLING = Sampling()


async def asked(
    *acts: Act, asks: tuple[Ask, ...] = (), sampling: Sampling = SAMPLING, notices: Notices | None = None
) -> tuple[list[Reply | ModelError], list[dict[str, Any]]]:
    """The replies and failures of calls one after the other, and the requests that the server got."""
    clock, heard = JumpingClock(), [] if notices is None else notices
    services = Services(report=lambda model, event, text: heard.append((event, text)))
    results: list[Reply | ModelError] = []
    async with serving(*acts, dialect="openai-chat") as service:
        settings = ClientSettings(
            limits=LIMITS, sampling=sampling, services=services, elapsed=clock.elapsed, sleep=clock.sleep
        )
        model = make_model(f"compatible:lab@{service.url}#m", settings=settings, environ={})
        for each in asks or (ask(),):
            try:
                results.append(await model.complete(each))
            except ModelError as error:
                results.append(error)
        await close_model(model)
    return results, service.asked


def changed(**fields: object) -> dict[str, Any]:
    """A correct answer with other fields; None leaves one out."""
    return {name: value for name, value in {**WHOLE, **fields}.items() if value is not None}


def choice(**fields: object) -> dict[str, Any]:
    message = {"role": "assistant", "content": "Hello.", **fields.pop("message", {})}  # type: ignore[arg-type]
    return changed(choices=[{"index": 0, "message": message, "finish_reason": "stop", **fields}])


USED = {
    "no id, no created (an older LocalAI)": changed(id=None, created=None),
    "created as a fraction": changed(created=1700000000.53),
    "no object, no model": changed(object=None, model=None),
    "no role": choice(message={"role": None}),
    "a role of its own": choice(message={"role": "tool"}),
    "usage with fractions": changed(usage={"prompt_tokens": 900.0, "completion_tokens": 120.5, "total_tokens": 1020.5}),
    "usage without numbers": changed(usage={}),
    "usage of nulls": changed(usage={"prompt_tokens": None, "completion_tokens": None, "total_tokens": None}),
    "usage below zero": changed(usage={"prompt_tokens": -5, "completion_tokens": -5, "total_tokens": -10}),
    "usage as a text": changed(usage="18 tokens"),
    "parts with thoughts (Mistral)": choice(
        message={"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                             {"type": "text", "text": "Hello."}]}
    ),
    "calls of nothing": choice(message={"tool_calls": [], "function_call": None, "refusal": None, "audio": None}),
    "an end in other words (TGI)": choice(finish_reason="eos_token"),
    "an end that nobody knows": choice(finish_reason="weird"),
    "a text in place of a message": changed(choices=[{"index": 0, "text": "Hello.", "finish_reason": "stop"}]),
}


@pytest.mark.parametrize("body", USED.values(), ids=USED.keys())
async def test_an_answer_that_is_there_is_used(body: dict[str, Any]) -> None:
    (reply,), requests = await asked(Act(body=body))
    assert isinstance(reply, Reply), reply
    assert (reply.text, reply.stop, len(requests)) == ("Hello.", "end", 1)
    assert reply.usage.input_tokens >= 0


async def test_an_end_that_nobody_knows_is_noted_once() -> None:
    notices: Notices = []
    await asked(Act(body=USED["an end that nobody knows"]), asks=(ask(), ask()), notices=notices)
    assert [event for event, _ in notices] == ["odd"]
    assert "'weird'" in notices[0][1]


async def test_reasoning_without_an_answer_is_named() -> None:
    """Reported for vLLM, whose parser can put a whole answer into reasoning_content."""
    (reply,), requests = await asked(Act(body=choice(message={"content": None, "reasoning_content": "I think."})))
    assert isinstance(reply, Reply)
    assert (reply.text, reply.stop, len(requests)) == ("", THOUGHT_ONLY, 1)


ERRORS = {
    "a rate limit (OpenRouter)": ({"error": {"message": "slow down", "code": 429}}, "is overloaded (HTTP 429): slow"),
    "an upstream that is away (OpenRouter)": ({"error": {"message": "Provider returned error", "code": 502}}, "502"),
    "in a choice": (changed(choices=[{"index": 0, "error": {"message": "gone", "code": 503}}]), "gone"),
    "as a text (LM Studio)": ({"error": "Unexpected endpoint or method. (POST /chat/completions)"}, "not known there"),
    "in a list (Gemini)": ([{"error": {"message": "token expired", "code": 401}}], "refused the key"),
    "as itself": ({"object": "error", "message": "no such model", "code": 404}, "not known there"),
}


@pytest.mark.parametrize(("body", "says"), ERRORS.values(), ids=ERRORS.keys())
async def test_an_error_with_the_status_200_is_that_error(body: object, says: str) -> None:
    (error,), _ = await asked(Act(body=body))
    assert isinstance(error, ModelError)
    assert says in str(error)


TOO_LONG = {
    "llama.cpp": (400, {"error": {
        "code": 400, "message": "the request exceeds the available context size, try increasing it",
        "type": "exceed_context_size_error", "n_prompt_tokens": 6129, "n_ctx": 4096,
    }}),
    "LM Studio": (400, {"error": (
        "Trying to keep the first 6129 tokens when context the overflows. However, the model is loaded with context "
        "length of only 4096 tokens, which is not enough."
    )}),
    "Ollama": (400, {"error": {"message": "input length 6129 exceeds the context length 4096"}}),
    "vLLM": (400, {"object": "error", "message": "This model's maximum context length is 4096 tokens. However, your "
                   "request has 6129 input tokens.", "code": 400}),
    "llama-cpp-python": (400, {"error": {"message": "Requested tokens (6129) exceed context window of 4096"}}),
    "the same as a failure": (500, {"error": {"message": "Requested tokens (6129) exceed context window of 4096"}}),
    "Gemini": (400, {"error": {"message": "The input token count (6129) exceeds the maximum number of tokens allowed "
                               "(4096).", "status": "INVALID_ARGUMENT"}}),
    "a server that counts inputs": (
        422, {"error": "Input validation error: `inputs` must have less than 4096 tokens. Given: 6129"}
    ),
    "Groq": (429, {"error": {"message": "Request too large for model: Limit 4096, Requested 6129", "code": "tokens"}}),
    "a gateway": (413, "<html><h1>413 Request Entity Too Large</h1></html>"),
}


@pytest.mark.parametrize(("status", "body"), TOO_LONG.values(), ids=TOO_LONG.keys())
async def test_a_prompt_that_is_too_long_fails_alone_and_says_how_long_one_may_be(status: int, body: Any) -> None:
    prompt = "x" * 10_000
    (error, reply), requests = await asked(Act(status=status, error=body), Act(), asks=(ask(prompt), ask()))
    assert isinstance(error, ModelError) and isinstance(reply, Reply)
    assert (error.fatal, error.down, len(requests)) == (False, False, 2)
    assert "cannot read a prompt this long" in str(error)
    assert error.room == (7500 if status == 413 else int(10_000 * 4096 / 6129 * 0.9))


REFUSALS: dict[str, tuple[str, Any, Sampling, str]] = {
    "LM Studio": (
        "response_format", {"error": "'response_format.type' must be 'json_schema' or 'text'"}, Sampling(), "judge"
    ),
    "a server that names nothing": ("response_format", {"detail": "Bad Request"}, Sampling(), "judge"),
    "a model that reasons": (
        "temperature", {"error": {"message": "Unsupported value: 'temperature' does not support 0.2 with this model."}},
        Sampling(temperature=0.2), "proposer",
    ),
    "vLLM without a parser of tools": (
        "tools", {"error": {"message": '"auto" tool choice requires --enable-auto-tool-choice'}},
        Sampling(tools="native"), "proposer",
    ),
    "Ollama": ("tools", {"error": {"message": "m does not support tools"}}, Sampling(tools="native"), "proposer"),
    "llama.cpp without templates": (
        "tools", {"error": {"message": "tools cannot be used: unsupported by this template", "code": 500}},
        Sampling(tools="native"), "proposer",
    ),
    "OpenRouter": (
        "tools", {"error": {"message": "No endpoints found that support tool use.", "code": 404}},
        Sampling(tools="native"), "proposer",
    ),
    "a proxy": (
        "stream_options", {"error": {"message": "Extra inputs are not permitted: stream_options"}},
        Sampling(stream=True), "proposer",
    ),
}


@pytest.mark.parametrize(("field", "body", "sampling", "role"), REFUSALS.values(), ids=REFUSALS.keys())
async def test_what_a_service_refuses_is_left_out_once_and_for_all(
    field: str, body: Any, sampling: Sampling, role: str
) -> None:
    notices: Notices = []
    error = body.get("error")
    status = error.get("code", 400) if isinstance(error, dict) else 400
    one = replace(ask(role=role), tools=sampling.tools == "native")
    replies, requests = await asked(
        Act(status=status, error=body, refuses=field), asks=(one, one), sampling=sampling, notices=notices
    )
    assert [getattr(reply, "text", reply) for reply in replies] == ["Hello.", "Hello."]
    assert [field in request for request in requests] == [True, False, False]
    assert [event for event, _ in notices] == ["left out"]
    assert isinstance(replies[0], Reply) and replies[0].usage.attempts == 2


async def test_a_refusal_that_names_no_optional_part_is_one_about_the_prompt_once_others_were_answered() -> None:
    refusal = Act(status=400, error={"error": {"message": "this text is not welcome"}})
    (first, error, last), _ = await asked(Act(), refusal, Act(), asks=(ask(), ask(), ask()))
    assert isinstance(first, Reply) and isinstance(last, Reply)
    assert isinstance(error, ModelError) and not error.fatal


async def test_prompts_that_are_cut_without_a_word_are_noticed_once() -> None:
    """Reported for Ollama: it leaves out a part of a long prompt, and only its count of tokens shows it."""
    notices: Notices = []
    usage = {"prompt_tokens": 4096, "completion_tokens": 9, "total_tokens": 4105}
    asks = tuple(ask("word " * count) for count in (4000, 5000, 6000))
    await asked(Act(tokens=usage), asks=asks, notices=notices)
    assert [event for event, _ in notices] == ["cut"]
    assert "4,096 tokens" in notices[0][1] and "num_ctx" in notices[0][1]


async def test_a_server_that_loads_its_model_is_waited_for() -> None:
    loading = Act(status=503, error={"error": {"message": "Loading model", "code": 503}})
    (reply,), requests = await asked(loading, loading, Act())
    assert isinstance(reply, Reply)
    assert (reply.text, len(requests)) == ("Hello.", 3)


async def test_an_answer_that_is_no_answer_is_in_the_books() -> None:
    body = choice(finish_reason="error", message={"content": "half of"})
    (reply,), requests = await asked(Act(body=body))
    assert isinstance(reply, Reply)
    assert (reply.stop, len(requests)) == ("unusable", 3)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (33, 21)


HALF = "Summary: x\n\n```python\nclass Policy:\n    def re"


@pytest.mark.parametrize(("reason", "text"), [
    ("insufficient_system_resource", HALF), ("insufficient_system_resource", "Hello"), ("preempted_by_vendor", HALF),
])
async def test_a_reason_that_breaks_an_answer_is_waited_for_like_an_outage(reason: str, text: str) -> None:
    broken = Act(body=choice(message={"content": text}, finish_reason=reason))
    notices: Notices = []
    (reply,), sent = await asked(*[broken] * 5, Act(), notices=notices)
    assert isinstance(reply, Reply) and (reply.text, reply.stop) == ("Hello.", "end"), "no slot is spent"
    assert len(sent) >= 6, "more often than a call is tried that fails by itself"
    assert reply.usage.attempts == len(sent)


async def test_an_unknown_reason_with_a_closed_block_ends_a_whole_answer() -> None:
    whole = Act(body=choice(message={"content": f"{HALF}set(self): pass\n```\n"}, finish_reason="preempted_by_vendor"))
    notices: Notices = []
    (reply,), sent = await asked(whole, notices=notices)
    assert isinstance(reply, Reply) and reply.stop == "end" and len(sent) == 1
    assert any("'preempted_by_vendor'" in text for _, text in notices)
