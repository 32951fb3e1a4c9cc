"""A language model as MEMENTO asks it: one layer of retries, a deadline for the whole call, a shared gate."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Literal, Protocol

from ..core.errors import ModelError, UsageError
from ..core.ports import Ask, ImageFile, Reply
from ..core.seeds import derive_seed
from ..core.values import Document, Usage
from .call_limits import CallLimits, Elapsed, Failure, Gate, Sleep, shared_wait_s, wait_note, wait_s

# What helps a service's prompt cache: where a prompt may be cut, and which of several equal calls goes first.


MAX_POINTS = 4          # cache points in one request, for Anthropic and for OpenAI
WORTH_CHARACTERS = 4096  # shorter beginnings are below every service's minimum of about 1,000 tokens
KEPT_S = 300.0          # a service forgets a beginning that was not used for about five minutes
KNOWN = 64              # beginnings that are remembered


def pieces(prompt: str, prefixes: Sequence[int]) -> tuple[str, ...]:
    """The prompt cut at the ends of its repeated beginnings; together the pieces are the prompt.

    No piece is blank, since services refuse blank texts. At most the last MAX_POINTS cuts are made.
    """
    ends = sorted({end for end in prefixes if 0 < end < len(prompt)})[-MAX_POINTS:]
    cut: list[str] = []
    start = 0
    for end in (*ends, len(prompt)):
        piece = prompt[start:end]
        if cut and not piece.strip():
            cut[-1] += piece
        elif piece.strip() or end == len(prompt):
            cut.append(piece)
        else:
            continue  # a blank beginning joins the next piece
        start = end
    return tuple(cut)


@dataclass(slots=True)
class _Beginning:
    """A beginning of prompts: whether the first response to it has begun, and when it was last sent."""

    answered: asyncio.Event = field(default_factory=asyncio.Event)
    used_at: float = 0.0


class FirstGoes:
    """Of several calls with the same beginning, one goes first: a service can read a beginning from its cache only
    after its first response has begun.

    The others wait until then, or until the first call ends for whatever reason, and at most `wait_s` seconds.
    """

    def __init__(self, wait_s: float, *, elapsed: Elapsed = time.monotonic) -> None:
        self._wait_s = wait_s
        self._elapsed = elapsed
        self._known: OrderedDict[str, _Beginning] = OrderedDict()

    @asynccontextmanager
    async def turn(self, ask: Ask) -> AsyncIterator[Callable[[], None]]:
        """Wait for this call's turn. The block reports the begin of its response by the function that it gets."""
        end = ask.prefixes[-1] if ask.prefixes else 0
        if self._wait_s <= 0 or end < WORTH_CHARACTERS:
            yield _nothing
            return
        key = Document(ask.prompt[:end]).digest
        beginning = self._known.get(key)
        if beginning is None or self._elapsed() - beginning.used_at > KEPT_S:
            beginning = self._known[key] = _Beginning(used_at=self._elapsed())
            try:
                yield beginning.answered.set
            finally:
                if not beginning.answered.is_set() and self._known.get(key) is beginning:
                    del self._known[key]  # the call failed or was withdrawn: the next one goes first again
                beginning.answered.set()
                self._forget()
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self._wait_s):
                await beginning.answered.wait()
        beginning.used_at = self._elapsed()
        if self._known.get(key) is beginning:
            self._known.move_to_end(key)
        yield _nothing

    def _forget(self) -> None:
        while len(self._known) > KNOWN:
            self._known.popitem(last=False)


def _nothing() -> None:
    """For calls that nobody waits for."""


# The sampling settings of requests, and the answer to one request.


