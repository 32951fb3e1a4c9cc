"""Carries out a comparison: `memento run`, `resume` and `evaluate` as processes, in parallel up to a limit.

A failed process fails its run and nothing else. An interrupted comparison stops its processes as Ctrl-C does; they
lose nothing, and the next call continues them.
"""

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import MementoError, StoreError
from ..core.events import EpisodeEnded, RunResumed, RunStarted, RunStopped, StageEntered
from ..core.ports import Clock
from ..core.text import one_line
from ..memory.lock import is_locked
from ..memory.run_status import status_of
from ..memory.runs import is_run
from ..memory.store import RunStore
from ..settings import Settings, usable_cpus
from .experiment import Experiment, is_learned
from .folder import ComparisonFolder, Measured
from .plan import list_jobs, measure_arguments, measure_seed, measured_seeds, resume_arguments, run_arguments
from .scheduling import OVER, JobPhase, Progress, WorkUnit, choose, give_up, key_of, units_of
from .trainings import training_named, training_of

POLL_S = 1.0
ALL_FAULTED = 1     # the exit code of memento evaluate where the policy failed in every episode: a result
WORDS = ("traceback", "printed", "stages", "report")    # of an episode, by which the policy explains itself
STOP_S = 30.0  # that a run has to stop before it is killed
PROGRAM = (sys.executable, "-P", "-m", "memento")
SETTLING = (RunStarted, RunStopped, RunResumed, StageEntered)
LOST_MEASURE = "its run was not completed"
_PHASES = {"done": JobPhase.DONE, "budget": JobPhase.BUDGET, "stopped": JobPhase.STOPPED}
OnPhase = Callable[[WorkUnit, JobPhase, str], None]
"""Called when a unit starts or ends, with a message on the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How the work is distributed: parallel processes, parallel rollouts in each, and the cluster for these, if any."""

    jobs: int
    workers: int
    measure: bool = True
    cluster: str | None = None
    mixed: bool = False
    trust: bool = False     # also runs that this installation did not write are continued


