"""Which agent carries out which order, over which models, in which lane."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..agents.evaluator_evolver import EvaluatorEvolver
from ..agents.judge_panel import JudgePanel
from ..agents.keepers.memento import BRANCH_WORDS
from ..agents.measuring import Examiner, Roller, Scorer
from ..agents.proposers import Crosser, HillClimber, Initiator, Mutator
from ..core.errors import UsageError
from ..core.events import Examine, Fact, Judge, Order, Propose, ProposeEvaluator, Roll, ScoreEpisode
from ..core.ports import Domain, Model, Pool
from ..core.values import Operator
from ..runtime.models import ClientSettings, close_model, make_model
from ..runtime.offline import OfflineModel
from ..runtime.prompts import PromptFolder
from ..runtime.supervisor import Agent, Lane
from ..settings import Settings

CALLS_AT_ONCE = 8           # model calls of one lane in flight; each account has a limit of its own too
CHAIN = f"/{BRANCH_WORDS[Operator.HILL_CLIMB]}/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models of a run, by role."""

    proposer: Model
    judges: tuple[Model, ...]

    async def close(self) -> None:
        """Close their sockets."""
        for model in {id(model): model for model in (self.proposer, *self.judges)}.values():
            await close_model(model)


class ByOperator:
    """Hands a Propose order to the agent of its operator."""

    def __init__(self, agents: Mapping[Operator, Agent]) -> None:
        self._agents = agents

    async def carry_out(self, order: Propose) -> Fact:
        """Answer one proposal order."""
        return await self._agents[order.operator].carry_out(order)


def make_models(settings: Settings, domain: Domain) -> Models:
    """The models that the settings name. Raises UsageError before anything is spent."""
    offline = _offline(settings, domain)
    shared = ClientSettings(seed=settings.seed)

    def make(text: str) -> Model:
        return make_model(text, settings=shared, offline=offline)

    proposer = make(settings.model)
    judges = tuple(proposer if text == settings.model else make(text) for text in settings.judges)
    return Models(proposer=proposer, judges=judges or (proposer,))


def make_lanes(
    settings: Settings, domain: Domain, models: Models, pool: Pool, *, workers: int
) -> tuple[Lane, ...]:
    """Three lanes that never wait for one another: proposals, judges, rollouts."""
    prompts = PromptFolder()
    brief = domain.brief(settings.options)
    proposals: dict[Operator, Agent] = {
        operator: agent(model=models.proposer, prompts=prompts, brief=brief, contract=domain.contract)
        for operator, agent in (
            (Operator.INITIAL, Initiator),
            (Operator.HILL_CLIMB, HillClimber),
            (Operator.MACRO, Mutator),
            (Operator.CROSSOVER, Crosser),
        )
    }
    evolver = EvaluatorEvolver(
        model=models.proposer, prompts=prompts, brief=brief, contract=domain.evaluator_contract
    )
    panel = JudgePanel(models=models.judges, prompts=prompts, brief=brief, run_seed=settings.seed)
    return (
        Lane(
            name="proposals",
            limit=CALLS_AT_ONCE,
            agents={Propose: ByOperator(proposals), ProposeEvaluator: evolver},
            urgency=urgency,
        ),
        Lane(name="judges", limit=CALLS_AT_ONCE, agents={Judge: panel}),
        Lane(
            name="rollouts",
            limit=workers,
            agents={Roll: Roller(pool=pool), ScoreEpisode: Scorer(pool=pool), Examine: Examiner(pool=pool)},
            urgency=urgency,
        ),
    )


def urgency(order: Order) -> int:
    """Scores first, which end candidates; then the hill-climb chain, which is the critical path."""
    if isinstance(order, ScoreEpisode):
        return 0
    return 1 if CHAIN in order.id else 2


def _offline(settings: Settings, domain: Domain) -> Model | None:
    shelf = domain.shelf()
    if shelf is not None:
        return OfflineModel(shelf, run_seed=settings.seed)
    if "offline" in {settings.model, *settings.judges}:
        raise UsageError(
            f"the domain {domain.name!r} has no shelf for the offline model: name one with --model"
        )
    return None
