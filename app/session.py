"""One session of a run: a controller that reads the log of earlier sessions and then drives the run."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..agents.keepers.sequencer import Sequencer
from ..core.events import Fact, RunResumed, RunStarted, RunStopped
from ..core.ports import Domain
from ..domains import import_string
from ..memory.runs import TRAJECTORIES
from ..memory.store import RunStore
from ..runtime.bus import EventBus
from ..runtime.models.budget import Ledger
from ..runtime.rollouts.pool import Observer, ProcessPool
from ..runtime.supervisor import Supervisor
from ..settings import Settings
from ..tui.display import Display
from .announcing import announced, observed
from .budgets import ActiveTime, balance_of
from .history import PastUse
from .plan import plan_of
from .results import RunResult, result_of
from .retention import Retention
from .status import StatusAddress, StatusFeed
from .wiring import Models, exclude_loaded_from_gc, final_options, load_clients, make_lanes


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The inputs of a controller: a run's settings with its current budgets, its domain, given programs and models."""

    settings: Settings
    domain: Domain
    started: RunStarted
    models: Models
    workers: int
    address: StatusAddress | None = None


class Session:
    """A controller of one run. Call `begin` for a new run or `resume` for an existing one, then `drive` once."""

    def __init__(self, work: Work, store: RunStore) -> None:
        settings = work.settings
        self._work = work
        self._store = store
        self._use = PastUse()
        self._retention = Retention(
            store.folder, keep_all=settings.keep_trajectories, limit_mb=settings.trajectories_limit_mb
        )

    def begin(self, display: Display) -> None:
        """Commit the first fact of a new run."""
        self._commit(self._work.started, display)

    def resume(self, resumed: RunResumed, display: Display) -> None:
        """Read the facts of earlier sessions in one pass over the log, and commit that the run is resumed."""
        past = self._past()
        display.recall(past)
        deque(past, maxlen=0)       # a display may leave facts unread
        self._commit(resumed, display)

    def _commit(self, fact: RunStarted | RunResumed, display: Display) -> None:
        self._store.append([fact])
        self._use.status.apply(fact, self._store.now())
        display.show(fact)

    def _past(self) -> Iterator[Fact]:
        for entry in self._store.facts_after(0, texts=False):
            self._use.apply(entry)
            self._retention.recall(entry.fact)
            yield entry.fact

    async def drive(self, display: Display) -> RunResult:
        """Drive the run until it is done or stopped. Raises MementoError; all committed facts are kept."""
        work = self._work
        active = ActiveTime()
        balance = balance_of(work.settings, self._use.spending.by_role())
        ledger = Ledger(balance, elapsed=active, before_s=self._use.status.active_s)
        feed = StatusFeed(self._store, work.settings, self._use.status, ledger)
        self._retention.settle()
        bus = EventBus(self._store)
        for listener in (active.on_fact, display.show, self._retention.on_fact, feed.on_fact):
            bus.subscribe(listener)
        await load_clients(work.settings)
        exclude_loaded_from_gc()
        with _marked_when_interrupted(bus, done=lambda: self._use.status.stage == "done"):
            async with self._pool(observed(feed.observe, display)) as pool, feed.served(work.address):
                status = await self._supervisor(bus, pool, ledger, feed, display).run(self._store.facts(texts=False))
        return result_of(self._store, status=status)

    def _pool(self, observer: Observer) -> ProcessPool:
        work = self._work
        return ProcessPool(
            domain=import_string(work.settings.domain),
            splits={"search": work.settings.options, "final": final_options(work.settings, work.domain)},
            workers=work.workers,
            trajectories=self._store.folder / TRAJECTORIES,
            observer=observer,
        )

    def _supervisor(
        self, bus: EventBus, pool: ProcessPool, ledger: Ledger, feed: StatusFeed, display: Display
    ) -> Supervisor:
        work = self._work

        def requests() -> list[str]:
            ledger.require_time()
            return [request.kind for request in self._store.take_requests()]

        started = work.started
        plan = plan_of(work.settings, work.domain, started.initial, started.evaluator, rules=started.rules)
        lanes = make_lanes(
            work.settings, work.domain, work.models.within(ledger), pool, workers=work.workers, replaced=started.prompts
        )
        return Supervisor(
            keeper=Sequencer(plan),
            bus=bus,
            lanes=announced(feed.counted(lanes), display),
            requests=requests,
            tick=display.tick,
        )


@contextmanager
def _marked_when_interrupted(bus: EventBus, *, done: Callable[[], bool]) -> Iterator[None]:
    """Commit a fact when a run is interrupted cleanly, so that its status is "stopped" and not "killed"."""
    try:
        yield
    except asyncio.CancelledError:
        if not done():
            bus.publish([RunStopped(reason="stopped")])
        raise
