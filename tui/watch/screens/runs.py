"""All runs of a folder, with the curves of some of them compared."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message

from ....core.errors import MementoError
from ....core.text import number, one_line, share
from ....memory.lock import is_locked
from ....memory.run_view import quality_of_elite
from ....memory.runs import DATABASE, list_runs
from ....memory.tail import read_outline
from ...snapshot import RunSnapshot
from ...words import domain_words, sparkline, state_words, success_or_return
from ..braille import Curve, draw_curves
from ..colours import BAD, DIM, ROLES, RUNS, stack
from ..keys import bindings
from ..rows import Cell, Column, Rows
from ..titled_panel import Panel
from .page import Page, RunHeader

# The runs of a folder: the state of each and the curve of its elite. Only changed runs are read again.


Stamp = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """One run of the list. `trouble` is the reason why it cannot be read."""

    folder: Path
    snapshot: RunSnapshot | None = None
    trouble: str | None = None
    stamp: Stamp = ()

    @property
    def curve(self) -> list[float]:
        """F of the elite, per generation, by the evaluator in use."""
        return [] if self.snapshot is None else [elite.fitness for elite in self.snapshot.slots.comparable]

    @property
    def task(self) -> str:
        """The domain with its options: F of runs in two tasks cannot be compared."""
        settings = {} if self.snapshot is None else self.snapshot.run.settings
        options = settings.get("options")
        words = ", ".join(f"{key} = {value}" for key, value in options.items()) if isinstance(options, Mapping) else ""
        return one_line(f"{domain_words(settings)}{f' ({words})' if words else ''}", 200)


def read_runs(runs_dir: Path, known: dict[Path, RunLine]) -> dict[Path, RunLine]:
    """All runs of the folder. Those of `known` whose database did not change are not read again."""
    found: dict[Path, RunLine] = {}
    for folder in list_runs(runs_dir):
        try:
            stamp = _stamp(folder)
            old = known.get(folder)
            live = is_locked(folder)
            if old is not None and old.stamp == stamp and old.snapshot is not None and old.snapshot.live == live:
                found[folder] = old
                continue
            view = read_outline(folder)
            snapshot = RunSnapshot(folder=folder, run=view.status, slots=view.slots, live=live, reading=False)
            found[folder] = RunLine(folder=folder, snapshot=snapshot, stamp=stamp)
        except (MementoError, OSError) as error:
            found[folder] = RunLine(folder=folder, trouble=str(error))
    return found


def _stamp(folder: Path) -> Stamp:
    """Times and sizes of the database files; they change with the database."""
    stamps = []
    for name in (DATABASE, f"{DATABASE}-wal"):
        try:
            status = (folder / name).stat()
        except FileNotFoundError:
            continue
        if status.st_size:      # readers leave an empty write-ahead log
            stamps.append((status.st_mtime_ns, status.st_size))
    return tuple(stamps)


COLUMNS = (
    Column(title="", width=1), Column(title="run", width=24), Column(title="state", width=13),
    Column(title="domain", width=16, least=90), Column(title="method", width=12, least=90),
    Column(title="model", width=18, least=130), Column(title="seed", width=5, right=True, least=130),
    Column(title="g", width=3, right=True), Column(title="F of p_0", width=8, right=True),
    Column(title="F", width=6, right=True), Column(title="S/return", width=8, right=True),
    Column(title="curve", width=8, grows=True),
)
AGAIN_S = 3.0
CURVE = 60      # generations of a sparkline


class RunsScreen(Page):
    """Enter watches a run, space adds it to the comparison."""

    name_of_page: ClassVar[str] = "runs"
    BINDINGS: ClassVar[list[BindingType]] = bindings("runs")

    class Watch(Message):
        """The user chose a run to watch."""

        def __init__(self, folder: Path) -> None:
            self.folder = folder
            super().__init__()

    def __init__(self, runs_dir: Path) -> None:
        super().__init__()
        self._runs_dir = runs_dir
        self._known: dict[Path, RunLine] = {}
        self._runs: list[RunLine] = []
        self._compared: list[str] = []
        self._reading = threading.Lock()

    def body(self) -> ComposeResult:
        """The list, then the curves."""
        yield Rows(COLUMNS, id="runs")
        yield Panel("Elites' fitness", self._curves, id="compared")

    def on_mount(self) -> None:
        """Read the runs, and again while this screen is on top."""
        self.query_one(Rows).focus()
        self._read()
        self.set_interval(AGAIN_S, self._read)

    def on_screen_resume(self) -> None:
        """Show the newest state."""
        super().on_screen_resume()
        self._read()

    def see(self, snapshot: RunSnapshot, *, now: float) -> None:
        """The header shows which run is watched."""
        if self.is_mounted:
            self.query_one(RunHeader).see(snapshot, now=now)

    def _read(self) -> None:
        if not self.is_current:
            return
        folder, known = self._runs_dir, self._known

        def work() -> None:
            if not self._reading.acquire(blocking=False):
                return
            try:
                found = read_runs(folder, known)
            finally:
                self._reading.release()
            self.app.call_from_thread(self._take, found)

        self.run_worker(work, thread=True, group="runs")

    def _take(self, found: dict[Path, RunLine]) -> None:
        changed = found != self._known
        self._known = found
        self._runs = sorted(found.values(), key=lambda run: -(run.snapshot.run.began or 0.0) if run.snapshot else 0.0)
        if changed and self.is_mounted:
            rows = self.query_one(Rows)
            rows.show(len(self._runs), self._cells)
            self._show_curves()
        if not self._runs:
            self.query_one(Rows).border_title = f"there are no runs in {self._runs_dir}"

    def _cells(self, index: int) -> list[Cell]:
        run = self._runs[index]
        style = self._style(run)
        dot: Cell = Content.styled("●", style) if style else Content.styled("·", DIM)
        if run.snapshot is None or run.trouble is not None:
            return [dot, run.folder.name, Content.styled("unreadable", BAD), "", "", "", "", "", "", "", "",
                    Content.styled(run.trouble or "", BAD)]
        status = run.snapshot.run
        state, role = state_words(status, live=run.snapshot.live)
        words = status.settings
        last = status.elite
        first_stated, stated = (
            quality_of_elite(status, run.snapshot.slots, each) for each in (status.first_elite, last)
        )
        return [
            dot, run.folder.name, Content.styled(state, ROLES[role]), str(words.get("domain", "")),
            str(words.get("method", "")), str(words.get("model", "")), str(words.get("seed", "")),
            str(last.generation) if last else "", number(first_stated.fitness if first_stated else None),
            number(stated.fitness if stated else None),
            success_or_return(last.success_rate, last.mean_return) if last else share(None),
            Content.styled(sparkline(run.curve[-CURVE:], low=0.0, high=1.0), style or DIM),
        ]

    def _style(self, run: RunLine) -> str:
        names = self._compared_names()
        return RUNS[names.index(run.folder.name) % len(RUNS)] if run.folder.name in names else ""

    def _compared_names(self) -> list[str]:
        """The runs chosen for the comparison; else the newest runs of the task of the run under the cursor."""
        chosen = [name for name in self._compared if any(run.folder.name == name for run in self._runs)]
        alike = [run.folder.name for run in self._runs if run.curve and run.task == self._shown_task]
        return chosen or alike[: len(RUNS)]

    @property
    def _shown_task(self) -> str:
        """The task whose runs are shown."""
        first = next((run for name in self._compared for run in self._runs if run.folder.name == name), None)
        return self._runs[self._place].task if first is None and self._runs else "" if first is None else first.task

    @property
    def _place(self) -> int:
        return min(self.query_one(Rows).cursor, len(self._runs) - 1)

    @on(Rows.Moved)
    def follow_cursor(self) -> None:
        """Show the runs of this task."""
        self._show_curves()

    def _show_curves(self) -> None:
        panel = self.query_one("#compared", Panel)
        panel.border_title = f"Elites' fitness in {self._shown_task.partition(' (')[0]}, by each run's own evaluator"
        self.query_one(Rows).refresh()
        panel.see(RunSnapshot(folder=self._runs_dir), now=0.0)

    def _curves(self, snapshot: RunSnapshot, *, width: int, height: int, now: float) -> Content:
        names = self._compared_names()
        shown = [(run, self._style(run)) for name in names for run in self._runs if run.folder.name == name]
        if not any(run.curve for run, _ in shown):
            return Content.styled("no run has an elite yet", DIM)
        key = Content.assemble(*[(f"● {run.folder.name}  ", style) for run, style in shown])
        picture = draw_curves(
            [Curve(values=run.curve, style=style) for run, style in reversed(shown)], width=width,
            height=max(2, height - 1), low=0.0, high=1.0, x_label="generation",
        )
        return stack([picture, key.truncate(width, ellipsis=True)])

    def selected_id(self) -> str | None:
        """None: this screen has nothing to export."""
        return None

    def action_compare(self) -> None:
        """Add the run under the cursor to the comparison, or remove it."""
        cursor = self.query_one(Rows).cursor
        if cursor < len(self._runs):
            run = self._runs[cursor]
            if run.folder.name in self._compared:
                self._compared.remove(run.folder.name)
            elif self._compared and run.task != self._shown_task:
                self.notify(f"{run.folder.name} has another task ({run.task}): its F cannot be compared with that of"
                            f" {self._shown_task}", severity="warning", markup=False)
            else:
                self._compared.append(run.folder.name)
            self._show_curves()

    @on(Rows.Opened)
    def show_opened(self, event: Rows.Opened) -> None:
        """Watch this run."""
        self.post_message(self.Watch(self._runs[event.index].folder))
