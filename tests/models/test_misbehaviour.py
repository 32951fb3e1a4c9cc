"""The real client libraries against servers that misbehave: every provider, every way, the exact outcome."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from memento.core.errors import ModelError, ServiceLost
from memento.core.ports import UNUSABLE, Reply
from memento.models import bodies, close_model

from ..support.services import Act, serving
from .asking import DIALECT, KINDS, LIMITS, NAME, JumpingClock, ask, client

SOUND = Act()


def error(message: str, kind: str, code: str | None = None) -> dict[str, object]:
    """An error body that both OpenAI's and Anthropic's clients read."""
    return {"type": "error", "error": {"type": kind, "message": message, "code": code or kind}}


@dataclass(frozen=True, kw_only=True)
class Case:
    """The server's behaviour, request by request, and the expected result."""

    acts: tuple[Act, ...]
    requests: int = 1
    text: str | None = None         # of the reply; None if the call fails
    stop: str = "end"
    fatal: bool = False
    says: str = ""                  # part of the error's message
    waits: tuple[float, ...] = ()   # lower bounds of the waits, in seconds
    lost: bool = False              # the service counts as down, and is waited for in vain
    limits: dict[str, Any] = field(default_factory=dict)


def recovering(act: Act, **fields: object) -> Case:
    """It fails once, then succeeds: one more request and nothing lost."""
    return Case(acts=(act, SOUND), requests=2, text="Hello.", **fields)  # type: ignore[arg-type]


def hopeless(act: Act, says: str, **fields: object) -> Case:
    """It fails every time: all attempts are made, and only this call fails."""
    return Case(acts=(act,), requests=3, says=says, **fields)  # type: ignore[arg-type]


def lasting(act: Act, says: str, **fields: object) -> Case:
    """It fails every time, whatever is asked: the call waits for the service, and no slot is spent."""
    return Case(acts=(act,), requests=0, lost=True, fatal=True, says=says, **fields)  # type: ignore[arg-type]


BUSY = Act(status=429, error=error("slow down", "rate_limit_error"))
POLICY = "Output blocked by content filtering policy"
QUICK = {"read_s": 1.0}      # and yet longer than a good answer takes on a busy machine
CASES = {
    "sound": Case(acts=(SOUND,), text="Hello."),
    "cut off by the length limit": Case(acts=(Act(finish="length"),), text="Hello.", stop="length"),
    "refused": Case(acts=(Act(finish="refusal"),), text="", stop="refusal"),
    "filtered": Case(acts=(Act(finish="filter", text=""),), text="", stop="refusal"),
    "empty": Case(acts=(Act(text=""),), text=""),
    "busy once": recovering(BUSY, waits=(0.5,)),
    "busy once, says how long": recovering(replace(BUSY, headers={"Retry-After": "30"}), waits=(30.0,)),
    "busy once, says how long in ms": recovering(replace(BUSY, headers={"retry-after-ms": "4500"}), waits=(4.5,)),
    "busy for longer than a call may take": Case(
        acts=(replace(BUSY, headers={"Retry-After": "3600"}),), requests=1, lost=True, fatal=True,
        says="it asks to wait 3600 s",
    ),
    "always busy": lasting(BUSY, "is overloaded (HTTP 429): slow down", waits=(0.5, 1.0)),
    "no credit": Case(
        acts=(Act(status=429, error=error("top up", "billing_error", "insufficient_quota")),),
        fatal=True, says="top up",
    ),
    "failing once": recovering(Act(status=500, error=error("oops", "api_error"))),
    "always failing": lasting(Act(status=500, error=error("oops", "api_error")), "failed (HTTP 500): oops"),
    "bad gateway, as a page": lasting(Act(status=502, error="<html>Bad gateway</html>"), "HTTP 502"),
    "unavailable once": recovering(Act(status=503, error=error("later", "overloaded_error"))),
    "overloaded once": recovering(Act(status=529, error=error("later", "overloaded_error"))),
    "key refused": Case(
        acts=(Act(status=401, error=error("bad key", "authentication_error", "invalid_api_key")),),
        fatal=True, says="refused the key (HTTP 401): check ",
    ),
    "no right to the model": Case(
        acts=(Act(status=403, error=error("no", "permission_error")),), fatal=True, says="refused the key (HTTP 403)"
    ),
    "unknown model": Case(
        acts=(Act(status=404, error=error("no such model", "not_found_error", "model_not_found")),),
        fatal=True, says="is not known there (HTTP 404)",
    ),
    "bad request": Case(
        acts=(Act(status=400, error=error("temperature?", "invalid_request_error")),),
        fatal=True, says="refused the request (HTTP 400): temperature?",
    ),
    "prompt too long": Case(
        acts=(
            Act(
                status=400,
                error=error("prompt is too long: 9 tokens", "invalid_request_error", "context_length_exceeded"),
            ),
        ),
        says="cannot read a prompt this long",
    ),
    "prompt against the content policy": Case(
        acts=(Act(status=400, error=error(POLICY, "invalid_request_error", "content_policy_violation")),),
        text="", stop="refusal",
    ),
    "no headers once": recovering(Act(ending="hang"), limits=QUICK),
    "no headers ever": lasting(Act(ending="hang"), "fell silent", limits={**QUICK, "outage_s": 20.0}),
    "silent in the middle once": recovering(Act(ending="stall", text="a b c"), limits=QUICK),
    "cut in the middle once": recovering(Act(ending="reset", text="a b c")),
    "always cut in the middle": lasting(Act(ending="reset", text="a b c"), "broke off the connection"),
    "ends in the middle once": recovering(Act(ending="quiet", text="a b c")),
    "always ends in the middle": hopeless(Act(ending="quiet", text="a b c"), "(3 attempts)"),
    "garbage once": recovering(Act(ending="garbage", text="a b c")),
    "always garbage": hopeless(Act(ending="garbage", text="a b c"), "(3 attempts)"),
    "slow tokens for ever": Case(
        acts=(Act(ending="drip", text="a b", interval_s=0.02),), says="within the time limit of the call",
        limits={"total_s": 1.2},
    ),
    "silence for longer than a call may take": Case(
        acts=(Act(ending="hang"),), says="within the time limit of the call", limits={"total_s": 1.2, "read_s": 5.0}
    ),
}

