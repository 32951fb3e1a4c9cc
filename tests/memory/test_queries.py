"""Queries against runs that the real keepers decided from scripted replies, and against any facts at all."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.agents.keepers.by_method import KEEPERS
from memento.agents.keepers.evaluator_search import EvaluatorBudget
from memento.agents.keepers.memento import Slots
from memento.agents.keepers.sequencer import RunPlan, Sequencer
from memento.core.errors import SearchError
from memento.core.events import (
    CandidateRejected,
    CandidateScored,
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
    StageEntered,
    VoteCast,
)
from memento.core.values import Call, Document, Fault, FaultKind, Operator, Program, Usage
from memento.memory.evaluator_pools import list_pools
from memento.memory.queries import (
    active_seconds,
    count_failures,
    list_candidates,
    list_generations,
    list_rejections,
    summarise,
    trace_lineage,
)
from memento.memory.retention_policy import RetentionPolicy
from memento.memory.spending import list_calls
from memento.memory.store import RunStore

from ..conformance.store import StoppedClock
from ..support.keeper_world import World, play
from ..support.strategies import PATIENT
from ..support.strategies import facts as any_fact

PLAN = RunPlan(
    method=KEEPERS["memento"],
    slots=Slots(generations=3, hill_climb=3, macro=3, crossover=2),
    search_seeds=(1, 2, 3),
    final_seeds=(91, 92),
    evaluator_budget=EvaluatorBudget(pool=3, judges=3, generations=2),
    reference=Program("reference"),
)


def run(seed: int) -> list[Fact]:
    """The log of a whole run, or of one that ended early because nothing valid was proposed."""
    sequencer = Sequencer(PLAN)
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


@settings(PATIENT, max_examples=25)
@given(seed=seeds)
def test_the_summary_of_a_run(seed):
    log = run(seed)
    view = summarise(log)
    if not log:
        assert view.status == "new"
        return
    assert (view.status, view.stage, view.generations) == ("done", "done", 3)
    last = of(log, EliteChanged)[-1]
    assert (view.elite, view.fitness, view.success) == (last.candidate, last.fitness, last.success_rate)
    assert view.fitness >= view.initial_fitness
    assert view.candidates == 3 * (3 + 3 + 2) == len(of(log, CandidateScored))
    assert view.episodes_run == len(of(log, EpisodeEnded))
    assert view.episodes_saved >= 0
    assert view.final == of(log, FinalMeasured)[0]
    assert view.spending.total.calls == len(list_calls(log))
    assert view.spending.total.cost_usd is None  # the scripted calls have no price


@settings(PATIENT, max_examples=25)
@given(seed=seeds)
def test_the_table_the_curve_and_the_lineage_agree(seed):
    log = run(seed)
    rows = {row.id: row for row in list_candidates(log)}
    curve = list_generations(log)
    for point in curve:
        assert point.generation in rows[point.elite].elite_of
        assert rows[point.elite].fitness == point.fitness
        assert rows[point.elite].fault is None
        counted = [row for row in rows.values() if row.generation == point.generation and point.generation > 0]
        assert point.candidates == len(counted)
        assert point.failed == sum(row.fault is not None for row in counted)
        assert point.accepted + point.rejected == sum(row.accepted is not None for row in counted)
    assert [point.fitness for point in curve] == sorted(point.fitness for point in curve)
    line = trace_lineage(log)
    if log:
        assert line[0].operator is Operator.INITIAL
        assert line[-1].id == curve[-1].elite
    met: set[str] = set()
    for row in line:
        assert set(row.parents) <= met
        met.add(row.id)


@settings(PATIENT, max_examples=25)
@given(seed=seeds)
def test_rejections_are_kept_by_generation(seed):
    log = run(seed)
    memory = list_rejections(log)
    assert [r for g in sorted(memory) for r in memory[g]] == [f.rejection for f in of(log, CandidateRejected)]
    for generation, rejections in memory.items():
        assert all(rejection.candidate.startswith(f"g{generation}/hill/") for rejection in rejections)


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
    assert [pool.final for pool in pools] == [False] * (len(pools) - 1) + [True] * bool(pools)


@settings(PATIENT, max_examples=25)
@given(seed=seeds)
def test_failures_are_counted(seed):
    log = run(seed)
    counted = Counter({(row.where, row.kind): row.count for row in count_failures(log)})
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
    assert summarise(again) == summarise(log)
    assert list_candidates(again) == list_candidates(log)


@settings(PATIENT, max_examples=25)
@given(seed=seeds, cut=st.floats(0, 1))
def test_every_beginning_of_a_run_can_be_asked(seed, cut):
    log = run(seed)
    part = log[: int(cut * len(log))]
    assert summarise(part).candidates <= summarise(log).candidates
    assert summarise(part).episodes_run <= summarise(log).episodes_run
    ids = [row.id for row in list_candidates(part)]
    assert ids == [row.id for row in list_candidates(log)][: len(ids)]
    # What may go now may go later: nothing dropped is ever asked for again.
    assert gone(part) <= gone(log)


@settings(PATIENT, max_examples=25)
@given(seed=seeds)
def test_what_is_kept_of_a_finished_run(seed):
    log = run(seed)
    elites = {fact.candidate for fact in of(log, EliteChanged)}
    keys = {fact.episode.trajectory: fact.order.rpartition("/")[0] for fact in of(log, EpisodeEnded)}
    kept = {owner for key, owner in keys.items() if key not in gone(log)}
    assert kept == {owner for owner in keys.values() if owner in elites or owner.startswith(("init/", "final/"))}


@settings(PATIENT, max_examples=60)
@given(log=st.lists(any_fact, max_size=6))
def test_no_log_makes_a_query_fail(log):
    summarise(log)
    list_candidates(log)
    trace_lineage(log)
    list_generations(log)
    list_rejections(log)
    list_pools(log)
    count_failures(log)
    list_calls(log)
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
    assert summarise(log).status == status


def test_active_time_leaves_out_pauses_and_absences():
    dated = [
        (10.0, STARTED),
        (14.0, StageEntered(stage="initial")),
        (15.0, RunPaused()),
        (100.0, RunContinued()),
        (102.0, RunStopped(reason="stopped")),
        (900.0, RunResumed()),
        (903.0, StageEntered(stage="search")),
    ]
    assert active_seconds(dated) == 4 + 1 + 2 + 3
    assert active_seconds([]) == active_seconds(dated[:1]) == 0.0


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
    unanswered = ProposalFailed(order="g1/hill/1", fault=Fault(kind=FaultKind.MODEL_FAILED, message=""))
    spending = summarise([made("init/0", 1.0), made("eval/g0/0", 2.0), vote, failed, unanswered]).spending
    assert spending.total.cost_usd == 1.0 + 2.0 + 0.25 + 0.5 + 0.125
    assert spending.total.calls == 5
    assert spending.total.tokens == 4 * 11 + 31
    roles = {role: (one.calls, one.cost_usd) for role, one in spending.by_role.items()}
    assert roles == {"proposer": (2, 1.125), "evaluator-writer": (1, 2.0), "judge": (2, 0.75)}


def test_one_unknown_price_makes_the_sum_unknown_not_zero():
    assert summarise([]).spending.total.cost_usd == 0.0
    spending = summarise([made("init/0", 1.0), made("eval/g0/0", None), made("init/1", 1.0)]).spending
    assert spending.total.cost_usd is None
    assert spending.by_role["proposer"].cost_usd == 2.0
    assert spending.by_role["evaluator-writer"].cost_usd is None


def test_calls_can_be_read_back():
    fault = Fault(kind=FaultKind.TRUNCATED, message="cut off")
    log = [made("init/0", 0.0), ProposalFailed(order="g1/hill/0", fault=fault, call=call(0.0))]
    first, second = list_calls(log)
    assert (first.order, first.role, first.call.prompt.text, first.fault) == ("init/0", "proposer", "p", None)
    assert (second.order, second.fault) == ("g1/hill/0", fault)
