"""What every search method owes: its keeper decides the same whatever arrives first, and comes to an end."""

import random
from dataclasses import replace
from typing import ClassVar

import pytest
from memento.core.events import CandidateScored, EliteChanged, Roll, SearchEnded
from memento.core.methods import Method, add_method
from memento.core.order_ids import parse
from memento.core.values import JSON, CandidateState, Operator, Program, Score
from memento.runtime.supervisor import Replay
from memento.search.memento import PAPER
from memento.search.options import GenerationBudget, SearchOptions
from memento.search.rollout_plan import RolloutPlan

from ..support.keeper_world import Repeating, World, play

PLAN = RolloutPlan(split="search", seeds=(11, 12, 13), evaluator=Program("E*"))


class MethodContract:
    """Inherit, and set `method`; `settings` are those that its branches read, `parameters` an instance of its own."""

    method: ClassVar[Method]
    settings: ClassVar[dict[str, JSON]] = {}
    parameters: ClassVar[object] = None
    slots: ClassVar[GenerationBudget] = GenerationBudget(generations=3, hill_climb=3, macro=2, crossover=2)

    def keeper(self, plan: RolloutPlan = PLAN):
        """A keeper of the method, from a C_0 that is one of the world's programs."""
        add_method(self.method)
        return self.method.keeper(
            initial(plan), plan, self.slots, SearchOptions(seed=5), PAPER.but(self.parameters)
        )

    @pytest.mark.parametrize("seed", range(6))
    def test_the_order_of_arrival_decides_nothing(self, seed: int) -> None:
        logs = [play(self.keeper(), Repeating(seed), random.Random(arrival).randrange)[0] for arrival in (1, 2)]
        first, second = ([fact for fact in log if isinstance(fact, EliteChanged)] for log in logs)
        assert first == second
        assert [len([fact for fact in log if isinstance(fact, SearchEnded)]) for log in logs] == [1, 1]

    @pytest.mark.parametrize("seed", range(4))
    def test_it_ends_whatever_fails(self, seed: int) -> None:
        log, last = play(self.keeper(), World(seed, failure_rate=0.9), random.Random(seed).randrange, steps=5000)
        assert self.keeper().finished(last.state) and not last.orders
        assert isinstance(log[-1], SearchEnded)

    @pytest.mark.parametrize("cut", [1, 7, 20, 60])
    def test_a_replay_of_its_log_gives_the_same_state_and_orders(self, cut: int) -> None:
        log, last = play(self.keeper(), Repeating(3), random.Random(cut).randrange, steps=cut)
        again = Replay(self.keeper()).replay(log)
        assert {order.id for order in again.orders} == {order.id for order in last.orders}

    @pytest.mark.parametrize("budget", [12, 40])
    def test_a_budget_of_episodes_is_kept(self, budget: int) -> None:
        keeper = self.keeper(replace(PLAN, episodes=budget))
        decision, rolled, world = keeper.start(), 0, World(1)
        orders, state = list(decision.orders), decision.state
        while orders:
            order = orders.pop()
            rolled += isinstance(order, Roll)
            decision = keeper.decide(state, world.answer(order))
            orders, state = [*orders, *decision.orders], decision.state
        assert rolled <= budget

    def test_its_branches_are_those_of_its_candidates(self) -> None:
        log, _ = play(self.keeper(), Repeating(2), random.Random(0).randrange)
        known = {branch.word for branch in self.method.branches(self.settings)}
        found = {parse(fact.candidate.id).branch for fact in log if isinstance(fact, CandidateScored)}
        assert found and (found <= known or "" in known)


def initial(plan: RolloutPlan) -> CandidateState:
    """C_0 with the episodes of the plan."""
    program, world = Program("program = 0\n"), Repeating(1, failure_rate=0.0)
    rolls = [Roll(id="r", program=program, split="search", index=i, seed=s) for i, s in enumerate(plan.seeds)]
    episodes = tuple(world.answer(roll).episode for roll in rolls)
    scores = tuple(Score(fitness=episode.info["fitness"]) for episode in episodes)
    return CandidateState(
        id="init/0", program=program, operator=Operator.INITIAL, generation=0, slot=0, episodes=episodes, scores=scores,
        fitness=sum(score.fitness for score in scores) / len(scores),
    )
