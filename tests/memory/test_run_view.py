"""The view of runs that the real keepers decided from scripted replies, and of any facts at all."""

import random
from collections import Counter
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.errors import SearchError
from memento.core.events import (
    CandidateRejected,
    CandidateScored,
    DuplicateFound,
    EliteChanged,
    EpisodeEnded,
    Fact,
    FinalMeasured,
    ProposalFailed,
    ProposalMade,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStarted,
    RunStopped,
    SpeculationEnded,
    StageEntered,
    VoteCast,
)
from memento.core.faults import Fault, FaultKind
from memento.core.values import Call, CandidateState, Document, Episode, Operator, Program, Usage
from memento.memory.evaluator_pools import list_judges, list_pools
from memento.memory.retention_policy import RetentionPolicy
from memento.memory.run_status import RunStatus, list_failures, state_of, time_left_s
from memento.memory.run_view import RunView, list_generations, list_rejections, view_of, view_of_facts
from memento.memory.slots import ancestors_of
from memento.memory.spending import list_calls
from memento.memory.store import RunStore
from memento.search.evaluator_search import EvaluatorBudget
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..conformance.store import StoppedClock
from ..support.keeper_world import World, play
from ..support.strategies import PATIENT
from ..support.strategies import facts as any_fact

pytestmark = pytest.mark.quick

PLAN = RunPlan(
    method=KEEPERS["memento"],
    slots=GenerationBudget(generations=3, hill_climb=3, macro=3, crossover=2),
    search=RolloutPlan(split="search", seeds=(1, 2, 3), evaluator=None, racing=True),
    final_seeds=(91, 92),
    evaluator_budget=EvaluatorBudget(pool=3, judges=3, generations=2),
    reference=Program("reference"),
)


def run(seed: int, plan: RunPlan = PLAN) -> list[Fact]:
    """The log of a whole run, or of one that ended early because it had no valid program or vote."""
    sequencer = Sequencer(plan)
    try:
        log, _ = play(sequencer, World(seed), random.Random(seed).randrange)
    except SearchError:
        return []
    return log


def of(log: list[Fact], cls: type) -> list:
    return [fact for fact in log if isinstance(fact, cls)]


def gone(log: list[Fact]) -> set[str]:
    """The recordings that are dropped or shortened by the end of this log."""
    policy = RetentionPolicy()
    changes = [policy.apply(fact) for fact in log]
    return {key for change in changes for key in (*change.dropped, *change.shortened)}


seeds = st.integers(0, 10**6)
BEGAN = 1_800_000_000.0


@settings(PATIENT, max_examples=25)
@given(seed=seeds)
def test_the_status_of_a_run(seed):
    log = run(seed)
    view = view_of_facts(log).status
    if not log:
        assert view.status == "new"
        return
    assert (view.status, view.stage, view.generation) == ("done", "done", 3)
    elites = of(log, EliteChanged)
    assert (view.first_elite, view.elite_before, view.elite) == (elites[0], elites[-2], elites[-1])
    assert view.candidates == 3 * (3 + 3 + 2) == len(of(log, CandidateScored))
    assert view.failed == sum(fact.candidate.fault is not None for fact in of(log, CandidateScored))
    assert view.unusable == len(of(log, ProposalFailed))
    assert view.episodes == len(of(log, EpisodeEnded))
    assert view.episodes_saved >= 0
    assert view.final == of(log, FinalMeasured)[0]
    assert view.spending.total.calls == len(list_calls(log))
    assert view.spending.total.cost_usd is None  # the scripted calls have no price


@settings(PATIENT, max_examples=25)
@given(seed=seeds)
def test_the_slots_the_curve_and_the_lineage_agree(seed):
    log = run(seed)
    slots = view_of_facts(log).slots
    rows = slots.candidates
    curve = list_generations(slots)
    for point in curve:
        elite = rows[point.elite.candidate]
        assert point.elite.generation in elite.elite_of
        assert (elite.fitness, elite.fault) == (point.elite.fitness, None)
        counted = [row for row in rows.values() if row.generation == point.elite.generation > 0 and row.settled]
        assert point.candidates == len(counted)
        assert point.failed == sum(row.fault is not None for row in counted)
        assert point.accepted + point.rejected == sum(row.accepted is not None for row in counted)
    assert [point.elite.fitness for point in curve] == sorted(point.elite.fitness for point in curve)
    line = ancestors_of(slots, [curve[-1].elite.candidate]) if curve else []
    if log:
        assert rows[line[0]].operator is Operator.INITIAL
        assert line[-1] == curve[-1].elite.candidate
    met: set[str] = set()
    for key in line:
        assert set(rows[key].parents) <= met
        met.add(key)


