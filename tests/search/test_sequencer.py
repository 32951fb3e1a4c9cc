"""A whole run decided by scripted replies: stages, evaluator evolution, failures, replay."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.errors import SearchError
from memento.core.events import (
    EliteChanged,
    EvaluatorChosen,
    EvaluatorExamined,
    EvaluatorPoolScored,
    Examine,
    Fact,
    FinalMeasured,
    InitialChosen,
    Judge,
    ProbesRecorded,
    ProposalFailed,
    Propose,
    ProposeEvaluator,
    RecordProbes,
    RobustMeasured,
    Roll,
    SearchEnded,
    StageEntered,
    VoteCast,
)
from memento.core.faults import Fault, FaultKind
from memento.core.methods import METHODS
from memento.core.order_ids import CONDITIONS, parse
from memento.core.values import CandidateState, Episode, Examination, JudgeReason, Operator, Program, Score
from memento.runtime.supervisor import Replay
from memento.search.evaluator_search import EvaluatorBudget, EvaluatorKeeper
from memento.search.initial import score_baseline
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer
from memento.search.votes import majority

from ..support.keeper_world import World, play

pytestmark = pytest.mark.quick

PLAN = RunPlan(
    method=KEEPERS["memento"],
    slots=GenerationBudget(generations=2, hill_climb=2, macro=2, crossover=1),
    search=RolloutPlan(split="search", seeds=(1, 2), evaluator=None, racing=True),
    final_seeds=(91, 92, 93),
    evaluator_budget=EvaluatorBudget(pool=3, judges=3, generations=2),
    probe_seed=7,
    reference=Program("reference"),
)
GIVEN = replace(PLAN, search=replace(PLAN.search, evaluator=Program("E")), evaluator_budget=None)


def run(plan: RunPlan, world: World, arrival: int = 0) -> list[Fact]:
    log, last = play(Sequencer(plan), world, random.Random(arrival).randrange)
    assert Sequencer(plan).finished(last.state)
    assert not last.orders
    return log


def of(log: list[Fact], kind: type) -> list:
    return [fact for fact in log if isinstance(fact, kind)]


def stages(log: list[Fact]) -> list[str]:
    return [fact.stage for fact in of(log, StageEntered)]


def test_every_method_has_a_keeper() -> None:
    assert set(METHODS) == set(KEEPERS)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_run_goes_through_its_stages_and_measures_unseen_seeds(seed: int, arrival: int) -> None:
    world = World(seed, failure_rate=0.1)
    try:
        log = run(PLAN, world, arrival)
    except SearchError:
        return  # a first pool without a valid evaluator, or no vote at all: tested below
    assert stages(log) == ["initial", "evaluator", "search", "final", "done"]
    assert len(of(log, InitialChosen)) == len(of(log, SearchEnded)) == 1
    assert [fact.generation for fact in of(log, EvaluatorChosen)] == [0, 1]
    assert [fact.final for fact in of(log, EvaluatorChosen)] == [False, True]
    assert of(log, FinalMeasured)[0].episodes == 3


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_robust_measure_repeats_the_held_out_episodes_elsewhere_and_changes_nothing_before(
    seed: int, arrival: int
) -> None:
    world, rolls = World(seed, failure_rate=0.0), list[Roll]()
    answer = world.answer

    def watch(order):
        if isinstance(order, Roll):
            rolls.append(order)
        return answer(order)

    world.answer = watch
    plan = replace(GIVEN, conditions=CONDITIONS)
    log = run(plan, world, arrival)
    assert stages(log) == ["initial", "evaluator", "search", "final", "done"]
    assert [(fact.conditions, fact.episodes) for fact in of(log, RobustMeasured)] == [("light", 3), ("heavy", 3)]
    held_out = [order for order in rolls if order.id.startswith("final/")]
    assert {(parse(order.id).branch.rpartition("/")[0], order.split) for order in held_out} == {
        ("", "final"), ("light", "final-light"), ("heavy", "final-heavy")
    }
    assert all(order.seed == plan.final_seeds[order.index] for order in held_out)
    plain = run(GIVEN, World(seed, failure_rate=0.0), arrival)
    assert log[: len(plain) - 1] == plain[:-1], "all but the end is the run without it"


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_arrival_order_never_changes_evaluator_or_elite(seed: int, one: int, other: int) -> None:
    def verdicts(arrival: int) -> list:
        try:
            log = run(PLAN, World(seed, failure_rate=0.1), arrival)
        except SearchError as error:
            return [str(error)]
        return of(log, EvaluatorPoolScored) + of(log, EvaluatorChosen) + of(log, EliteChanged)

    assert verdicts(one) == verdicts(other)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 300))
def test_replay_at_any_moment_gives_the_same_state(seed: int, arrival: int, cut: int) -> None:
    pick, plan = random.Random(arrival).randrange, replace(PLAN, conditions=CONDITIONS)
    try:
        log, last = play(Sequencer(plan), World(seed, failure_rate=0.1), pick, steps=cut)
    except SearchError:
        return
    again = Replay(Sequencer(plan)).replay(log)
    assert {order.id for order in again.orders} == {order.id for order in last.orders}
    # The stage's keeper is another object without equality; what it decides by is the inner state.
    assert again.state.inner == last.state.inner
    keepers = [type(state.stage.keeper) if state.stage else None for state in (again.state, last.state)]
    assert keepers[0] is keepers[1]


def test_p0_reuses_its_rollouts_and_is_scored_by_the_chosen_evaluator() -> None:
    world = World(5, failure_rate=0.0)
    rolled: list[str] = []
    answer = world.answer

    def watch(order):
        if isinstance(order, Roll):
            rolled.append(order.id)
        return answer(order)

    world.answer = watch
    log = run(PLAN, world)
    assert sorted(order for order in rolled if order.startswith("init/")) == ["init/0/e0", "init/0/e1"]
    final = of(log, EvaluatorChosen)[-1]
    expected = sum(score.fitness for score in final.chosen.examination.scores) / 2
    assert of(log, EliteChanged)[0].fitness == expected


def test_a_given_policy_and_a_given_evaluator_ask_no_model_for_them() -> None:
    plan = replace(GIVEN, initial=Program("mine"))
    log = run(plan, World(1, failure_rate=0.0))
    chosen = of(log, EvaluatorChosen)
    assert [fact.chosen.program for fact in chosen] == [Program("E")]
    assert of(log, InitialChosen)[0].program == Program("mine")
    assert not of(log, VoteCast)


def test_zero_shot_takes_the_first_valid_evaluator() -> None:
    plan = replace(PLAN, evaluator_budget=None)
    log = run(plan, World(1, failure_rate=0.0))
    assert of(log, EvaluatorChosen)[0].chosen.id == "eval/zero-shot/0"
    assert not of(log, VoteCast)


class Refusing(World):
    """Fails every order of one kind."""

    def __init__(self, kind: type, failures: int = 10**6) -> None:
        super().__init__(2, failure_rate=0.0)
        self.kind = kind
        self.failures = failures

    def answer(self, order):
        if type(order) is not self.kind or self.failures <= 0:
            return super().answer(order)
        self.failures -= 1
        fault = Fault(kind=FaultKind.TRUNCATED, message="cut off")
        match order:
            case Propose() | ProposeEvaluator():
                return ProposalFailed(order=order.id, fault=fault)
            case Roll():
                fault = Fault(kind=FaultKind.NOT_STARTED, message="no class FrankaPolicy")
                return_episode = Episode(
                    index=order.index, seed=order.seed, steps=0, ended_by="fault", success=False, fault=fault
                )
                return type(super().answer(order))(order=order.id, episode=return_episode)
            case Examine():
                return EvaluatorExamined(order=order.id, examination=Examination(fault=fault))
            case Judge():
                return VoteCast(
                    order=order.id, generation=order.generation, seat=order.seat, choice=None, reason="?"
                )
        raise AssertionError(order)


def test_the_first_valid_of_five_attempts_is_p0() -> None:
    log = run(PLAN, Refusing(Propose, failures=4))
    assert of(log, InitialChosen)[0].program == Program("program init/4")
    with pytest.raises(SearchError, match="no working initial policy in 5 attempts"):
        run(PLAN, Refusing(Propose, failures=5))


def test_a_policy_that_cannot_start_is_not_p0() -> None:
    log = run(PLAN, Refusing(Roll, failures=2))
    assert of(log, InitialChosen)[0].program == Program("program init/1")
    given_policy = replace(PLAN, initial=Program("mine"))
    with pytest.raises(SearchError, match="no class FrankaPolicy"):
        run(given_policy, Refusing(Roll, failures=2))


@pytest.mark.parametrize(("fault", "steps", "why"), [
    (Fault(kind=FaultKind.CRASHED, message="KeyError: 'x'"), 7, "every episode ended with a fault; the first: Key"),
    (None, 0, "before its first step"),
])
def test_a_policy_that_does_nothing_in_any_episode_is_not_p0(fault: Fault | None, steps: int, why: str) -> None:
    class Dead(World):
        def answer(self, order):
            fact = super().answer(order)
            if not isinstance(order, Roll) or not order.id.startswith("init/0/"):
                return fact
            return replace(fact, episode=replace(fact.episode, fault=fault, steps=steps))

    log = run(PLAN, Dead(1, failure_rate=0.0))
    assert of(log, InitialChosen)[0].program == Program("program init/1")
    with pytest.raises(SearchError, match=f"the given initial policy does not work: .*{why}"):
        run(replace(PLAN, initial=Program("mine")), Dead(1, failure_rate=0.0))


def test_no_valid_evaluator_in_the_first_pool_is_an_error() -> None:
    with pytest.raises(SearchError, match="none of the 3 evaluators"):
        run(PLAN, Refusing(Examine))
    with pytest.raises(SearchError, match="given evaluator"):
        run(GIVEN, Refusing(Examine))
    with pytest.raises(SearchError, match="no valid evaluator in 5 replies"):
        run(replace(PLAN, evaluator_budget=None), Refusing(ProposeEvaluator))


def test_no_vote_at_all_is_an_error() -> None:
    with pytest.raises(SearchError, match="no judge"):
        run(PLAN, Refusing(Judge))


def test_a_later_pool_without_a_valid_evaluator_carries_the_choice_over() -> None:
    episode = Episode(index=0, seed=1, steps=5, ended_by="horizon", success=False)
    baseline = CandidateState(
        id="init/0",
        program=Program("p0"),
        operator=Operator.INITIAL,
        generation=0,
        slot=0,
        episodes=(episode,),
    )
    keeper = EvaluatorKeeper(baseline=baseline, budget=EvaluatorBudget(pool=2, judges=1, generations=2))

    class LaterInvalid(World):
        def answer(self, order):
            fact = super().answer(order)
            if order.id.startswith("eval/g1/") and isinstance(order, Examine):
                fault = Fault(kind=FaultKind.INVALID_RESULT, message="NaN")
                return EvaluatorExamined(order=order.id, examination=Examination(fault=fault))
            if isinstance(order, Judge):
                return VoteCast(order=order.id, generation=0, seat=0, choice=1, reason="")
            return fact

    log, _ = play(keeper, LaterInvalid(1, failure_rate=0.0), lambda n: 0)
    first, second = of(log, EvaluatorChosen)
    assert first.chosen.slot == 1
    assert second.final
    assert second.chosen == replace(first.chosen, carried_over=True)


@given(st.lists(st.one_of(st.none(), st.integers(0, 4))))
def test_majority_breaks_ties_towards_the_lower_slot(votes: list[int | None]) -> None:
    winner = majority(votes)
    real = [vote for vote in votes if vote is not None]
    if not real:
        assert winner is None
    else:
        best = max(real.count(vote) for vote in real)
        assert winner == min(vote for vote in real if real.count(vote) == best)


def test_an_episode_ended_by_a_fault_scores_zero_in_c0() -> None:
    fault = Fault(kind=FaultKind.CRASHED, message="raised")
    episodes = (
        Episode(index=0, seed=1, steps=5, ended_by="horizon", success=False),
        Episode(index=1, seed=2, steps=5, ended_by="fault", success=False, fault=fault),
    )
    baseline = CandidateState(
        id="init/0",
        program=Program("p0"),
        operator=Operator.INITIAL,
        generation=0,
        slot=0,
        episodes=episodes,
    )
    examination = Examination(scores=(Score(fitness=0.6), Score(fitness=0.9)))
    assert score_baseline(baseline, examination).fitness == 0.3


class Watching(World):
    """Keeps the orders that it answers."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, failure_rate=0.0)
        self.orders: list = []

    def answer(self, order):
        self.orders.append(order)
        return super().answer(order)

    def of(self, kind: type) -> list:
        return [order for order in self.orders if isinstance(order, kind)]


