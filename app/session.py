"""One session of a run: a controller that reads the log of earlier sessions and then drives the run."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from ..agents.critic_sheets import SHEETS, DrawnSheets, RecordedSheets, Sheets
from ..agents.fitting import PromptLimits
from ..agents.hints import Hints
from ..agents.notes import Notes
from ..agents.writing import Keep
from ..core.ballot_files import BALLOTS
from ..core.errors import MementoError, first_of
from ..core.events import (
    AskedAgain,
    EnvironmentRemembered,
    Fact,
    HintGiven,
    ReplayDiffered,
    RunResumed,
    RunStarted,
    RunStopped,
    ServiceNoted,
)
from ..core.keeper import Keeper
from ..core.ports import Attentive, Display, Domain, RemotePool, interpreter_of, is_compared
from ..core.text import one_line
from ..core.values import Call
from ..domains import import_string
from ..memory.runs import TRAJECTORIES
from ..memory.store import RunStore
from ..models.budget import Ledger
from ..models.tape import Key, same_prompt
from ..runtime.bus import EventBus
from ..runtime.rollouts.pool import ProcessPool
from ..runtime.rollouts.worker_slots import Observer, WorkerActivity
from ..runtime.supervisor import Supervisor
from ..search.conversing import Conversing
from ..search.criticising import Criticising
from ..search.gate import GATE_SPLIT, Gated
from ..search.sequencer import RunPlan, Sequencer
from ..settings import Settings
from .ahead import LookAhead, rolls_ahead
from .budgets import ActiveTime, balance_of
from .cluster import Machines
from .drawing_worker import sheet_worker
from .gate_twin import twin_of
from .history import PastUse
from .plan import gate_terms_of, plan_of, terms_of
from .recorded_runs import NOTHING_RECORDED, RecordedRun
from .recordings_elsewhere import Bringing, Rollouts, staying
from .requests import Requests
from .results import RunResult, result_of
from .retention import Retention
from .status import StatusAddress, StatusFeed
from .wiring import Models, aids_of, exclude_loaded_from_gc, final_splits, load_clients, make_lanes

MOST_WHY = 1000     # characters of the sentence on why a run failed


def observer_for(observer: Observer, display: Display) -> Observer:
    """An observer of the pool that forwards its reports to an attentive display."""
    if not isinstance(display, Attentive):
        return observer
    attentive: Attentive = display

    def both(activity: WorkerActivity) -> None:
        observer(activity)
        attentive.observe(activity)

    return both


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The inputs of a controller: a run's settings with its current budgets, its domain, given programs and models.

    `machines` are where programs run, `workers` the rollouts at once on this one. `recorded` is the run that this one
    replays.
    """

    settings: Settings
    domain: Domain
    started: RunStarted
    models: Models
    machines: Machines
    workers: int
    address: StatusAddress | None = None
    recorded: RecordedRun = NOTHING_RECORDED


