"""`memento run` and `memento resume`: a run from its settings or its log to its result."""

import platform
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..core.errors import UsageError
from ..core.events import RULES, RunResumed, RunStarted
from ..core.methods import branches_of, load_method
from ..core.ports import Display, Domain
from ..core.seeds import new_salt
from ..core.values import JSON, Program
from ..core.version import __version__
from ..domains import load as load_domain
from ..domains import require_installed, require_same_simulator
from ..memory.noting import with_notes
from ..memory.runs import new_run
from ..memory.store import RunStore
from ..models.budget import require_room
from ..models.command_programs import digests_of, with_absolute_programs
from ..runtime.clock import SystemClock
from ..settings import MOST_WORKERS, Settings, with_budgets, with_model
from ..settings.effects import files_named
from .ahead import rolls_ahead
from .budgets import balance_of, models_of, require_usable
from .cluster import Cluster, machines
from .drawing_worker import require_drawing
from .exploits import read_exploits
from .gate_twin import require_twin
from .given_files import read_evaluator, read_initial
from .given_prompts import read_prompts
from .history import Outline, naming_its_place, outline_of, past_use, place_for, require_same_rules
from .isolation import warn_of_lost
from .recorded_runs import NOTHING_RECORDED, RecordedRun, read_recorded
from .results import RunResult, result_of
from .session import Session, Work
from .sight import refuse_text_models, require_sight
from .status import StatusAddress
from .trust import model_origin, sign_run, trusted_settings
from .wiring import Models, make_models, replayed, require_calibratable, workers_of

NAMED_VERSIONS = ("robosuite", "mujoco", "numpy")
NOT_A_PROGRAM = ("evolve", "zero-shot")


async def run(
    settings: Settings, *, runs_dir: Path, name: str | None, display: Display, address: StatusAddress | None = None,
    cluster: Cluster | None = None,
) -> RunResult:
    """Evolve the evaluator, then the policy, and serve the status at `address` during the run.

    Programs run on the nodes of the `cluster`, by default on this machine.

    Raises MementoError; all facts committed before the error are kept.
    """
    settings = _with_absolute_programs(_with_salt(settings))
    if settings.replay is None:     # a replay takes their texts from the record
        settings.provenance.require(files_named(settings.as_json()))
    domain = load_domain(settings.domain, settings.provenance)
    load_method(settings.method, settings.provenance)
    require_installed(settings.domain)
    recorded = _recording(settings)
    initial, evaluator = _given_programs(settings, domain, recorded)
    require_calibratable(settings, domain, initial)
    prompts = recorded.prompts if settings.replay else read_prompts(settings.prompts)
    exploits = recorded.exploits if settings.replay else read_exploits(settings.exploits, settings.domain, domain)
    if address is not None:
        address.require_free()
    # Before the folder is made, so that an unusable model or cluster leaves no run behind.
    async with (
        _models(settings, domain, recorded) as models,
        machines(cluster, isolated=settings.require_sandbox) as where,
    ):
        await models.open()
        if settings.replay is None:
            await require_drawing(settings, domain)
            await require_twin(settings, domain)
            await require_sight(settings, models)
        if rolls_ahead(settings, domain) and settings.roll_ahead == "on" and where.places is not None:
            raise UsageError("nothing is rolled out ahead on a cluster: remove roll_ahead = 'on'")
        if where.places is not None:
            settings = settings.model_copy(update={"workers": min(where.places, MOST_WORKERS)})
        clock = SystemClock()
        folder = new_run(runs_dir, name, clock, label=settings.domain, seed=settings.seed)
        with RunStore.create(folder, clock=clock) as store:
            started = RunStarted(
                settings=settings.as_json(), versions=versions(), sandbox=where.layers, initial=initial,
                evaluator=evaluator, prompts=prompts, exploits=exploits, rules=RULES,
                programs=digests_of(text for texts in models_of(settings).values() for text in texts),
                branches=branches_of(settings.as_json()), place=place_for(settings.domain),
            )
            work = Work(
                settings=settings, domain=domain, started=started, models=models, machines=where,
                workers=workers_of(settings, domain, settings.workers),
                address=address, recorded=recorded,
            )
            session = Session(work, store)
            display.on_open(folder)
            session.begin(display)
            sign_run(folder, started)
            with with_notes(display, store.folder) as noting:
                return await session.drive(noting)


