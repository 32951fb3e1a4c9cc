"""What a run knows about the services of its models: whether they answer.

An outage is waited for: after FAILURES_IN_A_ROW failures that say nothing about a prompt, the calls of the account wait
for one another, and one of them after the other tries the service, at growing intervals.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import structlog

from ..core.errors import ModelError, ServiceLost
from ..core.text import duration
from .call_limits import CallLimits, Elapsed, Gate, Sleep
from .failures import Failure, shared_wait_s, wait_note
from .habits import Habits, Report

FAILURES_IN_A_ROW = 3
QUIET_S = 5.0       # a shorter outage is not reported

_log = structlog.get_logger("memento.services")


def log_notice(model: str, event: str, text: str) -> None:
    """For calls outside of a run."""
    _log.warning("service-noted", model=model, noted=event, what=text)


class Account:
    """One service with one key, for all models there: its gate, and whether it answers."""

    def __init__(
        self, gate: Gate, *, outage_s: float, report: Report, elapsed: Elapsed = time.monotonic,
        sleep: Sleep = asyncio.sleep, now: Callable[[], float] = time.time,
    ) -> None:
        self.gate = gate
        self.reached = False    # it got at least one request
        self.answers = 0
        self.down = False
        self._reported = False
        self._outage_s = outage_s
        self._report = report
        self._elapsed = elapsed
        self._sleep = sleep
        self._now = now
        self._failures = 0      # in a row
        self._since_s = 0.0     # when the first of them began to count, and its time of day
        self._since = ""
        self._tries = 0         # since the service is down
        self._next_s = 0.0
        self._last = ""
        self._trying = asyncio.Lock()

    def note_answer(self, name: str) -> None:
        """Count an answer."""
        self.reached = True
        self.answers += 1
        self._alive(name)

    def note_failure(self, name: str, failure: Failure, limits: CallLimits) -> None:
        """Count a failure of the model `name`."""
        self.reached = self.reached or not failure.unreachable
        if not failure.outage:
            if not failure.retry:
                self._alive(name)   # a request that was refused for what it asks was read
            return
        if self._failures == 0:
            self._since_s, self._since = self._elapsed(), time.strftime("%H:%M:%S", time.localtime(self._now()))
        self._failures += 1
        for_long = failure.retry_after_s is not None and shared_wait_s(failure, limits) is None
        if self.down or self._failures >= FAILURES_IN_A_ROW or for_long:
            self.lose(name, failure, limits)

    def lose(self, name: str, failure: Failure, limits: CallLimits) -> None:
        """From now on the calls wait for the service, and try it one after the other."""
        self._last = f"{failure.problem}{wait_note(failure)}"
        pause_s = min(limits.backoff_cap_s, limits.backoff_s * 2.0 ** min(self._tries, 60))
        self._next_s = self._elapsed() + max(pause_s, failure.retry_after_s or 0.0)
        self.down = True
        if not self._reported and self._elapsed() - self._since_s >= QUIET_S:
            self._reported = True
            self._report(name, "lost", (
                f"{name} {self._last}: nothing was answered since {self._since}; calls wait for it, "
                f"at most {duration(self._outage_s)}"
            ))

    @asynccontextmanager
    async def turn(self, name: str, *, patient: bool) -> AsyncIterator[bool]:
        """Wait while the service is down until this call may try it. Yields whether the request is such a try.

        Raises ServiceLost after `outage_s`; without `patient` ModelError at once, where it is another call's turn.
        """
        held = False
        if self.down:
            if not patient and (self._trying.locked() or self._elapsed() < self._next_s):
                raise ModelError(f"{name} {self._last} (nothing was answered since {self._since})", down=True)
            await self._trying.acquire()
            held = True
        try:
            if held and not self.down:
                self._trying.release()
                held = False
            if held:
                await self._wait(name)
            yield held
        finally:
            if held:
                self._trying.release()

    async def _wait(self, name: str) -> None:
        left_s = self._since_s + self._outage_s - self._elapsed()
        pause_s = max(0.0, self._next_s - self._elapsed())
        if left_s <= 0 or pause_s > max(left_s, self._outage_s):
            raise ServiceLost(
                f"{name} answered nothing since {self._since}, the last time it {self._last}: no slot is spent, "
                "continue with memento resume when it answers again"
            )
        self._tries += 1
        await self._sleep(min(pause_s, left_s))

    def _alive(self, name: str) -> None:
        if self._reported:
            took_s = self._elapsed() - self._since_s
            self._report(name, "back", f"{name} answers again, after {duration(took_s)}")
        self.down = self._reported = False
        self._failures = self._tries = 0


@dataclass(slots=True, kw_only=True)
class Services:
    """The accounts and models of a run, made on first use. `report` gets what is noticed about a service."""

    accounts: MutableMapping[str, Account] = field(default_factory=dict)
    habits: MutableMapping[tuple[str, str], Habits] = field(default_factory=dict)
    report: Report = log_notice
    retried: Callable[[str, str], None] = lambda order, why: None     # a call of an order is tried again, and why

    def note(self, model: str, event: str, text: str) -> None:
        """Report something that was noticed about the service of a model."""
        self.report(model, event, text)
