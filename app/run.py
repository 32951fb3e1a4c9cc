"""`memento run` and `memento resume`: one run from its settings or its log to its result."""

import asyncio
import platform
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from .. import __version__
from ..agents.keepers.by_method import KEEPERS
from ..agents.keepers.evaluator_search import Panel
from ..agents.keepers.memento import Slots
from ..agents.keepers.options import SearchOptions
from ..agents.keepers.sequencer import RunPlan, Sequencer
from ..core.errors import StoreError, UsageError
from ..core.events import Fact, RunResumed, RunStarted, RunStopped, StageEntered
from ..core.methods import method_named
from ..core.ports import Domain
from ..core.seeds import derive_seed
from ..core.values import JSON, Program
from ..domains import import_string
from ..domains import load as load_domain
from ..memory.run_status import status_of
from ..memory.runs import TRAJECTORIES, new_run
from ..memory.store import RunStore
from ..runtime.bus import EventBus
from ..runtime.clock import SystemClock
from ..runtime.models.budget import Purse
from ..runtime.rollouts.pool import ProcessPool
from ..runtime.supervisor import Lane, Supervisor
from ..settings import Settings, settings_in, with_budgets
from ..tui.display import Display
from ..tui.noting import noted
from .announcing import announced, observed
from .budgets import ActiveTime, ledger_of, require_budget_left, require_time, require_usable
from .isolation import live_layers, require_sandbox, warn_of_lost
from .outcome import result_of
from .program_files import read_evaluator, read_initial
from .replay import read_recorded
from .results import RunResult
from .retention import Retention
from .status import StatusAddress, Watch
from .wiring import Models, final_options, load_clients, make_lanes, make_models, replayed, spare_the_loaded

NAMED_VERSIONS = ("robosuite", "mujoco", "numpy")
NOT_A_PROGRAM = ("evolve", "zero-shot")


async def run(
    settings: Settings, *, runs_dir: Path, name: str | None, display: Display, address: StatusAddress | None = None
) -> RunResult:
    """Evolve the evaluator, then the policy, and serve the status at `address` meanwhile.

    Raises MementoError; what was done until then is kept.
    """
    domain = load_domain(settings.domain)
    if settings.replay is None:
        initial = read_initial(settings.initial, domain)
        evaluator = None if settings.evaluator in NOT_A_PROGRAM else read_evaluator(settings.evaluator, domain)
    else:
        recorded = read_recorded(Path(settings.replay))
        initial, evaluator = recorded.initial, recorded.evaluator
    layers = live_layers()
    if settings.require_sandbox:
        require_sandbox(layers)
    if address is not None:
        address.require_free()
    async with _models(settings, domain) as models:  # one that cannot be used is told of before anything is made
        clock = SystemClock()
        folder = new_run(runs_dir, name, clock, label=settings.domain, seed=settings.seed)
        with RunStore.create(folder, clock=clock) as store:
            started = RunStarted(
                settings=settings.as_json(),
                versions=versions(),
                sandbox=layers,
                initial=initial,
                evaluator=evaluator,
            )
            store.append([started])
            display.opened(folder)
            display.show(started)
            work = Work(settings=settings, domain=domain, started=started, models=models, address=address)
            with noted(display, store.folder) as told:
                return await _drive(work, deque(), store=store, display=told, workers=settings.workers)


