"""`memento run` and `memento resume`: one run from its settings or its log to its result."""

import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

from .. import __version__
from ..agents.keepers.evaluation import Panel
from ..agents.keepers.memento import Slots
from ..agents.keepers.methods import KEEPERS
from ..agents.keepers.sequencer import RunPlan, Sequencer
from ..core.errors import StoreError, UsageError
from ..core.events import Fact, RunResumed, RunStarted
from ..core.ports import Domain
from ..core.seeds import derive_seed
from ..core.values import Program
from ..domains import import_string
from ..domains import load as load_domain
from ..memory.runs import TRAJECTORIES, new_run
from ..memory.store import RunStore
from ..results import RunResult
from ..runtime.bus import EventBus
from ..runtime.clock import SystemClock
from ..runtime.pool import ProcessPool
from ..runtime.supervisor import Supervisor
from ..settings import Settings
from ..tui.display import Display
from .isolation import ISOLATING, live_layers
from .outcome import result_of
from .program_files import read_evaluator, read_initial
from .retention import Retention
from .wiring import make_lanes, make_models

NAMED_VERSIONS = ("robosuite", "mujoco", "numpy")
NOT_A_PROGRAM = ("evolve", "zero-shot")


async def run(settings: Settings, *, runs_dir: Path, name: str | None, display: Display) -> RunResult:
    """Evolve the evaluator, then the policy. Raises MementoError; what was done until then is kept."""
    domain = load_domain(settings.domain)
    initial = read_initial(settings.initial, domain)
    evaluator = None if settings.evaluator in NOT_A_PROGRAM else read_evaluator(settings.evaluator, domain)
    _require_sandbox(settings)
    make_models(settings, domain)  # a model that cannot be used is told of before anything is made
    clock = SystemClock()
    folder = new_run(runs_dir, name, clock, label=settings.domain, seed=settings.seed)
    with RunStore.create(folder, clock=clock) as store:
        started = RunStarted(
            settings=settings.as_json(),
            versions=versions(),
            sandbox=live_layers(),
            initial=initial,
            evaluator=evaluator,
        )
        store.append([started])
        display.opened(folder)
        display.show(started)
        return await _drive(started, (), store=store, display=display, workers=settings.workers)


async def resume(folder: Path, *, display: Display, workers: int | None) -> RunResult:
    """Go on from where a run was left. A run that is done gives its result again. Raises MementoError."""
    clock = SystemClock()
    with RunStore.open(folder, clock=clock) as store:
        history = tuple(store.facts())
        started = next((fact for fact in history if isinstance(fact, RunStarted)), None)
        if started is None:
            raise StoreError(
                f"the run {folder.name!r} was killed before its first fact: start it again with memento run"
            )
        settings = Settings.model_validate(dict(started.settings))
        _require_sandbox(settings)
        display.opened(folder)
        display.recall(history)
        resumed = RunResumed()
        store.append([resumed])
        display.show(resumed)
        return await _drive(
            started, history, store=store, display=display, workers=workers or settings.workers
        )


async def _drive(
    started: RunStarted,
    history: Iterable[Fact],
    *,
    store: RunStore,
    display: Display,
    workers: int,
) -> RunResult:
    settings = Settings.model_validate(dict(started.settings))
    domain = load_domain(settings.domain)
    bus = EventBus(store)
    bus.subscribe(display.show)
    bus.subscribe(Retention(store.folder, history).heed)
    async with ProcessPool(
        domain=import_string(settings.domain),
        settings={"search": settings.options, "final": settings.options},
        workers=workers,
        trajectories=store.folder / TRAJECTORIES,
    ) as pool:
        supervisor = Supervisor(
            keeper=Sequencer(plan_of(settings, domain, started.initial, started.evaluator)),
            bus=bus,
            lanes=make_lanes(settings, domain, make_models(settings, domain), pool, workers=workers),
            requests=lambda: [request.kind for request in store.take_requests()],
            tick=display.tick,
        )
        status = await supervisor.run(history)
    return result_of(store, status=status)


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
        slots=Slots(
            generations=settings.generations,
            hill_climb=settings.k_hc,
            macro=settings.k_macro,
            crossover=settings.k_cross,
        ),
        search_seeds=tuple(derive_seed(settings.seed, "search", e) for e in range(settings.n_roll)),
        final_seeds=tuple(derive_seed(settings.seed, "final", e) for e in range(settings.final_episodes)),
        initial=initial,
        evaluator=evaluator,
        panel=panel if settings.evaluator == "evolve" else None,
        reference=domain.reference_evaluator(),
    )


def versions() -> Mapping[str, str]:
    """The versions that a run's numbers depend on."""
    named = {name: version(name) for name in NAMED_VERSIONS}
    return {"memento": __version__, "python": platform.python_version(), **named}


def _require_sandbox(settings: Settings) -> None:
    missing = [layer for layer in ISOLATING if layer not in live_layers()]
    if settings.require_sandbox and missing:
        raise UsageError(
            f"--require-sandbox: generated code cannot be isolated here ({', '.join(missing)} missing); "
            "see memento doctor"
        )
