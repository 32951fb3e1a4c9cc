"""A budget of episodes and the confirmation of elites: never exceeded, the same in any order of arrival, resumable."""

import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.errors import SearchError
from memento.core.events import (
    BranchEnded,
    CandidateScored,
    EliteChanged,
    EliteChosen,
    EliteConfirmed,
    EpisodeEnded,
    Examine,
    Fact,
    FinalMeasured,
    Order,
    Roll,
    SaturationChecked,
    SearchEnded,
)
from memento.core.order_ids import FINAL, FRESH, parse
from memento.core.seeds import derive_seed
from memento.core.values import Episode, Examination, Program, Score
from memento.search.dealing import dealt
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import FreshPlan, RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..support.keeper_world import Repeating, World, play

SEEDS, FINAL_SEEDS = (11, 12, 13), (21, 22)
CONFIRMING = sorted({*KEEPERS} - {"zero-shot"})
methods = st.sampled_from(sorted(KEEPERS))
numbers = st.integers(0, 10**6)


fresh_plans = st.builds(
    FreshPlan, seed=st.just(7), confirm=st.sampled_from((0, 1, 2, 7)), choice=st.sampled_from((0, 8, 24)),
    starts=st.sampled_from((0, 3, 20)), first=st.just(3),
)


def fitting(method: str, fresh: FreshPlan) -> FreshPlan:
    """Without what the settings refuse for a method."""
    return FreshPlan() if method == "zero-shot" else fresh


class Sound(Repeating):
    """Few equal programs, and a given evaluator that is valid."""

    def __init__(self, seed: int, *, programs: int = 30, **world: float) -> None:
        super().__init__(seed, programs=programs, **world)

    def answer(self, order: Order) -> Fact:
        fresh = isinstance(order, Roll) and parse(order.id).stage in FRESH
        return super().answer(replace(order, index=order.seed) if fresh else order)  # its fitness is drawn again

    def _examination(self, order: Examine, draw: random.Random) -> Examination:
        return Examination(scores=tuple(Score(fitness=draw.randrange(4) / 4) for _ in order.episodes))


def run_plan(method: str, budget: int | None, confirm: int = 0, *, duplicates: bool = True, **fresh: Any) -> RunPlan:
    slots = GenerationBudget(generations=4, hill_climb=3, macro=2, crossover=1)
    return RunPlan(
        method=KEEPERS[method], slots=slots, final_seeds=FINAL_SEEDS, initial=Program("program = 0"),
        search=RolloutPlan(
            split="search", seeds=SEEDS, evaluator=Program("E*"), racing=budget is None, duplicates=duplicates,
            episodes=budget,
            fresh=FreshPlan(seed=7, confirm=0 if method == "zero-shot" else confirm, **{"first": 3, **fresh}),
        ),
    )


def with_fresh(plan: RunPlan, fresh: FreshPlan) -> RunPlan:
    return replace(plan, search=replace(plan.search, fresh=fresh))


def searched(log: list[Fact]) -> list[EpisodeEnded]:
    """The episodes that count."""
    return [fact for fact in log if isinstance(fact, EpisodeEnded) and parse(fact.order or "").stage != FINAL]


def conclusions(log: list[Fact]) -> list[Fact]:
    kinds = BranchEnded | EliteChanged | EliteConfirmed | EliteChosen | SaturationChecked | SearchEnded | FinalMeasured
    return sorted((fact for fact in log if isinstance(fact, kinds)), key=repr)  # branches end in any order


@settings(max_examples=40, deadline=None)
@given(methods, st.integers(6, 90), fresh_plans, numbers, numbers, numbers, st.booleans())
def test_a_budget_is_never_exceeded_and_no_order_of_arrival_changes_the_run(
    method: str, budget: int, fresh: FreshPlan, world: int, one: int, other: int, duplicates: bool
) -> None:
    least = 2 * len(SEEDS) + 2 * fresh.confirm + fresh.choice
    plan = with_fresh(run_plan(method, max(budget, least), duplicates=duplicates), fitting(method, fresh))
    logs = []
    for arrival in (one, other):
        keeper = Sequencer(plan)
        log, last = play(keeper, Sound(world), random.Random(arrival).randrange)
        assert keeper.finished(last.state), "the final measure is reached"
        assert not last.orders
        assert len(searched(log)) <= plan.search.episodes
        logs.append(log)
    assert len(searched(logs[0])) == len(searched(logs[1]))
    assert conclusions(logs[0]) == conclusions(logs[1])