async def resume(
    folder: Path,
    *,
    display: Display,
    workers: int | None,
    budgets: Mapping[str, JSON] | None = None,
    isolated: bool = False,
    trusted: bool = False,
    address: StatusAddress | None = None,
    cluster: Cluster | None = None,
    model: str = "",
) -> RunResult:
    """Continue a run from its last fact. For a finished run, return its result again.

    `budgets` replace the run's budgets, by their full names, from now on, and `model` its model. With `isolated` the
    run continues only if generated code can be isolated, even if the run's settings allow otherwise; with `trusted`
    also a run from elsewhere continues, whatever it would import, start or contact. Raises MementoError.
    """
    model = with_absolute_programs(model)
    with RunStore.open(folder, clock=SystemClock()) as store:
        before = outline_of(store)
        _refuse_without_effect(before, budgets or {}, folder, "a budget")
        _refuse_without_effect(before, model, folder, "a model")
        if before.done:
            return result_of(store, status="done")
        require_same_rules(before.started, folder, "resumed")
        settings = with_model(with_budgets(before.settings, dict(budgets or {})), model)
        settings = trusted_settings(
            folder, before.started, settings, trusted=trusted, models=settings.replay is None, store=store,
            model=model,
        )
        if not trusted and settings.replay is None:
            _require_same_programs(settings, before.started.programs, folder)
        if address is not None:
            address.require_free()
        with naming_its_place(before.started):
            domain = load_domain(settings.domain, settings.provenance)
            require_same_simulator(domain, settings.options)
        load_method(settings.method, settings.provenance)
        require_installed(settings.domain)
        recorded = _recording(settings)
        async with (
            _models(settings, domain, recorded) as models,
            machines(cluster, isolated=isolated or settings.require_sandbox) as where,
        ):
            await models.open()
            if settings.replay is None:
                await require_drawing(settings, domain)
            resumed = RunResumed(
                budgets=dict(budgets or {}), sandbox=where.layers, model=model,
                origin=model_origin(before.started, model),
            )
            if budgets or before.left == "budget":
                use = past_use(store)
                require_room(balance_of(settings, use.spending.by_role()), use.status.active_s)
            work = Work(
                settings=settings, domain=domain, started=before.started, models=models,
                machines=where,
                workers=workers_of(settings, domain, workers or settings.workers), address=address,
                recorded=recorded,
            )
            with naming_its_place(before.started):
                return await _go_on(work, resumed, store, display)


async def _go_on(work: Work, resumed: RunResumed, store: RunStore, display: Display) -> RunResult:
    warn_of_lost(work.started.sandbox, resumed.sandbox or ())
    session = Session(work, store)
    display.on_open(store.folder)
    session.resume(resumed, display)
    with with_notes(display, store.folder) as noting:
        return await session.drive(noting)


def _with_absolute_programs(settings: Settings) -> Settings:
    """With the programs that answer by absolute paths: a run that is resumed elsewhere means the same ones."""
    names = ("model", "evaluator_model", "attacker_model", "critic")
    given = {name: value for name in names if isinstance(value := getattr(settings, name), str)}
    placed: dict[str, object] = {name: with_absolute_programs(value) for name, value in given.items()}
    return settings.model_copy(update=placed | {"judges": tuple(map(with_absolute_programs, settings.judges))})


def _require_same_programs(settings: Settings, digests: Mapping[str, str], folder: Path) -> None:
    """Raise UsageError where a program that is to answer is another one than when the run began."""
    now = digests_of(text for texts in models_of(settings).values() for text in texts)
    changed = [path for path, digest in now.items() if digests.get(path, digest) != digest]
    if changed:
        raise UsageError(
            f"{changed[0]}, which answers as a model in the run {folder.name!r}, is another program than when the run "
            "began: read it, and resume with --trust"
        )


def _with_salt(settings: Settings) -> Settings:
    """With a salt of the run, unless one is given, or recorded: a replay must draw what the recorded run drew."""
    if settings.salt is not None or settings.replay is not None:
        return settings
    return settings.model_copy(update={"salt": new_salt()})


def _refuse_without_effect(before: Outline, given: object, folder: Path, what: str) -> None:
    if given and before.done:
        raise UsageError(f"the run {folder.name!r} is done: {what} has no effect any more")
    if given and before.settings.replay is not None:
        raise UsageError(f"the run {folder.name!r} is a replay, which calls no model: {what} has no effect")


def _recording(settings: Settings) -> RecordedRun:
    """The run whose replies are repeated, if this one is a replay."""
    if settings.replay is None:
        return NOTHING_RECORDED
    return read_recorded(Path(settings.replay), exact=not settings.replay_loosely)


def _given_programs(
    settings: Settings, domain: Domain, recorded: RecordedRun
) -> tuple[Program | None, Program | None]:
    """The first policy and the evaluator, if the user or the recorded run gave them."""
    if settings.replay is not None:
        return recorded.initial, recorded.evaluator
    initial = read_initial(settings.initial, domain)
    return initial, None if settings.evaluator in NOT_A_PROGRAM else read_evaluator(settings.evaluator, domain)


def _models(settings: Settings, domain: Domain, recorded: RecordedRun) -> Models:
    """The run's models, or the tape that replaces all of them. Raises UsageError."""
    if recorded.tape is not None:
        return replayed(recorded.tape, settings)
    refuse_text_models(settings)
    models = make_models(settings, domain)
    require_usable(settings)
    return models


def versions() -> Mapping[str, str]:
    """The software versions that affect a run's numbers, of what is installed."""
    named = {}
    for name in NAMED_VERSIONS:
        with suppress(PackageNotFoundError):
            named[name] = version(name)
    return {"memento": __version__, "python": platform.python_version(), **named}
