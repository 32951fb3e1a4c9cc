"""The base class of all screens of a run: the header, the footer, and the messages to the app."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer

from ....core.text import cost, one_line, plural
from ....memory.run_status import elapsed_s
from ...snapshot import RunSnapshot, still_out
from ...words import NOT_ISOLATED, clock, episodes_words, isolation, left, stage_of, state_words
from ..actions import REQUESTS, STOPPING
from ..colours import ACCENT, BAD, DIM, LOUD, ROLES, WARN
from ..keys import bindings
from ..pages import PAGES


class Page(Screen[None]):
    """A screen of the watched run. `see` gets every new snapshot, whether the screen is on top or not."""

    name_of_page: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = bindings("page")

    class Shown(Message):
        """The page came on top and needs the newest snapshot."""

        def __init__(self, page: "Page") -> None:
            self.page = page
            super().__init__()

    class About(Message):
        """A message about one policy, evaluator or vote."""

        def __init__(self, name: str) -> None:
            self.name = name
            super().__init__()

    class Open(About):
        """Open its screen."""

    class Export(About):
        """Export the program of a candidate."""

    class Render(About):
        """Render a rollout of a candidate."""

    def __init__(self) -> None:
        super().__init__()
        self.snapshot: RunSnapshot | None = None

    def compose(self) -> ComposeResult:
        """Header, body, footer."""
        yield RunHeader(self.name_of_page)
        yield from self.body()
        yield Footer(show_command_palette=True)

    def body(self) -> ComposeResult:
        """The widgets between header and footer."""
        yield from ()

    def draw(self, snapshot: RunSnapshot) -> None:
        """Show this snapshot in the body."""

    def see(self, snapshot: RunSnapshot, *, now: float) -> None:
        """Show a new snapshot."""
        self.snapshot = snapshot
        if self.is_mounted:
            self.query_one(RunHeader).see(snapshot, now=now)
            self.draw(snapshot)

    def tick(self, now: float) -> None:
        """Show the current time."""
        self.query_one(RunHeader).tick(now)

    def on_screen_resume(self) -> None:
        """Request the newest snapshot, which may have changed."""
        self.post_message(self.Shown(self))

    def selected_id(self) -> str | None:
        """The candidate that export and render are about; the elite where the screen has no cursor."""
        elite = None if self.snapshot is None else self.snapshot.run.elite
        return None if elite is None else elite.candidate

    def action_export(self) -> None:
        """Write the program of the chosen candidate to a file."""
        self._post_of_chosen(self.Export)

    def action_render(self) -> None:
        """Render a rollout of the chosen candidate."""
        self._post_of_chosen(self.Render)

    def _post_of_chosen(self, message: type[About]) -> None:
        name = self.selected_id()
        if name is None:
            self.notify("there is no candidate yet", severity="warning")
        else:
            self.post_message(message(name))


class RunHeader(Widget):
    """Three lines: the run, its progress, and the names of the screens."""

    DEFAULT_CSS = "RunHeader { height: 3; dock: top; background: $panel; padding: 0 1; }"

    class GoTo(Message):
        """A click on the name of a screen."""

        def __init__(self, page: str) -> None:
            self.page = page
            super().__init__()

    def __init__(self, page: str) -> None:
        super().__init__()
        self._page = page
        self._snapshot: RunSnapshot | None = None
        self._now = 0.0

    def see(self, snapshot: RunSnapshot, *, now: float) -> None:
        """Show this snapshot."""
        self._snapshot = snapshot
        self.tick(now)

    def tick(self, now: float) -> None:
        """Show the time."""
        self._now = now
        self.refresh()

    def render(self) -> Content:
        """The three lines."""
        snapshot, width = self._snapshot, self.content_size.width
        screens = _screens(self._page, self._gap)
        if snapshot is None:
            return Content("\n").join([Content.styled("MEMENTO", LOUD), Content(""), screens])
        lines = (_which(snapshot), _how_far(snapshot, self._now), screens)
        return Content("\n").join([line.truncate(width, ellipsis=True) for line in lines])

    @property
    def _gap(self) -> int:
        """Columns between the names of screens."""
        return 2 if self.content_size.width >= sum(len(page.key) + len(page.label) + 3 for page in PAGES) else 1

    def on_click(self, event: events.Click) -> None:
        """A click on the name of a screen goes there."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y != 2:
            return
        at = 0
        for page in PAGES:
            if at <= offset.x < at + len(page.key) + 1 + len(page.label):
                self.post_message(self.GoTo(page.name))
                return
            at += len(page.key) + 1 + len(page.label) + self._gap


def _which(snapshot: RunSnapshot) -> Content:
    words = snapshot.run.settings
    state, role = state_words(snapshot.run, live=snapshot.live, reading=snapshot.reading)
    head = Content.assemble((f" {state} ", f"bold {ROLES[role]}"), (snapshot.name, LOUD), "  ")
    if not words:
        return head
    exposed = NOT_ISOLATED in isolation(snapshot.run.sandbox)
    return Content.assemble(
        head, (f"{NOT_ISOLATED}  ", f"bold {BAD}") if exposed else "",
        f"{words.get('domain', '')} by {words.get('method', '')}, {words.get('model', '')}, "
        f"seed {words.get('seed', '')}, {words.get('preset', '')}", "" if exposed else ("  isolated", DIM),
    )


def _how_far(snapshot: RunSnapshot, now: float) -> Content:
    if snapshot.trouble is not None:
        return Content.styled(f" {one_line(snapshot.trouble, 400)}", f"bold {BAD}")
    status = snapshot.run
    if status.status == "failed":
        return Content.styled(f" {one_line(status.why, 400)}", f"bold {BAD}")
    if snapshot.reading and snapshot.last_seq:
        return Content.styled(f" reading the log: {snapshot.seq:,} of {snapshot.last_seq:,} facts", WARN)
    known = left(status, now=now) if snapshot.live and not snapshot.stopping else ""
    total = status.spending.total
    tokens = f", {total.tokens:,} tokens" if total.tokens else ""
    of_all = f" of {status.candidates_expected}" if status.candidates_expected else ""
    stopping = f"  {_stopping(snapshot)}" if snapshot.live and snapshot.stopping else ""
    requests = [(f"  asked {REQUESTS.get(kind, kind)}", WARN) for kind in snapshot.requests if kind not in STOPPING]
    return Content.assemble(
        (f" {stage_of(status, short=True)}", f"bold {ACCENT}"),
        f"  {clock(elapsed_s(status, live=snapshot.live, now=now))}", f", {known}" if known else "", *requests,
        (stopping, WARN),
        f"  {status.candidates}{of_all} candidates",
        f"  {cost(total.cost_usd)}, {plural(total.calls, 'call')}{tokens}",
        (f"  {episodes_words(status)}", DIM),
    )


def _stopping(snapshot: RunSnapshot) -> str:
    """That the run is about to stop, and for what it waits or what it drops."""
    words = STOPPING.get(snapshot.stopping, "stopping")
    episodes, calls = still_out(snapshot)
    if not episodes and not calls:
        return words
    parts = [plural(episodes, "episode")] * bool(episodes) + [plural(calls, "call")] * bool(calls)
    return f"{words}: {', '.join(parts)} out"


def _screens(present: str, gap: int) -> Content:
    parts: list[tuple[str, str]] = []
    for page in PAGES:
        style = "bold underline" if page.name == present else ""
        parts += [(f"{page.key} ", DIM), (page.label, style), (" " * gap, "")]
    return Content.assemble(*parts)
