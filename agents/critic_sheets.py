"""The sheets of a critic: which rows of a recording it is shown, drawn, or in a replay taken from the record."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np

from ..core.critique import Sheet, SheetFrame
from ..core.errors import StoreError
from ..core.events import Criticise, Criticised, Fact
from ..core.figures import REGULAR_ENDS
from ..core.files import read_bounded
from ..core.metrics import finite, flat_metrics
from ..core.ports import Artist, DrawTask, ImageFile
from ..core.recording import Recording
from ..core.recording_file import load_recording, trajectory_key, trajectory_path
from ..core.text import one_line
from ..core.values import JSON, Episode, Score

# Which rows of a recording a critic is shown: closer together around the moment where fitness is lost. Pure.
#
# The moment is, in this order,
#
# 1. the time of failure that the evaluator names in its metrics, such as `first_drop_step` or `failed_at_s`;
# 2. the end of an episode that a fault or a rule of the task ended;
# 3. the last event that the evaluator saw, such as `first_lift_step`, if it missed others;
# 4. the steepest loss: the tenth of the episode with the lowest reward.
#
# Without any of them the rows are evenly spaced.


FRAMES = 9
SCALE = 40  # the rows next to the moment are this part of the episode away from it
OFFSETS = (1, 2, 4, 8, 16)
SPREAD = 1e-9  # rewards that differ by less are alike

_FAILURE = re.compile(r"fail|fault|fell|fall|drop|crash|colli[ds]|illegal|violat|tipp|toppl|stuck", re.IGNORECASE)
_STEP = re.compile(r"(^|[_.])step([_.]|$)", re.IGNORECASE)
_SECONDS = re.compile(r"(^|[_.])(time|at)(_of_\w+)?_s$|^t_\w+_s$", re.IGNORECASE)
_EVENT = re.compile(r"(^|\.)first_|_step$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A row of a recording, and why fitness is lost around it."""

    row: int
    why: str


def moment_of(
    episode: Episode, score: Score | None, steps: int, *, step_s: float | None = None,
    rewards: Sequence[float] | None = None,
) -> Moment | None:
    """Where fitness is lost in an episode of `steps` steps; `rewards` has one number per step, if it has any."""
    metrics = {} if score is None else flat_metrics(score.metrics)
    return (
        _failure(metrics, steps, step_s) or _broken_off(episode, steps) or _last_event(metrics, steps)
        or _steepest(rewards, steps)
    )