async def resume(
    folder: Path,
    *,
    display: Display,
    workers: int | None,
    budgets: Mapping[str, JSON] | None = None,
    isolated: bool = False,
    address: StatusAddress | None = None,
) -> RunResult:
    """Go on from where a run was left. A run that is done gives its result again.

    `budgets` replace the run's own, by their full names, from now on. `isolated` refuses to go on where generated
    code cannot be isolated, also where the run's own settings allow it. Raises MementoError.
    """
    clock = SystemClock()
    with RunStore.open(folder, clock=clock) as store:
        history = deque(store.facts(texts=False))
        started = next((fact for fact in history if isinstance(fact, RunStarted)), None)
        settings = settings_in(history)
        if started is None or settings is None:
            raise StoreError(
                f"the run {folder.name!r} was killed before its first fact: start it again with memento run"
            )
        if any(isinstance(fact, StageEntered) and fact.stage == "done" for fact in history):
            if budgets:
                raise UsageError(f"the run {folder.name!r} is done: a budget has no effect any more")
            return result_of(store, status="done")
        if budgets and settings.replay is not None:
            raise UsageError(f"the run {folder.name!r} is a replay, which asks no model: a budget has no effect")
        resumed = RunResumed(budgets=dict(budgets or {}), sandbox=live_layers())
        settings = with_budgets(settings, resumed.budgets)
        if isolated or settings.require_sandbox:
            require_sandbox(resumed.sandbox or ())
        if address is not None:
            address.require_free()
        domain = load_domain(settings.domain)
        async with _models(settings, domain) as models:
            if budgets or _left(history) == "budget":
                require_budget_left(ledger_of(settings, history), _active_s(store))
            warn_of_lost(started.sandbox, resumed.sandbox or ())
            display.opened(folder)
            display.recall(history)
            store.append([resumed])
            display.show(resumed)
            work = Work(settings=settings, domain=domain, started=started, models=models, address=address)
            with noted(display, store.folder) as told:
                return await _drive(work, history, store=store, display=told, workers=workers or settings.workers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a controller drives: a run's settings with its present budgets, its domain, beginning and models."""

    settings: Settings
    domain: Domain
    started: RunStarted
    models: Models
    address: StatusAddress | None = None


async def _drive(
    work: Work, history: deque[Fact], *, store: RunStore, display: Display, workers: int
) -> RunResult:
    settings, domain = work.settings, work.domain
    active = ActiveTime()
    status = status_of(store.facts_after(0, texts=False))
    purse = Purse(ledger_of(settings, history), elapsed=active, before_s=status.active_s)
    watch = Watch(store, settings, status, purse)
    bus = EventBus(store)
    bus.subscribe(active.heed)
    bus.subscribe(display.show)
    retention = Retention(
        store.folder, history, keep_all=settings.keep_trajectories, limit_mb=settings.trajectories_limit_mb
    )
    bus.subscribe(retention.heed)
    bus.subscribe(watch.heed)

    def requests() -> list[str]:
        require_time(purse)
        return [request.kind for request in store.take_requests()]

    await load_clients(settings)
    spare_the_loaded()
    def lanes_of(pool: ProcessPool) -> tuple[Lane, ...]:
        return make_lanes(settings, domain, work.models.within(purse), pool, workers=workers)

    pool_of_run = ProcessPool(
        domain=import_string(settings.domain),
        settings={"search": settings.options, "final": final_options(settings, domain)},
        workers=workers,
        trajectories=store.folder / TRAJECTORIES,
        observer=observed(watch.observe, display),
    )
    with _left_by_hand(bus, done=lambda: status.stage == "done"):
        async with pool_of_run as pool, watch.served(work.address):
            supervisor = Supervisor(
                keeper=Sequencer(plan_of(settings, domain, work.started.initial, work.started.evaluator)),
                bus=bus,
                lanes=announced(watch.counted(lanes_of(pool)), display),
                requests=requests,
                tick=display.tick,
            )
            left = await supervisor.run(_drained(history))
    return result_of(store, status=left)


def _drained(history: deque[Fact]) -> Iterator[Fact]:
    """The facts one by one, none of them kept: what a resumed run read again is not held while it goes on."""
    while history:
        yield history.popleft()


@contextmanager
def _left_by_hand(bus: EventBus, *, done: Callable[[], bool]) -> Iterator[None]:
    """Leave a fact where a run is interrupted in good order, so that it reads as stopped and not as killed."""
    try:
        yield
    except asyncio.CancelledError:
        if not done():
            bus.publish([RunStopped(reason="stopped")])
        raise


def _models(settings: Settings, domain: Domain) -> Models:
    """The run's models, or the tape that stands for all of them. Raises UsageError."""
    if settings.replay is not None:
        return replayed(read_recorded(Path(settings.replay)).tape)
    models = make_models(settings, domain)
    require_usable(settings)
    return models


def _active_s(store: RunStore) -> float:
    """How long the run was worked on before."""
    return status_of(store.facts_after(0, texts=False)).active_s


def _left(history: Iterable[Fact]) -> str | None:
    """Why the run was left the last time, where it was left in good order."""
    marks = [fact for fact in history if isinstance(fact, RunStopped | RunResumed)]
    return marks[-1].reason if marks and isinstance(marks[-1], RunStopped) else None


def plan_of(
    settings: Settings, domain: Domain, initial: Program | None, evaluator: Program | None
) -> RunPlan:
    """What the run decides by. Episode e of every candidate has the same seed; final seeds are others."""
    panel = Panel(
        pool=settings.evaluator_pool,
        judges=settings.evaluator_judges,
        generations=settings.evaluator_generations,
    )
    return RunPlan(
        method=KEEPERS[settings.method],
        slots=slots_of(settings),
        search_seeds=tuple(derive_seed(settings.seed, "search", e) for e in range(settings.n_roll)),
        racing=settings.racing,
        duplicates=settings.duplicates,
        options=SearchOptions(
            seed=settings.seed,
            speculation=settings.speculation,
            full_memory=settings.memory_detail == "full",
            lasting_memory=settings.memory_scope == "run",
        ),
        final_seeds=tuple(derive_seed(settings.seed, "final", e) for e in range(settings.final_episodes)),
        initial=initial,
        evaluator=evaluator,
        panel=panel if settings.evaluator == "evolve" else None,
        reference=domain.reference_evaluator(),
    )


def slots_of(settings: Settings) -> Slots:
    """The budget of a generation: by branch, or `k` in one for a method that shares it out itself."""
    if "k" in method_named(settings.method).settings:
        return Slots(generations=settings.generations, hill_climb=0, macro=settings.k, crossover=0)
    return Slots(
        generations=settings.generations, hill_climb=settings.k_hc, macro=settings.k_macro, crossover=settings.k_cross
    )


def versions() -> Mapping[str, str]:
    """The versions that a run's numbers depend on."""
    named = {name: version(name) for name in NAMED_VERSIONS}
    return {"memento": __version__, "python": platform.python_version(), **named}
