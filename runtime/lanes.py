"""Lanes: each takes orders of some kinds from the bus, and has agents carry out a bounded number of them at once."""

import asyncio
from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from typing import Any, Protocol

import structlog

from ..core.errors import MementoError
from ..core.events import Fact, Order
from ..core.programs.program_text import MAX_FAULT
from ..core.text import one_line
from .bus import EventBus

_log = structlog.get_logger("memento.lanes")


class Agent(Protocol):
    """Turns one order of its kind into one fact."""

    async def carry_out(self, order: Any) -> Fact:
        """Do what the order says. Raises MementoError where MEMENTO itself fails."""


class Lane:
    """Takes the orders of some kinds from the bus, and has agents carry out a bounded number of them at once.

    The limit may change during a run; then it is a function. Waiting orders go by `urgency` (lowest first), then by
    age. It decides how fast a run is, never its result: lanes never wait for one another.
    """

    def __init__(
        self, *, name: str, limit: int | Callable[[], int], agents: Mapping[type[Order], Agent],
        urgency: Callable[[Order], int] = lambda order: 0,
    ) -> None:
        self.name = name
        self.open: dict[str, Order] = {}        # the orders without an answer
        self._limit = limit
        self.agents = agents
        self.urgency = urgency
        self._waiting: list[tuple[int, int, Order]] = []
        self._running: dict[str, asyncio.Task[None]] = {}
        self._taken = 0

    @property
    def most(self) -> int:
        """The limit now."""
        return self._limit if isinstance(self._limit, int) else self._limit()

    @property
    def busy(self) -> int:
        """The orders that are carried out now."""
        return len(self._running)

    def join(self, bus: EventBus, answer: Callable[[Fact | Exception], None]) -> None:
        """Take orders from `bus`; `answer` gets the fact of one that is still wanted, or the failure of an agent."""
        self._bus, self._answer = bus, answer
        bus.address(self.agents, self._take)

    def _take(self, order: Order) -> None:
        self._taken += 1
        self.open[order.id] = order
        heappush(self._waiting, (self.urgency(order), self._taken, order))

    def withdraw(self, target: str) -> None:
        """Cancel the order with this id, if it is one of this lane's."""
        if self.open.pop(target, None) is not None and target in self._running:
            self._running.pop(target).cancel()

    def begin(self, group: asyncio.TaskGroup) -> None:
        """Have the agents carry out as many of the waiting orders as the limit allows."""
        while self._waiting and self.busy < self.most:
            order = heappop(self._waiting)[2]
            if self.open.get(order.id) is order:    # it was not withdrawn
                self._bus.announce(order)
                self._running[order.id] = group.create_task(self._carry_out(order), name=order.id)

    def cancel(self) -> None:
        """Drop what is carried out."""
        for task in self._running.values():
            task.cancel()

    async def _carry_out(self, order: Order) -> None:
        """One order to one fact. A failure of ours goes to the loop, which ends the run; no reply can cause one."""
        answer: Fact | Exception
        try:
            answer = await _fact_of(self.agents[type(order)], order)
        except Exception as error:  # noqa: BLE001 - the one place that hears of every fault of ours
            answer = error
        wanted = self.open.get(order.id) is order
        if wanted:
            del self.open[order.id], self._running[order.id]
        if wanted or isinstance(answer, Exception):
            self._answer(answer)


async def _fact_of(agent: Agent, order: Order) -> Fact:
    """The agent's fact; where it broke on something that a model wrote, the fact that the slot is spent."""
    try:
        return await agent.carry_out(order)
    except MementoError:
        raise
    except Exception as error:
        fact = order.failed(one_line(f"an internal error: {type(error).__name__}: {error}", MAX_FAULT))
        if fact is None:
            raise
        _log.exception("order-failed", order=order.id)
        return fact
