"""`memento what-if`: further draws of recorded proposals, from the exact states before their orders.

Keepers are pure and a run is its log, so the state before an order follows from the facts before it. The proposal is
asked for again, under the recorded settings or others, and every draw is rolled out on the episodes of its parents. A
what-if has a separate log in the folder of its run; the log of the run is only read.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..agents.critic_sheets import SHEETS
from ..agents.fitting import PromptLimits
from ..agents.hints import Hints
from ..agents.notes import Notes
from ..agents.proposers import Aids
from ..agents.writing import PROPOSER
from ..core.errors import ModelError, StoreError, UsageError, unknown
from ..core.events import (
    AskedAgain,
    CandidateScored,
    Fact,
    HintGiven,
    ProposalFailed,
    ProposalMade,
    Propose,
    ServiceNoted,
    WhatIfBegun,
)
from ..core.keeper import Keeper
from ..core.methods import CALIBRATE
from ..core.order_ids import CALIBRATE as CALIBRATION
from ..core.order_ids import RANDOM, SEARCH, TUNE, parse, slot_of
from ..core.ports import Ask, Domain, Reply, interpreter_of
from ..core.recording_file import trajectory_path
from ..core.values import CandidateState, PromptText
from ..domains import import_string, require_installed
from ..domains import load as load_domain
from ..memory.lookup import Policy, find
from ..memory.runs import TRAJECTORIES, WHAT_IFS, is_run
from ..memory.store import RunStore
from ..models.budget import Ledger, PastSpending
from ..models.tape import Tape, tape_of
from ..runtime.bus import EventBus
from ..runtime.clock import SystemClock
from ..runtime.supervisor import Replay, Supervisor
from ..search.conversing import Conversing
from ..search.trials import RolloutPlan
from ..search.what_if import DrawsKeeper, Known, OrderBefore, shown_less
from ..settings import Settings, usable_cpus
from ..settings.what_if import CALLS, WhatIfArm, asking_settings, changed_settings
from .budgets import balance_of, require_usable
from .cluster import Machines
from .given_files import prompts_with, read_prompts
from .history import Outline, outline_of
from .plan import plan_of, terms_of
from .replay import UNLIMITED
from .required import refuse_the_blind, trusted_settings
from .run import versions
from .session import keep_unusable, keeper_of, unusable_answers
from .wiring import Models, aids_of, load_clients, make_askers, make_lanes, make_models, replayed, workers_of

Report = Callable[[str], None]


# The state before an order, from the log of its run.


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedState:
    """The state of a run before it ordered a candidate, and what became of it.

    `order` has no conversation and is as `settings` make it. `limit` is that of its prompt in characters, 0 for none.
    """

    run: Path
    identity: str
    settings: Settings
    domain: Domain
    order: Propose
    known: Known
    recorded: Policy
    prompts: tuple[PromptText, ...]
    hints: tuple[HintGiven, ...]
    notes: Notes
    limit: int

    @property
    def candidate(self) -> str:
        """The id of the candidate."""
        return self.recorded.id

    @property
    def base(self) -> CandidateState:
        """The fittest parent, the first of equals: draws are compared with it."""
        return max(self.order.parents, key=lambda parent: parent.fitness)

    @property
    def plan(self) -> RolloutPlan:
        """The episodes of the parents under E*, for the draws."""
        return RolloutPlan(
            split="search", seeds=tuple(episode.seed for episode in self.base.episodes),
            evaluator=self.known.evaluator, has_success=self.base.success_rate is not None,
        )


def candidates_in(folder: Path, pattern: str) -> list[str]:
    """The answered proposals of a run that a pattern names, in the order of their answers.

    Raises UsageError where it names none, and for one candidate that no prompt asked for.
    """
    with RunStore.read(folder) as store:
        made = store.facts(only=(ProposalMade, ProposalFailed), texts=False)
        asked = [_proposal_of(fact.order) for fact in made if fact.order is not None]
    names = list(dict.fromkeys(name for name in asked if parse(name).stage == SEARCH))
    found = [name for name in names if fnmatchcase(name, pattern)]
    if found:
        return found
    named = parse(pattern)
    if named.branch == TUNE or named.branch == RANDOM:
        what = "a tuning of constants" if named.branch == TUNE else "drawn at random"
        raise UsageError(f"{pattern} is {what}: no model was asked, so it has no prompt; name another candidate")
    if named.stage and named.stage != SEARCH:
        raise UsageError(
            f"{pattern} comes before the policy search: name a candidate of a generation, such as {_example(names)}"
        )
    if not names:
        raise UsageError(f"the run {folder.name!r} has no proposal yet, or none that a model made")
    raise unknown("candidate", pattern, names)


def _example(names: Sequence[str]) -> str:
    return names[0] if names else "g1/macro/0"


def state_before(
    folder: Path, candidate: str, given: Mapping[str, Any], *, trusted: bool = False
) -> RecordedState:
    """The state before the order for an answered proposal, its order as the given settings make it.

    Raises UsageError for settings that cannot change, and where the search under them took another course; StoreError.
    """
    with RunStore.read(folder) as store:
        outline = outline_of(store)
        recorded = trusted_settings(
            folder, outline.started.settings, outline.settings, trusted=trusted, models=False
        )
        settings = changed_settings(recorded, given)
        require_usable(asking_settings(settings))
        if recorded.method == CALIBRATE or parse(candidate).branch == CALIBRATION:
            raise UsageError(f"{folder.name} is a calibration of a robot, which cannot be repeated from its log")
        domain = load_domain(recorded.domain, recorded.provenance)
        past = _past(store, candidate)
        order, known = _order_before(outline, recorded, settings, domain, past, candidate)
        outcome = find(store, candidate)
        identity = store.identity
    answer = next(
        fact for fact in reversed(past) if isinstance(fact, ProposalMade | ProposalFailed) and fact.order is not None
        and _proposal_of(fact.order) == candidate
    )
    if not isinstance(outcome, Policy):
        raise UsageError(f"{candidate} is not evaluated yet: wait for its episodes")
    hints = [fact for fact in past if isinstance(fact, HintGiven)]
    notes = Notes()
    for fact in past:
        notes.on_fact(fact)
    return RecordedState(
        run=folder, identity=identity, settings=settings, domain=domain, order=order, known=known, recorded=outcome,
        prompts=read_prompts(settings.prompts) if "prompts" in given else outline.started.prompts,
        hints=tuple(hints[: answer.hints_known]), notes=notes, limit=0 if "model" in given else answer.prompt_limit,
    )


def _proposal_of(order: str) -> str:
    """The slot of a proposal's order, also of a turn of its conversation."""
    return str(parse(slot_of(order)).owner)


