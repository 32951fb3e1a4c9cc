"""An evaluator that moves: what is remembered, how T is drawn, what a successor must pass, and what follows from it."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import (
    ArchiveChanged,
    CandidateAccepted,
    CandidateScored,
    EliteChanged,
    EvaluatorChosen,
    EvaluatorExamined,
    EvaluatorMoved,
    Examine,
    Fact,
    Judge,
    Order,
    ProposalMade,
    Propose,
    ProposeEvaluator,
    ScoreEpisode,
    StageEntered,
    Withdraw,
)
from memento.core.examined import TOLERANCE, AttackCount, EvaluatorTests, InvarianceResult
from memento.core.faults import Fault, FaultKind
from memento.core.order_ids import MOVE, parse
from memento.core.values import (
    CandidateState,
    Episode,
    Examination,
    Operator,
    Probe,
    Program,
    Rejection,
    Score,
    Verdict,
)
from memento.memory.retention_policy import RetentionPolicy
from memento.search.evaluator_search import EvaluatorBudget
from memento.search.hardening import AttackTerms
from memento.search.keepers import KEEPERS
from memento.search.memento import PAPER
from memento.search.moving.keeper import MoveSettings
from memento.search.moving.recordings import CLOSE, FAILURES, Moves, draw, under
from memento.search.moving.successor import MoveRecordings, verdict_on
from memento.search.options import PLAIN, GenerationBudget
from memento.search.parts.memory import MemorySettings
from memento.search.parts.partners import PartnerSettings
from memento.search.rollout_plan import FreshPlan, RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer
from memento.search.tried import without_figures

from ..support.keeper_world import Differing, Succeeding, World, play

# ------------------------------------------------------------------------------------------- what is remembered


def candidate(name: str, *fitness: float, success: tuple[bool, ...] = (), generation: int = 1) -> CandidateState:
    """A candidate with these f_e, one recording each; `success` of its episodes, False for the rest."""
    won = (*success, *(False,) * len(fitness))
    episodes = tuple(
        Episode(index=e, seed=e, steps=9, ended_by="end", success=won[e], trajectory=f"{name}_e{e}")
        for e in range(len(fitness))
    )
    return CandidateState(
        id=name, program=Program(f"A = {name!r}\n"), operator=Operator.MACRO, generation=generation, slot=0,
        fitness=sum(fitness) / len(fitness), success_rate=sum(won[: len(fitness)]) / len(fitness), episodes=episodes,
        scores=tuple(Score(fitness=one) for one in fitness),
    )


FEW = [candidate(f"c{place}", place / 40, place / 40) for place in range(30)]


@given(st.permutations(FEW), st.permutations(FEW))
def test_what_is_remembered_does_not_depend_on_the_order_of_arrival(one, other):
    def kept(found):
        moves = Moves()
        for each in found:
            moves = moves.with_candidate(each)
        return moves.after_generation(FEW[12], [FEW[15]])

    first = kept(one)
    assert first == kept(other)
    names = {each.id for each in first.archive}
    assert {"c12", "c15", "c29", "c0"} <= names and len(names) == CLOSE + FAILURES + 2


def test_elites_and_what_t_was_drawn_from_are_remembered_to_the_end():
    moves = replace(Moves(), archive=tuple(FEW), drawn=frozenset({"c14"}))
    for generation, elite in enumerate((FEW[11], FEW[12], FEW[13])):
        moves = moves.after_generation(elite, ())
        assert set(moves.fact(generation).candidates) == {each.id for each in moves.archive}
    assert {"c11", "c12", "c13", "c14"} <= {each.id for each in moves.archive}


def test_failed_and_pruned_candidates_are_not_remembered():
    fault = Fault(kind=FaultKind.CRASHED, message="")
    for one in (replace(FEW[0], fault=fault), replace(FEW[0], bound=0.3), replace(FEW[0], scores=(), episodes=())):
        assert Moves().with_candidate(one) == Moves()


# ----------------------------------------------------------------------------------------------------------- T


@given(st.permutations(FEW), st.integers(0, 12))
def test_t_has_t_0_first_and_no_recording_twice(archive, count):
    first = candidate("p_0", 0.1, 0.1).episodes
    elite = candidate("best", 0.9, 0.2, 0.7)
    found = draw(first, elite, [*archive, elite], count)
    assert found == draw(first, elite, [elite, *FEW], count)
    assert found.episodes[:2] == first and len(found.episodes) == 2 + found.later <= 2 + count
    assert [each.index for each in found.episodes] == [*range(2 + found.later)]
    keys = [each.trajectory for each in found.episodes]
    assert len({*keys}) == len(keys)
    if count >= 3:  # the elite's worst episode, the fittest loser, the worst failure
        assert keys[2:5] == ["best_e1", "c29_e1", "c0_e0"] and found.owners >= {"best", "c29", "c0"}


# ---------------------------------------------------------------------------------------- the trial of a successor

WON = candidate("won", 0.9, 0.3, success=(True,))
LOST = candidate("lost", 0.2, 0.1)
IDLE = Probe(name="idle", episode=replace(LOST.episodes[0], index=0, trajectory="i"))
T = MoveRecordings(episodes=candidate("p_0", 0.1, 0.1).episodes, probes=(IDLE,), archive=(WON, LOST))
TESTS = EvaluatorTests(invariances=(InvarianceResult(name="waiting", change=0.0),))
BEFORE = Examination(scores=(Score(fitness=0.1),) * 2, probe_scores=(Score(fitness=0.0),), tests=TESTS)


def scores(**found: float) -> dict[str, Score]:
    known = {"won_e0": 0.8, "won_e1": 0.3, "lost_e0": 0.2, "lost_e1": 0.1}
    return {name: Score(fitness=value) for name, value in (known | found).items()}


def test_a_successor_that_ranks_nothing_worse_passes():
    found = verdict_on(T, BEFORE, BEFORE, scores())
    assert not found.reason and found.pairs == 3 and found.wrong_before == found.wrong_after == 0
    assert found.compared == 1 and found.against_before == found.against_after == 0


@pytest.mark.parametrize(("found", "words"), [
    (scores(won_e0=0.3), "of 3 pairs of certain order it ranks 1 wrongly"),   # alike is wrong, too
    (scores(won_e0=0.15), "ranks 2 wrongly"),
    (scores(won_e1=-0.9), "the less successful of two candidates is at least as fit in 1 of 1 pairs, before in 0"),
    ({**scores(), "lost_e0": Score(fitness=0.0, fault=Fault(kind=FaultKind.CRASHED, message=""))}, "fails on 1 record"),
])
def test_a_successor_that_ranks_a_recording_worse_is_refused(found, words):
    assert words in verdict_on(T, BEFORE, BEFORE, found).reason


def test_what_the_evaluator_in_use_ranks_wrongly_is_no_reason_to_refuse():
    wrong = replace(T, archive=(candidate("won", 0.1, 0.3, success=(True,)), LOST))
    found = verdict_on(wrong, BEFORE, BEFORE, scores(won_e0=0.15))
    assert not found.reason and (found.wrong_before, found.wrong_after) == (3, 2)


@pytest.mark.parametrize(("tests", "words"), [
    (replace(TESTS, flaw="all alike"), "all alike"),
    (replace(TESTS, attacks=AttackCount(tried=9, found=1, best=0.95)), "an attack on it is open"),
    (EvaluatorTests(invariances=(InvarianceResult(name="waiting", change=2 * TOLERANCE),)), "waiting"),
])
def test_a_successor_with_a_new_weakness_is_refused(tests, words):
    weak = replace(BEFORE, tests=tests)
    assert words in verdict_on(T, BEFORE, weak, scores()).reason
    assert not verdict_on(T, weak, weak, scores()).reason


def test_a_candidate_gets_fitness_and_metrics_from_the_scores_of_its_recordings():
    faulty = replace(WON.episodes[1], trajectory=None)
    one = replace(WON, episodes=(WON.episodes[0], faulty))
    new = under(one, {"won_e0": Score(fitness=0.5, metrics={"m": 1.0})}, 2)
    assert (new.fitness, new.version, new.metrics["m"]["mean"]) == (0.25, 2, 1.0) and new.success_rate == 0.5


def test_rejected_edits_lose_the_figures_of_the_evaluator_that_rejected_them():
    lost = Rejection(
        summary="a", candidate="g1/hill/0", fitness_difference=-0.1, reason="lower", fitness=0.3, shape="s"
    )
    failed = replace(lost, verdict=Verdict.FAILED, fitness_difference=None)
    plain = Rejection(summary="a", candidate="g1/hill/0", fitness_difference=None, reason="crashed")
    again, kept = without_figures((lost, failed), full=True)
    assert again.verdict is Verdict.REPLACED and again.fitness is again.fitness_difference is None and not again.shape
    assert kept == failed
    assert without_figures((lost, failed, plain), full=False) == (failed, without_figures((plain,), full=False)[0])


# --------------------------------------------------------------------------------------------------- whole runs

PLAN = RunPlan(
    method=KEEPERS["memento"], slots=GenerationBudget(generations=4, hill_climb=2, macro=2, crossover=1),
    search=RolloutPlan(split="search", seeds=(1, 2), evaluator=None, racing=True, duplicates=True),
    final_seeds=(91,), evaluator_budget=EvaluatorBudget(pool=2, judges=1, generations=2),
    choices=PAPER.but(
        MoveSettings(evaluator_every=1), PartnerSettings(partners="front"),
        MemorySettings(memory_detail="full", memory_scope="run"),
    ),
)
TESTED = replace(
    PLAN, probe_seed=7, tested=True, attacks=AttackTerms(rounds=1, seed=7),
    choices=PAPER.but(MoveSettings(evaluator_every=2)),
    search=replace(PLAN.search, episodes=90, fresh=FreshPlan(seed=7, confirm=3, choice=8, starts=4, first=2)),
)
seeds = st.integers(0, 10**6)


def run(plan: RunPlan, world: World, arrival: int = 0) -> list[Fact]:
    log, last = play(Sequencer(plan), world, random.Random(arrival).randrange)
    assert Sequencer(plan).finished(last.state)
    return log


def of(log: list[Fact], *kinds: type) -> list:
    return [fact for fact in log if isinstance(fact, kinds)]


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(seeds, seeds, seeds, st.sampled_from([(PLAN, Differing), (TESTED, Succeeding)]))
def test_the_order_of_arrival_decides_nothing(seed, one, other, case):
    plan, world = case
    kinds = EvaluatorMoved, EvaluatorChosen, EliteChanged, ArchiveChanged, StageEntered
    assert of(run(plan, world(seed), one), *kinds) == of(run(plan, world(seed), other), *kinds)


class Watching(Differing):
    """Keeps the orders that it answers."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.orders: list[Order] = []

    def answer(self, order: Order) -> Fact:
        self.orders.append(order)
        return super().answer(order)