@settings(PATIENT, max_examples=25)
@given(seed=seeds)
def test_rejections_are_kept_by_generation(seed):
    log = run(seed)
    memory = list_rejections(view_of_facts(log).slots)
    assert [r for g in sorted(memory) for r in memory[g]] == [f.rejection for f in of(log, CandidateRejected)]
    for generation, rejections in memory.items():
        assert all(rejection.candidate.startswith(f"g{generation}/hill/") for rejection in rejections)


@settings(PATIENT, max_examples=25)
@given(seed=seeds)
def test_a_view_that_forgets_has_the_same_status_and_stays_small(seed):
    log, whole, small = run(seed), RunView(), RunView()
    most = 0
    for fact in log:
        whole.apply(fact, 1.0)
        small.apply(fact, 1.0)
        if isinstance(fact, EliteChanged):
            small.slots.forget(fact.generation)
        most = max(most, len(small.slots.candidates))
        assert small.status == whole.status
    assert small.slots.elites == whole.slots.elites
    assert most <= 3 + 3 + 2 + 1, "the elite and a generation"


@settings(PATIENT, max_examples=25)
@given(seed=seeds)
def test_pools_count_every_vote(seed):
    log = run(seed)
    pools = list_pools(log)
    assert sum(len(pool.votes) for pool in pools) == len(of(log, VoteCast))
    for pool in pools:
        assert sum(entry.votes for entry in pool.entries) + pool.abstentions == len(pool.votes)
        assert all((entry.fitness is not None) == entry.candidate.examination.valid for entry in pool.entries)
        if not pool.chosen.carried_over:
            won = next(entry for entry in pool.entries if entry.candidate == pool.chosen)
            assert won.votes == max(entry.votes for entry in pool.entries)
    for pool in pools:
        assert not pool.has_tests and pool.leading == pool.electable
    assert not list_judges(pools)
    assert [pool.final for pool in pools] == [False] * (len(pools) - 1) + [True] * bool(pools)


@settings(PATIENT, max_examples=25)
@given(seed=seeds)
def test_judges_are_compared_with_the_tests(seed):
    log = run(seed, replace(PLAN, tested=True, probe_seed=5))
    pools = list_pools(log)
    assert all(pool.chosen.slot in pool.leading for pool in pools if pool.votes and not pool.chosen.carried_over)
    telling = [pool for pool in pools if pool.has_tests and len(pool.leading) < len(pool.electable)]
    votes = [(vote, pool) for pool in telling for vote in pool.votes if vote.choice is not None]
    judges = list_judges(pools)
    assert sum(judge.votes for judge in judges) == len(votes)
    assert sum(judge.agreed for judge in judges) == sum(vote.choice in pool.leading for vote, pool in votes)
    assert all(0 < judge.chance < judge.votes for judge in judges)
    assert [judge.seat for judge in judges if judge.below_chance] == [j.seat for j in judges if j.agreed < j.chance]


@settings(PATIENT, max_examples=25)
@given(seed=seeds)
def test_failures_are_counted(seed):
    log = run(seed)
    counted = Counter({(row.where, row.kind): row.count for row in list_failures(view_of_facts(log).status)})
    proposals = Counter(("proposal", fact.fault.kind) for fact in of(log, ProposalFailed))
    episodes = Counter(("episode", f.episode.fault.kind) for f in of(log, EpisodeEnded) if f.episode.fault)
    assert Counter({key: n for key, n in counted.items() if key[0] in ("proposal", "episode")}) == proposals + episodes


@settings(PATIENT, max_examples=10)
@given(seed=seeds)
def test_a_stored_run_answers_as_a_fresh_one(seed, tmp_path_factory):
    log = run(seed)
    folder = tmp_path_factory.mktemp("runs") / "r"
    with RunStore.create(folder, clock=StoppedClock()) as store:
        store.append(log)
    with RunStore.read(folder) as store:
        again = list(store.facts())
    assert again == log
    assert view_of_facts(again) == view_of_facts(log)


@settings(PATIENT, max_examples=25)
@given(seed=seeds, cut=st.floats(0, 1))
def test_every_beginning_of_a_run_has_a_view(seed, cut):
    log = run(seed)
    part = log[: int(cut * len(log))]
    before, after = view_of_facts(part).status, view_of_facts(log).status
    assert before.candidates <= after.candidates
    assert before.episodes <= after.episodes
    # A recording that may be dropped now may be dropped later: no dropped recording is needed again.
    assert gone(part) <= gone(log)


