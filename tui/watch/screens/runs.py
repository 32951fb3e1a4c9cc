"""All runs of a folder, with the curves of some of them compared."""

import threading
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from ..braille import Curve, draw_curves
from ..many import RunLine, read_runs
from ..rows import Cell, Column, Rows
from ..snapshot import BAD, DIM, Sight, number, share, stack
from .page import COLOURS, Page, RunHeader
from .panel import Panel

COLUMNS = (
    Column(title="", width=1), Column(title="run", width=24), Column(title="state", width=13),
    Column(title="domain", width=16, least=90), Column(title="method", width=12, least=90),
    Column(title="model", width=18, least=130), Column(title="seed", width=5, right=True, least=130),
    Column(title="g", width=3, right=True), Column(title="F of p_0", width=8, right=True),
    Column(title="F", width=6, right=True), Column(title="S", width=5, right=True),
    Column(title="curve", width=8, grows=True),
)
AGAIN_S = 3.0
BARS = "▁▂▃▄▅▆▇█"
STYLES = ("$text-success", "$text-accent", "$text-warning", "$text-error", "$text-primary", "$text-secondary")


class RunsScreen(Page):
    """Enter watches a run, space takes it into the comparison."""

    name_of_page: ClassVar[str] = "runs"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "compare", "compare", priority=True), Binding("enter", "watch", "watch", show=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Path, RunLine] = {}
        self._runs: list[RunLine] = []
        self._compared: list[str] = []
        self._reading = threading.Lock()

    def body(self) -> ComposeResult:
        """The list, then the curves."""
        yield Rows(COLUMNS, id="runs")
        yield Panel("Elites' fitness by generation", self._curves, id="compared")

    def on_mount(self) -> None:
        """Read now, and again while this screen is on top."""
        self.query_one(Rows).focus()
        self._read()
        self.set_interval(AGAIN_S, self._read)

    def on_screen_resume(self, event: object) -> None:
        """The newest state."""
        self._read()

    def see(self, sight: Sight) -> None:
        """The header tells which run is watched."""
        if self.is_mounted:
            self.query_one(RunHeader).see(sight)

    def _read(self) -> None:
        if not self.is_current:
            return
        folder, known = self.watch_app.runs_dir, self._known

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
        self._runs = sorted(found.values(), key=lambda run: -(run.sight.view.began or 0.0) if run.sight else 0.0)
        if changed and self.is_mounted:
            rows = self.query_one(Rows)
            rows.show(len(self._runs), self._cells)
            self._show_curves()
        if not self._runs:
            self.query_one(Rows).border_title = f"there are no runs in {self.watch_app.runs_dir}"

    def _cells(self, index: int) -> list[Cell]:
        run = self._runs[index]
        style = self._style(run)
        dot: Cell = Content.styled("●", style) if style else Content.styled("·", DIM)
        if run.sight is None or run.trouble is not None:
            return [dot, run.folder.name, Content.styled("unreadable", BAD), "", "", "", "", "", "", "", "",
                    Content.styled(run.trouble or "", BAD)]
        view, state = run.sight.view, run.sight.state
        words = view.settings
        first, last = (view.elites[0], view.elites[-1]) if view.elites else (None, None)
        return [
            dot, run.folder.name, Content.styled(state, COLOURS.get(state, "")), str(words.get("domain", "")),
            str(words.get("method", "")), str(words.get("model", "")), str(words.get("seed", "")),
            str(last.generation) if last else "", number(first.fitness if first else None),
            number(last.fitness if last else None), share(last.success_rate if last else None),
            Content.styled(_sparkline(run.curve), style or DIM),
        ]

    def _style(self, run: RunLine) -> str:
        names = self._shown()
        return STYLES[names.index(run.folder.name) % len(STYLES)] if run.folder.name in names else ""

    def _shown(self) -> list[str]:
        """What was chosen for the comparison; else the newest runs."""
        chosen = [name for name in self._compared if any(run.folder.name == name for run in self._runs)]
        return chosen or [run.folder.name for run in self._runs[: len(STYLES)] if run.curve]

    def _show_curves(self) -> None:
        self.query_one("#compared", Panel).see(Sight(folder=self.watch_app.runs_dir))

    def _curves(self, sight: Sight, *, width: int, height: int, now: float) -> Content:
        shown = [(run, self._style(run)) for name in self._shown() for run in self._runs if run.folder.name == name]
        if not any(run.curve for run, _ in shown):
            return Content.styled("no run has an elite yet", DIM)
        key = Content.assemble(*[(f"● {run.folder.name}  ", style) for run, style in shown])
        picture = draw_curves(
            [Curve(values=run.curve, style=style) for run, style in reversed(shown)], width=width,
            height=max(2, height - 1), low=0.0, high=1.0,
        )
        return stack([picture, key.truncate(width, ellipsis=True)])

    def chosen(self) -> str | None:
        """There is nothing to export here."""
        return None

    def action_compare(self) -> None:
        """Take the run under the cursor into the comparison, or out of it."""
        cursor = self.query_one(Rows).cursor
        if cursor < len(self._runs):
            name = self._runs[cursor].folder.name
            if name in self._compared:
                self._compared.remove(name)
            else:
                self._compared.append(name)
            self.query_one(Rows).refresh()
            self._show_curves()

    def action_watch(self) -> None:
        """Watch the run under the cursor."""
        self.query_one(Rows).action_open()

    @on(Rows.Opened)
    def open(self, event: Rows.Opened) -> None:
        """Watch this run."""
        self.watch_app.watch_run(self._runs[event.index].folder)


def _sparkline(curve: list[float | None]) -> str:
    known = [value for value in curve if value is not None]
    return "".join(BARS[min(7, max(0, round(value * 7)))] for value in known[-60:])
