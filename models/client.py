"""A language model as MEMENTO asks it: one layer of retries, a deadline for the whole call, a shared gate."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Literal, Protocol

from ..core.errors import ModelError, UsageError
from ..core.ports import UNUSABLE, Ask, ImageFile, Reply
from ..core.seeds import derive_seed
from ..core.values import Document, Usage
from .call_limits import CallLimits, Elapsed, Failure, Sleep, shared_wait_s, wait_note, wait_s
from .opening import UNREACHED
from .services import Account

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
    """The answer to one request. `stop` is as in Reply, `usage` that of this request."""

    text: str
    stop: str
    usage: Usage = Usage()


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


CHECK = "Answer with the one word: ready"
"""Asked where one prompt fails again and again: it tells a service that is down from one that fails on that prompt."""


def _unheard(order: str, why: str) -> None:
    """For models whose tries nobody follows."""


class ClientModel:
    """A Model over a service. Opens its connection at the first call, or by `open`."""

    def __init__(
        self,
        name: str,
        connect: Callable[[], Requester],
        *,
        account: Account,
        address: str,
        require_ready: Callable[[], Awaitable[None]],
        limits: CallLimits,
        cached: bool = False,
        retried: Callable[[str, str], None] = _unheard,
        seed: int = 0,
        elapsed: Elapsed = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.name = name
        self.address = address
        self._connect = connect
        self._require_ready = require_ready
        self._account = account
        self._limits = limits
        self._retried = retried
        self._seed = seed
        self._elapsed = elapsed
        self._sleep = sleep
        self._first_goes = FirstGoes(limits.cache_wait_s if cached else 0.0, elapsed=elapsed)
        self._connection: Requester | None = None
        self._connecting = asyncio.Lock()

    async def complete(self, ask: Ask, *, patient: bool = True) -> Reply:
        """Answer one question. Raises ModelError, with no key in it, where the call failed for good.

        An outage is waited for, and does not count as a failure of the call; without `patient` ModelError says so.
        Raises ServiceLost where it lasts too long.
        """
        connection = await self._connected()
        async with self._first_goes.turn(ask) as begun:
            reply = await self._answered(ask, _Call(connection, begun, patient))
            begun()
            return reply

    async def open(self) -> None:
        """Reach the service, and open the connection. Raises UsageError with the fix where this fails."""
        if self._connection is None:
            await self._require_ready()
        await self._connected()

    async def _answered(self, ask: Ask, call: "_Call") -> Reply:
        draw = Random(derive_seed(self._seed, "back-off", self.name, ask.order.id, ask.attempt))
        limits, account = self._limits, self._account
        answers = account.answers
        while True:
            async with account.gate.slot(first=call.sent == 0) as slot, \
                    account.turn(self.name, patient=call.patient) as retried:
                now_s = self._elapsed()
                if call.began_s is None or retried:
                    call.began_s = now_s        # the wait for a service that is down is not part of the call
                left_s = limits.total_s - (now_s - call.began_s)
                if left_s <= 0:
                    break
                checking = retried and call.tries >= limits.attempts
                outcome = await _within(left_s, self._request(ask, call, checking=checking))
                call.sent += 1
                if isinstance(outcome, Answer):
                    slot.answered()
                    account.answered(self.name)
                    if not checking:
                        return self._reply(outcome, call)
                    call.paid.append(outcome.usage)
                    call.tries -= 1             # the service was down: the prompt has another try
                    continue
                if outcome.timed_out and call.failure.outage and account.answers == answers:
                    outcome = replace(outcome, outage=True, retry=True)
                call.failure = outcome
                if outcome.usage is not None and outcome.usage.input_tokens + outcome.usage.output_tokens:
                    call.paid.append(outcome.usage)
                if outcome.overloaded:
                    slot.overloaded(shared_wait_s(outcome, limits))
                account.failed(self.name, outcome, limits)
            of = f" of {limits.attempts}" if call.sent < limits.attempts else ""    # an outage takes more
            self._retried(ask.order.id, f"attempt {call.sent + 1}{of}, since {self.name} {call.failure.problem}")
            if not await self._goes_on(call, draw):
                break
        error = self._error(call)
        if call.paid and not error.fatal:
            return Reply(text=str(error), model=self.name, stop=UNUSABLE, usage=self._usage(call))
        raise error

    def _request(self, ask: Ask, call: "_Call", *, checking: bool) -> Coroutine[None, None, Answer | Failure]:
        if checking:
            return call.connection.send(CHECK, typed=False, prefixes=(), begun=_nothing)
        return call.connection.send(
            ask.prompt, typed=ask.role == "judge", prefixes=ask.prefixes, begun=call.begun, tools=ask.tools,
            images=ask.images,
        )

    async def _goes_on(self, call: "_Call", draw: Random) -> bool:
        """Whether the call is tried again, after the wait that this needs."""
        limits, failure, account = self._limits, call.failure, self._account
        if failure.unreachable and not account.reached and call.sent > 1:
            call.failure = replace(failure, fatal=True)     # nobody is there: a wrong address, or no server
            return False
        if failure.adapted:
            return True
        if failure.form and account.answers and not failure.of_pictures:
            call.failure = replace(failure, fatal=False)    # others were answered: it is about this prompt
        call.tries += not failure.unreachable
        if not failure.retry or (failure.foreign and not account.answers and call.tries >= limits.attempts):
            return False
        if account.down:
            return call.patient
        if call.tries >= limits.attempts:
            return False
        pause_s = wait_s(call.tries, failure, limits, draw)
        if call.began_s is None or self._elapsed() - call.began_s + pause_s >= limits.total_s:
            return False
        await self._sleep(pause_s)
        return True

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

    def _reply(self, answer: Answer, call: "_Call") -> Reply:
        return Reply(text=answer.text, model=self.name, stop=answer.stop, usage=self._usage(call, answer.usage))

    def _usage(self, call: "_Call", *answers: Usage) -> Usage:
        latency_s = self._elapsed() - (call.began_s or 0.0)
        return replace(summed((*call.paid, *answers)), latency_s=latency_s, attempts=call.sent)

    def _error(self, call: "_Call") -> ModelError:
        failure = call.failure
        if failure.fatal and failure.unreachable:
            return ModelError(f"{self.name} {failure.problem}: {UNREACHED}", fatal=True, attempts=call.sent)
        lost = failure.foreign and not self._account.answers
        hint = f"; it never answered as a model does: check the address {self.address}" if lost else ""
        tried = f" ({call.sent} attempts)" if call.sent > 1 else ""
        return ModelError(
            f"{self.name} {failure.problem}{wait_note(failure)}{tried}{hint}", fatal=failure.fatal or lost,
            attempts=call.sent, of_pictures=failure.of_pictures, down=self._account.down, room=failure.room,
        )


def summed(usages: Sequence[Usage]) -> Usage:
    """What several answers used together; the cost is unknown where that of one is."""
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        cached_tokens=sum(usage.cached_tokens for usage in usages),
        cache_written_tokens=sum(usage.cache_written_tokens for usage in usages),
        cost_usd=sum(costs) if len(costs) == len(usages) else None,
        latency_s=sum(usage.latency_s for usage in usages),
        attempts=sum(usage.attempts for usage in usages),
    )


@dataclass(slots=True)
class _Call:
    """One call on its way: the requests that were sent for it, and those of them on which the service failed."""

    connection: Requester
    begun: Callable[[], None]
    patient: bool
    sent: int = 0
    tries: int = 0
    began_s: float | None = None
    failure: Failure = Failure(problem="was not asked")
    paid: list[Usage] = field(default_factory=list)


async def _within(limit_s: float, request: Coroutine[None, None, Answer | Failure]) -> Answer | Failure:
    try:
        async with asyncio.timeout(limit_s):
            return await request
    except TimeoutError:
        return Failure(problem="gave no answer within the time limit of the call", timed_out=True)
