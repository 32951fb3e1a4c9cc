"""Trains SAC with hindsight by the library stable-baselines3."""

import os
import random
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from math import fsum
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3 import SAC, HerReplayBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from ...core.ports import has_success
from ...core.seeds import derive_seed
from ...domains import load
from ...evidence.baseline_rows import EvaluationPoint
from . import checkpoints
from .log import BaselineLog, BaselineRecord, TrainingProgress, read_record
from .settings import EVALUATED, MOST_SEED, BaselineSettings
from .tasks import (
    CPU,
    REACHED,
    Act,
    MeasuredTask,
    Observation,
    PlayedEpisode,
    measured_task,
    play,
    training_environment,
)
from .workers import Workers

# The library's hindsight buffer, without its work on rows that are still empty.


class HindsightBuffer(HerReplayBuffer):
    """Draws the same transitions as the library's.

    For each batch the library looks through all rows for episodes that have ended. A buffer of 2,000,000 is nearly
    empty for long, so this one looks at the filled rows alone.
    """

    ep_length: Any

    @property
    def ready(self) -> bool:
        """Whether an episode has ended, so that there is something to draw from."""
        return bool(np.count_nonzero(self.ep_length[: self._filled()]))

    def sample(self, batch_size: int, env: Any = None) -> Any:
        """A batch, most of it with goals that were achieved later. Raises RuntimeError if the buffer is not `ready`."""
        with self._without_empty_rows():
            return super().sample(batch_size, env)

    def _filled(self) -> int:
        return int(self.buffer_size if self.full else self.pos)

    @contextmanager
    def _without_empty_rows(self) -> Iterator[None]:
        whole = self.ep_length
        self.ep_length = whole[: self._filled()]
        try:
            yield
        finally:
            self.ep_length = whole


LATEST: Final = 100             # episodes in the means of the progress
REPORT_S: Final = 10.0          # between two lines of progress

Report = Callable[[TrainingProgress | EvaluationPoint], None]


class HindsightSAC(SAC):
    """The library's SAC, which waits with its first update until an episode has ended: hindsight needs a whole one."""

    def train(self, gradient_steps: int, batch_size: int = 64) -> None:
        """Do this many updates, or none if no episode has ended yet."""
        if isinstance(self.replay_buffer, HindsightBuffer) and self.replay_buffer.ready:
            super().train(gradient_steps=gradient_steps, batch_size=batch_size)


class Stopped(Exception):
    """Ends the library's loop between two steps, so that a checkpoint then holds every step that it counts."""


class Counters:
    """What was done so far, in this process and those before it."""

    def __init__(self, *, wall_s: float = 0.0, cpu_s: float = 0.0, episodes: int = 0) -> None:
        self._before, self._episodes_before = (wall_s, cpu_s), episodes
        self._began_s, self._began_cpu_s = time.monotonic(), time.process_time()
        self._workers: dict[int, tuple[float, float]] = {}     # CPU time of each other process: first, last
        self._ended: deque[tuple[float, bool, bool]] = deque(maxlen=LATEST)
        self._episodes = 0

    def leave_out(self, point: EvaluationPoint) -> None:
        """Count the time of an evaluation not as the training's."""
        self._began_s, self._began_cpu_s = self._began_s + point.wall_s, self._began_cpu_s + point.cpu_s

    def see(self, info: dict[str, Any]) -> None:
        """Note the CPU time of the process of an environment."""
        process, spent = info[CPU]
        if process != os.getpid():
            first, _ = self._workers.get(process, (spent, spent))
            self._workers[process] = first, spent

    def end(self, total: float, *, success: bool, reached: bool) -> None:
        """Note the end of an episode."""
        self._episodes += 1
        self._ended.append((total, success, reached))

    def now(self, model: SAC) -> TrainingProgress:
        """The progress."""
        own = time.process_time() - self._began_cpu_s
        workers = fsum(last - first for first, last in self._workers.values())
        count = len(self._ended)
        means = [fsum(float(each[k]) for each in self._ended) / count if count else None for k in range(3)]
        return TrainingProgress(
            steps=model.num_timesteps, updates=model._n_updates, episodes=self._episodes_before + self._episodes,
            wall_s=round(self._before[0] + time.monotonic() - self._began_s, 3),
            cpu_s=round(self._before[1] + own + workers, 3),
            mean_return=means[0], success=means[1], reached=means[2],
        )


