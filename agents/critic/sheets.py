"""Where the sheets of a run come from: drawn from its recordings, or in a replay taken from the recorded run's log."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ...core.critic_events import Criticise, Criticised
from ...core.critique import Frame, Sheet
from ...core.errors import StoreError
from ...core.events import Fact
from ...core.files import read_bounded
from ...core.ports import Artist, DrawTask, ImageFile
from ...core.recording import Recording
from ...core.recording_file import load_recording, trajectory_key, trajectory_path
from .frames import Moment, moment_of, rows_of

SHEETS = "sheets"  # the folder in a run's folder
SUFFIX = ".jpg"
MOST_BYTES = 8 * 2**20  # of a sheet
GONE = "its recording is not kept any more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A sheet and its picture; without a sheet, the problem. A replay has no pictures.

    `known` is the recorded fact of a look at which no critic answers in a replay, since none was asked, or it refused.
    """

    sheet: Sheet | None = None
    image: ImageFile | None = None
    problem: str = ""
    known: Criticised | None = None


class Sheets(Protocol):
    """Gives the sheet for a look."""

    async def prepared(self, order: Criticise) -> Prepared:
        """The sheet. Raises RolloutError and StoreError."""


class DrawnSheets:
    """Draws sheets of the recordings in the folder `trajectories`, and keeps them in the folder `sheets`."""

    def __init__(self, *, artist: Artist, trajectories: Path, sheets: Path) -> None:
        self._artist = artist
        self._trajectories = trajectories
        self._folder = sheets

    async def prepared(self, order: Criticise) -> Prepared:
        """Draw the frames around the moment where fitness is lost. Raises RolloutError and StoreError."""
        key = str(order.episode.trajectory)
        try:
            recording = await asyncio.to_thread(load_recording, trajectory_path(self._trajectories, key))
        except StoreError:
            return Prepared(problem=GONE)
        moment = _moment(order, recording)
        rows = rows_of(recording.steps, None if moment is None else moment.row)
        file = f"{trajectory_key(order.id)}{SUFFIX}"
        path = self._folder / file
        task = DrawTask(order=order.id, split=order.split, trajectory=key, rows=rows, path=path)
        drawn = await self._artist.draw(task)
        if drawn.problem:
            return Prepared(problem=drawn.problem)
        frames = tuple(Frame(row=row, caption=words) for row, words in zip(rows, drawn.captions, strict=True))
        focus = "" if moment is None else f"step {moment.row}: {moment.why}"
        sheet = Sheet(frames=frames, digest=drawn.digest, file=file, focus=focus)
        return Prepared(sheet=sheet, image=await asyncio.to_thread(read_sheet, self._folder, sheet))


class RecordedSheets:
    """The sheets of a recorded run, for its replay: nothing is drawn."""

    def __init__(self, looks: Mapping[str, Criticised]) -> None:
        self._looks = looks

    async def prepared(self, order: Criticise) -> Prepared:
        """What the recorded run drew for this order."""
        fact = self._looks.get(order.id)
        if fact is None:
            return Prepared(problem="the recorded run has no such look")
        if fact.off or (fact.sheet is not None and fact.call is None and not fact.problem):
            return Prepared(sheet=fact.sheet, known=fact)
        return Prepared(sheet=fact.sheet, problem="" if fact.sheet is not None else fact.problem)


def recorded_looks(facts: Iterable[Fact]) -> dict[str, Criticised]:
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
