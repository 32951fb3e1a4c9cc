"""A run that was killed after any of its facts, and resumed, has the log of one that nobody disturbed.

Keeper, supervisor and codec are the real ones; agents are scripted. A kill is a store that takes no further fact: what
was under way is lost, and what is in the log has come back from bytes. A real kill of real processes is in
app/test_run.py, and with a language model in app/test_kills_of_turns.py.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from memento.core.errors import StoreError
from memento.core.events import (
    ArchiveChanged,
    AttackEvaluator,
    Compute,
    ConstantsTried,
    Criticise,
    Criticised,
    EliteChanged,
    EliteChosen,
    EliteConfirmed,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorAttacked,
    EvaluatorExamined,
    EvaluatorHardened,
    EvaluatorMoved,
    Examine,
    Fact,
    GateDecided,
    IslandsChanged,
    Judge,
    LookCloser,
    Migrated,
    Order,
    ProbesRecorded,
    ProposalMade,
    Propose,
    ProposeAttack,
    ProposeEvaluator,
    RecordProbes,
    Roll,
    SaturationChecked,
    ScoreEpisode,
    ToolAnswered,
    TryConstants,
    TryOnTwin,
    TryProgram,
    TuningEnded,
    TurnTaken,
    TwinTried,
    VoteCast,
)
from memento.core.keeper import Keeper
from memento.core.values import Program
from memento.runtime.bus import EventBus
from memento.runtime.lanes import Lane
from memento.runtime.supervisor import Supervisor
from memento.search.conversing import ConversationTerms, Conversing
from memento.search.criticising import Criticising
from memento.search.evaluator_search import EvaluatorBudget
from memento.search.gate import Gated, GateTerms
from memento.search.hardening import AttackTerms
from memento.search.islands import IslandSettings
from memento.search.keepers import KEEPERS
from memento.search.memento import PAPER
from memento.search.moving.keeper import MoveSettings
from memento.search.options import GenerationBudget, SearchOptions
from memento.search.parts.memory import MemorySettings
from memento.search.parts.partners import PartnerSettings
from memento.search.rollout_plan import FreshPlan, RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..support.keeper_world import Differing, Sound, Succeeding, World
from ..support.supervised import Doer, Log
from ..support.volatile_store import round_trip

pytestmark = pytest.mark.quick

ORDERS = (
    Propose, ProposeEvaluator, ProposeAttack, AttackEvaluator, Judge, Roll, ScoreEpisode, Examine, RecordProbes,
    TryConstants, TryProgram, LookCloser, Compute, Criticise, TryOnTwin,
)
PLAN = RunPlan(
    method=KEEPERS["memento"], slots=GenerationBudget(generations=2, hill_climb=2, macro=1, crossover=1),
    search=RolloutPlan(split="search", seeds=(1, 2), evaluator=Program("E")), final_seeds=(9,),
)
TERMS = ConversationTerms(turns=2, practice_episodes=1, seeds=(7,))
GATE = GateTerms(twin="toy", seeds=tuple(range(5)), audit=0.3, seed=4)
TUNED = GenerationBudget(generations=2, hill_climb=1, macro=0, crossover=0, tune=1, tune_episodes=50)
SHARED = GenerationBudget(generations=3, hill_climb=2, macro=0, crossover=2)
SHORT = GenerationBudget(generations=3, hill_climb=2, macro=1, crossover=1)
JUDGED = EvaluatorBudget(pool=3, judges=3, generations=2)


class Programs(Sound):
    """Its programs have constants, so that they can be tuned."""

    def _propose(self, order: Order, draw: random.Random) -> Fact:
        fact = super()._propose(order, draw)
        text = f"A = 0.5\nB = 2.0\nprint(A, B)  # {order.id}\n"
        return replace(fact, program=Program(text)) if hasattr(fact, "program") else fact


class Distinct(Programs):
    """Its programs differ in code: those that differ in comments alone are the same one."""

    def _propose(self, order: Order, draw: random.Random) -> Fact:
        fact = super()._propose(order, draw)
        return replace(fact, program=Program(f"print({order.id!r})\n")) if hasattr(fact, "program") else fact


class Perfect(Programs):
    """All are perfect on the search's episodes, and fail on some fresh starts."""

    def answer(self, order: Order) -> Fact:
        fact = super().answer(order)
        if isinstance(fact, EpisodeEnded):
            return replace(fact, episode=replace(fact.episode, fault=None))
        if isinstance(fact, EpisodeScored):
            fails = order.id.startswith("starts/") and fact.score.fitness < 0.25
            return replace(fact, score=replace(fact.score, fitness=0.5 if fails else 1.0))
        if isinstance(fact, EvaluatorExamined):
            scores = tuple(replace(score, fitness=1.0) for score in fact.examination.scores)
            return replace(fact, examination=replace(fact.examination, scores=scores))
        return fact


