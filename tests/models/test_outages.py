"""Outages over real sockets: they are waited for, one call at a time tries the service, and no call is lost."""

import asyncio
import json
import socket
from collections.abc import Callable, Iterator

import pytest
from aiohttp import web
from memento.core.errors import ServiceLost
from memento.core.ports import UNUSABLE, Model
from memento.models import ClientSettings, close_model, make_model
from memento.models.call_limits import CallLimits
from memento.models.services import Services

from ..support.services import Act, chat_whole, serving
from .asking import LIMITS, JumpingClock, ask

Notices = list[tuple[str, str]]


class Killable:
    """A server on one port that can be killed, with what it answered; `refuses` names prompts that it fails on."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.answered: list[str] = []
        self.status = 200
        self.refuses = ""
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._handle)
        self._runner = web.AppRunner(app, shutdown_timeout=0.01)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True).start()

    async def kill(self) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.Response:
        body = await request.json()
        prompt = json.dumps(body["messages"])
        if self.status != 200 or (self.refuses and self.refuses in prompt):
            return web.json_response({"error": {"message": "upstream is away"}}, status=max(self.status, 500))
        self.answered.append(body["messages"][0]["content"])
        return web.json_response(chat_whole(body, Act()))


@pytest.fixture
def server() -> Iterator[Killable]:
    yield Killable()


def asking(server: Killable, notices: Notices, text: str = "", **limits: float) -> tuple[Model, JumpingClock]:
    clock = JumpingClock()
    services = Services(report=lambda model, event, what: notices.append((event, what)))
    settings = ClientSettings(
        limits=CallLimits(**{"read_s": 20.0, "attempts": 3, "outage_s": 1800.0, **limits}),  # type: ignore[arg-type]
        services=services, elapsed=clock.elapsed, sleep=clock.sleep,
    )
    return make_model(text or f"compatible:lab@{server.url}#m", settings=settings, environ={}), clock


async def test_calls_outlast_an_outage_and_none_is_answered_twice(server: Killable) -> None:
    notices: Notices = []
    await server.start()
    model, clock = asking(server, notices)
    await model.complete(ask("first"))
    await server.kill()
    calls = [asyncio.create_task(model.complete(ask(f"prompt {slot}", order=f"g1/macro/{slot}"))) for slot in range(6)]
    await until(lambda: bool(notices))
    assert not any(call.done() for call in calls)
    await server.start()
    replies = await asyncio.wait_for(asyncio.gather(*calls), 60)
    await close_model(model)
    await server.kill()
    assert [reply.text for reply in replies] == ["Hello."] * 6
    assert sorted(server.answered) == ["first", *(f"prompt {slot}" for slot in range(6))]
    assert [event for event, _ in notices] == ["lost", "back"]
    assert "connection refused" in notices[0][1] and "since" in notices[0][1]
    assert max(clock.waits_s) <= CallLimits().backoff_cap_s


@pytest.mark.parametrize("status", [500, 502, 503, 429], ids=str)
async def test_an_outage_that_lasts_loses_no_slot(server: Killable, status: int) -> None:
    """A gateway whose upstream is away, or, as reported, a quota that is used up for hours."""
    notices: Notices = []
    await server.start()
    server.status = status
    model, clock = asking(server, notices, outage_s=300.0)
    with pytest.raises(ServiceLost, match=r"answered nothing since .*no slot is spent.*memento resume"):
        await model.complete(ask())
    await close_model(model)
    await server.kill()
    assert 290 < sum(clock.waits_s) < 320
    assert [event for event, _ in notices] == ["lost"]


async def test_a_prompt_on_which_the_service_fails_is_no_outage(server: Killable) -> None:
    """Reported for llama.cpp and Gemini: HTTP 500 for one prompt on every try, and answers to all others."""
    notices: Notices = []
    await server.start()
    server.refuses = "poison"
    model, _ = asking(server, notices)
    await model.complete(ask("sound"))
    reply = await model.complete(ask("poison"))
    assert (reply.stop, "HTTP 500" in reply.text) == (UNUSABLE, True)
    assert reply.usage.input_tokens == 11, "of the short question that showed that the service answers"
    assert (await model.complete(ask("sound again"))).text == "Hello."
    await close_model(model)
    await server.kill()


async def test_the_next_model_answers_while_the_first_is_down_and_both_are_waited_for(server: Killable) -> None:
    notices: Notices = []
    other = Killable()
    await server.start()
    await other.start()
    text = f"compatible:first@{server.url}#m,compatible:second@{other.url}#m"
    model, _ = asking(server, notices, text)
    assert (await model.complete(ask())).model == "first:m"
    await server.kill()
    assert (await model.complete(ask())).model == "second:m"
    assert (await model.complete(ask())).model == "second:m"
    await other.kill()
    call = asyncio.create_task(model.complete(ask()))
    await until(lambda: bool(notices))
    assert not call.done()
    await server.start()
    assert (await asyncio.wait_for(call, 60)).model == "first:m"
    await close_model(model)
    await server.kill()


async def test_a_waiting_call_can_be_withdrawn(server: Killable) -> None:
    await server.start()
    model, _ = asking(server, [], **vars_of(LIMITS))
    await model.complete(ask())
    await server.kill()
    waiting = [asyncio.create_task(model.complete(ask(order=f"g1/macro/{slot}"))) for slot in range(3)]
    await asyncio.sleep(0.3)
    for call in waiting[:2]:
        call.cancel()
    await server.start()
    done = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 60)
    await close_model(model)
    await server.kill()
    assert getattr(done[2], "text", done[2]) == "Hello."


async def until(so: Callable[[], bool]) -> None:
    for _ in range(6000):
        if so():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen in time")


def vars_of(limits: CallLimits) -> dict[str, float]:
    return {"read_s": limits.read_s, "connect_s": limits.connect_s, "outage_s": 1e6}


async def test_every_further_attempt_is_reported_with_its_reason() -> None:
    heard: list[tuple[str, str]] = []
    async with serving(Act(status=500), Act(status=500), Act(text="done"), dialect="openai-chat") as service:
        clock = JumpingClock()
        settings = ClientSettings(limits=LIMITS, elapsed=clock.elapsed, sleep=clock.sleep)
        model = make_model(f"compatible:lab@{service.url}#m", settings=settings, environ={})
        settings.services.retried = lambda order, why: heard.append((order, why))
        reply = await model.complete(ask(order="init/0"))
        await close_model(model)
    assert reply.text == "done"
    assert [order for order, _ in heard] == ["init/0", "init/0"]
    assert heard[0][1].startswith("attempt 2 of 3, since lab:m ") and "HTTP 500" in heard[0][1]
    assert heard[1][1].startswith("attempt 3 of 3, since lab:m ")
