"""Replays the recorded model calls of a run: no network, no cost, the same answers to the same prompts."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ..core.call_times import without_call_times
from ..core.errors import ModelError
from ..core.events import Fact
from ..core.order_ids import ahead_id, is_ahead, slot_of
from ..core.ports import Ask, Model, Reply
from ..core.turns import without_budget
from ..core.values import Call, Document
from .call_limits import Sleep
from .recorded_calls import recorded_in

Key = tuple[str, int]
"""The id of the order of a call, and the attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tape:
    """The recorded answers of a run's models, by order id and attempt; `failures` holds calls that failed for good.

    The orders in `withdrawn` were withdrawn before they were answered.
    """

    calls: Mapping[Key, Call] = field(default_factory=dict)
    failures: Mapping[Key, str] = field(default_factory=dict)
    withdrawn: frozenset[str] = frozenset()


def tape_of(facts: Iterable[Fact]) -> Tape:
    """The tape of the run with these facts."""
    calls: dict[Key, Call] = {}
    failures: dict[Key, str] = {}
    withdrawn: set[str] = set()
    for recorded in recorded_in(facts):
        next_attempt = 0
        for call in recorded.calls:
            calls[recorded.order, call.attempt] = call
            next_attempt = call.attempt + 1
        if recorded.failure is not None:
            failures[recorded.order, next_attempt] = recorded.failure
        if recorded.withdrawn:
            withdrawn.add(recorded.order)
    return Tape(calls=calls, failures=failures, withdrawn=frozenset(withdrawn))


WITHDRAWN_S = 3600.0  # longer than the rollouts of a candidate: a speculative request is withdrawn by then


def _other_key(ask: Ask) -> Key:
    """The key of the slot's call if it was recorded in turn and is now requested speculatively, or vice versa."""
    order = ask.order.id
    return (slot_of(order) if is_ahead(order) else ahead_id(order)), ask.attempt


class ReplayModel:
    """A Model that answers from a tape, by order and attempt, never by position.

    The prompt must be the recorded one, but for the CPU times of calls, which no two rollouts share, and what a budget
    has left. A slot may have
    been requested speculatively in one run and not in the other: the same prompt for the same slot is the same call.
    An order without a recorded answer was withdrawn in
    the recorded run, or was in flight when that run ended: it stays open for `patience_s` seconds, in which the
    replayed run withdraws it again; after that it is an error. If only a later attempt at an order was recorded,
    the earlier ones were unusable, and an empty reply stands for them.

    `loosely`: it goes on by order where a prompt is another one, and a call without a recorded answer fails alone.
    `differed` is called with the first such question.
    """

    def __init__(
        self, tape: Tape, *, loosely: bool = False, patience_s: float = 30.0, sleep: Sleep = asyncio.sleep
    ) -> None:
        self.name = "tape"
        self.differed: Callable[[Ask], None] = lambda ask: None
        self._loosely = loosely
        self.has_differed = False       # a prompt was another one, also in an earlier session of the run
        self._tape = tape
        self._patience_s = patience_s
        self._sleep = sleep
        self._last: dict[str, int] = {}
        for order, attempt in tape.calls:
            self._last[order] = max(attempt, self._last.get(order, 0))

    async def complete(self, ask: Ask) -> Reply:
        """The recorded answer. Raises ModelError, fatal, if the tape holds none for this call."""
        key = (ask.order.id, ask.attempt)
        call = self._tape.calls.get(key) or self._recorded_under_other_key(ask)
        if call is not None:
            return self._reply(call, ask)
        if ask.attempt < self._last.get(ask.order.id, 0):
            return Reply(text="", model=self._tape.calls[ask.order.id, self._last[ask.order.id]].model)
        failure = self._tape.failures.get(key) or self._tape.failures.get(_other_key(ask))
        if failure is not None:
            raise ModelError(failure)
        ahead = ask.order.id in self._tape.withdrawn or is_ahead(ask.order.id)
        if ahead or not self.has_differed:
            await self._sleep(WITHDRAWN_S if ahead else self._patience_s)
        raise ModelError(
            f"the tape holds no reply for the order {ask.order.id}, attempt {ask.attempt}: "
            "it was recorded with other settings, or the recorded run ended before",
            fatal=not self.has_differed,       # once a prompt was another one, the search may take another way
        )

    def _recorded_under_other_key(self, ask: Ask) -> Call | None:
        """The recorded call for the slot under the other key, if its prompt is the same."""
        call = self._tape.calls.get(_other_key(ask))
        return call if call is not None and (self._loosely or same_prompt(call.prompt, ask.prompt)) else None

    def _reply(self, call: Call, ask: Ask) -> Reply:
        if same_prompt(call.prompt, ask.prompt):
            return _reply_of(call)
        if not self._loosely:
            sent, recorded = Document(ask.prompt).digest, call.prompt.digest
            raise ModelError(
                f"the tape does not fit: the prompt of the order {ask.order.id}, attempt {ask.attempt} is "
                f"{sent[:12]}, the recorded one {recorded[:12]}, so prompts or the domain have changed since: "
                "add --replay-loosely to go on by order",
                fatal=True,
            )
        if not self.has_differed:
            self.has_differed = True
            self.differed(ask)
        return _reply_of(call)


class ContinuedModel:
    """A Model that repeats the unusable answers of open orders, and passes every other question on.

    A run may be killed between an unusable answer and the further question. The answer to the same prompt is then the
    recorded one, which costs nothing, and the run continues at the further question.
    """

    def __init__(self, model: Model, calls: Mapping[Key, Call]) -> None:
        self.name = model.name
        self.model = model
        self._calls = calls

    async def complete(self, ask: Ask) -> Reply:
        """The recorded answer if there is one, else the model's. Raises ModelError."""
        call = self._calls.get((ask.order.id, ask.attempt))
        if call is None or not same_prompt(call.prompt, ask.prompt):
            return await self.model.complete(ask)
        return _reply_of(call)


def _reply_of(call: Call) -> Reply:
    return Reply(text=call.reply.text, model=call.model, stop=call.stop, usage=call.usage)


def same_prompt(recorded: Document, prompt: str) -> bool:
    """Whether a prompt is the recorded one but for what differs between runs: measured times, and what a budget has
    left."""
    return recorded.text == prompt or _constant(recorded.text) == _constant(prompt)


def _constant(prompt: str) -> str:
    return without_budget(without_call_times(prompt))
