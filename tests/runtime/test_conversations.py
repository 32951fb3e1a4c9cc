"""Conversations with proposers under the real supervisor: bounded, and the same after a stop at any fact."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from memento.core.errors import StoreError
from memento.core.events import (
    Compute,
    Examine,
    Fact,
    Judge,
    LookCloser,
    Order,
    ProposalFailed,
    ProposalMade,
    Propose,
    ProposeEvaluator,
    RecordProbes,
    Roll,
    ScoreEpisode,
    ToolAnswered,
    TryProgram,
    TurnTaken,
)
from memento.core.order_ids import FINAL, SEARCH, owner_of, parse
from memento.core.values import Program
from memento.runtime.bus import EventBus
from memento.runtime.lanes import Lane
from memento.runtime.supervisor import Supervisor
from memento.search.conversing import ConversationTerms, Conversing
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..support.keeper_world import World

pytestmark = pytest.mark.quick

TURNS, PRACTICE, SEEDS = 4, 2, (71, 72)
SEARCH_SEEDS, FINAL_SEEDS = (1, 2), (9,)
PLAN = RunPlan(
    method=KEEPERS["memento"], slots=GenerationBudget(generations=2, hill_climb=2, macro=2, crossover=1),
    search=RolloutPlan(split="search", seeds=SEARCH_SEEDS, evaluator=Program("E")),
    final_seeds=FINAL_SEEDS,
)
KINDS = (
    Propose, ProposeEvaluator, Judge, Roll, ScoreEpisode, Examine, RecordProbes, TryProgram, LookCloser, Compute,
)


class Log:
    """A store in memory that keeps `capacity` facts, as that of a killed process."""

    def __init__(self, capacity: int | None = None) -> None:
        self.kept: list[Fact] = []
        self.capacity = capacity

    def append(self, facts: Iterable[Fact]) -> None:
        facts = list(facts)
        if self.capacity is not None and len(self.kept) + len(facts) > self.capacity:
            raise StoreError("the disk is full")
        self.kept += facts

    def facts(self) -> list[Fact]:
        return list(self.kept)


class Scripted:
    """Answers every order from the world, and records it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.seen: list[Order] = []

    async def carry_out(self, order: Order) -> Fact:
        self.seen.append(order)
        return self.world.answer(order)


async def talk(agent: Scripted, log: Log, plan: RunPlan = PLAN) -> None:
    lanes = [Lane(name="all", limit=3, agents=dict.fromkeys(KINDS, agent))]
    keeper = Conversing(Sequencer(plan), ConversationTerms(turns=TURNS, practice_episodes=PRACTICE, seeds=SEEDS))
    assert await Supervisor(keeper=keeper, bus=EventBus(log), lanes=lanes).run(log.facts()) == "done"


@pytest.mark.parametrize("seed", range(4))
async def test_every_conversation_is_bounded_and_only_on_practice_seeds(seed: int) -> None:
    agent, log = Scripted(World(seed, failure_rate=0.1)), Log()
    await talk(agent, log)
    facts = log.facts()
    turns = Counter(owner_of(str(fact.order)) for fact in facts if isinstance(fact, TurnTaken))
    assert turns and max(turns.values()) <= TURNS
    tries = Counter(owner_of(order.id) for order in agent.seen if isinstance(order, TryProgram))
    assert tries and max(tries.values()) <= PRACTICE
    assert all(order.seed == SEEDS[order.index] for order in agent.seen if isinstance(order, TryProgram))
    answers = [fact for fact in facts if isinstance(fact, ProposalMade | ProposalFailed)]
    owners = Counter(owner_of(str(fact.order)) for fact in answers if parse(str(fact.order)).stage == SEARCH)
    assert len(owners) == 10 and set(owners.values()) == {1}, "every slot is answered once"
    asked = Counter(order.id for order in agent.seen)
    assert set(asked.values()) == {1}, "nothing is paid for twice"
    for order in agent.seen:
        if isinstance(order, Propose) and order.conversation is not None:
            so_far = order.conversation
            assert len(so_far.turns) + so_far.turns_left == TURNS
            assert len(so_far.drafts) + so_far.practice_left == PRACTICE
    assert {type(fact) for fact in facts if str(fact.order).rpartition("/")[2].startswith("tool")} == {ToolAnswered}


@pytest.mark.parametrize("seed", range(3))
async def test_a_budget_of_episodes_counts_practice(seed: int) -> None:
    agent, log = Scripted(World(seed, failure_rate=0.1)), Log()
    slots = replace(PLAN.slots, generations=20)
    plan = replace(PLAN, slots=slots, search=replace(PLAN.search, episodes=24, practice=PRACTICE))
    await talk(agent, log, plan)
    tries = sum(isinstance(order, TryProgram) for order in agent.seen)
    rolls = sum(isinstance(order, Roll) and parse(order.id).stage != FINAL for order in agent.seen)
    assert tries
    assert 24 - PRACTICE - len(SEARCH_SEEDS) < rolls + tries <= 24
