"""Eureka, REvolve and zero-shot against their published algorithms, on scripted scores."""

import random
from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import (
    BranchEnded,
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    EpisodeScored,
    Fact,
    PopulationChanged,
    ProposalFailed,
    ProposalMade,
    Propose,
    ScoreEpisode,
    SearchEnded,
)
from memento.core.values import CandidateState, Operator, Program, Score
from memento.search.keepers import KEEPERS, climbing, without_crossover
from memento.search.options import GenerationBudget, SearchOptions
from memento.search.revolve import CAPACITY, ISLANDS
from memento.search.rollout_plan import RolloutPlan

from ..support.keeper_world import World, play

pytestmark = pytest.mark.quick

seeds = st.integers(0, 10**6)
P0 = CandidateState(
    id="init/0", program=Program("p0"), operator=Operator.INITIAL, generation=0, slot=0, fitness=0.25
)
ROUNDS = ("eureka", "eureka-elite", "revolve", "zero-shot")


def keeper(method: str, slots: GenerationBudget, *, seed: int = 0, racing: bool = False):
    plan = RolloutPlan(split="search", seeds=(11, 12), evaluator=Program("E*"), racing=racing)
    return KEEPERS[method](P0, plan, slots, SearchOptions(seed=seed))


def budget(generations: int, candidates: int) -> GenerationBudget:
    return GenerationBudget(generations=generations, hill_climb=0, macro=candidates, crossover=0)


class Watched(World):
    """A world that records the agent of each proposal and can give scripted scores."""

    def __init__(self, seed: int = 0, *, scores: Mapping[str, float] | None = None, failing: str = "", **world) -> None:
        super().__init__(seed, **world)
        self.asked: dict[str, Propose] = {}
        self.scores = scores
        self.failing = failing.split()

    def answer(self, order):
        if isinstance(order, Propose):
            self.asked[order.id] = order
        fact = super().answer(order)
        if order.id in self.failing:
            world = World(0, failure_rate=1.0)
            return world.answer(order)
        if self.scores is not None and isinstance(order, ScoreEpisode):
            return EpisodeScored(order=order.id, score=Score(fitness=self.scores.get(order.id.rsplit("/", 2)[0], 0.0)))
        return fact


def run(
    method: str, slots: GenerationBudget, world: World, *, arrival: int = 0, seed: int = 0, racing: bool = False
) -> list[Fact]:
    subject = keeper(method, slots, seed=seed, racing=racing)
    log, last = play(subject, world, random.Random(arrival).randrange)
    assert subject.finished(last.state)
    assert not last.orders
    return log


def of(log: list[Fact], kind: type) -> list:
    return [fact for fact in log if isinstance(fact, kind)]


def parents(world: Watched, generation: int) -> set[tuple[str, ...]]:
    asked = [order for key, order in world.asked.items() if key.startswith(f"g{generation}/")]
    return {tuple(parent.id for parent in order.parents) for order in asked}


# ------------------------------------------------------------------------------------------------ budgets


proposing = st.sampled_from(sorted(KEEPERS.keys() - {"cma-es", "calibrate"}))  # which all spend B slots a generation


@settings(max_examples=40, deadline=None)
@given(proposing, st.integers(1, 4), st.tuples(*[st.integers(0, 4)] * 3), seeds, seeds)
def test_every_method_asks_for_exactly_its_budget_and_failed_replies_count(
    method: str, generations: int, shares: tuple[int, int, int], seed: int, arrival: int
) -> None:
    slots = GenerationBudget(generations=generations, hill_climb=shares[0], macro=shares[1], crossover=shares[2])
    log = run(method, slots, World(seed, failure_rate=0.4), arrival=arrival)
    asked = Counter(fact.order.split("/")[0] for fact in log if isinstance(fact, ProposalMade | ProposalFailed))
    rounds = 1 if method == "zero-shot" else generations
    assert asked == Counter({f"g{number}": sum(shares) for number in range(1, rounds + 1)})
    spent = Counter(fact.candidate.id for fact in of(log, CandidateScored))
    assert set(spent.values()) <= {1}
    assert spent.total() == rounds * sum(shares)
    assert [fact.generation for fact in of(log, EliteChanged)] == list(range(rounds + 1))


def test_the_ablations_share_out_the_same_budget() -> None:
    paper = GenerationBudget(generations=5, hill_climb=10, macro=10, crossover=4)
    assert climbing(paper) == GenerationBudget(generations=5, hill_climb=24, macro=0, crossover=0)
    assert without_crossover(paper) == GenerationBudget(generations=5, hill_climb=12, macro=12, crossover=0)
    odd = GenerationBudget(generations=1, hill_climb=0, macro=7, crossover=0)
    assert (without_crossover(odd).hill_climb, without_crossover(odd).macro) == (4, 3)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ROUNDS), st.integers(1, 3), st.integers(1, 6), seeds, seeds, seeds)