@settings(max_examples=8, deadline=None)
@given(seeds, seeds)
def test_fitness_is_compared_and_shown_by_one_version_only(seed, arrival):
    world = Watching(seed)
    log = run(PLAN, world, arrival)
    moves = of(log, EvaluatorMoved)
    assert [each.generation for each in moves] == [1, 2, 3]     # none after the last generation
    version, known, chosen = 1, {}, 0
    for fact in log:
        if isinstance(fact, EvaluatorMoved) and fact.moved:
            assert fact.version == version + 1
            version, known = fact.version, dict(zip(fact.candidates, fact.fitnesses, strict=True))
            assert fact.fitness == known[fact.elite]
        elif isinstance(fact, EvaluatorChosen):
            chosen += fact.final
        elif isinstance(fact, CandidateScored) and fact.candidate.fault is None:
            assert fact.candidate.version == version and fact.candidate.bound is None
            known[fact.candidate.id] = fact.candidate.fitness
        elif isinstance(fact, EliteChanged):
            assert fact.version == version and (not known or fact.fitness == known.get(fact.candidate, fact.fitness))
        elif isinstance(fact, CandidateAccepted):
            assert fact.fitness == known[fact.candidate]
    assert chosen == 1 + sum(each.moved for each in moves)
    names = [order.id for order in world.orders if not isinstance(order, Withdraw)]
    assert len(names) == len({*names})
    for order in world.orders:
        if isinstance(order, Propose) and order.parents:
            now = {parent.version for parent in order.parents}
            assert len(now) == 1
            assert all(one.verdict is Verdict.REPLACED or one.fitness is None or
                       parse(one.candidate).generation for one in order.tried)
            assert {other.version for other in order.others} <= now


