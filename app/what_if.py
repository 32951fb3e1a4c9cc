"""`memento what-if`: further draws of recorded proposals, from the exact states before their orders.

Keepers are pure and a run is its log, so the state before an order follows from the facts before it. The proposal is
asked for again, under the recorded settings or others, and every draw is rolled out on the episodes of its parents. A
what-if has a separate log in the folder of its run; the log of the run is only read.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..agents.critic_sheets import SHEETS
from ..agents.fitting import PromptLimits
from ..agents.hints import Hints
from ..agents.proposers import Aids
from ..agents.writing import PROPOSER
from ..core.errors import ModelError, StoreError, UsageError
from ..core.events import (
    AskedAgain,
    CandidateScored,
    Fact,
    Propose,
    ServiceNoted,
    WhatIfBegun,
)
from ..core.keeper import Keeper
from ..core.ports import Ask, Domain, Reply, interpreter_of, is_compared
from ..core.recording_file import trajectory_path
from ..core.values import CandidateState
from ..domains import import_string, require_installed
from ..memory.origin import is_written_here, sign
from ..memory.runs import TRAJECTORIES, WHAT_IFS, is_run
from ..memory.store import RunStore
from ..models.budget import Ledger, PastSpending
from ..models.tape import Tape, tape_of
from ..runtime.bus import EventBus
from ..runtime.clock import SystemClock
from ..runtime.supervisor import Replay, Supervisor
from ..search.conversing import Conversing
from ..search.what_if import DrawsKeeper
from ..settings import Settings, usable_cpus
from ..settings.what_if import CALLS, WhatIfArm, asking_settings
from .budgets import balance_of
from .cluster import Machines
from .given_prompts import prompts_with
from .plan import terms_of
from .recorded_runs import UNLIMITED
from .recorded_state import RecordedState
from .run import versions
from .session import keep_unusable, unusable_answers
from .sight import refuse_text_models
from .wiring import Models, aids_of, load_clients, make_askers, make_lanes, make_models, replayed, workers_of

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmDraws:
    """The settled ones of the `wanted` draws of an arm, with all its facts. `status` is "done", "budget" or "stopped".
    """

    state: RecordedState
    arm: WhatIfArm
    status: str
    wanted: int
    draws: Mapping[str, CandidateState]
    facts: tuple[Fact, ...]


def keeper_for(state: RecordedState, draws: int) -> Keeper[Any]:
    """The keeper of the draws, which are conversations if the settings say so."""
    keeper = DrawsKeeper(order=state.order, plan=state.plan, draws=draws)
    terms = terms_of(state.settings)
    return keeper if terms is None else Conversing(keeper, terms, state.known.evaluator)


class _Reading:
    """A model that reads a prompt and gives no answer."""

    name = "none"
    prompt = ""

    async def complete(self, ask: Ask) -> Reply:
        """Note the prompt. Raises ModelError."""
        self.prompt = ask.prompt
        raise ModelError("nobody is asked")


async def prompt_of(state: RecordedState) -> str:
    """The prompt of the draws, of a conversation the first one; no model is asked."""
    reading = _Reading()
    models = Models(proposer=reading, evaluator_writer=reading, judges=(reading,), attacker=reading)
    askers = make_askers(state.settings, state.domain, models, prompts_with(state.prompts), _aids(state))
    [order] = keeper_for(state, 1).start().orders
    assert isinstance(order, Propose)
    await askers.proposer.carry_out(order)
    return reading.prompt


def _aids(state: RecordedState, ledger: Ledger | None = None, limits: PromptLimits | None = None) -> Aids:
    """What the prompts get besides: the hints, notes and pictures that the recorded one got."""
    hints = Hints()
    for hint in state.hints:
        hints.on_fact(hint)
    return aids_of(
        state.settings, hints, state.notes, state.run / SHEETS, ledger, limits or _limits_of(state)
    )


def _limits_of(state: RecordedState) -> PromptLimits:
    return PromptLimits(known={PROPOSER: state.limit} if state.limit else {})


def folder_of(state: RecordedState) -> Path:
    """Where the log of a what-if lies: the same for the same candidate, settings and prompts, whatever the number."""
    values = {key: value for key, value in state.settings.as_json().items() if key not in (*CALLS, *UNLIMITED)}
    values |= {"model": state.settings.model, "prompts": [each.text.digest for each in state.prompts], "workers": 0}
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:10]
    return state.run / WHAT_IFS / f"{state.candidate.replace('/', '-')}-{digest}"


async def draw(
    state: RecordedState, arm: WhatIfArm, draws: int, where: Machines, *, workers: int | None = None,
    repeated: bool = False, report: Report = lambda line: None,
) -> ArmDraws:
    """Draw proposals until there are `draws`; those that the log has already are not drawn again.

    `repeated`: all of the log's proposals are rolled out again, without a model, in a folder that does not stay.
    Raises UsageError, StoreError, RolloutError and ModelError; what was committed is kept.
    """
    require_installed(state.settings.domain)
    folder = folder_of(state)
    async with AsyncExitStack() as stack:
        tape = _tape(state, folder) if repeated else None
        if tape is not None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memento-what-if-"))) / WHAT_IFS
        models = None
        if _has_open_orders(state, draws, folder):      # before the log is made: what cannot be asked leaves none
            asking = asking_settings(state.settings)
            models = _models(asking, state.domain) if tape is None else replayed(tape, asking)
            await stack.enter_async_context(models)
            await models.open()
        store = stack.enter_context(_log_of(state, folder, arm, where))
        status = "done" if models is None else await _drive(state, draws, store, models, where, workers, report)
        found = Replay(keeper_for(state, draws)).replay(store.facts(texts=False))
        if status == "done":
            shutil.rmtree(folder / TRAJECTORIES, ignore_errors=True)
        return ArmDraws(
            state=state, arm=arm, status=status, wanted=draws, draws=settled_in(found.state),
            facts=tuple(store.facts()),
        )


def _has_open_orders(state: RecordedState, draws: int, folder: Path) -> bool:
    """Whether the log of a what-if lacks something of the draws. Raises StoreError."""
    if not is_run(folder):
        return True
    with RunStore.read(folder) as store:
        return bool(Replay(keeper_for(state, draws)).replay(store.facts(texts=False)).orders)


def settled_in(state: Any) -> Mapping[str, CandidateState]:
    """The settled draws in the state of a keeper of `keeper_for`."""
    inner = getattr(state, "inner", state)
    settled: Mapping[str, CandidateState] = inner.settled
    return settled


def _models(asking: Settings, domain: Domain) -> Models:
    refuse_text_models(asking)
    return make_models(asking, domain)


def _tape(state: RecordedState, folder: Path) -> Tape:
    """The replies in the log of a what-if. Raises UsageError where there is none."""
    if not is_run(folder):
        raise UsageError(f"there is no what-if on {state.candidate} with these settings to repeat: leave --replay out")
    with RunStore.read(folder) as store:
        return tape_of(store.facts())


def _log_of(state: RecordedState, folder: Path, arm: WhatIfArm, where: Machines) -> RunStore:
    """The log of the what-if, begun if there is none. Raises UsageError and StoreError."""
    clock = SystemClock()
    if is_run(folder):
        store = RunStore.open(folder, clock=clock)
        begun = next((fact for fact in store.facts(only=(WhatIfBegun,)) if isinstance(fact, WhatIfBegun)), None)
        if begun is not None and begun.run != state.identity:
            store.close()
            raise StoreError(f"{folder} belongs to another run: remove it, and its proposals are drawn again")
        if begun is not None:
            if not is_written_here(folder, {"run": begun.run}):
                store.close()
                raise StoreError(
                    f"this installation did not write the draws in {folder}: remove it, and they are drawn again"
                )
            return store
    else:
        store = RunStore.create(folder, clock=clock)
    sign(folder, {"run": state.identity})
    store.append([WhatIfBegun(
        run=state.identity, candidate=state.candidate, settings=state.settings.as_json(),
        changed={key: entry.value for key, entry in arm.given.items()}, versions=versions(), sandbox=where.layers,
        prompts=state.prompts,
    )])
    return store


async def _drive(
    state: RecordedState, draws: int, store: RunStore, models: Models, where: Machines, workers: int | None,
    report: Report,
) -> str:
    """Ask, roll out and score what the log lacks; returns how it ended."""
    settings, folder = state.settings, store.folder
    use = PastSpending()
    for fact in store.facts(texts=False):
        use.apply(fact)
    bus = EventBus(store)
    models.services.report = lambda model, event, text: bus.publish(
        [ServiceNoted(model=model, event=event, text=text)]
    )
    bus.subscribe(_Reporting(report, draws))
    ledger = Ledger(balance_of(settings, use.by_role()))
    known = unusable_answers(store, use.asked_again())
    limits = _limits_of(state)
    bus.subscribe(limits.on_fact)
    _share_recordings(state, folder)
    await load_clients(asking_settings(settings))
    count = workers_of(settings, state.domain, workers or usable_cpus())
    async with where.pool(
        domain=import_string(settings.domain), splits={"search": settings.options}, workers=count,
        trajectories=folder / TRAJECTORIES,
        python=interpreter_of(state.domain, settings.options, settings.provenance), stays=lambda _: False,
        compared=is_compared(state.domain, settings.options),
    ) as pool:
        lanes = make_lanes(
            settings, state.domain, models.within(ledger).continued(known), pool, workers=where.places or count,
            replaced=state.prompts, aids=_aids(state, ledger, limits),
            keep=keep_unusable(bus, known), trajectories=folder / TRAJECTORIES,
        )
        supervisor = Supervisor(keeper=keeper_for(state, draws), bus=bus, lanes=lanes)
        return await supervisor.run(store.facts(texts=False))


def _share_recordings(state: RecordedState, folder: Path) -> None:
    """Give the tools of conversations the recordings of the parents that the run still has."""
    (folder / TRAJECTORIES).mkdir(parents=True, exist_ok=True)
    if not state.settings.proposer_turns:
        return
    for parent in state.order.parents:
        for episode in parent.episodes:
            if episode.trajectory is not None:
                source, target = (
                    trajectory_path(each / TRAJECTORIES, episode.trajectory) for each in (state.run, folder)
                )
                with suppress(FileNotFoundError):       # tools say what is not kept any more
                    shutil.copyfile(source, target)


class _Reporting:
    """Says how many draws are settled, and what a service is noted for."""

    def __init__(self, report: Report, draws: int) -> None:
        self._report = report
        self._draws = draws
        self._settled = 0

    def __call__(self, fact: Fact) -> None:
        match fact:
            case CandidateScored(candidate=found):
                self._settled += 1
                said = f"F {found.fitness:.3f}" if found.fault is None else f"failed: {found.fault.kind}"
                self._report(f"{found.id}: {said}")
            case ServiceNoted():
                self._report(fact.text)
            case AskedAgain():
                self._report(f"{fact.order}: asked again, {fact.reason}")
