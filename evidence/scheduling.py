"""Chooses the next units of a comparison from its progress. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from .experiment import Experiment, Measure, is_learned
from .plan import Job


class JobPhase(StrEnum):
    """The state of a run or a measure."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    BUDGET = "out of budget"
    STOPPED = "stopped"
    FAILED = "failed"


OVER = frozenset({JobPhase.DONE, JobPhase.BUDGET, JobPhase.STOPPED, JobPhase.FAILED})


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkUnit:
    """One process: a job's search, or one measure of its elite."""

    job: Job
    measure: Measure | None = None

    @property
    def name(self) -> str:
        """The name of its log files and of its entry in the journal."""
        if self.measure is None:
            return self.job.name
        return f"{self.job.name}.{''.join(letter if letter.isalnum() else '-' for letter in self.measure.name)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The state of each unit, by (job, measure); measure "" is the run itself. An absent unit waits."""

    phases: Mapping[tuple[str, str], JobPhase]
    settled: frozenset[str] = frozenset()  # beginnings whose p_0 and E* are known

    def phase(self, unit: WorkUnit) -> JobPhase:
        """The state of this unit."""
        return self.phases.get(key_of(unit), JobPhase.WAITING)

    def with_phase(self, unit: WorkUnit, phase: JobPhase) -> "Progress":
        """The progress with this state of the unit."""
        return replace(self, phases={**self.phases, key_of(unit): phase})


def key_of(unit: WorkUnit) -> tuple[str, str]:
    """(job, measure)."""
    return unit.job.name, unit.measure.name if unit.measure else ""


def units_of(experiment: Experiment, jobs: Sequence[Job], *, measure: bool) -> tuple[WorkUnit, ...]:
    """All units in the order of preference, seed by seed."""
    found = []
    for job in jobs:
        found.append(WorkUnit(job=job))
        if measure and not is_learned(job.arm):     # a training measures itself
            found += [WorkUnit(job=job, measure=each) for each in experiment.measures_of(job.task.name, job.arm.name)]
    return tuple(found)


def choose(units: Sequence[WorkUnit], progress: Progress, *, free: int) -> tuple[WorkUnit, ...]:
    """The next units to start, at most `free`. Empty if all wait for a running unit."""
    ready = [unit for unit in units if progress.phase(unit) is JobPhase.WAITING and _may_start(unit, progress)]
    return tuple(ready[: max(0, free)])


def _may_start(unit: WorkUnit, progress: Progress) -> bool:
    if unit.measure is not None:
        return progress.phase(WorkUnit(job=unit.job)) is JobPhase.DONE
    return unit.job.leads or unit.job.beginning in progress.settled


def give_up(units: Sequence[WorkUnit], progress: Progress) -> tuple[WorkUnit, ...]:
    """The units that can no longer start: followers of a leader that ended before it settled p_0 and E*, and
    measures of a run that was not completed."""
    ended = {
        unit.job.beginning
        for unit in units
        if unit.measure is None and unit.job.leads and progress.phase(unit) in OVER - {JobPhase.DONE}
    } - progress.settled
    waiting = [unit for unit in units if progress.phase(unit) is JobPhase.WAITING]
    runs = [unit for unit in waiting if unit.measure is None and not unit.job.leads and unit.job.beginning in ended]
    given_up = {unit.job.name for unit in runs}
    measures = [
        unit
        for unit in waiting
        if unit.measure is not None
        and (unit.job.name in given_up or progress.phase(WorkUnit(job=unit.job)) in OVER - {JobPhase.DONE})
    ]
    return (*runs, *measures)
