"""The assignment of orders to agents, models and lanes."""

import asyncio
import gc
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

from ..agents.critic import CRITIC, Critic
from ..agents.critic_sheets import SheetFolder, Sheets
from ..agents.evaluator_attacker import EvaluatorAttacker
from ..agents.evaluator_evolver import AttackWriter, EvaluatorEvolver
from ..agents.fitting import PromptLimits
from ..agents.hints import Hints
from ..agents.judging import JudgePanel
from ..agents.notes import Notes
from ..agents.proposers import Aids, Common
from ..agents.replayed_tools import Answered, Repeating, Tool
from ..agents.rollout_agents import ConstantsTrier, Examiner, ProbeAgent, Roller, Scorer, TwinTrier
from ..agents.tools import Computer, Looker, Practiser
from ..agents.writing import ATTACKER, PROPOSER, Answers, Keep, not_kept
from ..core.errors import UsageError
from ..core.events import (
    AttackEvaluator,
    Compute,
    Criticise,
    Examine,
    Fact,
    Judge,
    LookCloser,
    Order,
    Propose,
    ProposeAttack,
    ProposeEvaluator,
    RecordProbes,
    Roll,
    ScoreEpisode,
    TryConstants,
    TryOnTwin,
    TryProgram,
)
from ..core.methods import CALIBRATE, METHODS, branches_of, edits, method_named, tunes
from ..core.operators import OPERATORS, Operation
from ..core.order_ids import HILL, owner_of, parse
from ..core.ports import (
    Calibrating,
    Computing,
    Domain,
    Generalising,
    Model,
    Pool,
    Prober,
    Prompts,
    Rig,
    RollTask,
    conditions_for,
    shelf_of,
)
from ..core.programs.calibration import constants_to_calibrate
from ..core.seeds import UNSALTED
from ..core.values import JSON, Call, CallTimes, Contract, Operator, Program, PromptText
from ..domains import load as load_domain
from ..models import ClientSettings, close_model, make_model, open_model
from ..models.asked import BallotFolder
from ..models.budget import BudgetedModel, Ledger
from ..models.call_limits import CallLimits
from ..models.offline import OfflineModel
from ..models.requests import Sampling
from ..models.services import Services
from ..models.spec import parse_specs
from ..models.tape import ContinuedModel, Key, ReplayModel, Tape
from ..runtime.lanes import Agent, Lane
from ..runtime.rollouts.limits import policy_limits_in_words, practice_limits_in_words
from ..search.final import split_of
from ..settings import ALL, Asking, Settings
from ..settings.effects import contacts
from .breeding import breeder_for
from .budgets import left_in_words, models_of, prices_of
from .given_prompts import prompts_with

# What a calibration needs besides the settings of its run: a domain with a rig, and a policy with constants.


def rig_of(settings: Settings, domain: Domain) -> Rig:
    """The rig of a calibration. Raises UsageError for a domain that has none."""
    if not isinstance(domain, Calibrating):
        raise UsageError(f"the domain {settings.domain!r} has no robot to calibrate for: use memento cell calibrate")
    return domain.rig(settings.options)


def require_calibratable(settings: Settings, domain: Domain, initial: Program | None) -> None:
    """Raises UsageError for a calibration without a policy, or without constants to change."""
    if settings.method != CALIBRATE:
        return
    rig = rig_of(settings, domain)
    if initial is None:
        raise UsageError("a calibration needs a policy: give it with --initial FILE")
    constants_to_calibrate(initial, rig.bounds)


def workers_of(settings: Settings, domain: Domain, wanted: int) -> int:
    """The trials at once: 1 where there is one arm, whatever was asked for."""
    if isinstance(domain, Calibrating) and domain.rig(settings.options).one_at_a_time:
        return 1
    return wanted


CLOSING_S = 5.0             # time to close the sockets of one model at the end of a run


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models of a run, by role. An async context manager that closes them."""

    proposer: Model
    evaluator_writer: Model
    judges: tuple[Model, ...]
    attacker: Model
    critic: Model | None = None
    ballots: BallotFolder = field(default_factory=BallotFolder)     # where the judge "ask" finds its ballots
    tape: ReplayModel | None = None     # that stands for all of them in a replay
    services: Services = field(default_factory=Services)

    def within(self, ledger: Ledger) -> "Models":
        """The same models, within the budgets of a ledger."""
        return self._with({id(model): BudgetedModel(model, ledger) for model in self._all()})

    def continued(self, calls: Mapping[Key, Call]) -> "Models":
        """The same models, which repeat these unusable answers of open orders."""
        return self._with({id(model): ContinuedModel(model, calls) for model in self._all()}) if calls else self

    def _with(self, others: Mapping[int, Model]) -> "Models":
        return Models(
            proposer=others[id(self.proposer)],
            evaluator_writer=others[id(self.evaluator_writer)],
            judges=tuple(others[id(model)] for model in self.judges),
            attacker=others[id(self.attacker)],
            critic=None if self.critic is None else others[id(self.critic)],
            ballots=self.ballots,
            tape=self.tape,
            services=self.services,
        )

    async def open(self) -> None:
        """Reach their services and open their clients. Raises UsageError before anything is spent."""
        for model in {id(model): model for model in self._all()}.values():
            await open_model(model)

    async def __aenter__(self) -> "Models":
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close their sockets; a socket that does not close in time stays open until the process ends."""
        for model in {id(model): model for model in self._all()}.values():
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSING_S):
                    await close_model(model)

    def _all(self) -> tuple[Model, ...]:
        critic = () if self.critic is None else (self.critic,)
        return (self.proposer, self.evaluator_writer, *self.judges, self.attacker, *critic)


