"""The memetic search: invariants for any replies, any failures and any order of arrival."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import (
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    Fact,
    ProposalFailed,
    ProposalMade,
    SearchEnded,
)
from memento.core.faults import Fault, FaultKind
from memento.core.values import CandidateState, Operator, Program
from memento.runtime.supervisor import Replay
from memento.search.branch import best_of
from memento.search.elite_keeper import EliteKeeper
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import RolloutPlan

from ..support.keeper_world import World, play

pytestmark = pytest.mark.quick

PLAN = RolloutPlan(split="search", seeds=(11, 12), evaluator=Program("E*"))

slots_strategy = st.builds(
    GenerationBudget,
    generations=st.integers(0, 3),
    hill_climb=st.integers(0, 4),
    macro=st.integers(0, 4),
    crossover=st.integers(0, 3),
)


def keeper(slots: GenerationBudget, fitness: float = 0.25, *, racing: bool = True) -> EliteKeeper:
    initial = CandidateState(
        id="init/0",
        program=Program("p0"),
        operator=Operator.INITIAL,
        generation=0,
        slot=0,
        fitness=fitness,
    )
    return KEEPERS["memento"](initial, replace(PLAN, racing=racing), slots)


def run(slots: GenerationBudget, seed: int, arrival: int, **world: float) -> list[Fact]:
    pick = random.Random(arrival).randrange
    log, last = play(keeper(slots), World(seed, **world), pick)
    assert not last.orders
    assert keeper(slots).finished(last.state)
    return log


def of(log: list[Fact], kind: type) -> list:
    return [fact for fact in log if isinstance(fact, kind)]


@settings(max_examples=60, deadline=None)
@given(slots_strategy, st.integers(0, 10**6), st.integers(0, 10**6))
def test_every_slot_is_spent_exactly_once(slots: GenerationBudget, seed: int, arrival: int) -> None:
    log = run(slots, seed, arrival)
    spent = Counter(fact.candidate.id for fact in of(log, CandidateScored))
    expected = {
        f"g{generation}/{branch}/{slot}"
        for generation in range(1, slots.generations + 1)
        for branch, count in (("hill", slots.hill_climb), ("macro", slots.macro), ("cross", slots.crossover))
        for slot in range(count)
    }
    assert spent == Counter(expected)
    asked = [fact.order for fact in log if isinstance(fact, ProposalMade | ProposalFailed)]
    assert Counter(asked) == Counter(expected)


@settings(max_examples=60, deadline=None)
@given(slots_strategy, st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_elite_never_gets_worse_and_a_failed_program_is_never_taken(
    slots: GenerationBudget, seed: int, arrival: int
) -> None:
    log = run(slots, seed, arrival, failure_rate=0.5)
    elites = of(log, EliteChanged)
    assert [elite.generation for elite in elites] == list(range(slots.generations + 1))
    fitness = [elite.fitness for elite in elites]
    assert fitness == sorted(fitness)
    failed = {fact.candidate.id for fact in of(log, CandidateScored) if fact.candidate.fault}
    taken = {fact.candidate for fact in of(log, CandidateAccepted)} | {elite.candidate for elite in elites}
    assert not failed & taken
    assert of(log, SearchEnded)[0].elite == elites[-1].candidate


@settings(max_examples=60, deadline=None)
@given(slots_strategy, st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_arrival_order_never_changes_accepts_winners_or_elites(
    slots: GenerationBudget, seed: int, one: int, other: int
) -> None:
    def verdicts(log: list[Fact]) -> list[list[Fact]]:
        accepted = sorted(of(log, CandidateAccepted), key=lambda fact: fact.candidate)
        rejected = sorted(fact.candidate for fact in of(log, CandidateRejected))
        winners = sorted(of(log, BranchEnded), key=lambda fact: (fact.generation, fact.operator))
        return [accepted, rejected, winners, of(log, EliteChanged)]

    assert verdicts(run(slots, seed, one)) == verdicts(run(slots, seed, other))


@settings(max_examples=60, deadline=None)
@given(slots_strategy, st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 40))
def test_racing_never_changes_accepts_winners_or_elites(
    slots: GenerationBudget, seed: int, arrival: int, levels: int
) -> None:
    def verdicts(racing: bool) -> list[Fact]:
        pick = random.Random(arrival).randrange
        log, _ = play(keeper(slots, racing=racing), World(seed, levels=levels), pick)
        return sorted(
            of(log, CandidateAccepted) + of(log, BranchEnded) + of(log, EliteChanged) + of(log, SearchEnded),
            key=repr,
        )

    assert verdicts(racing=True) == verdicts(racing=False)


def test_racing_withdraws_what_cannot_win() -> None:
    log, _ = play(keeper(GenerationBudget(generations=2, hill_climb=3, macro=3, crossover=2)), World(1), lambda n: 0)
    cut = [fact.candidate for fact in of(log, CandidateScored) if fact.candidate.bound is not None]
    assert cut
    ran = {fact.order for fact in of(log, EpisodeEnded)}
    assert any(f"{candidate.id}/e1" not in ran for candidate in cut), "episodes were saved"
    elites = {fact.candidate for fact in of(log, EliteChanged)}
    assert not elites & {candidate.id for candidate in cut}


@settings(max_examples=60, deadline=None)
@given(slots_strategy, st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 200))
def test_replaying_the_log_gives_the_same_state_and_the_same_open_orders(
    slots: GenerationBudget, seed: int, arrival: int, cut: int
) -> None:
    pick = random.Random(arrival).randrange
    log, last = play(keeper(slots), World(seed), pick, steps=cut)
    again = Replay(keeper(slots)).replay(log)
    assert again.state == last.state
    assert {order.id: order for order in again.orders} == {order.id: order for order in last.orders}
    assert again.facts == ()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_rejection_memory_holds_rejected_edits_only_in_order(
    climbs: int, seed: int, arrival: int
) -> None:
    slots = GenerationBudget(generations=2, hill_climb=climbs, macro=1, crossover=1)
    pick = random.Random(arrival).randrange
    world = World(seed)
    shown: dict[str, tuple[str, ...]] = {}
    answer = world.answer

    def watch(order):
        if getattr(order, "operator", None) is Operator.HILL_CLIMB:
            shown[order.id] = tuple(rejection.summary for rejection in order.rejections)
        return answer(order)

    world.answer = watch
    log, _ = play(keeper(slots), world, pick)
    rejected = {fact.candidate: fact.rejection.summary for fact in of(log, CandidateRejected)}
    for generation in (1, 2):
        memory: list[str] = []
        for slot in range(climbs):
            order = f"g{generation}/hill/{slot}"
            assert shown[order] == tuple(memory), "the memory starts empty and grows by rejections only"
            if order in rejected:
                memory.append(rejected[order])


def test_a_duplicate_answer_changes_nothing() -> None:
    subject = keeper(GenerationBudget(generations=1, hill_climb=1, macro=1, crossover=0))
    world = World(3, failure_rate=0.0)
    begun = subject.start()
    fact = world.answer(begun.orders[0])
    once = subject.decide(begun.state, fact)
    twice = subject.decide(once.state, fact)
    assert twice.state == once.state
    assert not twice.orders
    assert not twice.facts


def scored(fitness: float, operator: Operator, slot: int, fault: Fault | None = None) -> CandidateState:
    return CandidateState(
        id=f"g1/{operator}/{slot}",
        program=Program(f"{operator} {slot}"),
        operator=operator,
        generation=1,
        slot=slot,
        fitness=fitness,
        fault=fault,
    )


def test_within_a_branch_the_lowest_slot_wins_a_tie_and_failures_never_win() -> None:
    fault = Fault(kind=FaultKind.CRASHED, message="raised")
    branch = (
        scored(0.9, Operator.MACRO, 0, fault),
        scored(0.5, Operator.MACRO, 1),
        scored(0.5, Operator.MACRO, 2),
    )
    assert best_of(branch) == branch[1]
    assert best_of(branch[:1]) is None


class Levels(World):
    """Every candidate of a branch gets the fitness given for that branch."""

    def __init__(self, levels: dict[str, float]) -> None:
        super().__init__(0, failure_rate=0.0)
        self.by_branch = levels

    def answer(self, order):
        fact = super().answer(order)
        if order.id.endswith("/score"):
            branch = order.id.split("/")[1]
            return type(fact)(order=order.id, score=type(fact.score)(fitness=self.by_branch[branch]))
        return fact


def origin(levels: dict[str, float]) -> tuple[Operator, bool]:
    slots = GenerationBudget(generations=1, hill_climb=1, macro=1, crossover=1)
    log, _ = play(keeper(slots, fitness=0.5), Levels(levels), lambda n: 0)
    elite = of(log, EliteChanged)[-1]
    return elite.origin, elite.changed


def test_ties_at_elite_selection_go_by_origin() -> None:
    assert origin({"hill": 0.5, "macro": 0.5, "cross": 0.5}) == (Operator.CROSSOVER, True)
    assert origin({"hill": 0.5, "macro": 0.5, "cross": 0.4}) == (Operator.MACRO, True)
    assert origin({"hill": 0.5, "macro": 0.4, "cross": 0.4}) == (Operator.HILL_CLIMB, True)
    assert origin({"hill": 0.4, "macro": 0.4, "cross": 0.4}) == (Operator.INITIAL, False)
    assert origin({"hill": 0.6, "macro": 0.5, "cross": 0.5}) == (Operator.HILL_CLIMB, True)


def test_a_faulty_episode_counts_as_zero_and_is_not_scored() -> None:
    slots = GenerationBudget(generations=1, hill_climb=0, macro=1, crossover=0)
    subject = keeper(slots)
    world = World(0, failure_rate=0.0)
    begun = subject.start()
    decision = subject.decide(begun.state, world.answer(begun.orders[0]))
    first, second = decision.orders
    ended = world.answer(first)
    crashed = type(ended.episode)(
        index=0, seed=11, steps=3, ended_by="fault", success=False,
        fault=Fault(kind=FaultKind.CRASHED, message="raised"),
    )
    decision = subject.decide(decision.state, EpisodeEnded(order=first.id, episode=crashed))
    assert not decision.orders
    decision = subject.decide(decision.state, world.answer(second))
    (score,) = decision.orders
    fact = world.answer(score)
    decision = subject.decide(decision.state, fact)
    candidate = of(list(decision.facts), CandidateScored)[0].candidate
    assert candidate.fitness == fact.score.fitness / 2
    assert candidate.fault is None


def test_a_failure_of_the_service_is_not_a_rejected_edit() -> None:
    """The next climb is asked as if the slot had not been: the service said nothing about an edit."""
    began = keeper(GenerationBudget(generations=1, hill_climb=3, macro=0, crossover=0)).start()
    decide = keeper(GenerationBudget(generations=1, hill_climb=3, macro=0, crossover=0)).decide
    down = Fault(kind=FaultKind.MODEL_FAILED, message="the service is down")
    bad = Fault(kind=FaultKind.NOT_PYTHON, message="line 3")
    second = decide(began.state, ProposalFailed(order="g1/hill/0", fault=down, summary="gain up"))
    assert [fact.candidate for fact in second.facts if isinstance(fact, CandidateRejected)] == ["g1/hill/0"]
    assert [order.rejections for order in second.orders] == [()]
    third = decide(second.state, ProposalFailed(order="g1/hill/1", fault=bad, summary="gain down"))
    assert [[entry.summary for entry in order.rejections] for order in third.orders] == [["gain down"]]