def rows_of(steps: int, moment: int | None, count: int = FRAMES) -> tuple[int, ...]:
    """At most `count` (>= 3) rows from 0 to `steps`, rising: the first, the last, and those around the moment.

    All rows of an episode that has no more than that.
    """
    if moment is None:
        return tuple(sorted({round(row) for row in np.linspace(0, steps, min(count, steps + 1))}))
    unit = max(1, steps // SCALE)
    chosen = {0, steps}
    for row in (moment, *(moment + side * offset * unit for offset in OFFSETS for side in (-1, 1))):
        if len(chosen) < count and 0 <= row <= steps:
            chosen.add(row)
    while len(chosen) < min(count, steps + 1):  # the largest gap gets a row in its middle
        gap, first = max((last - row, -row) for row, last in pairwise(sorted(chosen)))
        chosen.add(gap // 2 - first)
    return tuple(sorted(chosen))


def _failure(metrics: Mapping[str, JSON], steps: int, step_s: float | None) -> Moment | None:
    """The earliest time of a failure that a metric names."""
    found = []
    for name, value in metrics.items():
        number = finite(value)
        if number is None or isinstance(value, bool) or not _FAILURE.search(name):
            continue
        if _STEP.search(name):
            found.append((number, name))
        elif step_s and _SECONDS.search(name):
            found.append((number / step_s, name))
    within = [(round(row), name) for row, name in found if 0 <= row <= steps]
    if not within:
        return None
    row, name = min(within)
    return Moment(row=row, why=f"the evaluator's {one_line(name, 60)}")


def _broken_off(episode: Episode, steps: int) -> Moment | None:
    if episode.fault is not None:
        return Moment(row=steps, why=f"the fault that ended the episode ({episode.fault.kind})")
    if episode.ended_by not in REGULAR_ENDS:
        return Moment(row=steps, why=f"the end of the episode ({one_line(episode.ended_by, 60)})")
    return None


def _last_event(metrics: Mapping[str, JSON], steps: int) -> Moment | None:
    """The last event that was seen, where the evaluator missed another one."""
    events = {name: value for name, value in metrics.items() if _EVENT.search(name)}
    numbers = {name: finite(value) for name, value in events.items() if not isinstance(value, bool)}
    seen = [(round(row), name) for name, row in numbers.items() if row is not None and 0 <= row <= steps]
    if not seen or all(value is not None for value in events.values()):
        return None
    row, name = max(seen)
    return Moment(row=row, why=f"the last event that the evaluator saw ({one_line(name, 60)})")


def _steepest(rewards: Sequence[float] | None, steps: int) -> Moment | None:
    """The middle of the tenth of the episode with the lowest reward."""
    values = np.asarray([] if rewards is None else rewards, dtype=np.float64)
    if values.shape != (steps,) or not steps or not np.isfinite(values).all():
        return None
    width = max(1, steps // 10)
    sums = np.convolve(values, np.ones(width), mode="valid")
    if float(sums.max() - sums.min()) <= SPREAD * max(1.0, float(np.abs(sums).max())):
        return None
    return Moment(row=int(np.argmin(sums)) + width // 2, why="the steps with the lowest reward")


SHEETS = "sheets"  # the folder in a run's folder
SUFFIX = ".jpg"
MOST_BYTES = 8 * 2**20  # of a sheet
GONE = "its recording is not kept any more"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedSheet:
    """A sheet and its picture; without a sheet, the problem. A replay has no pictures.

    `known` is the recorded fact of a look at which no critic answers in a replay, since none was asked, or it refused.
    """

    sheet: Sheet | None = None
    image: ImageFile | None = None
    problem: str = ""
    known: Criticised | None = None


class Sheets(Protocol):
    """Gives the sheet for a look."""

    async def prepared(self, order: Criticise) -> PreparedSheet:
        """The sheet. Raises RolloutError and StoreError."""


class DrawnSheets:
    """Draws sheets of the recordings in the folder `trajectories`, and keeps them in the folder `sheets`."""

    def __init__(self, *, artist: Artist, trajectories: Path, sheets: Path) -> None:
        self._artist = artist
        self._trajectories = trajectories
        self._folder = sheets

    async def prepared(self, order: Criticise) -> PreparedSheet:
        """Draw the frames around the moment where fitness is lost. Raises RolloutError and StoreError."""
        key = str(order.episode.trajectory)
        try:
            recording = await asyncio.to_thread(load_recording, trajectory_path(self._trajectories, key))
        except StoreError:
            return PreparedSheet(problem=GONE)
        moment = _moment(order, recording)
        rows = rows_of(recording.steps, None if moment is None else moment.row)
        file = f"{trajectory_key(order.id)}{SUFFIX}"
        path = self._folder / file
        task = DrawTask(order=order.id, split=order.split, trajectory=key, rows=rows, path=path)
        drawn = await self._artist.draw(task)
        if drawn.problem:
            return PreparedSheet(problem=drawn.problem)
        frames = tuple(SheetFrame(row=row, caption=words) for row, words in zip(rows, drawn.captions, strict=True))
        focus = "" if moment is None else f"step {moment.row}: {moment.why}"
        sheet = Sheet(frames=frames, digest=drawn.digest, file=file, focus=focus)
        return PreparedSheet(sheet=sheet, image=await asyncio.to_thread(read_sheet, self._folder, sheet))


Looks = Mapping[str, Criticised]
"""The looks of a recorded run, by their orders."""


class RecordedSheets:
    """The sheets of a recorded run, for its replay: nothing is drawn."""

    def __init__(self, looks: Looks) -> None:
        self._looks = looks

    async def prepared(self, order: Criticise) -> PreparedSheet:
        """What the recorded run drew for this order."""
        fact = self._looks.get(order.id)
        if fact is None:
            return PreparedSheet(problem="the recorded run has no such look")
        if fact.off or (fact.sheet is not None and fact.call is None and not fact.problem):
            return PreparedSheet(sheet=fact.sheet, known=fact)
        return PreparedSheet(sheet=fact.sheet, problem="" if fact.sheet is not None else fact.problem)


def recorded_looks(facts: Iterable[Fact]) -> Looks:
    """The looks in a log, by their orders."""
    return {fact.order: fact for fact in facts if isinstance(fact, Criticised) and fact.order is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetFolder:
    """The pictures of a run's sheets; None in a replay, which sends none."""

    path: Path | None

    def read(self, sheets: Iterable[Sheet]) -> tuple[ImageFile, ...]:
        """Their pictures, in their order. Raises StoreError."""
        return () if self.path is None else tuple(read_sheet(self.path, sheet) for sheet in sheets)


def read_sheet(folder: Path, sheet: Sheet) -> ImageFile:
    """The picture of a sheet. Raises StoreError if it is missing or unreadable."""
    try:
        return ImageFile(data=read_bounded(folder / Path(sheet.file).name, MOST_BYTES))
    except OSError as error:
        raise StoreError(f"the sheet {sheet.file} cannot be read from {folder}: {error.strerror or error}") from error


def _moment(order: Criticise, recording: Recording) -> Moment | None:
    period, rewards = recording.constants.get("control_period_s"), recording.actions.get("reward")
    return moment_of(
        order.episode, order.score, recording.steps,
        step_s=period.item() if period is not None and period.size == 1 and period.dtype.kind in "iuf" else None,
        rewards=rewards.tolist() if rewards is not None and rewards.dtype.kind in "biuf" else None,
    )