class ByOperator:
    """Passes a Propose order to the agent of its operator."""

    def __init__(self, agents: Mapping[Operator, Agent]) -> None:
        self._agents = agents

    async def carry_out(self, order: Propose) -> Fact:
        """Answer one proposal order."""
        return await self._agents[order.operator].carry_out(order)


def make_models(settings: Settings, domain: Domain) -> Models:
    """The models that the settings name. Raises UsageError before anything is spent, and if these may not be asked."""
    settings.provenance.require(contacts(text for texts in models_of(settings).values() for text in texts))
    offline = _offline(settings, domain)
    services = Services()
    made: dict[tuple[str, Asking], Model] = {}
    ballots = BallotFolder()

    def make(text: str, role: str) -> Model:
        asking = asking_of(settings, role)
        if (text, asking) not in made:
            shared = ClientSettings(
                limits=_limits(asking, settings.outage_s), sampling=_sampling(asking), prices=prices_of(settings),
                in_flight=settings.calls_at_once, seed=settings.seed, services=services,
                ballots=ballots, vote_s=asking.total_s,
            )
            made[text, asking] = make_model(text, settings=shared, offline=offline)
        return made[text, asking]

    by_role = {role: tuple(make(text, role) for text in texts) for role, texts in models_of(settings).items()}
    proposer = by_role["proposer"]
    return Models(
        proposer=proposer[0],
        evaluator_writer=by_role.get("evaluator-writer", proposer)[0],
        judges=by_role.get("judge", proposer),
        attacker=by_role.get(ATTACKER, proposer)[0],
        critic=by_role.get(CRITIC, (None,))[0],
        ballots=ballots,
        services=services,
    )


def replayed(tape: Tape, settings: Settings) -> Models:
    """The tape instead of all models. It spends nothing, so budgets do not apply."""
    model = ReplayModel(tape, loosely=settings.replay_loosely)
    critic = None if settings.critic is None else model
    return Models(proposer=model, evaluator_writer=model, judges=(model,), attacker=model, critic=critic, tape=model)


async def load_clients(settings: Settings) -> None:
    """Import the client libraries of the run's models outside the event loop, because it takes seconds."""
    specs = [spec for texts in models_of(settings).values() for text in texts for spec in parse_specs(text)]
    if settings.replay is None and any(spec.is_service for spec in specs):
        await asyncio.to_thread(import_module, "...models.connection", __name__)


YOUNG_OBJECTS = 20_000  # a few MB


def exclude_loaded_from_gc() -> None:
    """Exclude all objects loaded so far from garbage collection, because they never become garbage.

    Otherwise the collector scans hundreds of thousands of objects of the client libraries repeatedly, which takes
    more than half of the controller's time per candidate. For the same reason it looks less often for garbage than
    Python's default of 700 new objects: the syntax tree of one program has thousands, none of which ever is garbage
    that needs it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 10, 10)


def asking_of(settings: Settings, role: str) -> Asking:
    """The call settings for the models of a role: the role's own settings override the general ones."""
    asking: Mapping[str, Asking] = dict(settings.sampling.items())
    own = asking.get(role, Asking()).model_dump(exclude_none=True)
    return asking.get(ALL, Asking()).model_copy(update=own)


def _limits(asking: Asking, outage_s: float) -> CallLimits:
    given = asking.model_dump(include={"total_s", "read_s", "connect_s", "attempts"}, exclude_none=True)
    return replace(CallLimits(), outage_s=outage_s, **given)


_SAMPLING = {"temperature", "max_output_tokens", "thinking", "stream", "cache", "tools"}


def _sampling(asking: Asking) -> Sampling:
    given = asking.model_dump(include=_SAMPLING, exclude_none=True)
    return replace(Sampling(), **given)