class Session:
    """A controller of one run. Call `begin` for a new run or `resume` for an existing one, then `drive` once."""

    def __init__(self, work: Work, store: RunStore) -> None:
        settings = work.settings
        self._work = work
        self._store = store
        self._use = PastUse()
        self._hints = Hints(work.recorded.hints)
        self._notes = Notes()
        self._limits = PromptLimits(work.recorded.limits)
        self._retention = Retention(
            store.folder, keep_all=settings.keep_trajectories, limit_mb=settings.trajectories_limit_mb,
            pictures=settings.critic_mode == "pixels", moving=settings.evaluator_every > 0,
        )

    def begin(self, display: Display) -> None:
        """Commit the first fact of a new run; in a replay also the hints of the recorded run."""
        hints = () if self._work.recorded.hints is None else self._work.recorded.hints.texts
        self._commit([self._work.started, *(HintGiven(text=text) for text in hints)], display)

    def resume(self, resumed: RunResumed, display: Display) -> None:
        """Read the facts of earlier sessions in one pass over the log, and commit that the run is resumed."""
        past = self._past()
        display.recall(past)
        deque(past, maxlen=0)       # a display may leave facts unread
        self._commit([resumed], display)

    def _commit(self, facts: Sequence[Fact], display: Display) -> None:
        self._store.append(facts)
        for fact in facts:
            self._use.status.apply(fact, self._store.now())
            self._hints.on_fact(fact)
            self._notes.on_fact(fact)
            self._limits.on_fact(fact)
            display.show(fact)

    def _past(self) -> Iterator[Fact]:
        for entry in self._store.facts_after(0, texts=False):
            self._use.apply(entry)
            self._retention.recall(entry.fact)
            self._hints.on_fact(entry.fact)
            self._notes.on_fact(entry.fact)
            self._limits.on_fact(entry.fact)
            yield entry.fact

    async def drive(self, display: Display) -> RunResult:
        """Drive the run until it is done or stopped. Raises MementoError; all committed facts are kept."""
        work = self._work
        work.models.ballots.path = self._store.folder / BALLOTS
        active = ActiveTime()
        balance = balance_of(work.settings, self._use.spending.by_role())
        ledger = Ledger(balance, elapsed=active, before_s=self._use.status.active_s)
        feed = StatusFeed(self._store, work.settings, self._use.status, ledger)
        self._retention.settle()
        bus = EventBus(self._store)
        if work.models.tape is not None:
            work.models.tape.has_differed = self._use.status.replay_differs is not None
            work.models.tape.differed = lambda ask: bus.publish(
                [ReplayDiffered(asked=ask.order.id, attempt=ask.attempt)]
            )
        work.models.services.report = lambda model, event, text: bus.publish(
            [ServiceNoted(model=model, event=event, text=text)]
        )
        if isinstance(display, Attentive):
            work.models.services.retried = display.on_retry
            bus.observe(display.on_begin)
        aids = (self._hints.on_fact, self._notes.on_fact, self._limits.on_fact)
        for listener in (active.on_fact, display.show, self._retention.on_fact, *aids, feed.on_fact):
            bus.subscribe(listener)
        requests = Requests(self._store, bus)
        requests.take()     # hints given while no controller worked are in the first prompts
        await load_clients(work.settings)
        exclude_loaded_from_gc()
        with _end_on_record(bus, done=lambda: self._use.status.stage == "done"):
            async with (
                self._pool(observer_for(feed.observe, display), bus) as pool, self._bringing(pool),
                self._sheets() as sheets, feed.serve(work.address),
            ):
                if isinstance(pool, RemotePool):
                    feed.load = pool.load
                supervisor = self._supervisor(bus, pool, sheets, ledger, feed, display, requests)
                status = await supervisor.run(self._store.facts(texts=False))
        return result_of(self._store, status=status)

    def _pool(self, observer: Observer, bus: EventBus) -> ProcessPool | RemotePool:
        work = self._work
        twin = twin_of(work.settings, work.domain)
        twins = {} if twin is None else {GATE_SPLIT: twin}
        return work.machines.pool(
            domain=import_string(work.settings.domain),
            splits={
                "search": work.settings.options, **final_splits(work.settings, work.domain),
                **{split: each.options for split, each in twins.items()},
            },
            domains={split: import_string(each.domain) for split, each in twins.items()},
            workers=work.workers,
            trajectories=self._store.folder / TRAJECTORIES,
            observer=observer,
            python=interpreter_of(work.domain, work.settings.options, work.settings.provenance),
            stays=staying(work.settings),
            compared=is_compared(work.domain, work.settings.options) and not self._use.status.remembers,
            alone=self._use.status.rolls_alone,
            remembers=lambda differs, before, alone: bus.publish(
                [EnvironmentRemembered(differs=differs, before=before, alone=alone)]
            ),
            warm="search" if work.recorded.tape is None else None,      # a replay waits for no model
        )

    @asynccontextmanager
    async def _bringing(self, pool: ProcessPool | RemotePool) -> AsyncIterator[None]:
        """Recordings that the run keeps come from the nodes of a cluster meanwhile, before the pool is closed."""
        if not isinstance(pool, RemotePool):
            yield
            return
        bringing = Bringing(pool, Rollouts(self._store), self._retention.arrived)
        self._retention.bring = bringing.begin
        bringing.begin(self._retention.missing())
        try:
            yield
        finally:
            await bringing.end()

    @asynccontextmanager
    async def _sheets(self) -> AsyncIterator[Sheets | None]:
        """The sheets for a critic, if the run has one; in a replay those of the recorded run."""
        work, folder = self._work, self._store.folder
        if not work.settings.looks:
            yield None
        elif work.recorded.looks is not None:
            yield RecordedSheets(work.recorded.looks)
        else:
            async with sheet_worker(work.settings, work.domain, folder / TRAJECTORIES) as artist:
                yield DrawnSheets(artist=artist, trajectories=folder / TRAJECTORIES, sheets=folder / SHEETS)

    def _supervisor(
        self, bus: EventBus, pool: ProcessPool | RemotePool, sheets: Sheets | None, ledger: Ledger, feed: StatusFeed,
        display: Display, asked: Requests,
    ) -> Supervisor:
        work, folder = self._work, self._store.folder

        def requests() -> list[str]:
            ledger.require_time()
            return asked.kinds()

        started = work.started
        plan = plan_of(
            work.settings, work.domain, started.initial, started.evaluator, exploits=started.exploits,
        )
        known = unusable_answers(self._store, self._use.spending.asked_again())
        models = work.models.within(ledger).continued(known)
        feed.lanes = lanes = make_lanes(
            work.settings, work.domain, models, pool,
            workers=work.workers if isinstance(pool, ProcessPool) else lambda: pool.slots, replaced=started.prompts,
            aids=aids_of(
                work.settings, self._hints, self._notes, None if work.recorded.looks is not None else folder / SHEETS,
                ledger, self._limits,
            ),
            call_times=work.recorded.call_times, answers=work.recorded.answers,
            keep=keep_unusable(bus, known),
            trajectories=folder / TRAJECTORIES, sheets=sheets, again=Rollouts(self._store).again,
        )
        return Supervisor(
            keeper=keeper_of(plan, work.settings, work.domain),
            bus=bus,
            lanes=lanes,
            requests=requests,
            tick=display.tick,
            foresight=self._foresight(pool),
        )

    def _foresight(self, pool: ProcessPool | RemotePool) -> LookAhead | None:
        """What has idle workers roll episodes out ahead; None on a cluster, and in a replay, which never waits."""
        work = self._work
        if not isinstance(pool, ProcessPool) or work.recorded.tape is not None:
            return None
        if not rolls_ahead(work.settings, work.domain):
            return None
        return LookAhead(pool, generations=work.settings.generations)