def of_method(method: str) -> Callable[[], Keeper[Any]]:
    slots = replace(PLAN.slots, tune_episodes=50)
    return lambda: Sequencer(replace(PLAN, method=KEEPERS[method], slots=slots, options=SearchOptions(seed=3)))


KEEPERS_OF: dict[str, Callable[[], Keeper[Any]]] = {
    **{method: of_method(method) for method in KEEPERS},
    "gate": lambda: Gated(Sequencer(PLAN), GATE),
    "critic": lambda: Criticising(Sequencer(PLAN)),
    "turns": lambda: Conversing(Sequencer(PLAN), TERMS),
    "turns, critic and gate": lambda: Conversing(Criticising(Gated(Sequencer(PLAN), GATE)), TERMS),
    "tuning": lambda: Sequencer(replace(PLAN, slots=TUNED)),
    "tuning that declines first": lambda: Sequencer(replace(PLAN, slots=replace(TUNED, tune_episodes=24))),
    "judges, probes and critic": lambda: Criticising(
        Sequencer(replace(
            PLAN, search=replace(PLAN.search, evaluator=None), evaluator_budget=JUDGED, probe_seed=7
        )), judges=True
    ),
    "attackers in the loop": lambda: Sequencer(replace(
        PLAN, search=replace(PLAN.search, evaluator=None), evaluator_budget=JUDGED, probe_seed=7, tested=True,
        attacks=AttackTerms(rounds=4, seed=7),
    )),
    "moving evaluator": lambda: Sequencer(replace(
        PLAN, slots=SHORT, search=replace(PLAN.search, evaluator=None, racing=True, duplicates=True),
        evaluator_budget=JUDGED, choices=PAPER.but(
            MoveSettings(evaluator_every=1), PartnerSettings(partners="front"),
            MemorySettings(memory_detail="full", memory_scope="run"),
        ),
    )),
    "moving evaluator with attacks, challenges, choice and critic": lambda: Criticising(Sequencer(replace(
        PLAN, evaluator_budget=JUDGED, probe_seed=7, tested=True, attacks=AttackTerms(rounds=1, seed=7),
        search=replace(
            PLAN.search, evaluator=None, episodes=60, fresh=FreshPlan(seed=7, confirm=3, choice=8)
        ),
        choices=PAPER.but(MoveSettings(evaluator_every=1)),
    ))),
    "budget, challenges and choice": lambda: Sequencer(
        replace(PLAN, search=replace(
            PLAN.search, episodes=40, fresh=FreshPlan(seed=7, confirm=3, choice=12), duplicates=True
        ))
    ),
    "islands": lambda: Sequencer(replace(
        PLAN, slots=SHARED, options=SearchOptions(seed=2), choices=PAPER.but(IslandSettings(islands=2))
    )),
    "islands with challenges, choice, gate and critic": lambda: Criticising(Gated(
        Sequencer(replace(
            PLAN, slots=replace(SHARED, generations=2, crossover=1),
            options=SearchOptions(seed=4),
            choices=PAPER.but(IslandSettings(islands=2, island_dealing="ucb")),
            search=replace(PLAN.search, episodes=50, fresh=FreshPlan(seed=7, confirm=3, choice=12), duplicates=True),
        )), GATE,
    )),
    "front and marked memory": lambda: Sequencer(replace(
        PLAN, choices=PAPER.but(
            PartnerSettings(partners="front"), MemorySettings(memory_detail="full", memory_scope="until-changed")
        )
    )),
    "fresh starts": lambda: Sequencer(
        replace(PLAN, search=replace(PLAN.search, fresh=FreshPlan(seed=7, starts=10, first=2)))
    ),
}