def default_effort(
    *, jobs: int | None, workers: int | None, measure: bool = True, cluster: str | None = None,
    mixed: bool = False, trust: bool = False,
) -> Effort:
    """The given numbers; by default one rollout at a time per process, and one process per processor."""
    each = workers or 1
    jobs = jobs or max(1, usable_cpus() // each)
    return Effort(jobs=jobs, workers=each, measure=measure, cluster=cluster, mixed=mixed, trust=trust)


class Comparing:
    """Carries out one comparison."""

    def __init__(
        self,
        folder: ComparisonFolder,
        experiment: Experiment,
        settings: Mapping[str, Settings],
        *,
        effort: Effort,
        clock: Clock,
        on_phase: OnPhase,
        tick: Callable[[Progress], None] = lambda progress: None,
        program: Sequence[str] = PROGRAM,
    ) -> None:
        self._folder, self._settings, self._effort = folder, settings, effort
        self._clock, self._on_phase, self._tick, self._program = clock, on_phase, tick, tuple(program)
        self.jobs = list_jobs(experiment)
        self._experiment = experiment
        self.units = units_of(experiment, self.jobs, measure=effort.measure)
        self.progress = self._found()

    async def run(self) -> Progress:
        """Do the remaining work; returns the final state of every unit."""
        running: dict[asyncio.Task[tuple[JobPhase, str]], WorkUnit] = {}
        try:
            while True:
                self._settle()
                for unit in give_up(self.units, self.progress):
                    self._note(unit, JobPhase.FAILED, _why_lost(unit))
                for unit in choose(self.units, self.progress, free=self._effort.jobs - len(running)):
                    self._note(unit, JobPhase.RUNNING, "")
                    running[asyncio.create_task(self._carry_out(unit), name=unit.name)] = unit
                if not running:
                    return self.progress
                done, _ = await asyncio.wait(running, timeout=POLL_S, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    unit = running.pop(task)
                    self._note(unit, *task.result())
                self._tick(self.progress)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    # ------------------------------------------------------------------------------- bookkeeping

    def _found(self) -> Progress:
        """The runs and measures that earlier calls completed. What failed or stopped is tried again."""
        phases = {}
        measured = self._folder.measures()
        for unit in self.units:
            if is_learned(unit.job.arm):
                if self._is_trained(unit):
                    phases[key_of(unit)] = JobPhase.DONE
            elif unit.measure is None:
                with suppress(StoreError):  # a run that cannot be read fails when it is started
                    if is_run(self._folder.run_of(unit.job)) and self._status(unit) is JobPhase.DONE:
                        phases[key_of(unit)] = JobPhase.DONE
            elif self._fresh(unit, measured.get(key_of(unit))):
                phases[key_of(unit)] = JobPhase.DONE
        return Progress(phases=phases)

    def _fresh(self, unit: WorkUnit, measured: Measured | None) -> bool:
        assert unit.measure is not None
        return (
            measured is not None
            and measured.seed == measure_seed(unit.job, unit.measure)
            and measured.skip == unit.measure.skip
            and len(measured.result["per_episode"]) == unit.measure.episodes
        )

    def _status(self, unit: WorkUnit) -> JobPhase:
        with RunStore.read(self._folder.run_of(unit.job)) as store:
            status = status_of(store.facts_after(0, only=SETTLING)).status
        return _PHASES.get(status, JobPhase.FAILED)

    def _settle(self) -> None:
        """Store p_0 and E* of every leader that has settled them."""
        for unit in self.units:
            job = unit.job
            if unit.measure is None and job.leads and job.beginning not in self.progress.settled:
                phase = self.progress.phase(unit)
                begun = None
                with suppress(StoreError):  # its tables may not exist yet; the run's own process reports errors
                    begun = self._folder.settle(job) if phase is JobPhase.RUNNING or phase in OVER else None
                if begun is not None:
                    settled = self.progress.settled | {job.beginning}
                    self.progress = Progress(phases=self.progress.phases, settled=settled)

    def _note(self, unit: WorkUnit, phase: JobPhase, message: str) -> None:
        self.progress = self.progress.with_phase(unit, phase)
        self._folder.note(at=self._clock.now(), job=unit.name, event=str(phase), message=message)
        self._on_phase(unit, phase, message)

    # ------------------------------------------------------------------------------- one process

    async def _carry_out(self, unit: WorkUnit) -> tuple[JobPhase, str]:
        """Run one unit to its end; an error is returned as a message, not raised."""
        try:
            if is_learned(unit.job.arm):
                return await self._train(unit)
            return await (self._search(unit) if unit.measure is None else self._measure(unit))
        except (MementoError, OSError) as error:
            return JobPhase.FAILED, str(error)

    async def _train(self, unit: WorkUnit) -> tuple[JobPhase, str]:
        """Train a learned baseline, which measures itself, and keep its measure."""
        folder = self._folder.run_of(unit.job)
        await _until_unlocked(folder)
        if folder.exists() and training_of(folder) is None:
            shutil.rmtree(folder)  # killed before its first line
        arguments = training_named(unit.job.arm.method).arguments(
            self._experiment, unit.job, runs=self._folder.runs
        )
        if folder.exists():
            arguments = ["resume", str(folder), "--json", *(["--trust"] if self._effort.trust else [])]
        code, _ = await self._process(unit, arguments)
        if code != 0:
            return JobPhase.FAILED, self._error_of(unit, code)
        measured = training_named(unit.job.arm.method).measured(self._experiment, unit.job, folder)
        if measured is None:
            return JobPhase.STOPPED, ""
        self._folder.append_measured(measured)
        return JobPhase.DONE, ""

    def _is_trained(self, unit: WorkUnit) -> bool:
        """Whether a training is done and its measure kept."""
        folder = self._folder.run_of(unit.job)
        if training_of(folder) is None:
            return False
        with suppress(StoreError):  # one that cannot be read fails when it is started
            measured = training_named(unit.job.arm.method).measured(self._experiment, unit.job, folder)
            return measured is not None and (measured.job, measured.measure) in self._folder.measures()
        return False

    async def _search(self, unit: WorkUnit) -> tuple[JobPhase, str]:
        folder = self._folder.run_of(unit.job)
        await _until_unlocked(folder)
        if is_run(folder) and not self._has_begun(folder):
            shutil.rmtree(folder)  # killed before its first fact: nothing is in it
        if is_run(folder):
            if self._status(unit) is JobPhase.DONE:
                return JobPhase.DONE, ""
            arguments = resume_arguments(self._experiment, unit.job, folder, trust=self._effort.trust)
        else:
            beginning = None if unit.job.leads else self._folder.beginning(unit.job)
            arguments = run_arguments(self._experiment, unit.job, beginning, runs=self._folder.runs)
        code, _ = await self._process(unit, arguments)
        if code != 0:
            return JobPhase.FAILED, self._error_of(unit, code)
        return self._status(unit), ""

    def _has_begun(self, folder: Path) -> bool:
        with RunStore.read(folder) as store:
            return store.last_seq > 0

    async def _measure(self, unit: WorkUnit) -> tuple[JobPhase, str]:
        job, measure = unit.job, unit.measure
        assert measure is not None
        path, program = self._folder.elite_file(job)
        self._require_held_out(unit)
        searched = self._settings[job.name].options
        code, output = await self._process(unit, measure_arguments(self._experiment, job, measure, path, searched))
        if code != 0 and not (code == ALL_FAULTED and output.strip()):      # 1 without a result is Python's own
            return JobPhase.FAILED, self._error_of(unit, code)
        self._folder.append_measured(
            Measured(
                job=job.name,
                measure=measure.name,
                program=program.digest,
                seed=measure_seed(job, measure),
                skip=measure.skip,
                result=_without_words(_last_object(output)),
            )
        )
        return JobPhase.DONE, ""

    def _require_held_out(self, unit: WorkUnit) -> None:
        """Raise StoreError if the search used one of the measure's seeds: the measure would not be held out."""
        assert unit.measure is not None
        held_out = measured_seeds(self._experiment, unit.job, unit.measure)
        with RunStore.read(self._folder.run_of(unit.job)) as store:
            seen = {fact.episode.seed for fact in store.facts(only=(EpisodeEnded,)) if isinstance(fact, EpisodeEnded)}
        if any(seed in held_out for seed in seen):
            raise StoreError(f"the search of {unit.job.name!r} used a seed of the measure {unit.measure.name!r}")

    async def _process(self, unit: WorkUnit, arguments: Sequence[str]) -> tuple[int, str]:
        """Run the program in a separate session, its output in files; returns exit code and stdout."""
        out, err = (self._folder.log_of(unit.name).with_name(f"{unit.name}.{end}") for end in ("out", "err"))
        where = [] if is_learned(unit.job.arm) else self._where()
        for each in (out, err):
            each.unlink(missing_ok=True)    # a link or a pipe of a folder from elsewhere included
        with out.open("xb") as stdout, err.open("xb") as stderr:
            process = await asyncio.create_subprocess_exec(
                *self._program, *arguments, *where,
                stdin=asyncio.subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True,
                env=clean_environment(os.environ),
            )
            try:
                code = await process.wait()  # no deadline: a search may take days
            except asyncio.CancelledError:
                await _stop(process)
                raise
        return code, out.read_text(encoding="utf-8", errors="replace")

    def _where(self) -> list[str]:
        """The flags for where a search or a measure rolls out."""
        cluster = [] if self._effort.cluster is None else ["--cluster", self._effort.cluster]
        mixed = ["--mixed-nodes"] if self._effort.mixed else []
        return ["--workers", str(self._effort.workers), *cluster, *mixed]

    def _error_of(self, unit: WorkUnit, code: int) -> str:
        log = self._folder.log_of(unit.name).with_name(f"{unit.name}.err")
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        message = one_line(lines[-1], 300).removeprefix("memento: ") if lines else f"see {log}"
        return message if code > 0 else f"killed by signal {-code}; {message}"


async def _until_unlocked(folder: Path) -> None:
    """Wait for a run that outlived an earlier comparison, or that a user resumed."""
    while is_locked(folder):  # noqa: ASYNC110 - the lock of another process gives no event
        await asyncio.sleep(POLL_S)


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Request a clean stop; after STOP_S seconds kill the whole process group."""
    if process.returncode is not None:
        return
    process.terminate()     # processes in the background ignore SIGINT
    try:
        async with asyncio.timeout(STOP_S):
            await process.wait()
    except TimeoutError:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without MEMENTO_ settings: the plan alone determines a comparison."""
    return {key: value for key, value in environment.items() if not key.startswith("MEMENTO_")}


def _without_words(result: dict[str, Any]) -> dict[str, Any]:
    """The figures alone: what programs say would fill the folder, and nothing reads it."""
    episodes = [
        {key: value for key, value in episode.items() if key not in WORDS} for episode in result.get("per_episode", ())
    ]
    return {**result, "per_episode": episodes}


def _last_object(output: str) -> dict[str, Any]:
    lines = output.strip().splitlines()
    try:
        found: dict[str, Any] = json.loads(lines[-1])
    except (IndexError, ValueError) as error:
        raise StoreError("memento evaluate --json ended without a JSON object") from error
    return found


def _why_lost(unit: WorkUnit) -> str:
    if unit.measure is None:
        return "the run that settles p_0 and the evaluator for its seed failed"
    return LOST_MEASURE
