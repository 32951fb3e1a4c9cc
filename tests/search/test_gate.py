"""The gate: what it stops, that it stops nothing else, and that no order of arrival changes anything."""

import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import (
    CandidateRejected,
    CandidateScored,
    EliteChanged,
    Examine,
    Fact,
    GateDecided,
    Order,
    ProposalMade,
    Propose,
    Roll,
    TryOnTwin,
    TwinTried,
)
from memento.core.faults import Fault, FaultKind, is_stopped
from memento.core.order_ids import owner_of
from memento.core.values import Examination, Operator, Program, Score, Verdict
from memento.memory.gate_report import gate_report
from memento.memory.run_view import view_of_facts
from memento.search.gate import Gated, GateTerms
from memento.search.gate_verdict import clearly_below, why_stopped
from memento.search.keepers import KEEPERS
from memento.search.memento import PAPER
from memento.search.options import GenerationBudget
from memento.search.parts.memory import MemorySettings
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..support.keeper_world import Repeating, Sound, play

METHODS = ("memento", "hill-only", "eureka", "eureka-elite", "revolve")


def plan_of(method: str = "memento", *, duplicates: bool = False, **more: object) -> RunPlan:
    return RunPlan(**{
        "method": KEEPERS[method], "slots": GenerationBudget(generations=3, hill_climb=3, macro=3, crossover=2, tune=1,
                                                  tune_episodes=4),
        "search": RolloutPlan(split="search", seeds=(1, 2), evaluator=Program("E"), duplicates=duplicates),
        "final_seeds": (9,), **more,
    })


def gated(plan: RunPlan, *, audit: float = 0.3, episodes: int = 5) -> Gated:
    return Gated(Sequencer(plan), GateTerms(twin="toy", seeds=tuple(range(episodes)), audit=audit, seed=4))