def test_probes_are_recorded_once_and_reach_writers_examinations_and_judges() -> None:
    world = Watching(3)
    log = run(PLAN, world)
    (fact,), (order,) = of(log, ProbesRecorded), world.of(RecordProbes)
    assert (order.id, order.split, order.seed, len(order.episodes)) == ("eval/probes", "search", 7, 2)
    for kind in (ProposeEvaluator, Examine, Judge):
        assert world.of(kind)
        assert all(each.probes == fact.probes and each.episodes == order.episodes for each in world.of(kind))
    assert all(len(entry.examination.probe_scores) == 1 for entry in of(log, EvaluatorPoolScored)[0].pool)


def test_the_log_of_a_run_without_probes_is_continued_without_them() -> None:
    """The logs of older versions: their settings are read with `probes` off."""
    old = replace(PLAN, probe_seed=None)
    world = Watching(3)
    log, last = play(Sequencer(old), world, lambda count: 0, steps=12)
    assert not world.of(RecordProbes)
    again = Replay(Sequencer(old)).replay(log)
    assert again.state.inner == last.state.inner
    assert {order.id for order in again.orders} == {order.id for order in last.orders}


TESTED = replace(PLAN, tested=True)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_tests_come_before_the_votes(seed: int, arrival: int) -> None:
    """One with a flaw is in no ballot; then the votes decide among those that invert the fewest certain pairs."""
    world = Watching(seed)
    world.levels = 3    # so that flaws and equal inversions are common
    try:
        log = run(TESTED, world, arrival)
    except SearchError:
        return
    assert of(log, EvaluatorChosen) == of(run(TESTED, Fixed(world), 0), EvaluatorChosen)
    votes = of(log, VoteCast)
    for scored, choice in zip(of(log, EvaluatorPoolScored), of(log, EvaluatorChosen), strict=True):
        tests = {entry.slot: entry.examination.tests for entry in scored.pool}
        sound = [slot for slot in tests if not tests[slot].flaw] or list(tests)
        for order in world.of(Judge):
            if order.generation == scored.generation:
                assert [entry.slot for entry in order.pool] == sound
        fewest = min(tests[slot].inversions for slot in sound)
        ahead = [slot for slot in sound if tests[slot].inversions == fewest]
        cast = [vote.choice for vote in votes if vote.generation == scored.generation and vote.choice in ahead]
        assert choice.chosen.slot in ahead
        assert cast.count(choice.chosen.slot) == max(map(cast.count, ahead))


