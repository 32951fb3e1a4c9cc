"""A language model as MEMENTO asks it: one layer of retries, a deadline for the whole call, a shared gate."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from random import Random
from typing import Protocol

from ..core.errors import ModelError
from ..core.ports import Ask, ImageFile, Reply
from ..core.seeds import derive_seed
from ..core.values import Usage
from .caching import FirstGoes
from .gate import CallLimits, Elapsed, Gate, Sleep
from .retrying import Failure, shared_wait_s, wait_note, wait_s
from .sampling import Answer


class Requests(Protocol):
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
        connect: Callable[[], Requests],
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
        self._connection: Requests | None = None
        self._connecting = asyncio.Lock()

    async def complete(self, ask: Ask) -> Reply:
        """Answer one question. Raises ModelError, with no key in it, where the call failed for good."""
        connection = await self._connected()
        async with self._first_goes.turn(ask) as begun:
            reply = await self._answered(ask, connection, begun)
            begun()
            return reply

    async def _answered(self, ask: Ask, connection: Requests, begun: Callable[[], None]) -> Reply:
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

    async def _connected(self) -> Requests:
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
