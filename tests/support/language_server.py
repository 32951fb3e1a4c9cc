"""A loopback server of chat completions that writes policies, evaluators and votes, and fails on demand."""

import asyncio
import base64
import itertools
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from memento.domains import load

from .services import DIALECTS, Act, answer

DOMAIN = load("hanoi-kinematic")
KEY = "sk-planted-7d1c44-never-written-down"
USED = 18           # tokens that every valid answer reports

Answerer = Callable[[int, str], Act]
"""What the server does with request `number` and this prompt."""


@dataclass(kw_only=True)
class Service:
    """A running server and its requests."""

    url: str = ""
    prompts: list[str] = field(default_factory=list)
    images: list[list[bytes]] = field(default_factory=list)     # of each request
    keys: set[str] = field(default_factory=set)

    arrived: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def wait_for_requests(self, times: int) -> None:
        """Wait until this number of requests has arrived."""
        async with self.arrived:
            await self.arrived.wait_for(lambda: len(self.prompts) >= times)

    @property
    def model(self) -> str:
        """The value for `--model`."""
        return f"compatible:lab@{self.url}#toy-1"


@asynccontextmanager
async def serving(act: Answerer | None = None) -> AsyncIterator[Service]:
    """Serve programs. Without an `act` every answer is valid."""
    service = Service()
    act = act or (lambda number, prompt: Act(text=sound_reply(number, prompt)))
    whole, frames, path = DIALECTS["openai-chat"]
    numbers = itertools.count()

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        [content] = [message["content"] for message in body["messages"] if message["role"] == "user"]
        prompt, images = content_of(content)
        async with service.arrived:
            service.prompts.append(prompt)
            service.images.append(images)
            service.arrived.notify_all()
        service.keys.add(request.headers["Authorization"].removeprefix("Bearer "))
        return await answer(request, body, act(next(numbers), prompt), whole, frames)

    app = web.Application(client_max_size=1 << 24)
    app.router.add_post(path, handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield service
    finally:
        await runner.cleanup()


def content_of(content: object) -> tuple[str, list[bytes]]:
    """The text of a message and the pictures that go with it."""
    if not isinstance(content, list):
        return str(content), []
    texts = [part["text"] for part in content if part["type"] == "text"]
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    return "".join(texts), [base64.b64decode(url.partition(";base64,")[2]) for url in urls]


def sound_reply(number: int, prompt: str) -> str:
    """A vote, an evaluator or a policy, as the prompt requests; all programs are different."""
    if '"choice"' in prompt:
        return '{"reason": "It tells failures apart.", "choice": "A"}'
    if "class `Evaluator`" in prompt:
        evaluator = DOMAIN.reference_evaluator()
        assert evaluator is not None
        return program_reply(f"{evaluator.text}\n\nNUMBER = {number}\n", f"number {number}")
    return program_reply(policy(number), f"number {number}")


def policy(number: int) -> str:
    """The shelf's first policy with another value for one of its numbers."""
    shelf = DOMAIN.shelf()
    assert shelf is not None
    text = shelf.initial.text
    places = list(re.finditer(r"^    [A-Z_]+ = (0\.\d+)$", text, re.MULTILINE))
    place = places[number % len(places)]
    value = float(place[1]) * (0.5 + (number * 0.37) % 1)
    return f"{text[: place.start(1)]}{value:.4f}{text[place.end(1) :]}\n\nNUMBER = {number}\n"


def program_reply(program: str, summary: str) -> str:
    return f"Summary: {summary}\n\n```python\n{program}\n```\n"
