"""`memento audit`: rolls out programs that do not do the task, and counts how many an evaluator likes."""

import asyncio
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.audits import BRED, SEARCH, STAGED, Audit, AuditedProgram, Offender, row_of, rows_of, worst_of
from ..core.errors import UsageError
from ..core.events import CandidateScored, EvaluatorChosen, RunResumed, RunStarted
from ..core.ports import Auditable, AuditProgram, Domain, ProbeTask, RollTask, interpreter_of, shelf_of
from ..core.programs.program_text import digest
from ..core.provenance import GIVEN
from ..core.recording_file import trajectory_path
from ..core.values import JSON, Episode, Program, Score
from ..domains import import_string
from ..domains import load as load_domain
from ..memory.runs import find_run
from ..memory.store import RunStore
from ..runtime.rollouts.pool import ProcessPool
from ..settings import settings_in
from ..settings.audit import AuditSettings
from ..settings.evaluate import given_options
from .breeding import Breeder
from .given_files import read_evaluator
from .trust import trusted_settings

# The evaluator that an audit examines: the domain's reference evaluator, a file's, or the one a run chose.


REFERENCE = "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """An evaluator with the completed options of its task. `run` is the folder of the run that chose it."""

    program: Program
    name: str
    options: Mapping[str, JSON]
    run: Path | None = None
    candidates: tuple[AuditedProgram, ...] = ()     # of that run, unless its options are changed


def find_evaluator(
    domain_name: str, evaluator: str, *, flags: Mapping[str, JSON], assignments: Sequence[str], runs_dir: Path,
    trusted: bool,
) -> Examined:
    """The evaluator that `evaluator` names. A run's is examined under the run's options. Raises UsageError."""
    domain = load_domain(domain_name, GIVEN)
    given = given_options(domain.name, flags=flags, assignments=assignments)
    if evaluator == REFERENCE or evaluator.endswith(".py"):
        options = domain.options(given, preset="paper")
        return Examined(program=read_evaluator(evaluator, domain), name=Path(evaluator).name, options=options)
    folder = find_run(runs_dir, evaluator)
    with RunStore.read(folder) as store:
        begun = tuple(store.facts(only=(RunStarted, RunResumed)))
        chosen = [
            fact.chosen.program for fact in store.facts(only=(EvaluatorChosen,))
            if isinstance(fact, EvaluatorChosen) and fact.final and fact.chosen.program is not None
        ]
        candidates = tuple(_rows_of_candidates(store)) if not given else ()
    settings = settings_in(begun)
    if settings is None or not chosen:
        raise UsageError(f"the run {folder.name!r} has chosen no evaluator yet: continue it, or name a file")
    started = next(fact for fact in begun if isinstance(fact, RunStarted))
    settings = trusted_settings(folder, started, settings, trusted=trusted, models=False)
    if settings.domain != domain_name:
        raise UsageError(
            f"the run {folder.name!r} has the domain {settings.domain!r}, not {domain_name!r}: name the run's domain"
        )
    options = domain.options({**settings.options, **given}, preset=settings.preset) if given else settings.options
    return Examined(program=chosen[-1], name=folder.name, options=options, run=folder, candidates=candidates)


def _rows_of_candidates(store: RunStore) -> Iterator[AuditedProgram]:
    """The search's own candidates, with F and S as in the log: each counts as one episode."""
    for fact in store.facts(only=(CandidateScored,)):
        assert isinstance(fact, CandidateScored)
        each = fact.candidate
        if each.fault is None and each.bound is None and each.success_rate is not None:
            yield AuditedProgram(
                name=each.id, kind=SEARCH, text=each.program.text, fitnesses=(each.fitness,),
                successes=(each.success_rate > 0,),
            )


PROBE_STEPS = 300       # of the idle and the random episode
Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditDone:
    """The result of an audit, and by name the texts of its worst programs; a run keeps those of its candidates."""

    audit: Audit
    texts: Mapping[str, str]
    options: Mapping[str, Mapping[str, JSON]]   # of the worst programs' episodes, by name


async def audit(settings: AuditSettings, report: Report | None = None) -> AuditDone:
    """Audit an evaluator; `report` is called with the numbers of programs judged and expected.

    Raises RolloutError if a simulator fails.
    """
    domain = load_domain(settings.domain, GIVEN)
    seeds = [settings.seed + index for index in range(settings.episodes)]
    written: Sequence[AuditProgram] = ()
    if isinstance(domain, Auditable):
        written = tuple(domain.audit_programs(settings.options, seeds=seeds))
    splits = {_split(each.options or settings.options): each.options or settings.options for each in written}
    splits[_split(settings.options)] = settings.options
    with tempfile.TemporaryDirectory(prefix="memento-audit-") as folder:
        async with ProcessPool(
            domain=import_string(settings.domain), splits=splits, workers=settings.workers, trajectories=Path(folder),
            python=interpreter_of(domain, settings.options, GIVEN),
        ) as pool:
            auditor = _Auditor(pool, settings, seeds, Path(folder), report, expected=len(written) + settings.programs)
            programs = await auditor.everything(domain, written)
    worst = worst_of(programs)
    options = {each.name: each.options or settings.options for each in written}
    return AuditDone(
        audit=_audit_of(settings, programs, worst, auditor.evaluator_faults),
        texts={each.name: each.text for each in worst if each.text is not None and each.kind != SEARCH},
        options={each.name: options.get(each.name, settings.options) for each in worst},
    )


