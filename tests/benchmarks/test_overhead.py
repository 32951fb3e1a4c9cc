"""What a candidate costs the controller, as ratios of CPU times in one process: to a plain loop, and late to early."""

import time
from collections import deque
from typing import Any

import pytest
from memento.core.events import CandidateScored, Withdraw
from memento.core.values import Program
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..support.keeper_world import World
from .overhead import measure

# A single one was 1.6 to 1.8 on busy cores; one millisecond more for each candidate adds 0.15 to 0.2.
MOST = 2.0


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_controller_costs_little_more_than_a_plain_loop() -> None:
    measured: list[Any] = [measure(in_flight=(16,), latency_s=0.1, rounds=8)["calls_in_flight"] for _ in range(3)]
    assert 0.5 < min(each["16"]["cpu_over_plain_loop"] for each in measured) < MOST, measured


@pytest.mark.slow
def test_a_candidate_costs_the_keeper_as_much_late_in_a_search_as_early() -> None:
    keeper, world = Sequencer(RunPlan(
        method=KEEPERS["memento"],
        slots=GenerationBudget(generations=40, hill_climb=40, macro=40, crossover=20),
        search=RolloutPlan(split="search", seeds=(1, 2), evaluator=Program("E"), racing=True, duplicates=True),
        final_seeds=(9,),
    )), World(4)
    decision = keeper.start()
    waiting = deque(decision.orders)
    state, spent, costs = decision.state, 0.0, []       # CPU time up to each candidate
    while not keeper.finished(state):
        answer = world.answer(waiting.popleft())
        begun = time.process_time()
        decision = keeper.decide(state, answer)
        spent += time.process_time() - begun
        state = decision.state
        withdrawn = {order.target for order in decision.orders if isinstance(order, Withdraw)}
        waiting = deque(order for order in waiting if order.id not in withdrawn) if withdrawn else waiting
        waiting += [order for order in decision.orders if not isinstance(order, Withdraw)]
        costs += [spent for fact in decision.facts if isinstance(fact, CandidateScored)]
    quarter = len(costs) // 4
    early, late = costs[2 * quarter] - costs[quarter], costs[-1] - costs[-1 - quarter]    # after the caches have filled
    assert len(costs) == 4000 and late < 2 * early, (early, late)