def test_arrival_never_changes_requests_or_selection(
    method: str, generations: int, candidates: int, seed: int, one: int, other: int
) -> None:
    def decisions(arrival: int) -> tuple[object, ...]:
        world = Watched(seed)
        log = run(method, budget(generations, candidates), world, arrival=arrival, seed=seed)
        kinds = (BranchEnded, EliteChanged, PopulationChanged, SearchEnded)
        return [fact for fact in log if isinstance(fact, kinds)], dict(sorted(world.asked.items()))

    assert decisions(one) == decisions(other)


@pytest.mark.parametrize("method", ROUNDS)
def test_where_every_proposal_fails_p0_stays(method: str) -> None:
    log = run(method, budget(2, 3), World(1, failure_rate=1.0))
    assert {fact.candidate for fact in of(log, EliteChanged)} == {"init/0"}
    assert of(log, SearchEnded)[0].program == Program("p0")
    assert not of(log, EpisodeEnded)


# ------------------------------------------------------------------------------------------------- Eureka

SCORES = {
    "g1/macro/0": 0.5, "g1/macro/1": 0.8, "g1/macro/2": 0.8,
    "g2/macro/0": 0.6, "g2/macro/1": 0.1, "g2/macro/2": 0.4,
    "g3/macro/0": 0.7, "g3/macro/1": 0.8, "g3/macro/2": 0.0,
}


def test_eureka_continues_from_the_best_of_the_last_generation() -> None:
    world = Watched(scores=SCORES, failure_rate=0.0)
    log = run("eureka", budget(3, 3), world)
    assert [parents(world, generation) for generation in (1, 2, 3)] == [
        {("init/0",)}, {("g1/macro/1",)}, {("g2/macro/0",)}
    ], "the lowest slot wins a tie, and the second generation is worse than the first"
    assert [fact.winner for fact in of(log, BranchEnded)] == ["g1/macro/1", "g2/macro/0", "g3/macro/1"]
    elites = [(fact.candidate, fact.changed) for fact in of(log, EliteChanged)]
    assert elites == [("init/0", True), ("g1/macro/1", True), ("g1/macro/1", False), ("g3/macro/1", True)]
    assert of(log, SearchEnded)[0].elite == "g3/macro/1", "the newer of two that are equal"


def test_eureka_elite_continues_from_the_best_so_far() -> None:
    world = Watched(scores=SCORES, failure_rate=0.0)
    log = run("eureka-elite", budget(3, 3), world)
    assert [parents(world, generation) for generation in (1, 2, 3)] == [
        {("init/0",)}, {("g1/macro/1",)}, {("g1/macro/1",)}
    ]
    assert [fact.candidate for fact in of(log, EliteChanged)] == ["init/0", "g1/macro/1", "g1/macro/1", "g3/macro/1"]


def test_a_generation_of_eureka_that_failed_as_a_whole_is_repeated_from_the_same_program() -> None:
    failing = "g2/macro/0 g2/macro/1 g2/macro/2"
    world = Watched(scores=SCORES, failure_rate=0.0, failing=failing)
    log = run("eureka", budget(3, 3), world)
    assert parents(world, 2) == parents(world, 3) == {("g1/macro/1",)}
    assert [fact.winner for fact in of(log, BranchEnded)] == ["g1/macro/1", None, "g3/macro/1"]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["eureka", "eureka-elite"]), st.integers(0, 3), st.integers(1, 5), seeds, seeds)
def test_eureka_is_the_written_algorithm(
    method: str, generations: int, candidates: int, seed: int, arrival: int
) -> None:
    world = Watched(seed)
    log = run(method, budget(generations, candidates), world, arrival=arrival, racing=bool(seed % 2))
    plain = run(method, budget(generations, candidates), Watched(seed), arrival=0)
    scored = {fact.candidate.id: fact.candidate for fact in of(plain, CandidateScored)}
    parent, best = "init/0", ("init/0", P0.fitness)
    elites = of(log, EliteChanged)
    for generation in range(1, generations + 1):
        assert parents(world, generation) == {(parent,)}
        sound = [scored[f"g{generation}/macro/{slot}"] for slot in range(candidates)]
        sound = [one for one in sound if one.fault is None]
        top = max(sound, key=lambda one: (one.fitness, -one.slot), default=None)
        if top is not None and top.fitness >= best[1]:
            best = (top.id, top.fitness)
        if top is not None:
            parent = top.id if method == "eureka" else best[0]
        assert (elites[generation].candidate, elites[generation].fitness) == best


# ---------------------------------------------------------------------------------------------- zero-shot