def _split(options: Mapping[str, JSON]) -> str:
    return json.dumps(options, sort_keys=True)


class _Auditor:
    """Judges programs with one pool."""

    def __init__(
        self, pool: ProcessPool, settings: AuditSettings, seeds: Sequence[int], folder: Path, report: Report | None,
        *, expected: int,
    ) -> None:
        self._pool, self._settings, self._seeds, self._folder = pool, settings, seeds, folder
        self._report, self._judged, self._expected = report, 0, expected
        self.evaluator_faults = 0

    async def everything(self, domain: Domain, written: Sequence[AuditProgram]) -> list[AuditedProgram]:
        """Staged episodes, hand-written programs, then those bred from them."""
        programs = await self._stage()
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._program(each.name, each.kind, each.program.text, each.options))
                for each in written
            ]
        programs += [task.result() for task in tasks]
        # Programs that know other scenes cannot be bred here.
        founders = [made for made, each in zip(programs[-len(written):], written, strict=True) if each.options is None
                    ] if written else []
        programs += self._settings.candidates
        founders += self._settings.candidates
        breeder = Breeder(shelf_of(domain, self._settings.options), founders, seed=self._settings.seed)
        left = self._settings.programs
        while left > 0 and (batch := breeder.batch(left)):
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._program(name, BRED, text, None)) for name, text in batch]
            bred = [task.result() for task in tasks]
            breeder.take(bred)
            programs += bred
            left -= len(batch)
        return programs

    async def _stage(self) -> list[AuditedProgram]:
        """The idle and the random episode and those that the domain stages, each as a program of one episode."""
        probes = await self._pool.record_probes(ProbeTask(
            order="audit/staged", split=_split(self._settings.options), seed=self._seeds[0], steps=PROBE_STEPS,
        ))
        found = []
        for probe in probes:
            score = await self._score(probe.episode)
            found.append(AuditedProgram(
                name=probe.name, kind=STAGED, text=None, fitnesses=(score.fitness,),
                successes=(probe.episode.success,),
            ))
        return found

    async def _program(
        self, name: str, kind: str, text: str, options: Mapping[str, JSON] | None
    ) -> AuditedProgram:
        split = _split(options or self._settings.options)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._episode(RollTask(
                    order=f"audit/{name}/e{index}", program=Program(text), split=split, index=index, seed=seed,
                )))
                for index, seed in enumerate(self._seeds)
            ]
        results = [task.result() for task in tasks]
        self._judged += 1
        if self._report is not None:
            self._report(self._judged, self._expected)
        return AuditedProgram(
            name=name, kind=kind, text=text, fitnesses=tuple(fitness for _, fitness in results),
            successes=tuple(episode.success for episode, _ in results),
            faults=sum(episode.fault is not None for episode, _ in results),
        )

    async def _episode(self, task: RollTask) -> tuple[Episode, float]:
        episode = await self._pool.roll(task)
        if episode.fault is not None:
            self._drop(episode)
            return episode, 0.0
        return episode, (await self._score(episode)).fitness

    async def _score(self, episode: Episode) -> Score:
        score = await self._pool.score(self._settings.evaluator, episode)
        self.evaluator_faults += score.fault is not None
        self._drop(episode)
        return score

    def _drop(self, episode: Episode) -> None:
        """Delete the recording, so that a long audit does not fill the disk."""
        if episode.trajectory is not None:
            trajectory_path(self._folder, episode.trajectory).unlink(missing_ok=True)


def _audit_of(
    settings: AuditSettings, programs: Sequence[AuditedProgram], worst: Sequence[AuditedProgram], faults: int
) -> Audit:
    return Audit(
        domain=settings.domain, evaluator=digest(settings.evaluator), evaluator_name=settings.evaluator_name,
        episodes=settings.episodes, seed=settings.seed, bred=settings.programs, rows=rows_of(programs),
        total=row_of("all", programs), worst=tuple(_offender(each) for each in worst), evaluator_faults=faults,
    )


def _offender(program: AuditedProgram) -> Offender:
    best = max(range(len(program.fitnesses)), key=program.fitnesses.__getitem__)
    return Offender(
        name=program.name, kind=program.kind, fitness=program.fitness, hack=program.hack, best_episode=best,
        best_f=program.fitnesses[best], program=None if program.text is None else digest(Program(program.text)),
    )
