"""The log of a baseline's run: one JSON object per line, appended and flushed to the disk.

    started      the settings, the versions of the packages
    planned      another number of steps in all; a measure before it no longer counts
    resumed      a process continues at a checkpoint: later lines of the processes before it no longer count
    progress     how far the training is: see `TrainingProgress`
    evaluated    what the agent does by then, without exploration: see `EvaluationPoint`
    checkpoint   it is complete on the disk
    measured     the final measure: the run is done

A kill can cut the last line off; it is left out.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import fsum
from pathlib import Path
from typing import Any, Final

from ...core.errors import StoreError, os_problem
from ...core.files import read_bounded
from ...core.text import duration, number, plural, share
from ...evidence.baseline_rows import BaselineRow, EvaluationPoint
from .settings import METHOD, BaselineSettings, settings_of

LOG: Final = "baseline.jsonl"
LARGEST: Final = 2**26      # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingProgress:
    """The training so far. Means are over the latest episodes; None before the first end of an episode.

    `cpu_s` is the CPU time of all processes, `wall_s` the time of all processes that trained, each without the
    imports. `success` is the task's, `reached` hindsight's: the goal of the episode's last step was reached.
    """

    steps: int
    updates: int
    episodes: int
    wall_s: float
    cpu_s: float
    mean_return: float | None
    success: float | None
    reached: float | None


class BaselineLog:
    """Appends to the log of a run."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG

    def add(self, what: str, content: Mapping[str, Any]) -> None:
        """Append one line, on the disk when this returns. Raises StoreError."""
        line = json.dumps({"what": what, **content}, allow_nan=False)
        try:
            with self._path.open("ab") as file:
                cut = self._cut_off()
                file.write(f"{cut}{line}\n".encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f"{self._path} cannot be written: {os_problem(error)}") from error

    def _cut_off(self) -> str:
        """A line break, if a kill cut the last line off."""
        with self._path.open("rb") as file:
            if not file.seek(0, os.SEEK_END):
                return ""
            file.seek(-1, os.SEEK_END)
            return "" if file.read(1) == b"\n" else "\n"

    def progress(self, now: TrainingProgress) -> None:
        """Append how far the training is."""
        self.add("progress", asdict(now))

    def evaluated(self, point: EvaluationPoint) -> None:
        """Append one evaluation."""
        self.add("evaluated", asdict(point))


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRecord:
    """A log. `progress` and `evaluations` are in the order of the steps; `result` is None until it is done."""

    name: str
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    progress: tuple[TrainingProgress, ...]
    checkpoint: int
    resumed: int
    result: Mapping[str, Any] | None
    evaluations: tuple[EvaluationPoint, ...] = ()


def is_baseline(folder: Path) -> bool:
    """Whether this is the folder of a baseline's run."""
    try:
        return (folder / LOG).is_file()
    except OSError:
        return False


def find_baseline(runs_dir: Path, name: str) -> Path | None:
    """The folder of the baseline's run with this name or path; None if there is none."""
    return next((folder for folder in (runs_dir / name, Path(name)) if name and is_baseline(folder)), None)


def list_baselines(runs_dir: Path) -> tuple[Path, ...]:
    """The folders of all runs of baselines, sorted by name."""
    return tuple(sorted(folder for folder in runs_dir.iterdir() if is_baseline(folder))) if runs_dir.is_dir() else ()


def read_record(folder: Path) -> BaselineRecord:
    """Read a log. Raises StoreError if it is missing or not such a log."""
    path = folder / LOG
    try:
        text = read_bounded(path, LARGEST).decode("utf-8", "replace")
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {os_problem(error)}") from error
    lines = []
    for line in text.splitlines():
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue        # cut off by a kill
        if isinstance(found, dict):
            lines.append(found)
    try:
        return _fold(folder.name, lines)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path} is not the log of a baseline, or is damaged") from error


def _fold(name: str, lines: list[dict[str, Any]]) -> BaselineRecord:
    first, progress, checkpoint, resumed, result = lines[0] if lines else {}, list[TrainingProgress](), 0, 0, None
    evaluations: list[EvaluationPoint] = []
    for line in lines[1:]:
        content = {key: value for key, value in line.items() if key != "what"}
        match line["what"]:
            case "progress":
                progress.append(TrainingProgress(**content))
            case "evaluated":
                evaluations.append(EvaluationPoint(**content))
            case "planned":
                first, result = {**first, "settings": {**first["settings"], "steps": int(content["steps"])}}, None
            case "checkpoint":
                checkpoint = int(content["steps"])
            case "resumed":
                resumed, checkpoint = resumed + 1, int(content["steps"])
                progress = [each for each in progress if each.steps <= checkpoint]
                evaluations = [each for each in evaluations if each.steps <= checkpoint]
            case "measured":
                result = content
    return BaselineRecord(
        name=name, settings=first["settings"], versions=first["versions"], progress=tuple(progress),
        checkpoint=checkpoint, resumed=resumed, result=result, evaluations=tuple(evaluations),
    )


# The pace of a training: steps per second, the time that is left, and what more steps would cost. Pure.


SEARCH_STEPS: Final = 14_400_000    # of a search at the paper's budget: 120 candidates x 10 episodes x 12,000 steps
PAPER_STEPS: Final = 50_000_000     # of the paper's baseline


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPace:
    """Seconds per step of the training while it learns: of time, and of CPU time in all processes."""

    wall_s: float
    cpu_s: float

    def hours(self, steps: int) -> tuple[float, float]:
        """What this many steps take: hours, and hours of CPU time."""
        return steps * self.wall_s / 3600, steps * self.cpu_s / 3600


