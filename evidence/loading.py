"""Loads the evidence of a report: single runs, or a comparison with its measures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..core.errors import StoreError
from ..core.programs.program_text import digest
from ..core.text import one_line
from ..core.values import JSON
from ..memory.audits import read_audit
from ..memory.run_status import status_of
from ..memory.runs import is_run
from ..memory.store import RunStore
from .baseline_rows import BaselineRow
from .experiment import Experiment, is_learned
from .folder import ComparisonFolder, Measured
from .plan import list_jobs
from .records import RunRecord, read_record
from .trainings import training_of

OWN_FINAL = "the run's own"  # measure: the final measure of a run itself, on held-out seeds


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """An elite's result on held-out episodes. `fitness` is under the reference evaluator.

    `success` and `successes` are None and 0 if the task has no success predicate.
    """

    success: float | None
    fitness: float | None
    episodes: int
    successes: int
    mean_return: float | None = None    # None if the task has no rewards


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Runs with the measures of their elites. `missing` holds the reasons why planned runs are absent."""

    title: str
    records: tuple[RunRecord, ...]
    measured: Mapping[tuple[str, str], Measured] = field(default_factory=dict)  # by (run, measure)
    missing: Mapping[str, str] = field(default_factory=dict)  # by run
    experiment: Experiment | None = None
    baselines: tuple[BaselineRow, ...] = ()     # learned ones, which no statistic counts

    @property
    def used_records(self) -> tuple[RunRecord, ...]:
        """The runs that the statistics use: those that are done; all if none is done."""
        return tuple(record for record in self.records if record.status == "done") or self.records

    def measures_of(self, run: str) -> dict[str, Measured]:
        """The measures of a run's elite, by the measure's name."""
        return {measure: found for (job, measure), found in self.measured.items() if job == run}

    def held_out_of(self, record: RunRecord) -> dict[str, HeldOut]:
        """Results on held-out seeds: the comparison's measures, else the run's own final measure."""
        found = {
            name: HeldOut(
                success=measured.success,
                fitness=measured.fitness,
                episodes=len(measured.episodes),
                successes=sum(bool(episode["success"]) for episode in measured.episodes),
                mean_return=measured.mean_return,
            )
            for name, measured in self.measures_of(record.name).items()
        }
        final = record.final
        if found or final is None or self.measured:
            return found
        return {
            OWN_FINAL: HeldOut(
                success=final.elite_success,
                fitness=final.elite_fitness,
                episodes=final.episodes,
                successes=round((final.elite_success or 0.0) * final.episodes),
                mean_return=final.elite_return,
            )
        }


def load_run(folder: Path) -> RunRecord:
    """One run, live or not. Raises UsageError, StoreError."""
    with RunStore.read(folder) as store:
        entries = tuple(store.facts_after(0))
    wall_s = status_of(entries).active_s
    facts = tuple(entry.fact for entry in entries)
    record = read_record(facts, name=folder.name, folder=str(folder), wall_s=wall_s)
    audit = read_audit(folder)
    if audit is None or record.evaluator is None or audit.evaluator != digest(record.evaluator):
        return record       # an audit of another evaluator says nothing about this run
    return replace(record, audit=audit)


def load_runs(folders: Sequence[Path]) -> Evidence:
    """Single runs as evidence. Runs with the same name get their folder's path as the name."""
    records = [load_run(folder) for folder in folders]
    names = [record.name for record in records]
    named = [record if names.count(record.name) == 1 else replace(record, name=record.folder) for record in records]
    title = named[0].name if len(named) == 1 else f"{len(named)} runs"
    return Evidence(title=title, records=tuple(_with_tasks(named)))


def _with_tasks(records: Sequence[RunRecord]) -> list[RunRecord]:
    """The records with a task for each domain and options, named by what differs: runs in one task are compared."""
    named = []
    for record in records:
        others = [_task_settings(one) for one in records if one.domain == record.domain]
        own = _task_settings(record)
        differing = [key for key in own if any(other.get(key) != own[key] for other in others)]
        words = ", ".join(f"{key} = {own[key]}" for key in differing)
        named.append(replace(record, task=one_line(f"{record.domain}: {words}", 160) if words else record.domain))
    return named


def _task_settings(record: RunRecord) -> dict[str, JSON]:
    """What makes two runs of a domain incomparable: the domain's options, and the episodes per candidate."""
    options = record.settings.get("options")
    return {"episodes": record.settings.get("n_roll"), **(options if isinstance(options, Mapping) else {})}


def load_comparison(folder: ComparisonFolder) -> Evidence:
    """A comparison, done or not. A run that cannot be read is in `missing`, with the reason."""
    experiment = folder.plan()
    last = {line.job: f"{line.event}: {line.message}".rstrip(": ") for line in folder.journal()}
    records, missing, baselines = [], {}, []
    for job in list_jobs(experiment):
        path = folder.run_of(job)
        training = training_of(path) if is_learned(job.arm) else None
        if training is not None:
            baselines.append(replace(training.row(path), method=job.arm.name))
            continue
        if not is_run(path):
            missing[job.name] = last.get(job.name, "not begun")
            continue
        try:
            record = load_run(path)
        except StoreError as error:
            missing[job.name] = str(error)
            continue
        records.append(replace(record, name=job.name, task=job.task.name, arm=job.arm.name))
    return Evidence(
        title=experiment.title or experiment.name,
        records=tuple(records),
        measured=folder.measures(),
        missing=missing,
        experiment=experiment,
        baselines=tuple(baselines),
    )
