"""`memento rank`: the best programs of a run on fresh common episodes, which neither its search nor its final saw."""

import asyncio
import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ..agents.rollout_agents import scored
from ..core.errors import UsageError
from ..core.events import EvaluatorChosen
from ..core.order_ids import episode_id
from ..core.ports import Domain, Pool, RollTask, has_success, interpreter_of, is_compared
from ..core.recording_file import trajectory_path
from ..core.returns import return_of
from ..core.seeds import derive_seed, salted_seed
from ..core.step_limit import with_step_limit
from ..core.text import one_line
from ..core.values import JSON, Program
from ..domains import import_string, require_installed, require_same_simulator
from ..domains import load as load_domain
from ..memory.contenders import CHOSEN_FROM, Contender, contenders
from ..memory.fresh_file import FreshEpisode, FreshEpisodes, Key, digest_of, fresh_episodes
from ..memory.store import RunStore
from ..settings import Settings, usable_cpus
from ..settings.evaluate import RankSettings
from .cluster import Cluster, machines, noting_memory
from .history import Outline, naming_its_place, outline_of
from .rank_rows import rows_of
from .results import RankResult
from .run import versions
from .trust import trusted_settings
from .wiring import final_options, workers_of

SPLIT: Final = "rank"
ERROR: Final = 600      # characters of a fault
Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranked:
    """What is rolled out: the programs, the evaluators, and the seeds of the fresh episodes."""

    outline: Outline
    domain: Domain
    options: Mapping[str, JSON]
    programs: Sequence[Contender]
    evaluator: Program
    reference: Program | None       # None: the domain has none, or the run's own evaluator is it
    seeds: Sequence[int]

    @property
    def settings(self) -> Settings:
        """The settings of the run."""
        return self.outline.settings

    @property
    def under(self) -> str:
        """A digest of what the episodes depend on besides program and seed."""
        evaluators = [self.evaluator.digest, None if self.reference is None else self.reference.digest]
        alone = ["alone"] if self.outline.remembers else []
        text = json.dumps(
            [evaluators, dict(versions()), self.settings.step_limit_ms, self.options, *alone], sort_keys=True
        )
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def alone(self) -> "_Ranked":
        """The same with a process for every rollout, since the environment keeps something of earlier episodes."""
        return replace(self, outline=replace(self.outline, remembers=True))

    def key(self, program: Contender, index: int) -> Key:
        """The name of one episode in the file."""
        return program.program.digest, self.under, index, self.seeds[index]


async def rank(
    wanted: RankSettings, *, cluster: Cluster | None = None, report: Report | None = None
) -> RankResult:
    """Measure the best programs of a run on common fresh episodes, and rank them by their mean fitness.

    Episodes that the run's folder holds already are not rolled out again; `report` is called with the episodes done and
    all of them. Raises UsageError, StoreError for an unusable file of episodes, and RolloutError.
    """
    ranked = _selection(wanted)
    require_installed(ranked.settings.domain)
    rolled_out = 0
    with fresh_episodes(wanted.folder, digest_of(ranked.outline.started)) as file:
        if any(under == ranked.alone.under for _, under, _, _ in file.known):
            ranked = ranked.alone
        while missing := [
            (program, index) for index in range(wanted.episodes) for program in ranked.programs
            if ranked.key(program, index) not in file.known
        ]:
            with naming_its_place(ranked.outline.started):
                remembers = await _measure(ranked, missing, file, wanted, cluster, report)
            rolled_out += len(missing)
            ranked = ranked.alone if remembers else ranked      # what was measured before is measured again
        found = {
            each.candidate: [file.known[ranked.key(each, index)] for index in range(wanted.episodes)]
            for each in ranked.programs
        }
    rows = rows_of(ranked.programs, found)
    return RankResult(
        run=str(wanted.folder), domain=ranked.settings.domain, episodes=wanted.episodes, seed=wanted.seed,
        salt=wanted.salt, evaluator=ranked.settings.evaluator, best=rows[0].candidate,
        returned=next(row.candidate for row in rows if row.returned), rolled_out=rolled_out, programs=rows,
    )