WORLDS: dict[str, type[World]] = {
    "fresh starts": Perfect,
    "budget, challenges and choice": Distinct,
    "islands": Distinct,
    "islands with challenges, choice, gate and critic": Distinct,
    "moving evaluator": Differing,
    "moving evaluator with attacks, challenges, choice and critic": Succeeding,
}
HOLDS: dict[str, set[type[Fact]]] = {
    "cma-es": {ConstantsTried, TuningEnded},
    "calibrate": {ProposalMade},
    "gate": {TwinTried, GateDecided},
    "critic": {Criticised},
    "turns": {TurnTaken, ToolAnswered},
    "turns, critic and gate": {TurnTaken, ToolAnswered, Criticised, TwinTried, GateDecided},
    "tuning": {ConstantsTried, TuningEnded},
    "tuning that declines first": {ConstantsTried},
    "judges, probes and critic": {VoteCast, ProbesRecorded, Criticised, EvaluatorExamined},
    "attackers in the loop": {EvaluatorAttacked, EvaluatorHardened},
    "moving evaluator": {EvaluatorMoved, ArchiveChanged},
    "moving evaluator with attacks, challenges, choice and critic": {
        EvaluatorMoved, ArchiveChanged, EvaluatorHardened, EliteConfirmed, EliteChosen, Criticised,
    },
    "budget, challenges and choice": {EliteConfirmed, EliteChosen},
    "islands": {IslandsChanged, Migrated},
    "islands with challenges, choice, gate and critic": {IslandsChanged, EliteConfirmed, EliteChosen, GateDecided},
    "fresh starts": {SaturationChecked},
}
"""Facts that show that a log is about what its name says."""


@dataclass
class Stored(Log):
    """The log, as it comes back from a disk."""

    kept: list[Fact] = field(default_factory=list)
    capacity: int | None = None

    def append(self, facts: Iterable[Fact]) -> None:
        super().append([round_trip(fact) for fact in facts])


async def carried_out(keeper: Keeper[Any], store: Stored, *, jitter: int, world: type[World] = Programs) -> Doer:
    """What is left of a run after the log in `store`."""
    doer = Doer(world(9, failure_rate=0.2), jitter)
    lane = Lane(name="all", limit=3, agents=dict.fromkeys(ORDERS, doer))
    assert await Supervisor(keeper=keeper, bus=EventBus(store), lanes=[lane]).run(store.facts()) == "done"
    return doer


# These take a second or more: a kill at each of many facts.
LONG = ("moving", "turns", "tuning", "gate", "critic", "fresh", "budget", "judges", "islands", "front")


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.slow) if name.startswith(LONG) else name for name in KEEPERS_OF
])
async def test_resuming_after_a_kill_at_any_fact_gives_the_same_log_and_repeats_nothing(name: str) -> None:
    keeper, whole = KEEPERS_OF[name], Stored()
    world = WORLDS.get(name, Programs)
    doer = await carried_out(keeper(), whole, jitter=0, world=world)
    expected, asked = Counter(map(repr, whole.kept)), set(doer.asked)
    assert len(doer.asked) == len(asked)
    assert HOLDS.get(name, {EliteChanged}) <= {type(fact) for fact in whole.kept}
    for cut in range(1, len(whole.kept)):
        killed = Stored(capacity=cut)
        with pytest.raises(StoreError):
            await carried_out(keeper(), killed, jitter=cut, world=world)
        assert len(killed.kept) <= cut
        answered = {fact.order for fact in killed.kept if fact.order}
        killed.capacity = None
        again = await carried_out(keeper(), killed, jitter=cut + 1, world=world)
        assert Counter(map(repr, killed.kept)) == expected
        assert not answered & set(again.asked), "what is in the log is not paid for again"
        assert answered & asked | set(again.asked) == asked
