"""`memento evaluate`: rolls one policy file out and scores its episodes."""

import asyncio
import tempfile
from dataclasses import replace
from math import fsum
from pathlib import Path

from ..agents.rollout_agents import scored
from ..core.call_times import times_of_all
from ..core.intervals import mean_interval, share_interval
from ..core.order_ids import episode_id
from ..core.ports import Domain, Pool, RollTask, has_success, interpreter_of, is_compared
from ..core.provenance import GIVEN
from ..core.returns import mean_return, return_of
from ..core.seeds import salted_seed
from ..core.step_limit import with_step_limit
from ..core.values import Episode, Program, Score
from ..domains import import_string, require_installed
from ..domains import load as load_domain
from ..runtime.clock import SystemClock
from ..runtime.rollouts.fault_text import parts_of
from ..settings.evaluate import EvaluateSettings
from .cluster import Cluster, Machines, machines, noting_memory
from .given_files import read_evaluator, read_program
from .results import EpisodeResult, EvaluateResult

SPLIT = "evaluate"


async def evaluate(settings: EvaluateSettings, *, cluster: Cluster | None = None) -> EvaluateResult:
    """Roll the policy out on `seed`, `seed` + 1, …, each mixed with the salt; the same call gives the same episodes.

    It runs on the nodes of the `cluster`, by default on this machine.

    Raises UsageError for a file that is not a policy, and RolloutError if a simulator fails.
    """
    domain = load_domain(settings.domain, GIVEN)
    require_installed(settings.domain)
    policy = read_program(settings.policy, domain.contract, role="policy")
    evaluator = None
    if settings.evaluator != "reference" or domain.reference_evaluator() is not None:
        evaluator = read_evaluator(settings.evaluator, domain)
    if cluster is not None:
        cluster = replace(cluster, workers=min(cluster.workers or settings.episodes, settings.episodes))
    clock = SystemClock()
    began_s = clock.elapsed()
    async with machines(cluster, isolated=False) as where:
        results, remembers = await _rolled(where, domain, policy, evaluator, settings, alone=False)
        if remembers:       # what was measured before is measured again
            results, _ = await _rolled(where, domain, policy, evaluator, settings, alone=True)
    wall_s = clock.elapsed() - began_s
    episodes = [episode for episode, _ in results]
    succeeds = has_success(domain, settings.options)
    times = times_of_all(episodes)
    won = sum(episode.success for episode in episodes)
    returns = [value for value in map(return_of, episodes) if value is not None]
    fitness = None if evaluator is None else [score.fitness for _, score in results]
    return EvaluateResult(
        policy=str(settings.policy),
        domain=settings.domain,
        variant=settings.option("variant"),
        randomisation=settings.option("randomisation"),
        episodes=len(results),
        seed=settings.seed,
        success_rate=won / len(episodes) if succeeds else None,
        success_interval=share_interval(won, len(episodes)) if succeeds else None,
        return_mean=mean_return(episodes),
        return_interval=mean_interval(returns),
        fitness=None if fitness is None else fsum(fitness) / len(fitness),
        fitness_interval=None if fitness is None else mean_interval(fitness, least=0.0, most=1.0),
        failures=len(episodes) - won if succeeds else None,
        faults=sum(episode.fault is not None or score.fault is not None for episode, score in results),
        steps_per_s=round(sum(episode.steps for episode in episodes) / wall_s, 1),
        wall_s=round(wall_s, 3),
        salt=settings.salt,
        sandbox=where.layers,
        step_cpu_ms_median=None if times is None else times.median_ms,
        step_cpu_ms_p99=None if times is None else times.p99_ms,
        per_episode=tuple(
            _result_of(episode, score, graded=evaluator is not None, succeeds=succeeds) for episode, score in results
        ),
    )


async def _rolled(
    where: Machines, domain: Domain, policy: Program, evaluator: Program | None, settings: EvaluateSettings, *,
    alone: bool,
) -> tuple[list[tuple[Episode, Score]], bool]:
    """All episodes with their scores, and whether the environment was found to keep something of earlier ones."""
    found: list[bool] = []
    with tempfile.TemporaryDirectory(prefix="memento-evaluate-") as folder:
        async with where.pool(
            domain=import_string(settings.domain),
            splits={SPLIT: settings.options},
            workers=min(settings.workers, settings.episodes),
            trajectories=Path(folder),
            python=interpreter_of(domain, settings.options, GIVEN),
            stays=lambda _: True,
            compared=is_compared(domain, settings.options), alone=alone,
            remembers=noting_memory(found),
        ) as pool, asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_one(pool, policy, evaluator, index, settings))
                for index in range(settings.episodes)
            ]
    return [task.result() for task in tasks], any(found)


async def _one(
    pool: Pool, policy: Program, evaluator: Program | None, index: int, settings: EvaluateSettings
) -> tuple[Episode, Score]:
    seed = salted_seed(settings.seed + index, settings.salt)
    task = RollTask(order=episode_id(SPLIT, index), program=policy, split=SPLIT, index=index, seed=seed)
    episode = with_step_limit(await pool.roll(task), settings.step_limit_ms)
    if evaluator is None or episode.fault is not None:
        return episode, Score(fitness=0.0)      # its metrics are not shown, so it need not be scored
    return episode, await scored(pool, evaluator, episode, lambda _: task)


def _result_of(episode: Episode, score: Score, *, graded: bool, succeeds: bool) -> EpisodeResult:
    fault = episode.fault or score.fault
    traceback, printed = ("", "") if fault is None else parts_of(fault)
    return EpisodeResult(
        seed=episode.seed,
        scene=episode.scene,
        success=episode.success if succeeds else None,
        fitness=score.fitness if graded else None,
        steps=episode.steps,
        ended_by=episode.ended_by,
        broken_rule=episode.broken_rule,
        episode_return=return_of(episode),
        error=None if fault is None else f"{fault.kind}: {fault.message}",
        traceback=traceback,
        printed=printed or episode.notes.printed,
        stages=episode.notes.stages,
        report=dict(episode.notes.report),
    )
