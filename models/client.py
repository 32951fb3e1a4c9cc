"""A language model as MEMENTO asks it: one layer of retries, a deadline for the whole call, a shared gate."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from ..core.errors import ModelError
from ..core.ports import UNUSABLE, Ask, Reply
from ..core.seeds import derive_seed
from ..core.values import Usage
from .call_limits import CallLimits, Elapsed, Sleep
from .failures import Failure, shared_wait_s, wait_note, wait_s
from .opening import UNREACHED
from .prompt_cache import FirstGoes, nothing_begun
from .requests import Answer, Requester
from .services import Account

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
        connection = await self._open_connection()
        async with self._first_goes.turn(ask) as begun:
            reply = await self._answer(ask, _Call(connection, begun, patient))
            begun()
            return reply

    async def open(self) -> None:
        """Reach the service, and open the connection. Raises UsageError with the fix where this fails."""
        if self._connection is None:
            await self._require_ready()
        await self._open_connection()

    async def _answer(self, ask: Ask, call: "_Call") -> Reply:
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
                    slot.note_answer()
                    account.note_answer(self.name)
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
                    slot.note_overload(shared_wait_s(outcome, limits))
                account.note_failure(self.name, outcome, limits)
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
            return call.connection.send(CHECK, typed=False, prefixes=(), begun=nothing_begun)
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

    async def _open_connection(self) -> Requester:
        async with self._connecting:
            if self._connection is None:
                # The first connection imports the client libraries, which takes seconds: not on the loop.
                self._connection = await asyncio.to_thread(self._connect)
            return self._connection

    def _reply(self, answer: Answer, call: "_Call") -> Reply:
        return Reply(text=answer.text, model=self.name, stop=answer.stop, usage=self._usage(call, answer.usage))

    def _usage(self, call: "_Call", *answers: Usage) -> Usage:
        latency_s = self._elapsed() - (call.began_s or 0.0)
        return replace(total_usage((*call.paid, *answers)), latency_s=latency_s, attempts=call.sent)

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


def total_usage(usages: Sequence[Usage]) -> Usage:
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