Thinking = Literal["minimal", "low", "medium", "high", "xhigh"]
ToolForm = Literal["native", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Settings sent with every request. None leaves the choice to the service.

    Many reasoning models refuse a temperature. There is no output limit by default: some servers refuse a limit
    that does not fit with the prompt, and the call's deadline ends an endless reply.

    Streaming distinguishes a slow server from a silent one, but takes about 0.2 ms of CPU per token in the
    controller (0.4 s for a reply of 2,000 tokens), while a whole reply takes 3 ms. If a client library requires
    streaming, such as for Anthropic's long replies, it streams without this setting.
    """

    temperature: float | None = None
    max_output_tokens: int | None = None
    thinking: Thinking | None = None
    stream: bool = False
    tools: ToolForm | None = None  # how a conversation's tools are offered; None: natively where that is known to work
    cache: bool = True  # whether prompts are marked for the service's cache, and equal ones sent one before the others

    def __post_init__(self) -> None:
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise UsageError(f"the temperature of a model must be from 0 to 2, not {self.temperature}")
        if self.max_output_tokens is not None and self.max_output_tokens < 1:
            raise UsageError("the max_output_tokens of a model must be above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to one request. `stop` is as in Reply; `cost_usd` is None if the price is unknown."""

    text: str
    stop: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_written_tokens: int = 0
    cost_usd: float | None = None


class Requester(Protocol):
    """Something that carries one request to a service and never retries."""

    async def send(
        self, prompt: str, *, typed: bool, prefixes: Sequence[int], begun: Callable[[], None], tools: bool = False,
        images: Sequence[ImageFile] = (),
    ) -> Answer | Failure:
        """Ask once; `typed` asks for a judge's answer, `prefixes`, `tools` and `images` are as in Ask.

        Calls `begun` when the response begins, if the service streams it.
        """

    async def close(self) -> None:
        """Close the sockets."""


class ClientModel:
    """A Model over a service. Opens its connection at the first call."""

    def __init__(
        self,
        name: str,
        connect: Callable[[], Requester],
        *,
        gate: Gate,
        limits: CallLimits,
        cached: bool = False,
        seed: int = 0,
        elapsed: Elapsed = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.name = name
        self._connect = connect
        self._gate = gate
        self._limits = limits
        self._seed = seed
        self._elapsed = elapsed
        self._sleep = sleep
        self._first_goes = FirstGoes(limits.cache_wait_s if cached else 0.0, elapsed=elapsed)
        self._connection: Requester | None = None
        self._connecting = asyncio.Lock()

    async def complete(self, ask: Ask) -> Reply:
        """Answer one question. Raises ModelError, with no key in it, where the call failed for good."""
        connection = await self._connected()
        async with self._first_goes.turn(ask) as begun:
            reply = await self._answered(ask, connection, begun)
            begun()
            return reply

    async def _answered(self, ask: Ask, connection: Requester, begun: Callable[[], None]) -> Reply:
        draw = Random(derive_seed(self._seed, "back-off", self.name, ask.order.id, ask.attempt))
        limits = self._limits
        began_s: float | None = None
        failure = Failure(problem="was not asked")
        attempts = 0
        while attempts < limits.attempts:
            async with self._gate.slot(first=attempts == 0) as slot:
                began_s = self._elapsed() if began_s is None else began_s
                left_s = limits.total_s - (self._elapsed() - began_s)
                if left_s <= 0:
                    break
                attempts += 1
                request = connection.send(
                    ask.prompt, typed=ask.role == "judge", prefixes=ask.prefixes, begun=begun,
                    tools=ask.tools, images=ask.images,
                )
                outcome = await _within(left_s, request)
                if isinstance(outcome, Answer):
                    slot.answered()
                    return self._reply(outcome, attempts, self._elapsed() - began_s)
                failure = outcome
                if failure.overloaded:
                    slot.overloaded(shared_wait_s(failure, limits))
            pause_s = wait_s(attempts, failure, limits, draw)
            if not failure.retry or self._elapsed() - began_s + pause_s >= limits.total_s:
                break
            if attempts < limits.attempts:
                await self._sleep(pause_s)
        raise self._error(failure, attempts)

    async def close(self) -> None:
        """Close the connection, if one was opened."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _connected(self) -> Requester:
        async with self._connecting:
            if self._connection is None:
                # The first connection imports the client libraries, which takes seconds: not on the loop.
                self._connection = await asyncio.to_thread(self._connect)
            return self._connection

    def _reply(self, answer: Answer, attempts: int, latency_s: float) -> Reply:
        usage = Usage(
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            cost_usd=answer.cost_usd,
            latency_s=latency_s,
            attempts=attempts,
            cached_tokens=answer.cached_tokens,
            cache_written_tokens=answer.cache_written_tokens,
        )
        return Reply(text=answer.text, model=self.name, stop=answer.stop, usage=usage)

    def _error(self, failure: Failure, attempts: int) -> ModelError:
        tried = f" ({attempts} attempts)" if attempts > 1 else ""
        message = f"{self.name} {failure.problem}{wait_note(failure)}{tried}"
        return ModelError(message, fatal=failure.fatal, attempts=attempts, of_pictures=failure.of_pictures)


async def _within(limit_s: float, request: Coroutine[None, None, Answer | Failure]) -> Answer | Failure:
    try:
        async with asyncio.timeout(limit_s):
            return await request
    except TimeoutError:
        return Failure(problem="gave no answer within the time limit of the call")