class Fixed(World):
    """The same world without a record of its orders."""

    def __init__(self, other: World) -> None:
        super().__init__(other.seed, failure_rate=other.failure_rate)
        self.levels = other.levels


def test_without_tests_votes_alone_decide_and_no_examination_holds_tests() -> None:
    world = Watching(3)
    log = run(PLAN, world)
    assert all(order.program is None for order in world.of(RecordProbes))
    assert all(entry.examination.tests is None for fact in of(log, EvaluatorPoolScored) for entry in fact.pool)


class Saying(Watching):
    """Writers of first evaluators say what these measure; a revision says it or, as older logs do, nothing."""

    def __init__(self, *, again: bool) -> None:
        super().__init__(3)
        self.again = again

    def answer(self, order):
        fact = super().answer(order)
        if isinstance(order, ProposeEvaluator) and (self.again or not order.generation):
            return replace(fact, measures=f"measured by {order.id}")
        return fact


@pytest.mark.parametrize("again", [True, False])
def test_proposals_read_what_the_chosen_evaluator_measures_and_not_its_last_edit(again: bool) -> None:
    world = Saying(again=again)
    first, final = of(run(PLAN, world), EvaluatorChosen)
    said = {order.fitness for order in world.of(Propose) if order.generation}
    assert said == {f"measured by {final.chosen.id if again else first.chosen.id}"}


def test_the_next_writers_read_why_the_judges_chose_the_parent() -> None:
    world = Watching(11)
    log = run(PLAN, world)
    votes = [fact for fact in of(log, VoteCast) if fact.generation == 0 and fact.choice is not None]
    chosen = of(log, EvaluatorChosen)[0].chosen.slot
    expected = {
        JudgeReason(text=vote.reason, agrees=vote.choice == chosen, place=vote.seen.index(chosen)) for vote in votes
    }
    assert {order.reasons for order in world.of(ProposeEvaluator) if order.generation == 0} == {()}
    (reasons,) = {order.reasons for order in world.of(ProposeEvaluator) if order.generation == 1}
    assert set(reasons) == expected
    assert len(reasons) == len(votes) > 0
