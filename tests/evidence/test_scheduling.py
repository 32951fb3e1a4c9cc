"""The order of work: within the limit, nothing before its dependencies, and everything ends."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from memento.evidence.experiment import build_experiment
from memento.evidence.plan import list_jobs
from memento.evidence.scheduling import OVER, JobPhase, Progress, WorkUnit, choose, give_up, key_of, units_of

EXPERIMENT = build_experiment(
    {"domains": ["hanoi", "kitchen"], "methods": ["memento", "random", "eureka"], "seeds": "1-3"}, name="t", origin="t"
)
JOBS = list_jobs(EXPERIMENT)
UNITS = units_of(EXPERIMENT, JOBS, measure=True)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), free=st.integers(1, 5), failing=st.floats(0, 0.6))
def test_everything_ends_and_nothing_begins_too_early(seed, free, failing):
    draw = random.Random(seed)
    progress, running, started = Progress(phases={}), [], []
    for _ in range(10_000):
        for unit in give_up(UNITS, progress):
            assert progress.phase(unit) is JobPhase.WAITING
            progress = progress.with_phase(unit, JobPhase.FAILED)
        for unit in choose(UNITS, progress, free=free - len(running)):
            if unit.measure is not None:
                assert progress.phase(WorkUnit(job=unit.job)) is JobPhase.DONE
            else:
                assert unit.job.leads or unit.job.beginning in progress.settled
            progress = progress.with_phase(unit, JobPhase.RUNNING)
            running.append(unit)
            started.append(key_of(unit))
        assert len(running) <= free
        if not running:
            break
        unit = running.pop(draw.randrange(len(running)))
        fails = draw.random() < failing
        if unit.measure is None and unit.job.leads and not (fails and draw.random() < 0.5):
            progress = Progress(phases=progress.phases, settled=progress.settled | {unit.job.beginning})
        end = draw.choice([JobPhase.FAILED, JobPhase.BUDGET]) if fails else JobPhase.DONE
        progress = progress.with_phase(unit, end)
    assert {progress.phase(unit) for unit in UNITS} <= OVER
    assert len({*started}) == len(started), "nothing is done twice"
    if failing == 0:
        assert {progress.phase(unit) for unit in UNITS} == {JobPhase.DONE}


def test_a_failed_run_holds_up_no_other():
    progress = Progress(phases={}, settled=frozenset(job.beginning for job in JOBS))
    progress = progress.with_phase(WorkUnit(job=JOBS[0]), JobPhase.FAILED)
    lost = give_up(UNITS, progress)
    assert lost
    assert all(unit.job == JOBS[0] and unit.measure is not None for unit in lost)
    assert len(choose(UNITS, progress, free=100)) == len(JOBS) - 1


def test_followers_wait_for_their_own_leader_only():
    first = choose(UNITS, Progress(phases={}), free=100)
    assert all(unit.job.leads for unit in first)
    settled = Progress(phases={}, settled=frozenset({JOBS[0].beginning}))
    more = {unit.job.name for unit in choose(UNITS, settled, free=100)}
    assert more - {unit.job.name for unit in first} == {
        job.name for job in JOBS if not job.leads and job.beginning == JOBS[0].beginning
    }


def test_a_seed_is_finished_before_the_next_is_begun():
    progress = Progress(phases={}, settled=frozenset(job.beginning for job in JOBS))
    [first] = choose(UNITS, progress, free=1)
    progress = progress.with_phase(first, JobPhase.DONE)
    [second] = choose(UNITS, progress, free=1)
    assert second.job == first.job and second.measure is not None, "its measure comes next"
