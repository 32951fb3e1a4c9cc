"""Limits for requests to a model: the limits of one call, and a gate that adapts to a busy provider."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from ..core.errors import UsageError

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

    def after_overload(self, sent_in: int) -> "AdaptiveLimit":
        """The allowance after a request of epoch `sent_in` was refused as too many."""
        if sent_in != self.epoch:
            return self
        return replace(self, level=max(1.0, self.level / 2), epoch=self.epoch + 1)

    def after_answer(self) -> "AdaptiveLimit":
        """The allowance after an answered request: about one more slot per full round of answers."""
        return replace(self, level=min(float(self.ceiling), self.level + 1 / self.level))


@dataclass(slots=True, kw_only=True)
class RequestPlace:
    """A place for one request in flight. The holder reports the outcome of the request, once."""

    epoch: int
    gate: "Gate"

    def note_overload(self, retry_after_s: float | None = None) -> None:
        """The provider refused the request as too many; nothing is sent for `retry_after_s` seconds."""
        self.gate.allowance = self.gate.allowance.after_overload(self.epoch)
        if retry_after_s is not None:
            until = self.gate.elapsed() + retry_after_s
            self.gate.closed_until = max(self.gate.closed_until, until)

    def note_answer(self) -> None:
        """The provider answered the request."""
        self.gate.allowance = self.gate.allowance.after_answer()


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