class Evaluations:
    """Plays the same few episodes at intervals of the training; they are neither its own nor those of the measure.

    The generators that the training draws from are left as they were, so that it does not depend on evaluations.
    """

    def __init__(self, settings: BaselineSettings, latest: int, *, stopped: Callable[[], bool]) -> None:
        self._settings = replace(settings, options=settings.training)
        self._latest, self._stopped = latest, stopped
        self._task: MeasuredTask | None = None

    def due(self, steps: int) -> bool:
        """Whether a multiple of the interval was passed since the latest evaluation."""
        every = self._settings.evaluate_every
        return every > 0 and steps // every > self._latest // every

    def play(self, model: SAC) -> EvaluationPoint:
        """One evaluation. Raises Stopped if it was stopped: then nothing of it counts."""
        began_s, began_cpu_s = time.monotonic(), time.process_time()
        act = partial(_act, model)
        with _generators_kept():
            if self._task is None:
                self._task = measured_task(self._settings)
            played = [self._episode(self._task, act, index) for index in range(EVALUATED)]
        succeeds = has_success(load(self._settings.domain, self._settings.provenance), self._settings.options)
        self._latest = model.num_timesteps
        return EvaluationPoint(
            steps=model.num_timesteps, episodes=EVALUATED,
            mean_return=fsum(each.episode_return for each in played) / EVALUATED,
            success=sum(each.success for each in played) / EVALUATED if succeeds else None,
            reached=sum(each.reached for each in played) / EVALUATED,
            wall_s=round(time.monotonic() - began_s, 3), cpu_s=round(time.process_time() - began_cpu_s, 3),
        )

    def _episode(self, task: MeasuredTask, act: Act, index: int) -> PlayedEpisode:
        seed = derive_seed(self._settings.seed, "baseline", "evaluation", index) % MOST_SEED
        played = play(task, act, index=index, seed=seed, stopped=self._stopped)
        if played is None:
            raise Stopped
        return played

    def close(self) -> None:
        """Release the simulator."""
        if self._task is not None:
            self._task.close()


@contextmanager
def _generators_kept() -> Iterator[None]:
    """Set the global generators back at the end: a simulator may seed or use them."""
    kept, drawn, plain = np.random.get_state(), torch.get_rng_state(), random.getstate()
    try:
        yield
    finally:
        np.random.set_state(kept)
        torch.set_rng_state(drawn)
        random.setstate(plain)


class Watcher(BaseCallback):
    """Counts steps and episodes, logs and reports, evaluates, makes checkpoints, and ends a training when stopped."""

    def __init__(
        self, settings: BaselineSettings, folder: Path, counters: Counters, evaluations: Evaluations, *, report: Report,
        stopped: Callable[[], bool],
    ) -> None:
        super().__init__()
        self._settings, self._folder, self._counters, self._evaluations = settings, folder, counters, evaluations
        self._report, self._stopped = report, stopped
        self._log = BaselineLog(folder)
        self._totals: NDArray[np.float64] = np.zeros(settings.environments)
        self._reported_s, self._updated = time.monotonic(), False
        self._saved = 0

    def _on_training_start(self) -> None:
        self._saved = self._steps()

    def _on_step(self) -> bool:
        rewards, dones, infos = (self.locals[name] for name in ("rewards", "dones", "infos"))
        self._totals += rewards
        for place, info in enumerate(infos):
            self._counters.see(info)
            if dones[place]:
                success = bool(info.get("is_success", False))
                self._counters.end(
                    float(self._totals[place]), success=success, reached=bool(info.get(REACHED, success))
                )
                self._totals[place] = 0.0
        first_update = not self._updated and self._model()._n_updates > 0
        if first_update or time.monotonic() - self._reported_s >= REPORT_S:
            self._updated = self._updated or first_update
            self.note()
        return True

    def _on_rollout_start(self) -> None:
        """Between two steps, when the transitions of the last one are in the buffer and its updates are done."""
        if self._stopped():
            raise Stopped
        self.evaluate()
        if self._steps() - self._saved >= self._settings.checkpoint:
            self.save()

    def note(self) -> TrainingProgress:
        """Log and report the progress; returns it."""
        now = self._counters.now(self._model())
        self._log.progress(now)
        self._reported_s = time.monotonic()
        self._report(now)
        return now

    def evaluate(self) -> None:
        """Evaluate the agent if it is time. Raises Stopped."""
        if self._evaluations.due(self._steps()):
            point = self._evaluations.play(self._model())
            self._counters.leave_out(point)
            self._log.evaluated(point)
            self._report(point)

    def save(self) -> None:
        """Make a checkpoint, with the progress at it."""
        now = self.note()
        kept = {"wall_s": now.wall_s, "cpu_s": now.cpu_s, "episodes": now.episodes, "updates": now.updates}
        checkpoints.save(self._folder, self._model(), kept)
        self._log.add("checkpoint", {"steps": now.steps})
        self._saved = now.steps

    def _model(self) -> SAC:
        assert isinstance(self.model, SAC)
        return self.model

    def _steps(self) -> int:
        return int(self._model().num_timesteps)