def unusable_answers(store: RunStore, orders: Iterable[str]) -> dict[Key, Call]:
    """The unusable answers of these open orders, with their texts: their questions are not asked again."""
    return {
        (order, fact.call.attempt): fact.call
        for order in sorted(orders)
        for fact in store.facts(only=(AskedAgain,), about=order)
        if isinstance(fact, AskedAgain)
    }


def keep_unusable(bus: EventBus, known: Mapping[Key, Call]) -> Keep:
    """Commits an unusable answer before the further question, unless it is one of the `known`, which are on the log."""

    def keep(fact: AskedAgain) -> None:
        answered = known.get((fact.order or "", fact.call.attempt))
        if answered is None or not same_prompt(answered.prompt, fact.call.prompt.text):
            bus.publish([fact])

    return keep


def keeper_of(plan: RunPlan, settings: Settings, domain: Domain) -> Keeper[Any]:
    """The decisions of the run: looks of a critic come before a proposal, which may be a conversation; then the gate.
    """
    keeper: Keeper[Any] = Sequencer(plan)
    gate = gate_terms_of(settings, domain)
    if gate is not None:
        keeper = Gated(keeper, gate)
    if settings.looks:
        keeper = Criticising(
            keeper, judges=settings.critic_judges == "on", pictures=settings.critic_mode == "pixels"
        )
    terms = terms_of(settings)
    return keeper if terms is None else Conversing(keeper, terms)


@contextmanager
def _end_on_record(bus: EventBus, *, done: Callable[[], bool]) -> Iterator[None]:
    """Commit a fact when a run is interrupted cleanly or fails, so that its status is not "killed"."""
    try:
        yield
    except asyncio.CancelledError:
        if not done():
            bus.publish([RunStopped(reason="stopped")])
        raise
    except Exception as error:  # whatever ends a run is on record, and is raised again
        if not done():
            with suppress(MementoError):    # a full disk takes no fact; what raised the error is what counts
                bus.publish([RunStopped(reason="failed", why=_why_failed(error))])
        raise


def _why_failed(error: Exception) -> str:
    known = first_of(error, MementoError)
    return one_line(f"an internal error: {type(error).__name__}: {error}" if known is None else str(known), MOST_WHY)
