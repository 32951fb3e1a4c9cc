"""The final measure of a trained agent: unseen episodes, the task's success, the domain's reference evaluator.

The episodes are those of `memento evaluate` with the same seed and salt. The agent plays them in this process, since it
is trusted; the reference evaluator scores the recordings as it scores those of programs.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import StoreError, os_problem
from ..core.order_ids import episode_id
from ..core.ports import has_success
from ..core.recording_file import save_recording, trajectory_key, trajectory_path
from ..core.seeds import salted
from ..core.values import Episode
from ..domains import import_string, load
from ..memory.runs import TRAJECTORIES
from ..runtime.rollouts.pool import ProcessPool
from .settings import BaselineSettings
from .tasks import MeasuredTask, Observation, measured_task

SPLIT = "evaluate"
Act = Callable[[Observation], NDArray[np.float32]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredEpisode:
    """One episode. `success` is the task's; `reached` is hindsight's at the last step; `fitness` the reference's."""

    seed: int
    success: bool | None
    reached: bool
    fitness: float | None
    steps: int
    ended_by: str
    episode_return: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredMeans:
    """The means over the episodes. None: the domain has no success predicate, or no reference evaluator."""

    success_rate: float | None
    reached_rate: float
    fitness: float | None
    return_mean: float
    episodes: tuple[MeasuredEpisode, ...]

    def as_json(self) -> dict[str, Any]:
        """The measure as JSON values."""
        return asdict(self)


async def measure(
    settings: BaselineSettings, act: Act, folder: Path, *, play: Callable[[int, int], None],
    stopped: Callable[[], bool],
) -> MeasuredMeans | None:
    """Play the unseen episodes with `act` and score them; recordings stay in the run's folder.

    `play` gets the number of each episode, from 1, and their count, before it is played. `stopped` is asked at every
    step; None if it ended the measure, of which nothing counts then.

    Raises UsageError for a missing package, StoreError if the disk refuses, RolloutError if a worker fails.
    """
    domain = load(settings.domain)
    kept = folder / TRAJECTORIES
    try:
        kept.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(f"{kept} cannot be made: {os_problem(error)}") from error
    task = measured_task(settings)
    try:
        played = []
        for index in range(settings.episodes):
            play(index + 1, settings.episodes)
            episode = _play(task, act, index, settings, kept, stopped=stopped)
            if episode is None:
                return None
            played.append(episode)
    finally:
        task.close()
    fitness: list[float | None] = [None] * len(played)
    evaluator = domain.reference_evaluator()
    if evaluator is not None:
        async with ProcessPool(
            domain=import_string(settings.domain), splits={SPLIT: settings.options}, workers=1, trajectories=kept,
        ) as pool:
            fitness = [(await pool.score(evaluator, episode)).fitness for episode, _, _ in played]
    succeeds = has_success(domain, settings.options)
    return _means(tuple(
        MeasuredEpisode(
            seed=episode.seed, success=episode.success if succeeds else None, reached=reached, fitness=found,
            steps=episode.steps, ended_by=episode.ended_by, episode_return=total,
        )
        for (episode, total, reached), found in zip(played, fitness, strict=True)
    ))


def _play(
    task: MeasuredTask, act: Act, index: int, settings: BaselineSettings, kept: Path, *, stopped: Callable[[], bool],
) -> tuple[Episode, float, bool] | None:
    """One episode, its return, and whether the goal is reached at its end; None if it was stopped."""
    seed = salted(settings.measure_seed + index, settings.salt)
    observation = task.begin(index, seed)
    ended, total, reached, steps = None, 0.0, False, 0
    while ended is None:
        if stopped():
            return None
        observation, reward, ended, reached = task.step(act(observation))
        total, steps = total + reward, steps + 1
    key = trajectory_key(episode_id(SPLIT, index))
    save_recording(trajectory_path(kept, key), task.recording())
    episode = Episode(
        index=index, seed=seed, steps=steps, ended_by=ended, success=task.environment.success(), trajectory=key,
    )
    return episode, total, reached


def _means(episodes: tuple[MeasuredEpisode, ...]) -> MeasuredMeans:
    count = len(episodes)
    won = [each.success for each in episodes if each.success is not None]
    fitness = [each.fitness for each in episodes if each.fitness is not None]
    return MeasuredMeans(
        success_rate=sum(won) / count if won else None,
        reached_rate=sum(each.reached for each in episodes) / count,
        fitness=fsum(fitness) / count if fitness else None,
        return_mean=fsum(each.episode_return for each in episodes) / count,
        episodes=episodes,
    )