def train(
    settings: BaselineSettings, folder: Path, *, report: Report, stopped: Callable[[], bool]
) -> Act | None:
    """Train from the newest checkpoint, or from the start, to the last step; returns the agent, which does not explore.

    `stopped` is asked at every step: then a checkpoint is made and None returned. A training that goes on begins new
    episodes. Raises StoreError if the disk refuses.
    """
    torch.set_num_threads(1)        # the networks are small: threads would only wait for one another
    checkpoint = checkpoints.latest(folder)
    steps = 0 if checkpoint is None else checkpoints.steps_of(checkpoint)
    environments = _environments(settings, steps)
    record = read_record(folder)
    evaluations = Evaluations(settings, latest_evaluation(record, steps), stopped=stopped)
    try:
        model = _model(settings, environments)
        counters = Counters()
        if checkpoint is not None:
            counters = _restored(model, checkpoint)
            # Random actions that are left to do must not be those from the start again.
            model.action_space.seed(derive_seed(settings.seed, "baseline", "actions", steps) % MOST_SEED)
        if checkpoint is not None or record.progress:      # killed before the first checkpoint: from 0
            BaselineLog(folder).add("resumed", {"steps": steps})
        watcher = Watcher(settings, folder, counters, evaluations, report=report, stopped=stopped)
        watcher.init_callback(model)
        with suppress(Stopped):
            if steps < settings.steps:
                model.learn(settings.steps - steps, callback=watcher, reset_num_timesteps=False)
            watcher.evaluate()      # at the last step, which also a process before this one may have owed
        if model.num_timesteps > steps:
            watcher.save()
        if model.num_timesteps < settings.steps:
            return None
    finally:
        environments.close()
        evaluations.close()
    return partial(_act, model)


def _restored(model: SAC, checkpoint: Path) -> Counters:
    """Set the model to a checkpoint; returns what was done up to there."""
    state = checkpoints.load(checkpoint, model)
    model.num_timesteps, model._n_updates = checkpoints.steps_of(checkpoint), int(state["updates"])
    return Counters(wall_s=state["wall_s"], cpu_s=state["cpu_s"], episodes=state["episodes"])


def _environments(settings: BaselineSettings, steps: int) -> VecEnv:
    """The environments of a training that goes on after `steps`, which gives them other seeds than at the start."""
    make = partial(training_environment, settings.domain, dict(settings.training), settings.reward)
    count, processes = settings.environments, settings.processes
    made = DummyVecEnv([make] * count) if processes == 1 else Workers(make, count, processes)
    made.seed(derive_seed(settings.seed, "baseline", "episodes", steps) % (MOST_SEED - settings.environments))
    return made


def _model(settings: BaselineSettings, environments: VecEnv) -> HindsightSAC:
    """A new agent. Its networks are drawn from the global generators of torch and numpy, which are seeded first."""
    hyper = settings.hyper
    torch.manual_seed(derive_seed(settings.seed, "baseline", "networks"))
    np.random.seed(derive_seed(settings.seed, "baseline", "numpy") % MOST_SEED)
    model = HindsightSAC(
        "MultiInputPolicy", environments, learning_rate=hyper.learning_rate, buffer_size=hyper.buffer,
        learning_starts=hyper.random_steps, batch_size=hyper.batch, tau=hyper.tau, gamma=hyper.gamma, train_freq=1,
        gradient_steps=hyper.updates, replay_buffer_class=HindsightBuffer,
        replay_buffer_kwargs={"n_sampled_goal": hyper.goals, "goal_selection_strategy": "future"},
        policy_kwargs={"net_arch": [*hyper.hidden]}, device="cpu",
    )
    model.action_space.seed(derive_seed(settings.seed, "baseline", "actions") % MOST_SEED)
    return model


def latest_evaluation(record: BaselineRecord, checkpoint: int) -> int:
    """The steps of the latest evaluation that a training from this checkpoint keeps; 0 without one."""
    return max((each.steps for each in record.evaluations if each.steps <= checkpoint), default=0)


def _act(model: SAC, observation: Observation) -> NDArray[np.float32]:
    action, _ = model.predict(dict(observation), deterministic=True)
    return np.asarray(action, dtype=np.float32)
