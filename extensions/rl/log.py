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
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from ...core.errors import StoreError, os_problem
from ...core.files import open_regular, read_bounded
from ...evidence.baseline_rows import EvaluationPoint

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
            with os.fdopen(open_regular(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as file:
                cut = self._cut_off()
                file.write(f"{cut}{line}\n".encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f"{self._path} cannot be written: {os_problem(error)}") from error

    def _cut_off(self) -> str:
        """A line break, if a kill cut the last line off."""
        with os.fdopen(open_regular(self._path), "rb") as file:
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