ONE_OF_EACH = {
    "refused", "busy once, says how long", "no credit", "always failing", "key refused", "unknown model",
    "prompt too long", "no headers once", "cut in the middle once", "always ends in the middle", "garbage once",
}


@pytest.mark.parametrize("case", [
    pytest.param(case, id=name, marks=[] if name in ONE_OF_EACH else pytest.mark.slow) for name, case in CASES.items()
])
async def test_outcome(case: Case) -> None:
    """Every kind of client, streamed and whole, at once: most of a case is waiting for a server that is silent."""
    clients = [(kind, stream) for kind in KINDS for stream in (False, True)]
    results = await asyncio.gather(*(outcome(case, *each) for each in clients), return_exceptions=True)
    for each, result in zip(clients, results, strict=True):
        if isinstance(result, BaseException):
            result.add_note(f"of the client {each}")
            raise result


async def outcome(case: Case, kind: str, stream: bool) -> None:
    clock = JumpingClock()
    async with serving(*case.acts, dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=stream, limits=replace(LIMITS, **case.limits), clock=clock)
        try:
            if case.text is None:
                await fails(model.complete(ask()), case, kind)
            else:
                answers(await model.complete(ask()), case, kind)
        finally:
            await close_model(model)
    if case.requests:
        assert len(service.asked) == case.requests, "requests on the wire: one layer of retries"
    else:
        assert 3 < len(service.asked) < 60, "it is tried again at growing intervals"
    assert all(bool(body.get("stream")) is stream for body in service.asked)
    pauses = [wait for wait in clock.waits_s if wait > 0]
    assert all(pause >= least for pause, least in zip(pauses, case.waits, strict=False))
    assert len(pauses) >= len(case.waits)


async def fails(call: Coroutine[Any, Any, Reply], case: Case, kind: str) -> None:
    try:
        reply = await call
    except ModelError as error:
        assert case.says in str(error)
        assert str(error).startswith(NAME[kind])
        assert error.fatal is case.fatal
        assert isinstance(error, ServiceLost) is case.lost
        assert case.lost or error.attempts == case.requests
    else:
        assert (reply.stop, case.fatal) == (UNUSABLE, False), "it is paid for, so it is an answer, and in the books"
        assert case.says in reply.text
        assert reply.usage.input_tokens + reply.usage.output_tokens > 0
        assert reply.usage.attempts == case.requests


def answers(reply: Reply, case: Case, kind: str) -> None:
    assert (reply.text, reply.stop, reply.model) == (case.text, case.stop, NAME[kind])
    assert reply.usage.attempts == case.requests
    assert reply.usage.latency_s > 0


@pytest.mark.parametrize("kind", KINDS)
async def test_an_error_inside_an_open_stream_is_retried(kind: str) -> None:
    event = error("too many", "overloaded_error")
    async with serving(Act(text="a b", error_event=event), SOUND, dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=True)
        reply = await model.complete(ask())
        await close_model(model)
    assert (reply.text, reply.usage.attempts, len(service.asked)) == ("Hello.", 2, 2)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_page_instead_of_an_answer_is_never_a_reply(kind: str, stream: bool) -> None:
    async with serving(Act(ending="page"), dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=stream)
        with pytest.raises(ModelError, match=r"a page for people.*check the address") as caught:
            await model.complete(ask())
        await close_model(model)
    assert caught.value.fatal, "it never answered as a model does"
    assert len(service.asked) == 3


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", KINDS)
async def test_an_answer_that_is_too_long_is_not_read_to_its_end(
    kind: str, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few kilobytes on the wire may be gigabytes of text."""
    monkeypatch.setattr(bodies, "MAX_WHOLE", 2 * bodies.MIB)
    monkeypatch.setattr(bodies, "MAX_STREAMED", 2 * bodies.MIB)
    act = Act(text="x" * 5_000_000, compressed=True)
    async with serving(act, SOUND, dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=stream)
        with pytest.raises(ModelError, match="too long to read") as caught:
            await model.complete(ask())
        assert (await model.complete(ask())).text == "Hello."
        await close_model(model)
    assert str(caught.value).endswith("sent an answer that is too long to read (more than 2 MiB)")
    assert (caught.value.fatal, caught.value.attempts) == (False, 1)


@pytest.mark.parametrize("kind", KINDS)
async def test_no_service_is_listening(kind: str) -> None:
    async with serving(dialect=DIALECT[kind]) as service:
        pass
    model = client(kind, service.url)
    with pytest.raises(ModelError, match=r"reached at http.*\(connection refused\): is the server") as caught:
        await model.complete(ask())
    await close_model(model)
    assert (caught.value.fatal, caught.value.attempts) == (True, 2)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_withdrawn_call_frees_its_place_and_its_connection(kind: str, stream: bool) -> None:
    async with serving(Act(ending="stall", text="a b"), SOUND, dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=stream, in_flight=1)
        call = asyncio.create_task(model.complete(ask()))
        await asyncio.wait_for(service.arrived.wait(), 20)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await model.complete(ask())).text == "Hello."
        await asyncio.wait_for(service.idle.wait(), 10)
        await close_model(model)