@settings(PATIENT, max_examples=25)
@given(seed=seeds)
def test_what_is_kept_of_a_finished_run(seed):
    log = run(seed)
    elites = {fact.candidate for fact in of(log, EliteChanged)}
    keys = {fact.episode.trajectory: fact.order.rpartition("/")[0] for fact in of(log, EpisodeEnded)}
    kept = {owner for key, owner in keys.items() if key not in gone(log)}
    assert kept == {owner for owner in keys.values() if owner in elites or owner.startswith(("init/", "final/"))}


@dataclass(frozen=True)
class At:
    at: float
    fact: Fact


def dated(facts, step_s=1.0):
    return [At(BEGAN + step_s * place, fact) for place, fact in enumerate(facts, start=1)]


@pytest.mark.slow
@settings(PATIENT, max_examples=60)
@given(log=st.lists(any_fact, max_size=30), data=st.data())
def test_folding_in_pieces_is_folding_at_once_and_a_copy_stays_as_it_is(log, data):
    entries = dated(log)
    place = data.draw(st.integers(0, len(entries)))
    first = view_of(entries[:place])
    kept = first.copy()
    for entry in entries[place:]:
        first.apply(entry.fact, entry.at)
    assert first == view_of(entries)
    assert kept == view_of(entries[:place])
    for entry in entries[place:]:
        kept.apply(entry.fact, entry.at)
    assert kept == first


@pytest.mark.slow
@settings(PATIENT, max_examples=60)
@given(log=st.lists(any_fact, max_size=20))
def test_any_facts_have_a_view(log):
    view = view_of_facts(log)
    list_generations(view.slots)
    list_rejections(view.slots)
    list_pools(view.slots.evaluation)
    list_calls(log)
    time_left_s(view.status, now=BEGAN)
    ancestors_of(view.slots, view.slots.candidates)
    view.slots.forget(1)
    gone(log)


# ----------------------------------------------------------------------------------- status and spending

STARTED = RunStarted(settings={"domain": "hanoi"}, versions={"memento": "0.1.0"}, sandbox=("rlimits",))


@pytest.mark.parametrize(
    ("log", "status"),
    [
        ([], "new"),
        ([STARTED], "running"),
        ([STARTED, StageEntered(stage="search"), RunPaused()], "paused"),
        ([STARTED, RunPaused(), RunContinued()], "running"),
        ([STARTED, RunStopped(reason="budget")], "budget"),
        ([STARTED, RunStopped(reason="stopped"), RunResumed()], "running"),
        ([STARTED, StageEntered(stage="done")], "done"),
        ([STARTED, StageEntered(stage="done"), RunResumed()], "done"),
    ],
)
def test_status(log, status):
    assert view_of_facts(log).status.status == status


def test_active_time_leaves_out_pauses_and_absences():
    timed = [
        (10.0, STARTED),
        (14.0, StageEntered(stage="initial")),
        (15.0, RunPaused()),
        (100.0, RunContinued()),
        (102.0, RunStopped(reason="stopped")),
        (900.0, RunResumed()),
        (903.0, StageEntered(stage="search")),
    ]
    status = RunStatus()
    for at, fact in timed:
        status.apply(fact, at)
    assert status.active_s == 4 + 1 + 2 + 3
    assert (status.began, status.last) == (10.0, 903.0)


@pytest.mark.parametrize(
    ("status", "live", "reading", "state"),
    [
        ("running", True, False, "running"), ("running", False, False, "killed"), ("paused", False, False, "killed"),
        ("new", False, True, "starting"), ("budget", False, False, "out of budget"), ("done", False, True, "done"),
    ],
)
def test_only_the_lock_shows_a_killed_run(status, live, reading, state):
    assert state_of(status, live=live, reading=reading) == state


def test_a_lost_layer_of_isolation_does_not_come_back():
    started = replace(STARTED, sandbox=("rlimits", "seccomp"))
    resumed = [RunResumed(sandbox=("rlimits",)), RunResumed(sandbox=("rlimits", "seccomp")), RunResumed()]
    assert view_of_facts([started, *resumed]).status.sandbox == ("rlimits",)


def call(cost: float | None, tokens: int = 10) -> Call:
    usage = Usage(input_tokens=tokens, output_tokens=1, cost_usd=cost, attempts=2)
    return Call(model="m", prompt=Document("p"), reply=Document("r"), usage=usage)


def made(order: str, cost: float | None) -> ProposalMade:
    return ProposalMade(order=order, program=Program("p"), summary="", call=call(cost))


