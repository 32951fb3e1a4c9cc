"""Limits for requests to a model: the limits of one call, and a gate that adapts to a busy provider."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from random import Random

from ..core.errors import UsageError
from ..core.values import Usage

SPACING_S = 0.006
"""Seconds between two requests, about the controller's CPU time per call: calls that are sent together are answered
together, and then wait for one another in every round; with this spacing none waits."""

Elapsed = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """The limits of one call, from its first request to its answer, retries and waits between them included."""

    total_s: float = 1200.0     # the whole call
    read_s: float = 600.0       # silence within one request; without streaming, until the whole answer
    connect_s: float = 10.0
    attempts: int = 6           # requests sent for one call
    backoff_s: float = 1.0      # mean wait after the first failure, doubled after each further one
    backoff_cap_s: float = 60.0
    cache_wait_s: float = 15.0  # for another call with the same beginning, before the limits above begin
    outage_s: float = 1800.0    # how long calls wait for a service that answers nothing; not part of `total_s`

    def __post_init__(self) -> None:
        for name in ("total_s", "read_s", "connect_s", "attempts", "outage_s"):
            if getattr(self, name) <= 0:
                raise UsageError(f"the limit {name!r} of a model call must be above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveLimit:
    """The number of requests that may be in flight: halved on overload of the provider, grown slowly by answers.

    `epoch` counts the reductions: of ten requests sent together and refused together, only the first one reduces.
    """

    ceiling: int
    level: float
    epoch: int = 0

    @property
    def slots(self) -> int:
        """The number of requests that may be in flight as an integer, at least 1."""
        return max(1, int(self.level))

    def overloaded(self, sent_in: int) -> "AdaptiveLimit":
        """The allowance after a request of epoch `sent_in` was refused as too many."""
        if sent_in != self.epoch:
            return self
        return replace(self, level=max(1.0, self.level / 2), epoch=self.epoch + 1)

    def answered(self) -> "AdaptiveLimit":
        """The allowance after an answered request: about one more slot per full round of answers."""
        return replace(self, level=min(float(self.ceiling), self.level + 1 / self.level))


@dataclass(slots=True, kw_only=True)
class RequestPlace:
    """A place for one request in flight. The holder reports the outcome of the request, once."""

    epoch: int
    gate: "Gate"

    def overloaded(self, retry_after_s: float | None = None) -> None:
        """The provider refused the request as too many; nothing is sent for `retry_after_s` seconds."""
        self.gate.allowance = self.gate.allowance.overloaded(self.epoch)
        if retry_after_s is not None:
            until = self.gate.elapsed() + retry_after_s
            self.gate.closed_until = max(self.gate.closed_until, until)

    def answered(self) -> None:
        """The provider answered the request."""
        self.gate.allowance = self.gate.allowance.answered()


class Gate:
    """Admits as many requests as the allowance permits: retries first, then first come, first served.

    All models of one account share one gate, so that judges and proposers do not compete for its rate limit.
    """

    def __init__(self, ceiling: int, *, elapsed: Elapsed = time.monotonic, sleep: Sleep = asyncio.sleep) -> None:
        if ceiling < 1:
            raise UsageError(f"at least 1 model call must be allowed in flight, not {ceiling}")
        self.allowance = AdaptiveLimit(ceiling=ceiling, level=float(ceiling))
        self.elapsed = elapsed
        self.closed_until = float("-inf")
        self.in_flight = 0
        self._next_start = float("-inf")
        self._sleep = sleep
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def closed_for_s(self) -> float:
        """Seconds until the provider accepts requests again."""
        return max(0.0, self.closed_until - self.elapsed())

    @asynccontextmanager
    async def slot(self, *, first: bool = True) -> AsyncIterator[RequestPlace]:
        """Wait for a place and hold it. A retry (`first` false) goes before calls that have not begun."""
        await self._enter(first)
        try:
            await self._keep_apart()
            while (wait_s := self.closed_for_s) > 0:
                await self._sleep(wait_s)
            yield RequestPlace(epoch=self.allowance.epoch, gate=self)
        finally:
            self.in_flight -= 1
            self._admit()

    async def _keep_apart(self) -> None:
        start = max(self.elapsed(), self._next_start)
        self._next_start = start + SPACING_S
        if (wait_s := start - self.elapsed()) > 0:
            await self._sleep(wait_s)

    async def _enter(self, first: bool) -> None:
        if self.in_flight < self.allowance.slots and not self._waiting:
            self.in_flight += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if first:
            self._waiting.append(turn)
        else:
            self._waiting.appendleft(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # admitted and withdrawn at the same moment
                self.in_flight -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        while self._waiting and self.in_flight < self.allowance.slots:
            turn = self._waiting.popleft()
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)


# Failed requests: whether and when to retry. This module holds all handling of a provider's Retry-After.
#
# requested_wait_s    reads it from the client library's error
# wait_s              the wait of the failed call
# shared_wait_s       the wait of all calls of the account, at most a call's deadline
# wait_note           its mention in the error message


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A request that was not answered.

    `retry`: sending it again may help. `fatal`: no other request to this model would be answered either.
    `form`: the request itself was refused, not the key, the account or the name of the model; `of_pictures`: it had
    a picture. `outage`: it says nothing about this prompt, and another one would have failed as well. `unreachable`:
    the service never got the request. `foreign`: what came is no answer of such a service at all.
    """

    problem: str                        # what happened, as the end of a sentence; contains no key
    retry: bool = False
    fatal: bool = False
    form: bool = False
    of_pictures: bool = False
    overloaded: bool = False
    outage: bool = False
    unreachable: bool = False
    foreign: bool = False
    timed_out: bool = False             # by the limit of the whole call
    adapted: bool = False               # the next request goes without what the service refused
    room: int | None = None             # the prompt was too long: at most this many characters should do
    usage: Usage | None = None          # of an answer that cannot be used, and is paid for
    retry_after_s: float | None = None  # the provider's requested wait


def requested_wait_s(error: Exception) -> float | None:
    """The provider's Retry-After in seconds, from an error of pydantic-ai; None if there is none."""
    wait: float | None = getattr(error, "retry_after", None)
    return wait


def wait_s(failures: int, failure: Failure, limits: CallLimits, draw: Random) -> float:
    """Seconds to wait after the `failures`-th failure of a call (1, 2, …).

    The provider's Retry-After is respected, plus up to 10 % so that waiting calls do not all return at once;
    otherwise the wait doubles each time, with a jitter of ±50 %.
    """
    if failure.retry_after_s is not None:
        return failure.retry_after_s * (1 + 0.1 * draw.random())
    mean_s = min(limits.backoff_cap_s, limits.backoff_s * 2.0 ** min(failures - 1, 60))
    return mean_s * (0.5 + draw.random())


def shared_wait_s(failure: Failure, limits: CallLimits) -> float | None:
    """Seconds for which no call of the account is sent; None if only the failed call waits.

    A wait beyond a call's deadline must not hold all calls back, since they would never fail.
    """
    wait = failure.retry_after_s
    return wait if wait is not None and wait < limits.total_s else None


def wait_note(failure: Failure) -> str:
    """The wait that the provider requested, for the end of an error message; empty if it requested none."""
    if failure.retry and failure.retry_after_s is not None and failure.retry_after_s > 1:
        return f"; it asks to wait {failure.retry_after_s:.0f} s"
    return ""