def make_lanes(
    settings: Settings, domain: Domain, models: Models, pool: Pool, *, workers: int | Callable[[], int],
    replaced: Iterable[PromptText] = (), aids: Aids | None = None, call_times: Mapping[str, CallTimes] | None = None,
    keep: Keep = not_kept, trajectories: Path = Path(), sheets: Sheets | None = None,
    answers: Answered | None = None, again: Callable[[str], RollTask] | None = None,
) -> tuple[Lane, ...]:
    """Lanes that never wait for one another: proposals, judges, rollouts, and with `sheets` the critic.

    `workers` are the rollouts at once, a function if they change. `replaced` are prompts of the user, `aids` what
    proposers get besides; `keep` commits unusable answers.
    `call_times` and `answers` of tools of a recorded run, by order, replace what is measured. Recordings are in the
    folder `trajectories`; one that is lost is made `again`.
    Raises UsageError if a prompt does not fit.
    """
    askers = make_askers(settings, domain, models, prompts_with(replaced), aids, keep, sheets)
    critics = [] if askers.critic is None else [
        Lane(name="critic", limit=settings.calls_at_once, agents={Criticise: askers.critic})
    ]
    roller = Roller(pool=pool, step_limit_ms=settings.step_limit_ms, recorded=call_times)
    return (
        Lane(
            name="proposals",
            limit=settings.calls_at_once,
            agents={
                Propose: askers.proposer, ProposeEvaluator: askers.evolver, ProposeAttack: askers.attacker,
            },
            urgency=urgency,
        ),
        Lane(name="judges", limit=settings.calls_at_once, agents={Judge: askers.judges}),
        *critics,
        Lane(
            name="rollouts",
            limit=workers,
            agents={
                Roll: roller, ScoreEpisode: Scorer(pool=pool, again=again), Examine: Examiner(pool=pool),
                TryConstants: ConstantsTrier(pool=pool), TryOnTwin: TwinTrier(pool=pool),
                **_tools(roller, pool, domain.evaluator_contract, trajectories, answers or {}),
                **({RecordProbes: ProbeAgent(pool=pool)} if isinstance(pool, Prober) else {}),
                AttackEvaluator: EvaluatorAttacker(
                    pool=pool, domain=domain, options=settings.options, trajectories=trajectories,
                    breed=breeder_for(domain, settings.options),
                ),
            },
            urgency=urgency,
        ),
    )


def _tools(
    roller: Roller, pool: Pool, contract: Contract, trajectories: Path, answers: Answered
) -> dict[type[Order], Agent]:
    """The tools of conversations; `answers` are those of a recorded run, for its replay."""
    measured = {order: fact.cpu_s for order, fact in answers.items()}
    tools: dict[type[Order], Tool] = {
        TryProgram: Practiser(roller=roller, pool=pool, measured=measured),
        LookCloser: Looker(trajectories=trajectories),
    }
    if isinstance(pool, Computing):
        tools[Compute] = Computer(pool=pool, contract=contract, trajectories=trajectories, measured=measured)
    return {kind: Repeating(tool, answers) for kind, tool in tools.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Askers:
    """The agents that ask models."""

    proposer: ByOperator
    evolver: EvaluatorEvolver
    judges: JudgePanel
    attacker: AttackWriter
    critic: Critic | None = None


def aids_of(
    settings: Settings, hints: Hints, notes: Notes, sheets: Path | None = None, ledger: Ledger | None = None,
    limits: PromptLimits | None = None,
) -> Aids:
    """What the proposers of a run with these settings get besides; notes only if later programs descend from theirs.

    `sheets` is the folder of the critic's pictures, None in a replay; the `ledger` is of a live run.
    """
    return Aids(
        hints=hints, notes=notes if settings.notes == "on" and edits(settings.as_json()) else None,
        sheets=SheetFolder(path=sheets) if settings.critic_mode == "pixels" else None,
        limits=limits or PromptLimits(),
        budget=lambda: "" if ledger is None else left_in_words(ledger.left(PROPOSER)),
    )


def make_askers(
    settings: Settings, domain: Domain, models: Models, prompts: Prompts, aids: Aids | None = None,
    keep: Keep = not_kept, sheets: Sheets | None = None,
) -> Askers:
    """The agents that ask models, with the texts of the domain under these settings; `sheets` are for the critic."""
    brief = domain.brief(settings.options)
    policies = brief
    if tunes(settings.as_json()):
        policies = replace(brief, policy_interface=f"{brief.policy_interface.strip()}\n\n{prompts.fill('constants')}")
    answers = Answers(edits=settings.reply, repairs=settings.repairs, keep=keep)
    common: Common = {
        "model": models.proposer, "prompts": prompts, "brief": policies, "contract": domain.contract,
        "limits": policy_limits_in_words(step_limit_ms=settings.step_limit_ms), "answers": answers,
        "feedback": settings.feedback, "aids": aids,
        "practice_cpu": practice_limits_in_words(step_limit_ms=settings.step_limit_ms),
        "edited": edits(settings.as_json()), "memory_detail": settings.memory_detail,
        "selection": _selection(settings), "acceptance": method_named(settings.method).acceptance,
    }
    if settings.method == CALIBRATE:
        common["rig"] = rig_of(settings, domain)
    evolver = EvaluatorEvolver(
        model=models.evaluator_writer, prompts=prompts, brief=brief, contract=domain.evaluator_contract,
        answers=answers, judge_reasons=settings.judge_reasons, feedback=settings.feedback,
        emphasis_seed=settings.root_seed if settings.macro_focus else None,
        limits=None if aids is None else aids.limits,
    )
    judges = JudgePanel(models=models.judges, prompts=prompts, brief=brief, run_seed=settings.root_seed, keep=keep)
    critic = None if sheets is None else Critic(model=models.critic, prompts=prompts, brief=brief, sheets=sheets)
    attacker = AttackWriter(
        model=models.attacker, prompts=prompts, brief=brief, contract=domain.contract, limits=common["limits"],
        answers=answers,
    )
    proposer = ByOperator(proposers_of(settings, common))
    return Askers(
        proposer=proposer, evolver=evolver, judges=judges, attacker=attacker, critic=critic
    )


def _selection(settings: Settings) -> str:
    """When the method keeps a program; where there are challenges, it must also prove itself on fresh episodes."""
    says = method_named(settings.method).selection
    if not settings.confirm_episodes:
        return says
    if says == METHODS["memento"].selection:    # of a generation the runner-up has its turn after a failure
        return ("becomes the elite only if fresh episodes, on which no program was selected, show it to be better; the "
                "program of its generation with the highest F is tried there first, then the next one")
    return f"{says}, and if fresh episodes, on which no program was selected, show it to be better than the elite"


def proposers_of(settings: Settings, common: Common) -> Mapping[Operator, Agent]:
    """The agents of the operators of the run's branches, and of p_0's. Raises UsageError if a prompt does not fit."""
    used = {operator for branch in branches_of(settings.as_json()) for operator in branch.operators}
    rows = [OPERATORS[operator] for operator in OPERATORS.ordered({Operator.INITIAL, *used})]
    return {row.operator: _agent_of(row, common) for row in rows if row.needs_model}


def _agent_of(row: Operation, common: Common) -> Agent:
    module, _, name = row.agent.partition(":")
    try:
        made = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"the agent {row.agent} of the operator {row.operator} cannot be loaded: {error}") from error
    agent: Agent = made(**common, operation=row)
    return agent