class Graded(Sound):
    """A world in which most programs are far below their parents on the twin. It keeps its orders."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.seen: list[Order] = []

    def answer(self, order: Order) -> Fact:
        self.seen.append(order)
        if isinstance(order, TryOnTwin):
            draw = random.Random(f"{self.seed}/{order.program.text}")
            worth = 0.9 if "init/" in order.program.text else draw.choice([0.1, 0.2, 0.95])
            fault = Fault(kind=FaultKind.CRASHED, message="raised") if draw.random() < 0.1 else None
            return TwinTried(order=order.id, fitness=0.0 if fault else worth, steps=1, ended_by="end", fault=fault)
        return super().answer(order)


def picks(seed: int) -> Callable[[int], int]:
    draw = random.Random(seed)
    return lambda count: draw.randrange(count)


def conclusions(log: Sequence[Fact]) -> list[str]:
    return sorted(repr(fact) for fact in log if isinstance(fact, CandidateScored | EliteChanged | GateDecided))


def tried(*fitnesses: float | None, fault: bool = False) -> list[TwinTried]:
    failure = Fault(kind=FaultKind.CRASHED, message="ValueError: no cube") if fault else None
    return [TwinTried(fitness=each, steps=1, ended_by="end", fault=failure) for each in fitnesses]


# ------------------------------------------------------------------------------------------- the rule


@pytest.mark.parametrize(("own", "below"), [
    ((0.1, 0.2, 0.1, 0.2, 0.1), True),           # lower in all 5: 1 of 32 signs
    ((0.1, 0.2, 0.1, 0.2, 0.5), False),          # equal in one: 2 of 32
    ((0.1, 0.2, 0.1, 0.2, 0.9), False),
    ((0.499, 0.499, 0.499, 0.499, 0.499), False),   # clear, but next to nothing
    ((0.9, 0.9, 0.9, 0.9, 0.9), False),
    ((0.1, 0.2, 0.1, 0.2, None), False),         # four episodes are too few
    ((None,) * 5, False),
])
def test_only_a_clear_difference_counts(own: tuple[float | None, ...], below: bool) -> None:
    assert clearly_below(tried(*own), tried(*(0.5,) * 5)) is below


@given(pairs=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=5, max_size=8))
@settings(deadline=None)
def test_the_rule_is_never_stricter_than_chance(pairs: list[tuple[int, int]]) -> None:
    """Of all programs that differ in the signs of their differences alone, at most one in twenty is stopped."""
    sizes = [abs(a - b) / 8 for a, b in pairs]
    stopped = 0
    for number in range(2 ** len(sizes)):
        own = [size if number >> place & 1 else 0.0 for place, size in enumerate(sizes)]
        other = [0.0 if number >> place & 1 else size for place, size in enumerate(sizes)]
        stopped += clearly_below(tried(*own), tried(*other))
    assert stopped <= 0.05 * 2 ** len(sizes)


def test_a_fault_stops_where_no_parent_has_one() -> None:
    good, faulty = tried(*(0.5,) * 5), [*tried(*(0.5,) * 4), *tried(0.0, fault=True)]
    said = why_stopped(faulty, [good], "toy")
    assert said == (
        "1 of 5 episodes on toy ended with a fault, where its parent's did not: crashed: ValueError: no cube"
    )
    assert not why_stopped(faulty, [good, faulty], "toy")
    assert not why_stopped(good, [faulty], "toy")
    assert why_stopped(faulty, [], "toy") and not why_stopped(good, [], "toy")


def test_a_crossover_has_to_be_below_both_parents() -> None:
    low, middle, high = (tried(*(each,) * 5) for each in (0.1, 0.2, 0.9))
    assert why_stopped(low, [middle, high], "toy") == (
        "F is 0.100 on toy, where those of its parents are 0.200 and 0.900 (5 common episodes)"
    )
    assert not why_stopped(middle, [low, high], "toy")


# ---------------------------------------------------------------------------------------- the keeper


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 99), one=st.integers(0, 99), other=st.integers(0, 99))
@settings(max_examples=10, deadline=None)
def test_the_order_of_arrival_changes_nothing(method: str, seed: int, one: int, other: int) -> None:
    world = Graded(seed)
    log, _ = play(gated(plan_of(method)), world, picks(one))
    again, _ = play(gated(plan_of(method)), Graded(seed), picks(other))
    assert conclusions(log) == conclusions(again)
    assert set(Counter(order.id for order in world.seen).values()) == {1}
    assert any(isinstance(fact, GateDecided) for fact in log)


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 99), arrival=st.integers(0, 99))
@settings(max_examples=10, deadline=None)
def test_a_gate_whose_stops_are_all_rolled_out_changes_no_result(method: str, seed: int, arrival: int) -> None:
    plain, _ = play(Sequencer(plan_of(method)), Graded(seed), picks(1))
    log, _ = play(gated(plan_of(method), audit=1.0), Graded(seed), picks(arrival))
    assert conclusions(plain) == conclusions([fact for fact in log if not isinstance(fact, GateDecided)])


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 99), arrival=st.integers(0, 99))
@settings(max_examples=10, deadline=None)
def test_what_is_stopped_gets_no_episode_and_spends_its_slot(method: str, seed: int, arrival: int) -> None:
    world = Graded(seed)
    log, _ = play(gated(plan_of(method)), world, picks(arrival))
    rolled = {owner_of(order.id) for order in world.seen if isinstance(order, Roll)}
    scored = {fact.candidate.id: fact.candidate for fact in log if isinstance(fact, CandidateScored)}
    texts = {fact.order: fact.program for fact in log if isinstance(fact, ProposalMade)}
    elites = {fact.candidate for fact in log if isinstance(fact, EliteChanged)}
    for decided in (fact for fact in log if isinstance(fact, GateDecided)):
        candidate = scored[decided.candidate]
        stopped = not decided.passed and not decided.audited
        assert is_stopped(candidate.fault) is stopped and (decided.candidate in rolled) is not stopped
        if stopped:
            assert candidate.program == texts[decided.candidate] and candidate.id not in elites
            assert candidate.fault is not None and candidate.fault.message == decided.reason
    gated_ones = {fact.candidate for fact in log if isinstance(fact, GateDecided)}
    assert gated_ones == {name for name in texts if not str(name).startswith("init/")}


class Same(Repeating):
    """E* gives p_0 what it gives every program with the same code."""

    def _examination(self, order: Examine, draw: random.Random) -> Examination:
        return Examination(scores=tuple(Score(fitness=each.info["fitness"]) for each in order.episodes))


@given(seed=st.integers(0, 99), arrival=st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_known_programs_change_nothing_but_the_number_of_episodes(seed: int, arrival: int) -> None:
    """A program is tried again on the twin where it has other parents, so that a known one passes the same gate."""
    one, _ = play(gated(plan_of(duplicates=False)), Same(seed, failure_rate=0.0), picks(arrival))
    other, _ = play(gated(plan_of(duplicates=True)), Same(seed, failure_rate=0.0), picks(arrival))
    assert conclusions(one) == conclusions(other)


def test_prompts_say_that_an_edit_was_stopped() -> None:
    choices = PAPER.but(MemorySettings(memory_detail="full"))
    world = Graded(3)
    log, _ = play(gated(plan_of(choices=choices), audit=0.0), world, picks(0))
    rejected = [fact.rejection for fact in log if isinstance(fact, CandidateRejected)]
    assert any(each.reason.startswith("stopped at the gate: F is ") for each in rejected)
    shown = [
        each for order in world.seen if isinstance(order, Propose) for each in (*order.rejections, *order.tried)
        if each.verdict is Verdict.STOPPED
    ]
    assert any(each.operator is Operator.HILL_CLIMB for each in shown)
    assert any(each.operator is Operator.MACRO for each in shown)
    assert all(each.reason.startswith("stopped at the gate: ") for each in shown)


# ---------------------------------------------------------------------------------------- the report


def test_the_report_counts_wrong_stops_among_those_that_were_rolled_out() -> None:
    log, _ = play(gated(plan_of(), audit=1.0), Graded(5), picks(0))
    report = gate_report(view_of_facts(log).slots)
    assert report is not None
    scored = {fact.candidate.id: fact.candidate for fact in log if isinstance(fact, CandidateScored)}
    scored_elites = {fact.candidate: fact.fitness for fact in log if isinstance(fact, EliteChanged)}
    decided = [fact for fact in log if isinstance(fact, GateDecided)]
    stops = [fact for fact in decided if not fact.passed]

    def fitness(name: str) -> float:
        return scored[name].fitness if name in scored else scored_elites[name]

    wrong = sum(
        scored[each.candidate].fault is None
        and fitness(each.candidate) >= min(fitness(parent) for parent in each.parents) for each in stops
    )
    assert (report.tried, report.stopped, report.audited) == (len(decided), len(stops), len(stops))
    assert stops and report.wrong == wrong and report.compared >= 3
    assert report.correlation is not None and -1 <= report.correlation <= 1


def test_without_a_gate_there_is_no_report() -> None:
    log, _ = play(Sequencer(plan_of()), Graded(5), picks(0))
    assert gate_report(view_of_facts(log).slots) is None
