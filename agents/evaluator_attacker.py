"""Attacks of a run: one order is one attack on one evaluator."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from ..core.audits import BRED, AuditedProgram
from ..core.events import AttackEvaluator, EvaluatorAttacked
from ..core.examined import AttackCount
from ..core.ports import Auditable, Domain, Pool, RollTask
from ..core.recording_file import trajectory_path
from ..core.values import JSON, Episode, EpisodeNotes, Exploit, Probe, Program

KEPT: Final = 3         # of the fittest exploits of an attack, with their recordings
GIVEN: Final = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """A program with its one episode under the evaluator."""

    program: AuditedProgram
    episode: Episode


class Breeding(Protocol):
    """Makes new programs from those that were judged."""

    def batch(self, most: int) -> tuple[tuple[str, str], ...]:
        """Names and texts of at most `most` new programs; none where no new ones can be made."""

    def take(self, programs: Sequence[AuditedProgram]) -> None:
        """Take the results of a batch."""


class EvaluatorAttacker:
    """Attacks evaluators with the programs of the order, with the domain's, and with those bred from them."""

    def __init__(
        self, *, pool: Pool, domain: Domain, options: Mapping[str, JSON], trajectories: Path,
        breed: Callable[[Sequence[AuditedProgram], int], Breeding],
    ) -> None:
        """Recordings are in the folder `trajectories`; only those of the exploits stay there. `breed` gets the
        programs that were judged and a seed."""
        self._pool, self._domain, self._options, self._folder = pool, domain, options, trajectories
        self._breed = breed

    async def carry_out(self, order: AttackEvaluator) -> EvaluatorAttacked:
        """Carry out one attack. Raises RolloutError and StoreError."""
        given = [(f"{GIVEN}-{number}", program.text) for number, program in enumerate(order.programs)]
        if isinstance(self._domain, Auditable):     # programs that know other scenes cannot be played here
            written = self._domain.audit_programs(self._options, seeds=(order.seed,))
            given += [(each.name, each.program.text) for each in written if each.options is None]
        tried = await self._all(order, given)
        breeder = self._breed([each.program for each in tried], order.seed)
        left = order.tries
        while left > 0 and (batch := breeder.batch(left)):
            bred = await self._all(order, batch)
            breeder.take([each.program for each in bred])
            tried += bred
            left -= len(batch)
        counted = [each.program.fitness for each in tried if each.program.counts]
        exploits = sorted(
            (each for each in tried if each.program.counts and each.program.fitness >= order.bar),
            key=lambda each: -each.program.fitness,
        )
        kept = exploits[:KEPT]
        for each in tried:
            if each not in kept and each.episode.trajectory is not None:
                trajectory_path(self._folder, each.episode.trajectory).unlink(missing_ok=True)
        count = AttackCount(tried=len(counted), found=len(exploits), best=max(counted, default=None))
        return EvaluatorAttacked(order=order.id, count=count, exploits=tuple(_exploit(order, each) for each in kept))

    async def _all(self, order: AttackEvaluator, programs: Sequence[tuple[str, str]]) -> list[_Tried]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._one(order, name, text)) for name, text in programs]
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _one(self, order: AttackEvaluator, name: str, text: str) -> _Tried:
        episode = await self._pool.roll(RollTask(
            order=f"{order.id}/{name}", program=Program(text), split=order.split, index=0, seed=order.seed
        ))
        fitness, faults = 0.0, int(episode.fault is not None)
        if episode.fault is None:
            score = await self._pool.score(order.evaluator, episode)
            fitness, faults = score.fitness, int(score.fault is not None)
        program = AuditedProgram(
            name=name, kind=BRED, text=text, fitnesses=(fitness,), successes=(episode.success,), faults=faults
        )
        return _Tried(program=program, episode=episode)


def _exploit(order: AttackEvaluator, tried: _Tried) -> Exploit:
    """The exploit with what its recording says, without what the machine measured."""
    episode = replace(tried.episode, wall_s=0.0, notes=EpisodeNotes(story=tried.episode.notes.story))
    probe = Probe(name=f"{order.id}: {tried.program.name}", episode=episode)
    return Exploit(probe=probe, program=Program(tried.program.text or ""), fitness=tried.program.fitness)