def pace_of(progress: Sequence[TrainingProgress]) -> TrainingPace | None:
    """The pace between the first update and the last line; None as long as nothing can be measured.

    Steps before the first update are random actions, and much faster.
    """
    learning = [each for each in progress if each.updates > 0]
    if len(learning) < 2 or learning[-1].steps <= learning[0].steps:
        return None
    first, last = learning[0], learning[-1]
    steps = last.steps - first.steps
    return TrainingPace(
        wall_s=max(0.0, last.wall_s - first.wall_s) / steps, cpu_s=max(0.0, last.cpu_s - first.cpu_s) / steps
    )


def line_of(progress: Sequence[TrainingProgress], *, steps: int) -> str:
    """The progress in one line: steps, steps/s, return, success, reached goals, time left."""
    last, pace = progress[-1], pace_of(progress)
    speed, left = "", ""
    if pace is not None and pace.wall_s > 0:
        speed = f", {1 / pace.wall_s:,.1f} steps/s"
        left = f", {duration(max(0, steps - last.steps) * pace.wall_s)} left"
    return (
        f"{last.steps:,} of {steps:,} steps{speed}, {last.episodes:,} episodes"
        f", return {number(last.mean_return, digits=2)}"
        f", success {share(last.success)}, goal reached {share(last.reached)}{left}"
    )


def point_line(point: EvaluationPoint) -> str:
    """An evaluation in words: the steps, success, reached goals, return."""
    return (
        f"at {point.steps:,} steps: success {share(point.success)}, goal reached {share(point.reached)}"
        f", return {number(point.mean_return, digits=2)} over {plural(point.episodes, 'episode')}"
    )


# The result of a baseline's run, from its log. Imports no simulator.


DONE: Final = "done"
STOPPED: Final = "stopped"                          # before the last step of the training
UNMEASURED: Final = "trained but not measured"      # stopped during the final measure, or before it


def status_of(record: BaselineRecord) -> str:
    """How far a run is: DONE, UNMEASURED or STOPPED. Only one that is DONE has a measure."""
    if record.result is not None:
        return DONE
    return UNMEASURED if record.checkpoint >= int(record.settings["steps"]) else STOPPED


def result_of(record: BaselineRecord) -> dict[str, Any]:
    """The result as JSON values, for scripts. Raises StoreError for settings of another version."""
    settings, pace = recorded_settings(record), pace_of(record.progress)
    last = record.progress[-1] if record.progress else None
    measured: Mapping[str, Any] = record.result or {}
    return {
        "run": record.name, "method": METHOD, "domain": settings.domain, "task": settings.task,
        "variant": settings.options.get("variant"), "randomisation": settings.options.get("randomisation"),
        "reward": settings.reward, "seed": settings.seed, "environments": settings.environments,
        "status": status_of(record),
        "steps": last.steps if last else 0, "planned_steps": settings.steps,
        "cpu_hours": round(((last.cpu_s if last else 0.0) + fsum(each.cpu_s for each in record.evaluations)) / 3600, 4),
        "hours": round(((last.wall_s if last else 0.0) + fsum(each.wall_s for each in record.evaluations)) / 3600, 4),
        "cost_usd": 0.0,
        "steps_per_s": round(1 / pace.wall_s, 2) if pace and pace.wall_s > 0 else None,
        "cpu_hours_of_more_steps": {
            str(steps): round(pace.hours(steps)[1], 1) for steps in (SEARCH_STEPS, PAPER_STEPS)
        } if pace else None,
        "success_rate": measured.get("success_rate"), "goal_reached_rate": measured.get("reached_rate"),
        "return_mean": measured.get("return_mean"), "fitness": measured.get("fitness"),
        "measure_seed": settings.measure_seed, "salt": settings.salt, "resumed": record.resumed,
        "planned_episodes": settings.episodes, "per_episode": measured.get("episodes", []),
        "evaluate_every": settings.evaluate_every, "evaluations": [asdict(each) for each in record.evaluations],
    }


def recorded_settings(record: BaselineRecord) -> BaselineSettings:
    """The settings of a run. Raises StoreError for those of another version."""
    try:
        return settings_of(record.settings)
    except (TypeError, KeyError, ValueError) as error:
        raise StoreError(f"the run {record.name} has settings of another version of MEMENTO") from error


def read_row(folder: Path) -> BaselineRow:
    """What a report says of a learned baseline. Raises StoreError."""
    record = read_record(folder)
    found, pace = result_of(record), pace_of(record.progress)
    settings = recorded_settings(record)
    return BaselineRow(
        name=record.name, task=settings.task, method=METHOD, reward=settings.reward, seed=settings.seed,
        done=record.result is not None, steps=found["steps"], cpu_hours=found["cpu_hours"], usd=found["cost_usd"],
        success=found["success_rate"], reached=found["goal_reached_rate"], mean_return=found["return_mean"],
        fitness=found["fitness"], episodes=len(found["per_episode"]), environments=settings.environments,
        cpu_hours_of=tuple(
            (steps, pace.hours(steps)[1]) for steps in (SEARCH_STEPS, PAPER_STEPS)
        ) if pace is not None else (),
        planned_steps=settings.steps, status=found["status"], settings=dict(record.settings),
        versions=dict(record.versions), evaluations=record.evaluations,
    )