def test_zero_shot_is_one_round_of_independent_programs_of_which_the_best_is_taken() -> None:
    scores = {"g1/initial/0": 0.1, "g1/initial/1": 0.2, "g1/initial/2": 0.2}
    world = Watched(scores=scores, failure_rate=0.0)
    log = run("zero-shot", budget(5, 3), world)
    assert list(world.asked) == ["g1/initial/0", "g1/initial/1", "g1/initial/2"] or len(world.asked) == 3
    assert all(order.operator is Operator.INITIAL and not order.parents for order in world.asked.values())
    assert sorted(order.slot for order in world.asked.values()) == [1, 2, 3], "p_0 was attempt 0 at the same prompt"
    elite = of(log, EliteChanged)[-1]
    assert (elite.generation, elite.candidate, elite.fitness) == (1, "g1/initial/1", 0.2), "even if p_0 is fitter"
    assert of(log, SearchEnded)[0].elite == "g1/initial/1"


# ------------------------------------------------------------------------------------------------ REvolve


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.integers(1, 6), st.integers(1, 12), seeds, seeds)
def test_revolves_islands_follow_its_rules(generations: int, candidates: int, seed: int, arrival: int) -> None:
    world = Watched(seed)
    log = run("revolve", budget(generations, candidates), world, arrival=arrival, seed=seed)
    fitness = {"init/0": P0.fitness}
    fitness |= {fact.candidate.id: fact.candidate.fitness for fact in of(log, CandidateScored)}
    failed = {fact.candidate.id for fact in of(log, CandidateScored) if fact.candidate.fault}
    before = (("init/0",),) * ISLANDS
    for change in of(log, PopulationChanged):
        asked = {key: order for key, order in world.asked.items() if key.startswith(f"g{change.generation}/")}
        for key, order in asked.items():
            names = [parent.id for parent in order.parents]
            homes = [island for island in before if set(names) <= set(island)]
            assert homes, "the parents belong to one island at the beginning of the generation"
            assert len(names) == len(set(names)) == (2 if "/cross/" in key else 1)
        for place, island in enumerate(change.islands):
            assert 1 <= len(island) == len(set(island)) <= CAPACITY
            assert not failed & set(island)
            if place in change.reset:
                assert len(island) <= 2
                continue
            mean = sum(fitness[name] for name in before[place]) / len(before[place])
            new = [name for name in island if name not in before[place]]
            assert all(fitness[name] >= mean - 1e-12 for name in new)
            assert all(name in asked for name in new)
            gone = [name for name in before[place] if name not in island]
            assert not gone or len(island) == CAPACITY
            assert all(fitness[out] <= min(fitness[name] for name in island) for out in gone)
        assert len(change.reset) in (0, ISLANDS // 2)
        before = change.islands
    assert [change.generation for change in of(log, PopulationChanged)] == list(range(1, generations + 1))
    top = max([P0.fitness, *(fitness[name] for name in fitness if name not in failed)])
    assert of(log, SearchEnded)[0].fitness == top


def test_the_first_generation_of_revolve_mutates_p0_only() -> None:
    world = Watched(failure_rate=0.0)
    run("revolve", budget(1, 24), world)
    assert all(order.operator is Operator.MACRO for order in world.asked.values())
    assert parents(world, 1) == {("init/0",)}


@pytest.mark.slow
def test_about_three_generations_of_ten_end_with_a_reset_and_half_of_the_proposals_are_crossovers() -> None:
    resets, crossed, asked = 0, 0, 0
    for seed in range(40):
        world = Watched(seed, failure_rate=0.0, levels=50)
        log = run("revolve", budget(10, 8), world, seed=seed)
        resets += sum(bool(change.reset) for change in of(log, PopulationChanged))
        later = [order for key, order in world.asked.items() if not key.startswith("g1/")]
        asked += len(later)
        crossed += sum(order.operator is Operator.CROSSOVER for order in later)
    assert abs(resets / 400 - 0.3) < 0.07
    assert 0.4 < crossed / asked <= 0.53, "an island of one program is mutated"


def test_revolve_depends_on_the_runs_seed_and_on_it_alone() -> None:
    def mated(seed: int) -> list[tuple[str, ...]]:
        world = Watched(1, failure_rate=0.0)
        run("revolve", budget(4, 8), world, seed=seed)
        return [(key, *(parent.id for parent in order.parents)) for key, order in sorted(world.asked.items())]

    assert mated(1) == mated(1)
    assert mated(1) != mated(2)


def test_revolve_cuts_nothing() -> None:
    log = run("revolve", budget(3, 6), World(1, failure_rate=0.0), racing=True)
    assert all(fact.candidate.bound is None for fact in of(log, CandidateScored))
    assert len(of(log, EpisodeEnded)) == 36
