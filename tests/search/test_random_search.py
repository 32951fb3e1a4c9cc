"""Random search: its requests and its elite. What holds for all methods is in test_savings."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import (
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    Fact,
    Propose,
    SearchEnded,
)
from memento.core.values import CandidateState, Operator, Program
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.random_search import RandomKeeper
from memento.search.rollout_plan import RolloutPlan

from ..support.keeper_world import World, play

pytestmark = pytest.mark.quick

P0 = CandidateState(
    id="init/0", program=Program("p0"), operator=Operator.INITIAL, generation=0, slot=0, fitness=0.25
)
counts = st.tuples(st.integers(0, 3), st.integers(0, 5))
seeds = st.integers(0, 10**6)


def keeper(budget: tuple[int, int], *, racing: bool = False) -> RandomKeeper:
    plan = RolloutPlan(split="search", seeds=(11, 12, 13), evaluator=Program("E*"), racing=racing)
    return RandomKeeper(initial=P0, plan=plan, generations=budget[0], candidates=budget[1])


def run(budget: tuple[int, int], seed: int, arrival: int, *, racing: bool = False, **world: float) -> list[Fact]:
    subject = keeper(budget, racing=racing)
    log, last = play(subject, World(seed, **world), random.Random(arrival).randrange)
    assert not last.orders
    assert subject.finished(last.state)
    return log


def of(log: list[Fact], kind: type) -> list:
    return [fact for fact in log if isinstance(fact, kind)]


@settings(max_examples=60, deadline=None)
@given(counts, seeds, seeds)
def test_the_elite_is_the_best_so_far(budget: tuple[int, int], seed: int, arrival: int) -> None:
    log = run(budget, seed, arrival, failure_rate=0.4)
    elites = of(log, EliteChanged)
    assert [elite.generation for elite in elites] == list(range(budget[0] + 1))
    sound = [fact.candidate for fact in of(log, CandidateScored) if fact.candidate.fault is None]
    for elite in elites:
        so_far = [candidate.fitness for candidate in sound if candidate.generation <= elite.generation]
        assert elite.fitness == max([P0.fitness, *so_far])
    assert all(later.candidate != earlier.candidate or not later.changed for earlier, later in pairwise(elites))
    (ended,) = of(log, SearchEnded)
    assert (ended.elite, ended.fitness) == (elites[-1].candidate, elites[-1].fitness)


def test_racing_saves_episodes() -> None:
    plain, raced = (run((3, 5), 5, 1, racing=racing, failure_rate=0.0) for racing in (False, True))
    assert len(of(raced, EpisodeEnded)) < len(of(plain, EpisodeEnded)) == 45


def test_all_programs_are_requested_at_once_and_never_as_the_first_attempt() -> None:
    orders = keeper((2, 3)).start().orders
    assert all(isinstance(order, Propose) and order.operator is Operator.INITIAL for order in orders)
    assert [order.slot for order in orders] == [1, 2, 3, 4, 5, 6]
    assert not any(order.parents or order.rejections for order in orders)


def test_its_budget_is_that_of_all_branches_together() -> None:
    plan = RolloutPlan(split="search", seeds=(1,), evaluator=Program("E*"))
    slots = GenerationBudget(generations=2, hill_climb=3, macro=2, crossover=1)
    assert len(KEEPERS["random"](P0, plan, slots).start().orders) == 12