class Few(Watching):
    """There are few programs, so that copies of those that lost long ago take episodes over."""

    def _propose(self, order: Order, draw: random.Random) -> Fact:
        fact = super()._propose(order, draw)
        if not isinstance(order, Propose) or not isinstance(fact, ProposalMade):
            return fact
        return replace(fact, program=Program(f"A = {draw.randrange(30)}\n"))


@pytest.mark.parametrize("seed", range(3))
def test_every_recording_that_is_scored_again_is_still_there(seed):
    world, policy = Few(seed), RetentionPolicy(moving=True)
    plan = replace(
        PLAN, slots=replace(PLAN.slots, macro=16),
        choices=PLAN.choices.but(MoveSettings(evaluator_every=2), PartnerSettings()),
    )
    log, dropped = run(plan, world), set[str]()
    orders = {order.id: order for order in world.orders}
    for fact in log:
        order = orders.get(fact.order or "")
        if isinstance(order, ScoreEpisode):
            assert order.episode.trajectory not in dropped, order.id
        elif isinstance(order, Examine) and isinstance(fact, EvaluatorExamined):
            assert dropped.isdisjoint(each.trajectory for each in order.episodes), order.id
        change = policy.apply(fact)
        dropped |= {*change.dropped, *change.shortened}
        while (key := policy.give_up()) is not None:
            dropped.add(key)
    assert dropped