def _past(store: RunStore, candidate: str) -> list[Fact]:
    """The facts up to the one that the candidate is settled with; prompts and replies are left out."""
    past: list[Fact] = []
    for fact in store.facts(texts=False):
        past.append(fact)
        if isinstance(fact, CandidateScored) and fact.candidate.id == candidate:
            break
    return past


def _order_before(
    outline: Outline, recorded: Settings, settings: Settings, domain: Domain, past: Sequence[Fact], candidate: str
) -> tuple[Propose, Known]:
    """Replay the log through the keeper of the run, which shows what the changed settings say.

    A memory that shows less than the recorded one is cut from the order instead, since the climbs of the recorded
    search were not raced.
    """
    shows_less = recorded.memory_detail == "full" and settings.memory_detail != "full"
    detail = "full" if shows_less else settings.memory_detail
    shown = {key: getattr(settings, key) for key in ("memory_scope", "macro_focus", "partners")}
    rules = recorded.model_copy(update={**shown, "memory_detail": detail})
    started = outline.started
    keeper = OrderBefore(
        keeper_of(
            plan_of(rules, domain, started.initial, started.evaluator, rules=started.rules), rules, domain
        ),
        candidate,
    )
    try:
        Replay(keeper).replay(past)
    except StoreError:
        if rules == recorded:
            raise
    if keeper.order is None or keeper.known.evaluator is None:
        raise UsageError(
            f"the state before {candidate} does not follow from the log under these settings: the recorded search "
            "decided otherwise, because it raced candidates or asked ahead; keep what was recorded"
        )
    order = replace(keeper.order, id=candidate, conversation=None)
    if not order.parents:
        raise UsageError(f"{candidate} has no parent, so there is no state to compare with: name another candidate")
    return shown_less(order) if shows_less else order, keeper.known


# One what-if: a state and an arm, with a log in the folder of the run.


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
    models = Models(proposer=reading, evaluator_writer=reading, judges=(reading,))
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
        store = stack.enter_context(_opened(state, folder, arm, where))
        found, status = Replay(keeper_for(state, draws)).replay(store.facts(texts=False)), "done"
        if found.orders:
            asking = asking_settings(state.settings)
            models = _models(asking, state.domain) if tape is None else replayed(tape, asking)
            await stack.enter_async_context(models)
            await models.open()
            status = await _drive(state, draws, store, models, where, workers, report)
            found = Replay(keeper_for(state, draws)).replay(store.facts(texts=False))
        if status == "done":
            shutil.rmtree(folder / TRAJECTORIES, ignore_errors=True)
        return ArmDraws(
            state=state, arm=arm, status=status, wanted=draws, draws=settled_in(found.state),
            facts=tuple(store.facts()),
        )


def settled_in(state: Any) -> Mapping[str, CandidateState]:
    """The settled draws in the state of a keeper of `keeper_for`."""
    inner = getattr(state, "inner", state)
    settled: Mapping[str, CandidateState] = inner.settled
    return settled


def _models(asking: Settings, domain: Domain) -> Models:
    refuse_the_blind(asking)
    return make_models(asking, domain)


def _tape(state: RecordedState, folder: Path) -> Tape:
    """The replies in the log of a what-if. Raises UsageError where there is none."""
    if not is_run(folder):
        raise UsageError(f"there is no what-if on {state.candidate} with these settings to repeat: leave --replay out")
    with RunStore.read(folder) as store:
        return tape_of(store.facts())


def _opened(state: RecordedState, folder: Path, arm: WhatIfArm, where: Machines) -> RunStore:
    """The log of the what-if, begun if there is none. Raises UsageError and StoreError."""
    clock = SystemClock()
    if is_run(folder):
        store = RunStore.open(folder, clock=clock)
        begun = next((fact for fact in store.facts(only=(WhatIfBegun,)) if isinstance(fact, WhatIfBegun)), None)
        if begun is not None and begun.run != state.identity:
            store.close()
            raise StoreError(f"{folder} belongs to another run: remove it, and its proposals are drawn again")
        if begun is not None:
            return store
    else:
        store = RunStore.create(folder, clock=clock)
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
