"""The supervisor: the one TaskGroup. It carries orders to agents and facts to the keeper, until the run is over."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import structlog

from ..core.errors import BudgetSpent, SearchError, ServiceLost, StoreError
from ..core.events import (
    CandidateScored,
    EliteChanged,
    Fact,
    Order,
    RunContinued,
    RunPaused,
    RunStopped,
    StageEntered,
    Withdraw,
)
from ..core.keeper import Decision, Keeper
from .bus import EventBus
from .lanes import Lane

_log = structlog.get_logger("memento.supervisor")

REQUESTS_EVERY_S = 0.3
STOPS: Mapping[str, type[Fact]] = {"stop-after-candidate": CandidateScored, "stop-after-generation": EliteChanged}
"""What is waited for before the run is left."""


class Foresight(Protocol):
    """What is done before it is ordered, where nothing else is to be done. It changes no result.

    `ordered` are the orders that are open.
    """

    def look(self, state: Any, ordered: Iterable[Order]) -> None:
        """The keeper's state or the open orders have changed; a state of None: nothing is to be begun."""

    def account(self) -> Iterable[Fact]:
        """What was done since the last account, for the log."""


class Supervisor:
    """Runs a keeper over agents.

    `requests` gives what a person has asked for since the last time ("pause", "continue", "stop",
    "stop-after-candidate", "stop-after-generation"); `tick` is called now and then, for a display. The `foresight`
    accounts for what it did at the end of a generation or a stage, and where the run is left.
    """

    def __init__(
        self,
        *,
        keeper: Keeper[Any],
        bus: EventBus,
        lanes: Iterable[Lane],
        requests: Callable[[], Iterable[str]] = tuple,
        tick: Callable[[], None] = lambda: None,
        foresight: Foresight | None = None,
    ) -> None:
        self._keeper = keeper
        self._bus = bus
        self._requests = requests
        self._tick = tick
        self._foresight = foresight
        self._inbox: asyncio.Queue[Fact | BaseException | _Asked] = asyncio.Queue()
        self._lanes = tuple(lanes)
        for lane in self._lanes:
            lane.join(bus, self._inbox.put_nowait)
        bus.address([Withdraw], self._withdraw)
        self._paused = False
        self._uncommitted: list[Fact] = []
        self._stop: str | None = None
        self._why = ""
        self._stop_after: type[Fact] | None = None
        self._state: Any = None

    async def run(self, history: Iterable[Fact] = ()) -> str:
        """Go on from `history` until the keeper is finished ("done") or the run was left.

        Returns "done", "stopped" (a person asked, or a service was lost) or "budget" (a budget is spent). Raises
        MementoError where MEMENTO itself fails; every fact so far is kept, and the run can be resumed.
        """
        self._begin(history)
        outcome: str | Exception
        async with asyncio.TaskGroup() as group:
            listener = group.create_task(self._hear_words(), name="listener")
            try:
                outcome = await self._loop(group)
            except Exception as error:  # noqa: BLE001 - raised again below, outside the group's own wrapping
                outcome = error
            finally:
                listener.cancel()
                for lane in self._lanes:
                    lane.cancel()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    # -------------------------------------------------------------------------------------- the loop

    def _begin(self, history: Iterable[Fact]) -> None:
        replay = Replay(self._keeper)
        decision = replay.replay(history)
        self._state = decision.state
        if decision.facts:
            self._bus.publish(decision.facts)
        self._bus.send(decision.orders)

    async def _loop(self, group: asyncio.TaskGroup) -> str:
        while not self._keeper.finished(self._state):
            if self._stop is not None:
                self._bus.publish([*self._account(), RunStopped(reason=self._stop, why=self._why)])
                return self._stop
            if not self._paused:
                for lane in self._lanes:
                    lane.begin(group)
            if self._foresight is not None:
                ordered = chain.from_iterable(lane.open.values() for lane in self._lanes)
                self._foresight.look(None if self._paused else self._state, ordered)
            await self._take_arrived()
        return "done"

    async def _take_arrived(self) -> None:
        """Take what arrived, at least one item, in its order; all facts of it are one commit.

        What was decided is carried out after the commit, and nothing is taken that comes after the end.
        """
        item = await self._inbox.get()
        try:
            while True:
                self._take(item)
                if self._stop is not None or self._inbox.empty() or self._keeper.finished(self._state):
                    return
                item = self._inbox.get_nowait()
        finally:
            facts, self._uncommitted = self._uncommitted, []
            if facts:
                self._bus.publish(facts)

    def _take(self, item: "Fact | BaseException | _Asked") -> None:
        if isinstance(item, BudgetSpent):
            self._stop, self._why = "budget", str(item)
        elif isinstance(item, ServiceLost):
            self._stop, self._why = "stopped", str(item)
        elif isinstance(item, BaseException):
            raise item
        elif isinstance(item, _Asked):
            self._take_word(item.what)
        else:
            self._decide(item)

    def _decide(self, fact: Fact) -> None:
        try:
            decision = self._keeper.decide(self._state, fact)
        except SearchError:
            self._uncommitted.append(fact)  # what led here is kept, so that the run shows why it ended
            raise
        self._state = decision.state
        self._bus.send(decision.orders)
        ends = any(isinstance(each, EliteChanged | StageEntered) for each in decision.facts)
        self._uncommitted += (fact, *(self._account() if ends else ()), *decision.facts)
        if self._stop_after is not None and any(isinstance(each, self._stop_after) for each in decision.facts):
            self._stop = "stopped"

    def _withdraw(self, order: Withdraw) -> None:
        for lane in self._lanes:
            lane.withdraw(order.target)

    def _account(self) -> Iterable[Fact]:
        return () if self._foresight is None else self._foresight.account()

    # ------------------------------------------------------------------------------ what people ask

    async def _hear_words(self) -> None:
        while True:
            await asyncio.sleep(REQUESTS_EVERY_S)
            try:
                asked = tuple(self._requests())
                self._tick()
            except Exception as error:  # noqa: BLE001 - ends the run in good order, like any fault of ours
                self._inbox.put_nowait(error)
                return
            for what in asked:
                self._inbox.put_nowait(_Asked(what=what))

    def stop(self) -> None:
        """Leave the run cleanly: what is under way is dropped and done again by `resume`."""
        self._inbox.put_nowait(_Asked(what="stop"))

    def _take_word(self, what: str) -> None:
        match what:
            case "stop":
                self._stop = "stopped"
            case "stop-after-candidate" | "stop-after-generation":
                self._stop_after = STOPS[what]
            case "pause" if not self._paused:
                self._paused = True
                self._uncommitted.append(RunPaused())
            case "continue" if self._paused:
                self._paused = False
                self._uncommitted.append(RunContinued())
            case _:
                _log.info("request-without-effect", what=what)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What a person asked for; only passes through the inbox."""

    what: str


class Replay:
    """Rebuilds a keeper's state from the log, and finds what is still to be done."""

    def __init__(self, keeper: Keeper[Any]) -> None:
        self._keeper = keeper

    def replay(self, history: Iterable[Fact]) -> Decision[Any]:
        """The state after `history`, the orders that are still open, and concluded facts not yet in the log.

        Raises StoreError where the log and the keeper disagree: it was written by other rules.
        """
        decision = self._keeper.start()
        state = decision.state
        open_orders = {order.id: order for order in decision.orders}
        expected = deque(decision.facts)
        for fact in history:
            if expected and fact == expected[0]:
                expected.popleft()
                continue
            if fact.order not in open_orders or fact.interim:
                continue  # the controller's own facts: started, resumed, paused; and facts that leave an order open
            if expected:
                raise StoreError(
                    f"the log does not follow from this version's rules: {type(expected[0]).__name__} was "
                    f"expected before the answer to {fact.order}; resume the run with the version that made it"
                )
            del open_orders[fact.order]
            decision = self._keeper.decide(state, fact)
            state = decision.state
            expected.extend(decision.facts)
            for order in decision.orders:
                if isinstance(order, Withdraw):
                    open_orders.pop(order.target, None)
                else:
                    open_orders[order.id] = order
        return Decision(state=state, orders=tuple(open_orders.values()), facts=tuple(expected))
