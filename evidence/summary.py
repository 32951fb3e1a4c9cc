"""The results of a comparison so far, one row per task, model and arm. Pure, and light enough for a live table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, sqrt

from ..core.text import plus_minus
from ..core.values import JSON
from .experiment import Experiment, is_learned
from .folder import Measured
from .plan import Job
from .scheduling import JobPhase, Progress, WorkUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStanding:
    """The state of a run, with its elite's F and S on the search's own episodes."""

    generation: int | None = None
    initial_fitness: float | None = None
    fitness: float | None = None
    success: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One task, model and arm. Means are over the runs that are done; F is under the runs' own evaluators."""

    task: str
    model: str
    arm: str
    runs: int
    phases: Mapping[JobPhase, int]
    running: tuple[tuple[int, RunStanding], ...]  # by seed
    fitness: tuple[float, ...]
    success: tuple[float, ...]
    measures: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # S on held-out seeds, by measure

    @property
    def done(self) -> int:
        """How many runs are done."""
        return self.phases.get(JobPhase.DONE, 0)

    def as_json(self) -> dict[str, JSON]:
        """The row as JSON, for scripts."""
        measures: dict[str, JSON] = {name: _both(values) for name, values in self.measures.items()}
        return {
            "task": self.task,
            "model": self.model,
            "arm": self.arm,
            "runs": self.runs,
            "done": self.done,
            "failed": self.phases.get(JobPhase.FAILED, 0),
            "fitness": _both(self.fitness),
            "success": _both(self.success),
            "unseen_success": measures,
        }


def rows_of(
    experiment: Experiment,
    jobs: Sequence[Job],
    progress: Progress,
    standings: Mapping[str, RunStanding],
    measured: Mapping[tuple[str, str], Measured],
) -> tuple[Row, ...]:
    """One row per task, model and arm, in the experiment's order."""
    return tuple(
        _row(found, progress, standings, measured)
        for task in experiment.tasks
        for model in experiment.models
        for arm in experiment.arms
        if (found := [job for job in jobs if (job.task, job.model, job.arm) == (task, arm.model or model, arm)])
    )


def _row(
    jobs: Sequence[Job],
    progress: Progress,
    standings: Mapping[str, RunStanding],
    measured: Mapping[tuple[str, str], Measured],
) -> Row:
    phases = {job.name: progress.phase(WorkUnit(job=job)) for job in jobs}
    done = [standings[job.name] for job in jobs if phases[job.name] is JobPhase.DONE and job.name in standings]
    measures: dict[str, list[float]] = {}
    for job in jobs:
        for (name, measure), found in measured.items():
            if name == job.name and phases[name] is JobPhase.DONE and found.success is not None:
                measures.setdefault(measure, []).append(found.success)
    return Row(
        task=jobs[0].task.name,
        model="" if is_learned(jobs[0].arm) else jobs[0].model,
        arm=jobs[0].arm.name,
        runs=len(jobs),
        phases={phase: list(phases.values()).count(phase) for phase in JobPhase},
        running=tuple(
            (job.seed, standings.get(job.name, RunStanding())) for job in jobs if phases[job.name] is JobPhase.RUNNING
        ),
        fitness=tuple(one.fitness for one in done if one.fitness is not None),
        success=tuple(one.success for one in done if one.success is not None),
        measures={name: tuple(values) for name, values in measures.items()},
    )


def mean_and_std(values: Sequence[float]) -> tuple[float, float | None] | None:
    """The mean and the sample standard deviation; one value has no deviation."""
    if not values:
        return None
    mean = fsum(values) / len(values)
    if len(values) == 1:
        return mean, None
    return mean, sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def spread(values: Sequence[float]) -> str:
    """mean ± std, as the paper prints it."""
    return plus_minus(mean_and_std(values))


def _both(values: Sequence[float]) -> JSON:
    found = mean_and_std(values)
    return None if found is None else {"n": len(values), "mean": found[0], "std": found[1]}
