"""The terminal UI: the watched run, the screens, and the user's actions."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual import events, on
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.filter import LineFilter
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from ...core.errors import MementoError
from ..snapshot import RunSnapshot
from .actions import CONTINUE, PAUSE, REQUESTS, RunControls
from .following import follow
from .keys import KEYS, bindings
from .pages import PAGES
from .printable import PrintableFilter
from .screens.candidate import CandidateScreen
from .screens.dialogs import ExportScreen, StopScreen
from .screens.help import HelpScreen
from .screens.page import Page, RunHeader
from .screens.runs import RunsScreen

RENDERING_LIMIT_S = 900.0
CLOCK_EVERY_S = 1.0
LIVE_ONLY = frozenset({"pause", "stop", "hint"})    # actions on a run that a process works on
NARROWER = [(0, "-narrow"), (120, "-wide")]
LOWER = [(0, "-low"), (36, "-tall")]


class WatchApp(App[None]):
    """Watches the run in `folder`; without one it starts with the list of runs in `runs_dir`."""

    TITLE = "MEMENTO"
    CSS_PATH = "watch.tcss"
    HORIZONTAL_BREAKPOINTS = NARROWER
    VERTICAL_BREAKPOINTS = LOWER
    BINDINGS: ClassVar[list[BindingType]] = bindings("app")

    class Reported(Message):
        """The reading thread has a new snapshot of the run."""

        def __init__(self, snapshot: RunSnapshot) -> None:
            self.snapshot = snapshot
            super().__init__()

    def __init__(
        self, *, folder: Path | None, runs_dir: Path, controls: RunControls, clock: Callable[[], float] = time.time
    ) -> None:
        self._printable = PrintableFilter()
        super().__init__()
        for page in PAGES:
            self.add_mode(page.name, partial(page.make, *([runs_dir] if page.name == "runs" else [])))
        self.snapshot: RunSnapshot | None = None
        self._clock = clock
        self._controls = controls
        self._begin_with = folder
        self._left = threading.Event()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What every line that is drawn goes through."""
        return [*super().get_line_filters(), self._printable]

    def on_mount(self) -> None:
        """Start to read."""
        self.theme = "textual-dark"
        self.set_interval(CLOCK_EVERY_S, self._tick)
        if self._begin_with is None:
            self.switch_mode("runs")
        else:
            self.watch_run(self._begin_with)

    # ------------------------------------------------------------------------------------- the run

    def watch_run(self, folder: Path) -> None:
        """Stop watching the current run, and watch this one."""
        self._left.set()
        self._left = threading.Event()
        self.snapshot = RunSnapshot(folder=folder)
        self._follow(folder, self._left)
        self.switch_mode("overview")

    def _follow(self, folder: Path, left: threading.Event) -> None:
        def work() -> None:
            worker = get_current_worker()

            def report(snapshot: RunSnapshot) -> None:
                if not worker.is_cancelled and not left.is_set():
                    self.post_message(self.Reported(snapshot))

            follow(folder, report, left, clock=self._clock)

        self.run_worker(work, thread=True, group="follow", name=f"follow {folder.name}")

    def on_unmount(self) -> None:
        """The thread ends with the program."""
        self._left.set()

    @on(Reported)
    def show_report(self, message: Reported) -> None:
        """Show the snapshot if it belongs to the watched run."""
        if self.snapshot is not None and message.snapshot.folder == self.snapshot.folder:
            if message.snapshot.live != self.snapshot.live:
                self.call_next(self.refresh_bindings)
            self.snapshot = message.snapshot
            for screen in self.screen_stack:
                if isinstance(screen, Page):
                    screen.see(self.snapshot, now=self._clock())

    @on(Page.Shown)
    def show_page(self, message: Page.Shown) -> None:
        """Pass the newest snapshot to a page that comes on top."""
        if self.snapshot is not None:
            message.page.see(self.snapshot, now=self._clock())

    def _tick(self) -> None:
        """Update the clock of a live run."""
        if self.snapshot is not None and self.snapshot.live and isinstance(self.screen, Page):
            self.screen.tick(self._clock())

    # ---------------------------------------------------------------------------------- actions

    def action_page(self, name: str) -> None:
        """Go to another screen; all except the list of runs need a run."""
        if self.snapshot is None and name != "runs":
            self.notify("choose a run first: the arrow keys and Enter", severity="warning")
            return
        while len(self.screen_stack) > 1 and not self.screen.is_modal:
            self.pop_screen()
        self.switch_mode(name)

    @on(RunHeader.GoTo)
    def go_to_page(self, message: RunHeader.GoTo) -> None:
        """Go to another screen."""
        self.action_page(message.page)

    @on(RunsScreen.Watch)
    def watch_chosen(self, message: RunsScreen.Watch) -> None:
        """Watch another run."""
        self.watch_run(message.folder)

    @on(Page.Open)
    def open_thing(self, message: Page.Open) -> None:
        """Show one policy, evaluator or vote over the current screen."""
        if self.snapshot is not None:
            self.push_screen(CandidateScreen(message.name))

    def action_help(self) -> None:
        """Explain the keys and marks."""
        self.push_screen(HelpScreen())

    def action_dark(self) -> None:
        """Switch between dark and light."""
        self.theme = "textual-light" if self.current_theme.dark else "textual-dark"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What a run does not obey now is not offered in the footer; its key says why."""
        return action not in LIVE_ONLY or (self.snapshot is not None and self.snapshot.live)

    def on_key(self, event: events.Key) -> None:
        """A key that has no effect now."""
        key = next((key for key in KEYS["app"] if key.key == event.key), None)
        if key is not None and key.action in LIVE_ONLY:
            self._is_live()

    def action_pause(self) -> None:
        """Request a pause, or its end."""
        if self._is_live():
            assert self.snapshot is not None
            self._request(CONTINUE if self.snapshot.run.status == "paused" else PAUSE)

    def action_stop(self) -> None:
        """Let the user choose when to stop, then request it."""
        if self._is_live():
            self.push_screen(StopScreen(), lambda kind: self._request(kind) if kind else None)

    def action_hint(self) -> None:
        """Let the user write a hint for a run on which it has an effect, then give it to the run."""
        if not self._is_live():
            return
        folder = self._folder

        def give(text: str | None) -> None:
            if text:
                self._do(lambda: self._controls.hint(folder, text), f"the prompts of {folder.name} quote the hint")

        def write() -> None:
            self.push_screen(ExportScreen("A hint for the next proposals, in a sentence", ""), give)

        self._do(lambda: self._controls.check_hint(folder), write)

    def _is_live(self) -> bool:
        if self.snapshot is None:
            self.notify("choose a run first", severity="warning")
        elif not self.snapshot.live:
            self.notify(f"{self.snapshot.name} is not live: no process works on it", severity="warning")
        return self.snapshot is not None and self.snapshot.live

    def _request(self, kind: str) -> None:
        folder = self._folder
        self._do(lambda: self._controls.request(folder, kind), f"asked {folder.name} {REQUESTS[kind]}")

    @property
    def _folder(self) -> Path:
        """The folder of the watched run. Raises LookupError without one."""
        folder = None if self.snapshot is None else self.snapshot.folder
        if folder is None:
            raise LookupError("no run is watched")
        return folder

    @on(Page.Export)
    def export_thing(self, message: Page.Export) -> None:
        """Export the candidate of a page."""
        self.export(message.name)

    def export(self, name: str) -> None:
        """Let the user choose a file, then write the program of a candidate."""
        folder = self._folder
        stem = f"{folder.name}-{name.replace('/', '-')}.py"

        def to(path: str | None) -> None:
            if path:
                out = Path(path).expanduser()
                self._do(lambda: self._controls.export(folder, name, out), f"{name} is in {out}")

        self.push_screen(ExportScreen(f"Export {name} to", stem), to)

    @on(Page.Render)
    def render_thing(self, message: Page.Render) -> None:
        """Render the candidate of a page."""
        self.render_rollout(message.name)

    def render_rollout(self, name: str) -> None:
        """Let the user choose a file, then render a rollout of a candidate in a separate process."""
        folder = self._folder
        stem = f"{folder.name}-{name.replace('/', '-')}.gif"

        def to(path: str | None) -> None:
            if path:
                command = self._controls.rendering(folder, name, Path(path).expanduser())
                self.notify(f"rendering {name} in the background", timeout=10)
                self.run_worker(self._render(command, name, path), group="render")

        self.push_screen(ExportScreen(f"Render a rollout of {name} (.mp4, .gif or .png) to", stem), to)

    async def _render(self, command: list[str], name: str, path: str) -> None:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT, env={**os.environ, "MEMENTO_DISPLAY": "none"},
        )
        try:
            async with asyncio.timeout(RENDERING_LIMIT_S):
                output, _ = await process.communicate()
        except TimeoutError:
            self.notify(f"rendering {name} took more than {RENDERING_LIMIT_S:.0f} s and was ended", severity="error")
            return
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        words = output.decode(errors="replace").strip().splitlines()
        if process.returncode == 0:
            self.notify(f"{name} is rendered: {path}", timeout=10)
        else:
            last = words[-1] if words else f"exit code {process.returncode}"
            self.notify(f"{name} could not be rendered: {last}", severity="error", timeout=15, markup=False)

    def _do(self, action: Callable[[], None], done: str | Callable[[], None]) -> None:
        """Run the action in a thread, and show its result: words, or what is to be done then."""
        def work() -> None:
            try:
                action()
            except (MementoError, OSError) as error:
                self.call_from_thread(self.notify, str(error), severity="error", timeout=10, markup=False)
            else:
                if isinstance(done, str):
                    self.call_from_thread(self.notify, done, markup=False)
                else:
                    self.call_from_thread(done)

        self.run_worker(work, thread=True, group="control")

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The command palette: every screen and every action on the run."""
        yield from super().get_system_commands(screen)
        for page in PAGES:
            yield SystemCommand(f"Go to {page.name}", page.what, partial(self.action_page, page.name))
        if self.snapshot is not None:
            yield SystemCommand("Pause or continue", "Ask the run to pause, or to end its pause", self.action_pause)
            yield SystemCommand("Give a hint…", "A sentence that the following prompts quote", self.action_hint)
            yield SystemCommand("Stop…", "Ask the run to stop now, or after a candidate or a generation",
                                self.action_stop)
            elite = self.snapshot.run.elite
            if elite is not None:
                name = elite.candidate
                yield SystemCommand("Open the elite", f"{name}: code, diff, metrics, episodes, prompt, reply",
                                    lambda: self.push_screen(CandidateScreen(name)))
                yield SystemCommand("Export the elite", f"Write the program of {name} to a file",
                                    lambda: self.export(name))
                yield SystemCommand("Render the elite", f"Pictures of a rollout of {name}",
                                    lambda: self.render_rollout(name))