@pytest.mark.parametrize("method", sorted(KEEPERS.keys() - {"cma-es"}))     # which ends after one candidate
def test_a_budget_is_used_up_to_less_than_one_candidate_and_confirmation(method: str) -> None:
    plan = run_plan(method, 18, 1)
    log, _ = play(Sequencer(plan), Sound(3, programs=10**6, failure_rate=0.0), random.Random(0).randrange)
    assert 18 - len(SEEDS) - 2 < len(searched(log)) <= 18


@pytest.mark.parametrize("method", sorted(KEEPERS))
def test_without_a_budget_or_with_an_ample_one_the_run_is_the_same(method: str) -> None:
    free, _ = play(Sequencer(run_plan(method, None)), Sound(4, programs=9), random.Random(1).randrange)
    ample, _ = play(Sequencer(run_plan(method, 10_000)), Sound(4, programs=9), random.Random(1).randrange)
    # Racing may prune the best of a branch if the elite is better.
    winners, same = (
        [fact for fact in conclusions(log) if not isinstance(fact, BranchEnded)] for log in (free, ample)
    )
    assert winners == same


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(CONFIRMING), st.integers(1, 3), numbers, numbers)
def test_fresh_episodes_decide_on_every_new_elite(method: str, confirm: int, world: int, arrival: int) -> None:
    plan = run_plan(method, None, confirm)
    log, _ = play(Sequencer(plan), Sound(world), random.Random(arrival).randrange)
    verdicts = {fact.generation: fact for fact in log if isinstance(fact, EliteConfirmed)}
    elites = [fact for fact in log if isinstance(fact, EliteChanged)]
    for before, after in pairwise(elites):
        verdict = verdicts.pop(after.generation, None)
        assert (verdict is not None and verdict.confirmed) == after.changed
        if verdict is not None:
            assert verdict.elite == before.candidate
            assert after.candidate == (verdict.candidate if verdict.confirmed else before.candidate)
            assert verdict.episodes == confirm
            if verdict.confirmed:
                assert verdict.candidate_fitness >= verdict.elite_fitness
    assert not verdicts
    (ended,) = (fact for fact in log if isinstance(fact, SearchEnded))
    assert ended.elite == elites[-1].candidate


def test_confirmations_use_seeds_of_their_own_that_both_programs_share() -> None:
    log, _ = play(Sequencer(run_plan("memento", None, 2)), Sound(5), random.Random(2).randrange)
    seeds: dict[str, list[int]] = {}
    for fact in log:
        if isinstance(fact, EpisodeEnded) and (fact.order or "").startswith("confirm/"):
            seeds.setdefault((fact.order or "").rpartition("/")[0], []).append(fact.episode.seed)
    assert seeds
    for used in seeds.values():
        assert {*used} <= {derive_seed(7, "fresh", index) for index in range(2)}
        assert not {*used} & {*SEEDS, *FINAL_SEEDS}


def test_a_refuted_candidate_is_no_parent_and_its_program_may_come_again() -> None:
    logs = [
        play(Sequencer(run_plan("eureka-elite", None, 1)), Sound(seed), random.Random(0).randrange)[0]
        for seed in range(6)
    ]
    refuted = [
        (log, fact) for log in logs for fact in log
        if isinstance(fact, EliteConfirmed) and not fact.confirmed and fact.generation < 4
    ]
    assert refuted
    for log, fact in refuted:
        later = [
            each.candidate for each in log
            if isinstance(each, CandidateScored) and each.candidate.generation == fact.generation + 1
        ]
        assert all(candidate.parents == (fact.elite,) for candidate in later)


def test_attempts_at_a_first_policy_count() -> None:
    plan = RunPlan(
        method=KEEPERS["memento"], slots=GenerationBudget(generations=1, hill_climb=1, macro=0, crossover=0),
        search=RolloutPlan(split="search", seeds=SEEDS, evaluator=Program("E*"), racing=True, episodes=5),
        final_seeds=(),
    )

    class Dead(World):
        def _episode(self, order: Roll, draw: random.Random) -> Episode:
            return Episode(index=order.index, seed=order.seed, steps=0, ended_by="illegal", success=False)

    with pytest.raises(SearchError, match="within the budget of 5 episodes: 3 were rolled out"):
        play(Sequencer(plan), Dead(0, failure_rate=0.0), random.Random(0).randrange)


@given(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)), st.integers(0, 20))
def test_slots_are_dealt_in_turn(slots: tuple[int, int, int], total: int) -> None:
    given_out = dealt(slots, total)
    assert sum(given_out) == min(total, sum(slots))
    assert all(0 <= got <= room for got, room in zip(given_out, slots, strict=True))
    wanting = [got for got, room in zip(given_out, slots, strict=True) if got < room]
    assert not wanting or max(given_out) - min(wanting) <= 1
