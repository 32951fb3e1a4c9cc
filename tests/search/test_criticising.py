"""Looks of a critic before prompts: once for each recording, in every prompt that shows it; nothing else changes."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import (
    CandidateScored,
    Criticise,
    Criticised,
    EliteChanged,
    Fact,
    Judge,
    Order,
    Propose,
    SpeculationEnded,
)
from memento.core.values import Episode, Program
from memento.search.criticising import Criticising
from memento.search.evaluator_search import EvaluatorBudget
from memento.search.keepers import KEEPERS
from memento.search.looks import worst
from memento.search.memento import PAPER
from memento.search.options import GenerationBudget
from memento.search.parts.speculation import SpeculationSettings
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..support.keeper_world import Sound, play

METHODS = ("memento", "eureka", "revolve", "without-crossover")


def plan_of(method: str, *, racing: bool = True, **more: object) -> RunPlan:
    search = RolloutPlan(split="search", seeds=(1, 2), evaluator=Program("E"), racing=racing)
    return RunPlan(
        method=KEEPERS[method], slots=GenerationBudget(generations=3, hill_climb=3, macro=3, crossover=2),
        search=search, final_seeds=(9,), **more,
    )


class Watched(Sound):
    """It keeps the orders that it answers."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.seen: list[Order] = []

    def answer(self, order: Order) -> Fact:
        self.seen.append(order)
        return super().answer(order)


def picks(seed: int):
    draw = random.Random(seed)
    return lambda count: draw.randrange(count)


def conclusions(log: list[Fact]) -> list[Fact]:
    return sorted((fact for fact in log if isinstance(fact, CandidateScored | EliteChanged)), key=repr)


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 99), arrival=st.integers(0, 99))
@settings(max_examples=12, deadline=None)
def test_each_recording_is_looked_at_once_and_every_prompt_has_its_look(method: str, seed: int, arrival: int) -> None:
    world = Watched(seed)
    log, _ = play(Criticising(Sequencer(plan_of(method))), world, picks(arrival))
    looks = [order for order in world.seen if isinstance(order, Criticise)]
    assert set(Counter(order.episode.trajectory for order in looks).values()) <= {1}
    assert set(Counter(order.id for order in world.seen).values()) == {1}
    facts = {fact.order: fact for fact in log if isinstance(fact, Criticised)}
    for order in world.seen:
        if not isinstance(order, Propose):
            continue
        for parent in order.parents:
            recorded = [
                score.fitness for episode, score in zip(parent.episodes, parent.scores, strict=True)
                if episode.trajectory is not None and episode.steps > 0
            ]
            shown = [each for each in order.critiques if each.candidate == parent.id]
            place = worst(parent.episodes, [score.fitness for score in parent.scores])
            if place is None:
                assert not shown
                continue
            assert parent.scores[place].fitness == min(recorded)
            recording = parent.episodes[place].trajectory
            [fact] = [facts[look.id] for look in looks if look.episode.trajectory == recording]
            assert [(each.words, each.episode) for each in shown] == (
                [(fact.words, parent.episodes[place].index)] if fact.sheet else []
            )


@pytest.mark.parametrize("speculation", [False, True])
@given(seed=st.integers(0, 99), one=st.integers(0, 99), other=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_a_critic_that_nobody_follows_changes_no_decision(
    speculation: bool, seed: int, one: int, other: int
) -> None:
    plan = plan_of("memento", choices=PAPER.but(SpeculationSettings(speculation=speculation)), racing=False)
    plain, _ = play(Sequencer(plan), Sound(seed), picks(one))
    looked, _ = play(Criticising(Sequencer(plan)), Sound(seed), picks(other))
    assert conclusions(looked) == conclusions(plain)
    if speculation:
        assert any(isinstance(fact, SpeculationEnded) for fact in looked)


class Blind(Watched):
    """Its critic refuses the first picture that it gets, and those that are under way."""

    def answer(self, order: Order) -> Fact:
        fact = super().answer(order)
        if isinstance(fact, Criticised):
            return replace(fact, words="", problem="it takes no pictures", call=None, off=True)
        return fact


@pytest.mark.parametrize("pictures", [False, True])
@given(seed=st.integers(0, 99), arrival=st.integers(0, 99))
@settings(max_examples=12, deadline=None)
def test_a_critic_that_takes_no_pictures_is_not_asked_again(pictures: bool, seed: int, arrival: int) -> None:
    plan = plan_of("memento", racing=False)
    plain, _ = play(Sequencer(plan), Sound(seed), picks(0))
    seeing, blind = Watched(seed), Blind(seed)
    play(Criticising(Sequencer(plan)), seeing, picks(arrival))
    log, _ = play(Criticising(Sequencer(plan), pictures=pictures), blind, picks(arrival))
    assert conclusions(log) == conclusions(plain), "the search goes on"
    wanted, looks = (
        sorted(order.id for order in world.seen if isinstance(order, Criticise)) for world in (seeing, blind)
    )
    if pictures:
        assert looks == wanted
    else:
        assert bool(looks) == bool(wanted) and len(looks) <= 2, "the parents of one prompt"


@pytest.mark.parametrize("judges", [False, True])
def test_judges_read_it_only_if_they_shall(judges: bool) -> None:
    plan = plan_of("memento", evaluator_budget=EvaluatorBudget(pool=3, judges=3, generations=2))
    plan = replace(plan, search=replace(plan.search, evaluator=None))
    world = Watched(5)
    play(Criticising(Sequencer(plan), judges=judges), world, lambda count: 0)
    votes = [order for order in world.seen if isinstance(order, Judge)]
    looks = [order for order in world.seen if isinstance(order, Criticise) and order.score is None]
    assert votes and bool(looks) is judges
    assert all(bool(order.critiques) is judges for order in votes)
    assert all(order.id.startswith("init/0/look") for order in looks)


def test_the_worst_episode_is_one_that_was_recorded_and_lost_something() -> None:
    def episode(index: int, *, steps: int = 5, kept: bool = True) -> Episode:
        key = f"e{index}" if kept else None
        return Episode(index=index, seed=index, steps=steps, ended_by="horizon", success=False, trajectory=key)

    four = [episode(0), episode(1, steps=0), episode(2, kept=False), episode(3)]
    assert worst(four, [0.5, 0.0, 0.0, 0.5]) == 0
    assert worst(four, [1.0, 0.0, 0.0, 0.9]) == 3
    assert worst(four, [1.0, 0.0, 0.0, 1.0]) is None
    assert worst([], []) is None
