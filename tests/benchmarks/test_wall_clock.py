"""The virtual clock of the benchmark: a search takes what its replies take one after another, and decides the same."""

import asyncio
import math
from typing import Any

import pytest
from memento.core.events import Examine, Fact, Order, Propose, Roll, ScoreEpisode
from memento.core.values import Program
from memento.runtime.lanes import Lane
from memento.search.branches.wide import WidthSettings
from memento.search.keepers import KEEPERS
from memento.search.memento import PAPER
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..support.keeper_world import Repeating
from .wall_clock import Curve, Done, VirtualRun, table

pytestmark = pytest.mark.quick


class Scripted:
    """An agent of a scripted world, where no time passes."""

    def __init__(self, world: Repeating) -> None:
        self._world = world

    async def carry_out(self, order: Order) -> Fact:
        return self._world.answer(order)


def searched(in_flight: int, *, width: int = 1) -> Curve:
    agent = Scripted(Repeating(3, failure_rate=0.0))
    lanes = [
        Lane(name="proposals", limit=in_flight, agents={Propose: agent}),
        Lane(name="rollouts", limit=4, agents={Roll: agent, ScoreEpisode: agent, Examine: agent}),
    ]
    plan = RunPlan(
        method=KEEPERS["memento"], slots=GenerationBudget(generations=2, hill_climb=6, macro=4, crossover=2),
        search=RolloutPlan(split="search", seeds=(1, 2), evaluator=Program("E")), final_seeds=(),
        initial=Program("program = 0\n"), choices=PAPER.but(WidthSettings(climb_width=width)),
    )
    return asyncio.run(VirtualRun("scripted", lanes, Done(), seed=1, median_s=30.0).search(Sequencer(plan)))


def test_more_calls_at_once_and_a_wider_climb_save_time_and_the_number_of_calls_changes_no_result() -> None:
    narrow, many, wide = searched(1), searched(16), searched(16, width=3)
    assert len(narrow.points) == len(many.points) == len(wide.points) == 24
    assert narrow.final == many.final
    assert narrow.calls == many.calls == wide.calls == 24
    assert wide.points[-1][0] < many.points[-1][0] < narrow.points[-1][0]


def test_a_curve_says_when_a_fitness_was_reached_and_how_much_lies_under_it() -> None:
    curve = Curve(0.2, ((10.0, 0.2), (20.0, 0.6), (40.0, 1.0)))
    assert (curve.when(0.1), curve.when(0.5), curve.when(1.1)) == (0.0, 20.0, math.inf)
    assert curve.tried(0.5) == 2
    assert curve.area(40.0) == pytest.approx((20 * 0.2 + 20 * 0.6) / 40)
    assert curve.area(30.0) == pytest.approx((20 * 0.2 + 10 * 0.6) / 30)
    found: Any = table([{("memento", 4, 2.0): curve}], 0.6)
    assert found["searches"]["memento, 4 in flight, 2 s"]["target_s"] == 20.0