def _selection(wanted: RankSettings) -> _Ranked:
    """What to roll out, from the run's log. Raises UsageError."""
    with RunStore.read(wanted.folder) as store:
        outline = outline_of(store)
        programs = contenders(store.facts(only=CHOSEN_FROM, texts=False), most=wanted.programs)
        chosen = [
            fact.chosen.program for fact in store.facts(only=(EvaluatorChosen,))
            if isinstance(fact, EvaluatorChosen) and fact.final
        ]
    settings = trusted_settings(
        wanted.folder, outline.started, outline.settings, trusted=wanted.trusted, models=False
    )
    outline = replace(outline, settings=settings)
    evaluator = chosen[-1] if chosen else None
    if not programs or evaluator is None:
        raise UsageError(
            f"the run {wanted.folder.name!r} has no p_0 and evaluator yet: there is nothing to rank; continue it with "
            f"memento resume {wanted.folder.name}"
        )
    with naming_its_place(outline.started):
        domain = load_domain(settings.domain, settings.provenance)
        require_same_simulator(domain, settings.options)
    reference = domain.reference_evaluator()
    root = settings.root_seed if wanted.salt is None else salted_seed(settings.root_seed, wanted.salt)
    return _Ranked(
        outline=outline, domain=domain, options=final_options(settings, domain), programs=programs,
        evaluator=evaluator, reference=None if reference == evaluator else reference,
        seeds=[derive_seed(root, SPLIT, wanted.seed + index) for index in range(wanted.episodes)],
    )


async def _measure(
    ranked: _Ranked, missing: Sequence[tuple[Contender, int]], file: FreshEpisodes, wanted: RankSettings,
    cluster: Cluster | None, report: Report | None,
) -> bool:
    """Roll the missing episodes out; each is in the file before it counts as done.

    Returns whether the environment was found to keep something of earlier episodes.
    """
    found: list[bool] = []
    settings, everything = ranked.settings, len(ranked.programs) * wanted.episodes
    workers = min(workers_of(settings, ranked.domain, wanted.workers or usable_cpus()), len(missing))
    if cluster is not None:
        cluster = replace(cluster, workers=min(cluster.workers or len(missing), len(missing)))
    with tempfile.TemporaryDirectory(prefix="memento-rank-") as folder:
        async with machines(cluster, isolated=settings.require_sandbox) as where, where.pool(
            domain=import_string(settings.domain),
            splits={SPLIT: ranked.options},
            workers=workers,
            trajectories=Path(folder),
            python=interpreter_of(ranked.domain, ranked.options, settings.provenance),
            stays=lambda _: True,
            compared=is_compared(ranked.domain, ranked.options),
            alone=ranked.outline.remembers, remembers=noting_memory(found),
        ) as pool, asyncio.TaskGroup() as group:
            # As many as roll out at once: a pool takes tasks in turn, so that scores would wait for all rollouts.
            places, done = asyncio.Semaphore(where.places or workers), everything - len(missing)

            async def one(program: Contender, index: int) -> None:
                nonlocal done
                async with places:
                    file.add(await _episode(pool, ranked, program, index, Path(folder)))
                done += 1
                if report is not None:
                    report(done, everything)

            for program, index in missing:
                group.create_task(one(program, index))
    return any(found)


async def _episode(pool: Pool, ranked: _Ranked, program: Contender, index: int, folder: Path) -> FreshEpisode:
    seed = ranked.seeds[index]
    order = episode_id(f"{SPLIT}/{program.candidate}", index)
    task = RollTask(order=order, program=program.program, split=SPLIT, index=index, seed=seed)
    episode = with_step_limit(await pool.roll(task), ranked.settings.step_limit_ms)
    fitness, reference, fault = 0.0, None if ranked.reference is None else 0.0, episode.fault
    if episode.fault is None:
        score = await scored(pool, ranked.evaluator, episode, lambda _: task)
        fitness, fault = score.fitness, score.fault
        if ranked.reference is not None:
            reference = (await scored(pool, ranked.reference, episode, lambda _: task)).fitness
    if episode.trajectory is not None:
        with suppress(OSError):     # on a cluster it is on another machine
            trajectory_path(folder, episode.trajectory).unlink(missing_ok=True)
    return FreshEpisode(
        program=program.program.digest, under=ranked.under, index=index, seed=seed, steps=episode.steps,
        ended_by=one_line(episode.ended_by, ERROR), fitness=fitness, reference=reference,
        success=episode.success if has_success(ranked.domain, ranked.options) else None,
        episode_return=return_of(episode),
        error=None if fault is None else one_line(f"{fault.kind}: {fault.message}", ERROR),
    )
