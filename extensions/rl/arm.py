"""A training as an arm of a comparison: `memento baseline` trains and measures them on the same unseen episodes.

The arm's `set` names the flags of the training (steps, reward, environments, …) and its hyperparameters (sac.KEY,
train.KEY). It has neither a first program nor an evaluator, and is no leader.
"""

from pathlib import Path
from typing import Any, Final

from ...core.errors import UsageError, no_such
from ...core.extras import require
from ...core.provenance import GIVEN, UNKNOWN, Provenance
from ...core.values import JSON
from ...domains import load as load_domain
from ...evidence.experiment import Experiment, Measure, is_learned
from ...evidence.folder import Measured
from ...evidence.plan import Job, list_jobs, measure_seed, measured_options, salt_of, text_of
from ...settings import OPTIONS
from .log import (
    BaselineRecord,
)
from .settings import HYPER, METHOD, TRAINING, BaselineArguments, build

NUMBERS: Final = ("steps", "environments", "processes", "checkpoint", "evaluate_every")
FLAGS: Final = (*NUMBERS, "reward")


def learned_measure(experiment: Experiment, job: Job) -> Measure:
    """The measure of a learned arm: the first one on the task as it is searched. Raises UsageError without one."""
    found = experiment.measures_of(job.task.name, job.arm.name)
    for measure in found:
        if not measure.options:
            return measure
    raise UsageError(f"the arm {job.arm.name!r} is measured on its own task: add a measure without options")


def given_of(experiment: Experiment, job: Job, provenance: Provenance = UNKNOWN) -> BaselineArguments:
    """What `memento baseline` gets for this job. Raises UsageError."""
    measure = learned_measure(experiment, job)
    flags: dict[str, Any] = {key: value for key, value in job.arm.settings.items() if key in FLAGS}
    for key, value in job.arm.settings.items():
        if key not in FLAGS and key.partition(".")[0] not in (HYPER, TRAINING):
            raise no_such("setting", key, (*FLAGS, f"{HYPER}.batch", f"{TRAINING}.horizon"))
        if key in NUMBERS and (isinstance(value, bool) or not isinstance(value, int)):
            raise UsageError(f"{key} is a whole number, not {value!r}")
    if "steps" not in flags:
        raise UsageError("steps is missing: set = { steps = 300000 }")
    domain = load_domain(job.task.domain, provenance)
    options = measured_options(
        domain.options({**job.task.options, **job.arm.options}, preset=experiment.preset), measure
    )
    learning: dict[str, JSON] = {f"{TRAINING}.physics": "fast"} if "physics" in options else {}
    learning |= {key: value for key, value in job.arm.settings.items() if key not in FLAGS}
    return BaselineArguments(
        domain=job.task.domain, seed=job.seed, salt=salt_of(experiment), flags={}, episodes=measure.episodes,
        measure_seed=measure_seed(job, measure), **flags,
        assignments=[
            *(f"{OPTIONS}.{key}={text_of(f'{OPTIONS}.{key}', value)}" for key, value in options.items()),
            *(f"{key}={text_of(key, value)}" for key, value in learning.items()),
        ],
    )


def check_learned(experiment: Experiment, provenance: Provenance = UNKNOWN, *, to_run: bool = True) -> None:
    """Raise UsageError for everything that `memento baseline` would refuse; `to_run`: also without its package."""
    for job in list_jobs(experiment):
        if is_learned(job.arm):
            if to_run:
                require("rl", f"the arm {job.arm.name}")
            try:
                build(given_of(experiment, job, provenance), provenance)
            except UsageError as error:
                raise UsageError(f"{job.name}: {error}") from None


def training_arguments(experiment: Experiment, job: Job, *, runs: Path) -> list[str]:
    """The arguments of `memento baseline` for a job of a comparison that was checked."""
    given = given_of(experiment, job, GIVEN)
    flags: dict[str, object] = {
        "domain": given.domain, "runs": runs, "name": job.name, "steps": given.steps, "seed": given.seed,
        "environments": given.environments, "processes": given.processes, "checkpoint": given.checkpoint,
        "episodes": given.episodes, "measure-seed": given.measure_seed, "salt": given.salt,
    }
    if given.reward is not None:
        flags["reward"] = given.reward
    if given.evaluate_every is not None:
        flags["evaluate-every"] = given.evaluate_every
    return [
        "baseline", METHOD, "--json", *(word for key, value in flags.items() for word in (f"--{key}", str(value))),
        *(word for assignment in given.assignments for word in ("--set", assignment)),
    ]


def measured_of(experiment: Experiment, job: Job, record: BaselineRecord) -> Measured | None:
    """The measure of a training that is done, as one of the comparison's; None if it is not done."""
    if record.result is None:
        return None
    measure = learned_measure(experiment, job)
    return Measured(
        job=job.name, measure=measure.name, program="", seed=measure_seed(job, measure), skip=measure.skip,
        result={"per_episode": list(record.result["episodes"])},
    )
