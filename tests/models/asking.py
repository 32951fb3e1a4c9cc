"""Shared code of the tests of models: a clock that skips waits, and clients of every kind for one service."""

import asyncio
import time
from dataclasses import dataclass, field

from memento.core.events import Order
from memento.core.ports import Ask, Model
from memento.models import ClientSettings, make_model
from memento.models.call_limits import CallLimits
from memento.models.prices import Price
from memento.models.requests import Sampling, ToolForm

KEY = "sk-planted-5e2f0c-do-not-print"
KINDS = ("openai", "openai-chat", "anthropic", "compatible")
DIALECT = {"openai": "openai", "openai-chat": "openai-chat", "anthropic": "anthropic", "compatible": "openai-chat"}
NAME = {
    "openai": "openai:gpt-5.2",
    "openai-chat": "openai-chat:gpt-5.2",
    "anthropic": "anthropic:claude-sonnet-5",
    "compatible": "lab:qwen3:8b",
}
LIMITS = CallLimits(total_s=600.0, read_s=20.0, connect_s=5.0, attempts=3, outage_s=100.0)


@dataclass
class JumpingClock:
    """Real time plus the time slept: a wait passes at once and is recorded."""

    waits_s: list[float] = field(default_factory=list)

    def elapsed(self) -> float:
        return time.monotonic() + sum(self.waits_s)

    async def sleep(self, wait_s: float) -> None:
        self.waits_s.append(wait_s)
        await asyncio.sleep(0)


def client(
    kind: str,
    url: str,
    *,
    stream: bool = False,
    limits: CallLimits = LIMITS,
    clock: JumpingClock | None = None,
    key: str = KEY,
    in_flight: int = 8,
    prices: dict[str, Price] | None = None,
    cache: bool = True,
    tools: ToolForm | None = None,
) -> Model:
    clock = clock or JumpingClock()
    settings = ClientSettings(
        limits=limits,
        # Anthropic's client streams automatically if it expects a long reply.
        sampling=Sampling(
            stream=stream, cache=cache, max_output_tokens=4096 if kind == "anthropic" else None, tools=tools
        ),
        in_flight=in_flight,
        prices=prices or {},
        elapsed=clock.elapsed,
        sleep=clock.sleep,
    )
    if kind == "compatible":
        return make_model(f"compatible:lab@{url}#qwen3:8b", settings=settings, environ={"LAB_API_KEY": key})
    prefix = "ANTHROPIC" if kind == "anthropic" else "OPENAI"
    environ = {f"{prefix}_API_KEY": key, f"{prefix}_BASE_URL": url}
    return make_model(NAME[kind], settings=settings, environ=environ)


def ask(prompt: str = "Write a policy.", *, order: str = "g1/macro/0", attempt: int = 0, role: str = "proposer") -> Ask:
    return Ask(order=Order(id=order), attempt=attempt, role=role, prompt=prompt)
