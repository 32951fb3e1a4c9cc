"""The agents that run programs in the pool: roll an episode out, score it, examine an evaluator."""

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from ..core.errors import RecordingLost, RolloutError
from ..core.evaluator_tests import evaluator_tests_of
from ..core.events import (
    ConstantsTried,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorExamined,
    Examine,
    ProbesRecorded,
    RecordProbes,
    Roll,
    ScoreEpisode,
    TryConstants,
    TryOnTwin,
    TwinTried,
)
from ..core.order_ids import episode_id
from ..core.ports import Pool, Practice, Prober, ProbeTask, RollTask
from ..core.probes import Rung, cuts_of, known_order, length_of, rungs_of, sources_of, violations
from ..core.step_limit import practice_under, with_step_limit
from ..core.values import CallTimes, Episode, EpisodeNotes, Examination, Probe, Program, Score

MOST_AGAIN = 3      # times that a recording is made again for one score


class Roller:
    """Rolls episodes out, and applies the run's limit on the CPU time of a policy's calls, in ms.

    A replay judges by the times that the recorded run measured, by order; its own would differ.
    """

    def __init__(
        self, *, pool: Pool, step_limit_ms: float | None = None, recorded: Mapping[str, CallTimes] | None = None
    ) -> None:
        self._pool = pool
        self._limit_ms = step_limit_ms
        self._recorded = recorded or {}

    async def carry_out(self, order: Roll) -> EpisodeEnded:
        """Roll one episode out. Raises RolloutError."""
        return EpisodeEnded(order=order.id, episode=await self._episode(order))

    async def practise(self, order: Roll, *, bounded: bool = True) -> Episode:
        """A practice episode, with the same limit; `bounded`: its CPU time is bounded too. Raises RolloutError."""
        return await self._episode(order, practice_under(self._limit_ms if bounded else None))

    async def _episode(self, order: Roll, practice: Practice | None = None) -> Episode:
        task = RollTask(
            order=order.id,
            program=order.program,
            split=order.split,
            index=order.index,
            seed=order.seed,
            practice=practice,
        )
        episode = await self._pool.roll(task)
        if order.id in self._recorded:
            episode = replace(episode, notes=replace(episode.notes, times=self._recorded[order.id]))
        return with_step_limit(episode, self._limit_ms)


class Scorer:
    """Scores recorded episodes. One that ended in a fault has f_e = 0 and the metrics up to the fault.

    `again` is the rollout that made a recording, by its key: a recording that is lost is made again.
    """

    def __init__(self, *, pool: Pool, again: Callable[[str], RollTask] | None = None) -> None:
        self._pool = pool
        self._again = again

    async def carry_out(self, order: ScoreEpisode) -> EpisodeScored:
        """Score one recorded episode. Raises RolloutError and StoreError."""
        score = await scored(self._pool, order.evaluator, order.episode, self._again)
        return EpisodeScored(order=order.id, score=order.episode.counted(score))


async def scored(
    pool: Pool, evaluator: Program, episode: Episode, again: Callable[[str], RollTask] | None
) -> Score:
    """The score of a recorded episode, whose recording is made again by the rollout `again` names if it is lost.

    Raises RolloutError, also if the episode is not the same this time, and StoreError.
    """
    for _ in range(MOST_AGAIN):
        try:
            return await pool.score(evaluator, episode)
        except RecordingLost:
            if again is None:
                raise
            await remake(pool, again(str(episode.trajectory)), steps=episode.steps)
    return await pool.score(evaluator, episode)


async def remake(pool: Pool, task: RollTask, *, steps: int) -> None:
    """Roll an episode out that has been rolled out before. Raises RolloutError if it has another number of steps."""
    made = await pool.roll(task)
    if made.steps != steps:
        raise RolloutError(
            f"{task.order} was rolled out again because its recording was lost, and took {made.steps} steps, not "
            f"{steps}: the machines of this run do not agree"
        )


class ConstantsTrier:
    """Rolls a program with other constants out and scores it, one episode after the other, on one worker at a time.

    A limit on the CPU time of calls does not apply here, because times differ between two rollouts; it applies to the
    candidate that the best constants make.
    """

    def __init__(self, *, pool: Pool) -> None:
        self._pool = pool

    async def carry_out(self, order: TryConstants) -> ConstantsTried:
        """Try one vector of values. Raises RolloutError and StoreError."""
        fitnesses: list[float] = []
        steps, faults, wall_s = 0, 0, 0.0
        for index, seed in enumerate(order.seeds):
            episode = await self._pool.roll(RollTask(
                order=episode_id(order.id, index), program=order.program, split=order.split, index=index, seed=seed
            ))
            fitness = 0.0
            if episode.fault is None:
                fitness = (await self._pool.score(order.evaluator, episode)).fitness
            fitnesses.append(fitness)
            steps, faults = steps + episode.steps, faults + (episode.fault is not None)
            wall_s += episode.wall_s
            if order.floor is not None and _most(fitnesses, len(order.seeds)) <= order.floor:
                break
        return ConstantsTried(
            order=order.id, point=order.point, fitnesses=tuple(fitnesses), steps=steps, faults=faults, wall_s=wall_s
        )