def test_copies_take_over_episodes_of_what_is_remembered_alone():
    """The recordings of other candidates go at the end of their generation."""
    plan = replace(PLAN.search, evaluator=Program("E"), seeds=(0, 1))
    initial = candidate("init/0", 0.1, 0.1, generation=0)
    keeper = KEEPERS["memento"](initial, plan, PLAN.slots, PLAIN, PAPER.but(MoveSettings(evaluator_every=9)))
    state = keeper.start().state
    lost, elite = candidate("g1/macro/1", 0.2, 0.2), candidate("g1/macro/0", 0.9, 0.9)
    state = replace(state, trials=replace(state.trials.knowing(lost).knowing(elite), open={}))
    state = state.with_slice(state.slice(Moves).with_candidate(elite))
    assert {one.id for one in state.trials.known.values()} == {"init/0", "g1/macro/0", "g1/macro/1"}
    after = keeper.adopt(state, elite).state
    assert {one.id for one in after.trials.known.values()} == {"init/0", "g1/macro/0"}


def test_a_move_evolves_from_the_evaluator_in_use_on_later_recordings():
    world = Watching(3)
    log = run(PLAN, world)
    written = [order for order in world.orders if isinstance(order, ProposeEvaluator) and order.generation >= 2]
    votes = [order for order in world.orders if isinstance(order, Judge) and order.generation >= 2]
    frozen = [fact.chosen for fact in of(log, EvaluatorChosen) if fact.final]
    assert {order.generation for order in written} == {2, 3, 4}     # one generation for each move
    assert written[0].parent.program == frozen[0].program
    assert all(order.later == len(order.episodes) - 2 == 2 for order in (*written, *votes))
    examined = [order for order in world.orders if isinstance(order, Examine) and order.id.startswith("eval/kept")]
    assert [order.id for order in examined] == [f"eval/kept/{move}/examine" for move in (1, 2, 3)]
    again = [order for order in world.orders if isinstance(order, ScoreEpisode) and MOVE in parse(order.id).part]
    assert again and not any(order.evaluator == frozen[0].program for order in again)


def test_an_evaluator_that_is_refused_changes_nothing_but_the_count():
    class Alike(Differing):
        """Every evaluator is the same program."""

        def _propose(self, order, draw):
            fact = super()._propose(order, draw)
            same = isinstance(order, ProposeEvaluator) and hasattr(fact, "program")
            return replace(fact, program=Program("E = 1\n")) if same else fact

    log = run(PLAN, Alike(4))
    assert all(not each.moved and "chosen again" in each.reason for each in of(log, EvaluatorMoved))
    fixed = run(replace(PLAN, choices=PLAN.choices.but(MoveSettings())), Alike(4))
    assert of(log, EliteChanged) == of(fixed, EliteChanged) and len(of(log, EvaluatorMoved)) == 3


def test_without_a_usable_vote_in_a_move_the_evaluator_in_use_stays():
    class Silent(Differing):
        """Judges abstain once the search has begun."""

        def answer(self, order):
            fact = super().answer(order)
            return replace(fact, choice=None) if isinstance(order, Judge) and order.generation >= 2 else fact

    moves = of(run(PLAN, Silent(5)), EvaluatorMoved)
    assert len(moves) == 3 and not any(each.moved for each in moves)


def test_a_program_that_is_fitter_since_a_move_may_become_the_elite():
    found = 0
    for seed in range(6):
        log = run(replace(PLAN, choices=PAPER.but(MoveSettings(evaluator_every=1))), Differing(seed))
        for place, fact in enumerate(log):
            if isinstance(fact, EvaluatorMoved) and fact.moved:
                best = max(fact.fitnesses)
                elite = next(each for each in log[place:] if isinstance(each, EliteChanged))
                assert elite.fitness >= best    # in the next generation, at the latest
                found += best > fact.fitness
    assert found
