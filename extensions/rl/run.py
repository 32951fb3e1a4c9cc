"""One run of a baseline: a new one, or one that continues; the training, then the final measure, then the result.

The episodes of the measure are those of `memento evaluate` with the same seed and salt. The agent plays them in this
process, since it is trusted; the reference evaluator scores the recordings as it scores those of programs.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from math import fsum
from pathlib import Path
from typing import Any, Final

from ...core.errors import StoreError, UsageError, os_problem
from ...core.extras import require
from ...core.order_ids import episode_id
from ...core.ports import Clock, has_success
from ...core.provenance import Provenance
from ...core.recording_file import save_recording, trajectory_key, trajectory_path
from ...core.seeds import salted_seed
from ...core.values import Episode
from ...core.version import __version__
from ...domains import import_string, load, require_installed
from ...evidence.baseline_rows import EvaluationPoint
from ...memory.lock import WriterLock, is_locked
from ...memory.origin import is_written_here, sign
from ...memory.runs import TRAJECTORIES, new_run
from ...runtime.rollouts.pool import ProcessPool
from ...settings.effects import effects_of_domain
from .log import BaselineLog, BaselineRecord, TrainingProgress, read_record
from .results import recorded_settings
from .settings import METHOD, MOST_STEPS, BaselineSettings
from .tasks import Act, MeasuredTask, measured_task
from .tasks import play as play_episode

EXTRA: Final = "rl"
STOP: Final = "stop-requested"      # a file in the folder of a run
ASKED_S: Final = 1.0                # between two looks for it
PACKAGES: Final = ("stable-baselines3", "torch", "gymnasium", "numpy", "mujoco", "robosuite", "gymnasium-robotics")


def begin(settings: BaselineSettings, runs_dir: Path, name: str | None, clock: Clock) -> Path:
    """Make the folder of a new run and write its settings. Raises UsageError, also if a package is missing."""
    require(EXTRA, f"memento baseline {METHOD}")
    require_installed(settings.domain)
    label = f"{METHOD}-{settings.domain.replace(':', '-').replace('/', '-')}"
    folder = new_run(runs_dir, name, clock, label=label, seed=settings.seed)
    BaselineLog(folder).add("started", {"settings": settings.as_json(), "versions": _versions()})
    sign(folder, _signed(settings.as_json()))
    return folder


def _signed(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings without the steps, which another plan changes."""
    return {key: value for key, value in settings.items() if key != "steps"}


def trusted_settings(folder: Path, record: BaselineRecord, *, trusted: bool) -> BaselineSettings:
    """The settings of a run with their provenance. Raises UsageError for one from elsewhere, StoreError."""
    settings = recorded_settings(record)
    own = is_written_here(folder, _signed(record.settings))
    provenance = Provenance(place=f"the run {folder.name!r}", trusted=trusted or own)
    for options in (settings.options, settings.training):
        provenance.require(effects_of_domain(settings.domain, options))
    return replace(settings, provenance=provenance)


def plan_again(folder: Path, steps: int) -> None:
    """Change the steps of a run, to fewer or more in all: `work` then trains up to there, and measures again.

    Raises UsageError if it has done more already, or if another process works on it; StoreError.
    """
    record = read_record(folder)
    if steps == recorded_settings(record).steps:
        return
    if is_locked(folder):
        raise UsageError(f"the run {folder.name!r} is live: stop it first to change its steps")
    if not max(1, record.checkpoint) <= steps <= MOST_STEPS:
        raise UsageError(f"--steps must be from {max(1, record.checkpoint)}, where {folder.name} is, to {MOST_STEPS}")
    BaselineLog(folder).add("planned", {"steps": steps})


def ask_to_stop(folder: Path) -> None:
    """Ask the process that works on a run to stop, as Ctrl-C does. Raises UsageError if there is none, StoreError."""
    if not is_locked(folder):
        raise UsageError(f"the run {folder.name!r} is not live: there is nothing to stop")
    try:
        (folder / STOP).touch()
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {os_problem(error)}") from error


def work(
    folder: Path, clock: Clock, *, report: Callable[[TrainingProgress | EvaluationPoint], None],
    play: Callable[[int, int], None], stopped: Callable[[], bool], trusted: bool = False,
) -> BaselineRecord:
    """Train from where the run is, and measure; a run that is done is only read.

    `report` gets the progress and the evaluations of the training, `play` the number of each unseen episode, from 1,
    and their count. The result is None in the record if `stopped` ended the training or the measure. Raises UsageError
    if a package is missing, another process works on the run, or it is from elsewhere, would import something and is
    not `trusted`; and StoreError, RolloutError.
    """
    record = read_record(folder)
    if record.result is not None:
        return record
    settings = trusted_settings(folder, record, trusted=trusted)
    require(EXTRA, f"memento baseline {METHOD}")
    require_installed(settings.domain)
    try:
        lock = WriterLock.acquire(folder, now=clock.now())
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {os_problem(error)}") from error
    try:
        from .training import train

        stopped = _or_asked(folder, stopped)
        act = train(settings, folder, report=report, stopped=stopped)
        if act is not None:
            found = asyncio.run(measure(settings, act, folder, play=play, stopped=stopped))
            if found is not None:
                BaselineLog(folder).add("measured", found.as_json())
        return read_record(folder)
    finally:
        lock.release()


def _or_asked(folder: Path, stopped: Callable[[], bool]) -> Callable[[], bool]:
    """Whether `stopped`, or the run was asked to stop since this call."""
    path = folder / STOP
    path.unlink(missing_ok=True)
    looked_s, asked = time.monotonic(), False

    def now() -> bool:
        nonlocal looked_s, asked
        if time.monotonic() - looked_s >= ASKED_S:
            looked_s, asked = time.monotonic(), path.exists()
        return asked or stopped()

    return now


def _versions() -> dict[str, str]:
    found = {"memento": __version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


SPLIT = "evaluate"


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
    domain = load(settings.domain, settings.provenance)
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
    seed = salted_seed(settings.measure_seed + index, settings.salt)
    played = play_episode(task, act, index=index, seed=seed, stopped=stopped)
    if played is None:
        return None
    key = trajectory_key(episode_id(SPLIT, index))
    save_recording(trajectory_path(kept, key), task.recording())
    episode = Episode(
        index=index, seed=seed, steps=played.steps, ended_by=played.ended_by, success=played.success, trajectory=key,
    )
    return episode, played.episode_return, played.reached


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