class TwinTrier:
    """Rolls one episode out on the cheap twin and scores it.

    A limit on the CPU time of calls does not apply here: it applies to the candidate's own episodes.
    """

    def __init__(self, *, pool: Pool) -> None:
        self._pool = pool

    async def carry_out(self, order: TryOnTwin) -> TwinTried:
        """Try one episode. Raises RolloutError and StoreError."""
        episode = await self._pool.roll(RollTask(
            order=order.id, program=order.program, split=order.split, index=order.index, seed=order.seed
        ))
        fitness: float | None = 0.0
        if episode.fault is None:
            score = await self._pool.score(order.evaluator, episode)
            fitness = score.fitness if score.fault is None else None
        return TwinTried(
            order=order.id, fitness=fitness, steps=episode.steps, ended_by=episode.ended_by, fault=episode.fault,
            wall_s=episode.wall_s,
        )


def _most(fitnesses: list[float], of: int) -> float:
    """The highest mean that is still possible: every episode without a score counts as 1."""
    return (math.fsum(fitnesses) + of - len(fitnesses)) / of


class ProbeAgent:
    """Puts the probes of a run on record, and for tests the rollouts of p_0 with disturbed actions."""

    def __init__(self, *, pool: Prober) -> None:
        self._pool = pool

    async def carry_out(self, order: RecordProbes) -> ProbesRecorded:
        """Record the probes for T_0. Raises RolloutError and StoreError."""
        tested = order.program is not None
        task = ProbeTask(
            order=order.id, split=order.split, seed=order.seed, steps=length_of(order.episodes),
            cuts=cuts_of(order.episodes), sources=sources_of(order.episodes) if tested else (),
        )
        rungs = rungs_of(order.episodes) if tested else ()
        try:
            async with asyncio.TaskGroup() as group:
                recorded = group.create_task(self._pool.record_probes(task))
                rolled = [group.create_task(self._rung(order, rung)) for rung in rungs]
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        found = (each.result() for each in rolled)
        return ProbesRecorded(
            order=order.id, probes=(*recorded.result(), *(probe for probe in found if probe is not None))
        )

    async def _rung(self, order: RecordProbes, rung: Rung) -> Probe | None:
        """One rollout of a ladder; None where a fault ended it, which says nothing about its worth."""
        assert order.program is not None
        episode = await self._pool.roll(RollTask(
            order=f"{order.id}/{rung.name}", program=order.program, split=order.split, index=rung.index,
            seed=rung.seed, disturbance=rung.disturbance,
        ))
        if episode.fault is not None:
            return None
        bare = replace(episode, wall_s=0.0, notes=EpisodeNotes())
        return Probe(name=rung.name, episode=bare, source=rung.source, ladder=rung.ladder, rung=rung.rung)


class Examiner:
    """Examines evaluators on T_0 and on the probes."""

    def __init__(self, *, pool: Pool) -> None:
        self._pool = pool

    async def carry_out(self, order: Examine) -> EvaluatorExamined:
        """Apply an evaluator to T_0 and check it; a valid one is applied to the probes. Raises RolloutError."""
        examination = await self._pool.examine(order.evaluator, order.episodes)
        if examination.valid and order.probes:
            examination = await self._on_probes(order, examination)
        return EvaluatorExamined(order=order.id, examination=examination)

    async def _on_probes(self, order: Examine, found: Examination) -> Examination:
        """The examination with the scores of the probes. An evaluator that fails on a probe is not valid."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._pool.score(order.evaluator, each.episode)) for each in order.probes]
        except ExceptionGroup as errors:    # the group cancels the other calls; the caller expects the error itself
            raise errors.exceptions[0] from None
        scores = tuple(replace(task.result(), cpu_s=0.0) for task in tasks)
        faults = (
            replace(score.fault, message=f"on the probe {probe.name!r}: {score.fault.message}")
            for probe, score in zip(order.probes, scores, strict=True) if score.fault is not None
        )
        fault = next(faults, None)
        if fault is not None:
            return replace(found, fault=fault)
        return replace(
            found,
            probe_scores=scores,
            order_pairs=len(known_order(order.episodes, order.probes)),
            order_violations=len(violations(order.episodes, found.scores, order.probes, scores)),
            tests=evaluator_tests_of(order.episodes, found.scores, order.probes, scores) if order.tested else None,
        )
