"""What a run knows about the services of its models: whether they answer, what they refuse, what is odd about them.

An outage is waited for: after FAILURES_IN_A_ROW failures that say nothing about a prompt, the calls of the account wait
for one another, and one of them after the other tries the service, at growing intervals.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import structlog

from ..core.errors import ModelError, ServiceLost
from ..core.text import duration
from .call_limits import CallLimits, Elapsed, Failure, Gate, Sleep, shared_wait_s, wait_note

FAILURES_IN_A_ROW = 3
QUIET_S = 5.0       # a shorter outage is not reported

Report = Callable[[str, str, str], None]
"""Gets the model's name, the event and a sentence, as in the fact ServiceNoted."""

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

    def answered(self, name: str) -> None:
        """Count an answer."""
        self.reached = True
        self.answers += 1
        self._alive(name)

    def failed(self, name: str, failure: Failure, limits: CallLimits) -> None:
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


# What requests to one model leave out, and what is odd about its answers.


_NAMED = {
    "typed": r"response_format|json_(object|schema)|json mode|structured output|guided|grammar|tool_choice|\btools?\b",
    "tools": r"\btools?\b|tool.?(use|call|choice)|function.?call",
    "stream": r"stream",
    "temperature": r"temperature|sampling param",
    "thinking": r"thinking|reasoning",
    "max_output_tokens": r"max_(completion_|output_|new_)?tokens",
    "cache": r"cache|content.{0,40}\b(string|list|array|text part)",
}
_PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _NAMED.items()}
_WORDS = {
    "typed": "the form in which judges are to answer (response_format)", "tools": "tools", "stream": "streaming",
    "temperature": "a temperature", "thinking": "the setting of its thinking",
    "max_output_tokens": "the limit of its output", "cache": "marks for its cache",
}
_REFUSING = re.compile(
    r"support|unknown|invalid|must|require|unrecogni|not (allowed|permitted|implemented|available)|extra|enable|only",
    re.IGNORECASE,
)
_PICTURES = re.compile(r"image|picture|vision|multi.?modal", re.IGNORECASE)
CUT_TOKENS = 1000       # no server has a smaller context; one that counts nothing may always report one small number
CUT_CHARACTERS = 200    # the least difference of two prompts of which the same part was read
CHARACTERS_PER_TOKEN = 2    # fewer are in a token of a prompt that is read whole


class Habits:
    """What the run learns about one model at one service; all clients of the model share it."""

    def __init__(self, name: str, report: Report) -> None:
        self.left_out: set[str] = set()     # optional features of a request that the service refused
        self._name = name
        self._report = report
        self._doubted: frozenset[str] = frozenset()     # left out, and not yet known to be the reason
        self._accepted: set[str] = set()
        self._said: set[str] = set()
        self._read: dict[int, int] = {}

    def refuses(self, used: frozenset[str], words: str, failure: Failure) -> bool:
        """Whether a request with the features `used` failed by one of them, which requests leave out from now on.

        `words` are the service's. Where they name no feature, all that were never accepted are left out once.
        """
        if used & self.left_out:
            return True     # sent before another call learnt it
        named = frozenset(name for name in used if _PATTERNS[name].search(words))
        if named and (failure.form or _REFUSING.search(words)):
            self.left_out |= named
            for name in sorted(named):
                self._once("left out", name, f"refuses {_WORDS[name]} ({failure.problem})")
            return True
        if not failure.form or any(pattern.search(words) for pattern in (*_PATTERNS.values(), _PICTURES)):
            return False    # it is about something else, which has a name
        self.left_out -= self._doubted
        again, self._doubted = bool(self._doubted), frozenset()
        if again:
            return False    # it was none of them
        self._doubted = used - self._accepted - {"max_output_tokens", "cache", "stream"}
        self.left_out |= self._doubted
        return bool(self._doubted)

    def accepted(self, used: frozenset[str]) -> None:
        """Note that a request with these features was answered."""
        self._accepted |= used
        doubted, self._doubted = self._doubted, frozenset()
        for name in sorted(doubted):
            self._once("left out", name, f"answers only without {_WORDS[name]}")

    def odd(self, text: str) -> None:
        """Report something about its answers, once; `text` follows its name."""
        if text not in self._said:
            self._said.add(text)
            self._report(self._name, "odd", f"{self._name} {text}")

    def read(self, characters: int, tokens: int) -> None:
        """Compare how much was read of prompts of different lengths: a server may cut them without a word."""
        if tokens < CUT_TOKENS:
            return
        other = self._read.setdefault(tokens, characters)
        longer = max(characters, other)
        if abs(characters - other) < CUT_CHARACTERS or longer < CHARACTERS_PER_TOKEN * tokens or "cut" in self._said:
            return
        self._said.add("cut")
        self._report(self._name, "cut", (
            f"{self._name} read {tokens:,} tokens of prompts of {min(characters, other):,} and {longer:,} characters: "
            "it cuts prompts without saying so; give it a larger context (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx)"
        ))

    def _once(self, event: str, name: str, what: str) -> None:
        if name not in self._said:
            self._said.add(name)
            self._report(self._name, event, f"{self._name} {what}: requests go without it from now on")


@dataclass(slots=True, kw_only=True)
class Services:
    """The accounts and models of a run, made on first use. `report` gets what is noticed about a service."""

    accounts: MutableMapping[str, Account] = field(default_factory=dict)
    habits: MutableMapping[tuple[str, str], Habits] = field(default_factory=dict)
    report: Report = log_notice
    retried: Callable[[str, str], None] = lambda order, why: None     # a call of an order is tried again, and why

    def noted(self, model: str, event: str, text: str) -> None:
        """Report something that was noticed about the service of a model."""
        self.report(model, event, text)