def test_spending_by_role():
    vote = VoteCast(
        order="eval/g0/judge/0",
        generation=0,
        seat=0,
        choice=None,
        reason="",
        call=call(0.5, tokens=30),
        earlier=(call(0.25),),
    )
    failed = ProposalFailed(order="g1/hill/0", fault=Fault(kind=FaultKind.EMPTY, message=""), call=call(0.125))
    unanswered = ProposalFailed(
        order="g1/hill/1", fault=Fault(kind=FaultKind.MODEL_FAILED, message=""), earlier=(call(0.0625),)
    )
    repaired = replace(made("eval/g0/0", 2.0), earlier=(call(4.0),))
    spending = view_of_facts([made("init/0", 1.0), repaired, vote, failed, unanswered]).status.spending
    assert spending.total.cost_usd == 1.0 + 4.0 + 2.0 + 0.25 + 0.5 + 0.125 + 0.0625
    assert spending.total.calls == 7
    assert spending.total.tokens == 6 * 11 + 31
    roles = {role: (one.calls, one.cost_usd) for role, one in spending.by_role.items()}
    assert roles == {"proposer": (3, 1.1875), "evaluator-writer": (2, 6.0), "judge": (2, 0.75)}


def test_one_unknown_price_makes_the_sum_unknown_not_zero():
    assert RunStatus().spending.total.cost_usd == 0.0
    spending = view_of_facts([made("init/0", 1.0), made("eval/g0/0", None), made("init/1", 1.0)]).status.spending
    assert spending.total.cost_usd is None
    assert spending.by_role["proposer"].cost_usd == 2.0
    assert spending.by_role["evaluator-writer"].cost_usd is None


def test_calls_can_be_read_back():
    fault = Fault(kind=FaultKind.TRUNCATED, message="cut off")
    log = [made("init/0", 0.0), ProposalFailed(order="g1/hill/0", fault=fault, call=call(0.0))]
    first, second = list_calls(log)
    assert (first.order, first.role, first.call.prompt.text, first.fault) == ("init/0", "proposer", "p", None)
    assert (second.order, second.fault) == ("g1/hill/0", fault)


# ------------------------------------------------------------------------------------------------ slots


def answer(order: str) -> ProposalMade:
    return made(order, None)


def test_what_was_proposed_speculatively_and_withdrawn_leaves_no_trace():
    ahead = answer("g1/hill/1/ahead")
    kept = SpeculationEnded(order="g1/hill/1/ahead", slot="g1/hill/1", kept=True, answered=True)
    lost = SpeculationEnded(order="g1/hill/1/ahead", slot="g1/hill/1", kept=False, answered=True)
    assert view_of_facts([ahead, kept]).slots.candidates["g1/hill/1"].state == "proposed"
    assert not view_of_facts([ahead, lost]).slots.candidates
    again = view_of_facts([ahead, lost, answer("g1/hill/1")])
    assert again.slots.candidates["g1/hill/1"].state == "proposed"
    assert again.status.spending.total.calls == 2


def test_a_duplicate_names_its_original():
    facts = [answer("g1/macro/0"), DuplicateFound(order="g1/macro/0", candidate="g1/macro/0", of="init/0", episodes=2)]
    assert view_of_facts(facts).slots.candidates["g1/macro/0"].same_as == "init/0"


def test_what_is_open_when_its_generation_is_over_was_withdrawn():
    elite = EliteChanged(generation=1, candidate="g1/hill/0", origin=Operator.HILL_CLIMB, fitness=0.5, success_rate=0.0)
    view = view_of_facts([answer("g1/hill/0"), answer("g1/hill/1"), answer("g2/hill/0"), elite]).slots
    assert view.candidates["g1/hill/1"].state == "withdrawn"
    assert view.candidates["g2/hill/0"].state == "proposed"


def test_the_time_left_is_that_of_the_search_so_far():
    words = {"method": "memento", "generations": 2, "k_hc": 2, "k_macro": 2, "k_cross": 1, "final_episodes": 4,
                "workers": 2}
    facts = [RunStarted(settings=words, versions={}), StageEntered(stage="search")]
    for slot in range(4):
        name = f"g1/macro/{slot}"
        facts.append(EpisodeEnded(order=f"{name}/e0", episode=Episode(
            index=0, seed=0, steps=9, ended_by="horizon", success=False, wall_s=2.0)))
        facts.append(CandidateScored(order=name, candidate=CandidateState(
            id=name, program=Program("x"), operator=Operator.MACRO, generation=1, slot=slot, fitness=0.5)))
    status = view_of(dated(facts)).status
    # Four of ten candidates in eight seconds; then eight episodes of two seconds, two at once.
    assert time_left_s(status, now=BEGAN + 10) == pytest.approx(8 / 4 * 6 + 8)
    assert time_left_s(view_of(dated(facts[:4])).status, now=BEGAN + 10) is None
