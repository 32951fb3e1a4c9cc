"""What a search will probably order next: only what it may order, nothing twice, and mostly what it then orders."""

import random
from collections.abc import Iterator
from operator import is_
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import Fact, Order, Roll
from memento.core.keeper import Decision, Keeper
from memento.core.order_ids import FRESH, parse
from memento.core.values import Program
from memento.search.ahead import MOST, basis, likely_rolls
from memento.search.conversing import Talks
from memento.search.islands import IslandSettings
from memento.search.keepers import KEEPERS
from memento.search.meetings.challenge import Challenge
from memento.search.memento import PAPER
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import FreshPlan, RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..support.keeper_world import Perfect, Skilled, play

GENERATIONS = 3
Key = tuple[str, str, int, int]


def key(roll: Roll) -> Key:
    return roll.program.text, roll.split, roll.index, roll.seed


def rolls(orders: tuple[Order, ...]) -> list[Roll]:
    return [order for order in orders if isinstance(order, Roll)]


class Watched:
    """A keeper that notes what was expected before each decision, beside the rollouts that the decision orders."""

    def __init__(self, keeper: Keeper[Any], *, apart: bool) -> None:
        self.keeper = keeper
        self.apart = apart      # islands order the same episode of the same program each for itself
        self.ordered: set[Key] = set()
        self.turns: list[tuple[set[Key], list[Roll]]] = []
        self.basis: tuple[Any, ...] = ()
        self.before: tuple[Roll, ...] = ()
        self.later_looks: list[tuple[set[Key], list[Roll]]] = []
        self.start, self.finished = keeper.start, keeper.finished

    def decide(self, state: Any, fact: Fact) -> Decision[Any]:
        before, found = likely_rolls(state, GENERATIONS), basis(state)
        if len(found) == len(self.basis) and all(map(is_, found, self.basis)):
            assert before == self.before, "the basis says when to ask again"
        self.basis, self.before = found, before
        keys = {key(roll) for roll in before}
        assert len(keys) == len(before) <= MOST
        assert self.apart or not keys & self.ordered, "what was ordered is no longer expected"
        decision = self.keeper.decide(state, fact)
        new = rolls(decision.orders)
        self.ordered |= {key(roll) for roll in new}
        self.turns.append((keys, new))
        meetings = [getattr(each.inner, "meeting", None) for each in (state, decision.state)]
        match meetings:
            case [Challenge(candidate=one, look=look), Challenge(candidate=other, look=later)] if one == other:
                if later > look:
                    self.later_looks.append((keys, new))
        return decision

    def fresh(self) -> Iterator[tuple[set[Key], list[Roll]]]:
        """The decisions that order fresh episodes."""
        for keys, new in self.turns:
            met = [roll for roll in new if parse(roll.id).stage in FRESH]
            if met:
                yield keys, met


def watched(fresh: FreshPlan, world: Skilled, *, method: str = "memento", islands: int = 1) -> Watched:
    """A whole search."""
    keeper = Watched(Sequencer(RunPlan(
        method=KEEPERS[method], choices=PAPER.but(IslandSettings(islands=islands)),
        slots=GenerationBudget(generations=GENERATIONS, hill_climb=2, macro=2, crossover=2),
        search=RolloutPlan(
            split="search", seeds=(11, 12, 13), evaluator=Program("E*"), fresh=fresh, duplicates=True,
        ),
        final_seeds=(), initial=Program("program = 0"),
    )), apart=islands > 1)
    play(keeper, world, random.Random(1).randrange)
    return keeper


FULL = FreshPlan(seed=7, confirm=12, choice=24, first=3)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(("memento", "eureka", "revolve", "random", "hill-only")))
def test_nothing_is_expected_that_was_ordered_and_later_looks_always_are(world: int, method: str) -> None:
    """`Watched` checks the first. The pairs of a later look depend on nothing that is still unknown."""
    run = watched(FULL, Skilled(world, programs=40), method=method)
    for keys, met in run.later_looks:
        assert {key(roll) for roll in met} <= keys


SLOW = pytest.mark.slow


@pytest.mark.parametrize(("method", "islands", "least"), [
    ("memento", 1, 0.6), pytest.param("memento", 2, 0.4, marks=SLOW), pytest.param("random", 1, 0.4, marks=SLOW),
    pytest.param("eureka-elite", 1, 0.5, marks=SLOW),
])
def test_most_fresh_episodes_are_expected_at_some_time_before_they_are_ordered(
    method: str, islands: int, least: float
) -> None:
    found, known = 0, 0
    for world in range(8):
        run, seen = watched(FULL, Skilled(world, programs=40), method=method, islands=islands), set[Key]()
        for keys, new in run.turns:
            seen |= keys
            met = [roll for roll in new if parse(roll.id).stage in FRESH]
            found, known = found + len(met), known + sum(key(roll) in seen for roll in met)
    assert found > 50
    assert known / found >= least, known / found


def test_further_starts_of_a_perfect_elite_are_expected() -> None:
    run = watched(FreshPlan(seed=7, starts=20, first=3), Perfect(1, fails_on=set()))
    (_, first), *later = run.fresh()
    assert [len(first), *(len(met) for _, met in later)] == [8, 8, 4]
    assert all({key(roll) for roll in met} <= keys for keys, met in later)


def test_nothing_is_expected_without_fresh_episodes_or_before_the_search() -> None:
    assert not any(keys for keys, _ in watched(FreshPlan(seed=7), Skilled(2)).turns)
    keeper = Sequencer(RunPlan(
        method=KEEPERS["memento"], slots=GenerationBudget(generations=1, hill_climb=1, macro=0, crossover=0),
        search=RolloutPlan(split="search", seeds=(1,), evaluator=Program("E*"), fresh=FULL), final_seeds=(),
    ))
    assert likely_rolls(keeper.start().state, 1) == ()


def test_the_keepers_around_a_search_are_looked_through() -> None:
    keeper = Sequencer(RunPlan(
        method=KEEPERS["memento"], slots=GenerationBudget(generations=1, hill_climb=1, macro=0, crossover=0),
        search=RolloutPlan(split="search", seeds=(1,), evaluator=Program("E*"), fresh=FULL), final_seeds=(),
        initial=Program("program = 0"),
    ))
    world, state, orders = Skilled(3), keeper.start().state, list(keeper.start().orders)
    while not likely_rolls(state, 1):
        decision = keeper.decide(state, world.answer(orders.pop()))
        state, orders = decision.state, [*orders, *decision.orders]
    found = likely_rolls(state, 1)
    assert [roll.index for roll in found[:6]] == [3, 4, 5, 6, 7, 8]
    assert {roll.program.text for roll in found} == {"program = 0"}
    assert likely_rolls(Talks(inner=state), 1) == found
