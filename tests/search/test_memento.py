"""The memetic search: ties, failures, racing. What holds for any replies: test_memento_machine and test_savings."""

from dataclasses import replace

import pytest
from memento.core.events import (
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    Fact,
    ProposalFailed,
    ProposalMade,
)
from memento.core.faults import Fault, FaultKind
from memento.core.values import CandidateState, Operator, Program
from memento.search.branch import best_of
from memento.search.elite_keeper import EliteKeeper
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import RolloutPlan

from ..support.keeper_world import World, play

pytestmark = pytest.mark.quick

PLAN = RolloutPlan(split="search", seeds=(11, 12), evaluator=Program("E*"))


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


def of(log: list[Fact], kind: type) -> list:
    return [fact for fact in log if isinstance(fact, kind)]


def test_racing_withdraws_what_cannot_win() -> None:
    log, _ = play(keeper(GenerationBudget(generations=2, hill_climb=3, macro=3, crossover=2)), World(1), lambda n: 0)
    cut = [fact.candidate for fact in of(log, CandidateScored) if fact.candidate.bound is not None]
    assert cut
    ran = {fact.order for fact in of(log, EpisodeEnded)}
    assert any(f"{candidate.id}/e1" not in ran for candidate in cut), "episodes were saved"
    elites = {fact.candidate for fact in of(log, EliteChanged)}
    assert not elites & {candidate.id for candidate in cut}


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


class Echo(World):
    """A model that sends its parent back, with another comment each time."""

    def answer(self, order):
        fact = super().answer(order)
        return replace(fact, program=Program(f"p0  # {order.id}")) if isinstance(fact, ProposalMade) else fact


def test_a_program_that_is_sent_back_is_no_new_elite_and_no_climb() -> None:
    log, _ = play(keeper(GenerationBudget(generations=2, hill_climb=2, macro=1, crossover=1)),
                  Echo(0, failure_rate=0.0), lambda n: 0)
    assert not any(elite.changed for elite in of(log, EliteChanged)[1:])
    assert not of(log, CandidateAccepted)
    assert {each.rejection.reason for each in of(log, CandidateRejected)} == {"it is the program that it was to change"}


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