def urgency(order: Order) -> int:
    """The priority of an order: first scores, which end candidates, then the hill-climb chain, the critical path.

    Constants are tried last: on workers that would be idle.
    """
    if isinstance(order, ScoreEpisode):
        return 0
    if isinstance(order, TryConstants):
        return 3
    return 1 if parse(owner_of(order.id)).branch == HILL else 2


def final_options(settings: Settings, domain: Domain) -> Mapping[str, JSON]:
    """The domain's options in the final measure of p_0 and the elite."""
    if not isinstance(domain, Generalising):
        return settings.options
    seed = None if settings.salt in (None, UNSALTED) else settings.root_seed
    return domain.final_options(settings.options, seed=seed)


def final_splits(settings: Settings, domain: Domain) -> dict[str, Mapping[str, JSON]]:
    """The domain's options of each split of held-out episodes; a robust measure has changed conditions as well."""
    nominal = final_options(settings, domain)
    changed = conditions_for(domain, nominal) if settings.robust == "on" else {}
    return {split_of(""): nominal, **{split_of(name): options for name, options in changed.items()}}


def _offline(settings: Settings, domain: Domain) -> Model | None:
    shelf = shelf_of(domain, settings.options)
    if settings.method == CALIBRATE:
        return OfflineModel(shelf, run_seed=settings.root_seed, bounds=rig_of(settings, domain).bounds)
    if shelf is not None:
        return OfflineModel(shelf, run_seed=settings.root_seed)
    require_shelves([settings])
    return None


def require_shelves(each: Iterable[Settings]) -> None:
    """Raise UsageError, in one sentence, for tasks that the offline model is to search and has no shelf for."""
    tasks: dict[str, Settings] = {}
    for settings in each:
        named = [spec for texts in models_of(settings).values() for text in texts for spec in parse_specs(text)]
        if settings.method != CALIBRATE and any(spec.is_offline for spec in named):
            tasks.setdefault(settings.domain, settings)
    without = [name for name, one in tasks.items() if shelf_of(load_domain(name, one.provenance), one.options) is None]
    if without:
        kept = "".join(f" --domain {name}" for name in tasks if name not in without)
        raise UsageError(
            f"the offline model has no shelf for {', '.join(without)}: choose a model with --model"
            + (f", or compare the others alone:{kept}" if kept else "")
        )
