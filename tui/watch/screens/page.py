"""What all screens of a run share: its header on top, the keys below."""

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer

from ....core.text import counted
from ...lines import isolation, one_line
from ..run_controls import SAID
from ..snapshot import BAD, DIM, GOOD, LOUD, WARN, Sight, clock, coarse, cost, elapsed_s
from ..view import time_left_s

if TYPE_CHECKING:
    from ..app import WatchApp

NAMES = (
    ("1", "overview", "Run"), ("2", "candidates", "Candidates"), ("3", "evaluators", "Evaluators"),
    ("4", "lineage", "Lineage"), ("5", "memory", "Memory"), ("6", "models", "Models"), ("7", "log", "Log"),
    ("0", "runs", "Runs"),
)
STAGES = {
    "": "starting", "initial": "a first policy p_0", "baseline": "the rollouts T_0 of p_0",
    "evaluator": "evaluators", "search": "policies", "final": "p_0 and the elite on unseen episodes",
    "done": "finished",
}
COLOURS = {"running": GOOD, "paused": WARN, "done": "$text-primary", "killed": BAD}


class Page(Screen[None]):
    """A screen of the run that is watched. `see` gets every new sight of it, whether it is on top or not."""

    name_of_page: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "export", "export", show=False), Binding("v", "render", "render", show=False),
    ]

    def compose(self) -> ComposeResult:
        """Header, body, footer."""
        yield RunHeader()
        yield from self.body()
        yield Footer(show_command_palette=True)

    def body(self) -> ComposeResult:
        """What is between header and footer."""
        yield from ()

    def draw(self, sight: Sight) -> None:
        """Show this sight in the body."""

    @property
    def watch_app(self) -> "WatchApp":
        """The program."""
        from ..app import WatchApp

        app = self.app
        assert isinstance(app, WatchApp)
        return app

    def see(self, sight: Sight) -> None:
        """Show a new sight."""
        if self.is_mounted:
            self.query_one(RunHeader).see(sight)
            self.draw(sight)

    def tick(self, sight: Sight) -> None:
        """Some time went by."""
        self.query_one(RunHeader).refresh()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """What came while another screen was on top."""
        sight = self.watch_app.sight
        if sight is not None:
            self.see(sight)

    def chosen(self) -> str | None:
        """The candidate that export and render are about; the elite where the screen has no cursor."""
        sight = self.watch_app.sight
        elite = None if sight is None else sight.view.elite
        return None if elite is None else elite.candidate

    def action_export(self) -> None:
        """Write the program of the chosen candidate to a file."""
        self._with_chosen(self.watch_app.export)

    def action_render(self) -> None:
        """Have a rollout of the chosen candidate rendered."""
        self._with_chosen(self.watch_app.render_rollout)

    def _with_chosen(self, action: object) -> None:
        name = self.chosen()
        if name is None:
            self.notify("there is no candidate yet", severity="warning")
        elif callable(action):
            action(name)


class RunHeader(Widget):
    """Three lines: which run, how far it is, and the screens."""

    DEFAULT_CSS = "RunHeader { height: 3; dock: top; background: $panel; padding: 0 1; }"

    def __init__(self) -> None:
        super().__init__()
        self._sight: Sight | None = None

    def see(self, sight: Sight) -> None:
        """Show this sight."""
        self._sight = sight
        self.refresh()

    def render(self) -> Content:
        """The three lines."""
        sight, width = self._sight, self.content_size.width
        page = self.screen
        name = page.name_of_page if isinstance(page, Page) else ""
        if sight is None:
            return Content("\n").join([Content.styled("MEMENTO", LOUD), Content(""), _screens(name, self._gap)])
        app = self.app
        now = app.clock() if hasattr(app, "clock") else 0.0
        lines = (_which(sight), _how_far(sight, now), _screens(name, self._gap))
        return Content("\n").join([line.truncate(width, ellipsis=True) for line in lines])

    @property
    def _gap(self) -> int:
        """Columns between the names of screens."""
        return 2 if self.content_size.width >= sum(len(key) + len(label) + 3 for key, _, label in NAMES) else 1

    def on_click(self, event: events.Click) -> None:
        """A click on the name of a screen goes there."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y != 2:
            return
        at = 0
        for key, name, label in NAMES:
            if at <= offset.x < at + len(key) + 1 + len(label):
                page = self.screen
                if isinstance(page, Page):
                    page.watch_app.action_page(name)
                return
            at += len(key) + 1 + len(label) + self._gap


def _which(sight: Sight) -> Content:
    words = sight.view.settings
    state = sight.state
    said = Content.assemble((f" {state} ", f"bold {COLOURS.get(state, WARN)}"), (sight.folder.name, LOUD), "  ")
    if not words:
        return said
    exposed = "NOT ISOLATED" in isolation(sight.view.sandbox)
    return Content.assemble(
        said, ("NOT ISOLATED  ", f"bold {BAD}") if exposed else "",
        f"{words.get('domain', '')} by {words.get('method', '')}, {words.get('model', '')}, "
        f"seed {words.get('seed', '')}, {words.get('preset', '')}", "" if exposed else ("  isolated", DIM),
    )


def _how_far(sight: Sight, now: float) -> Content:
    if sight.trouble is not None:
        return Content.styled(f" {one_line(sight.trouble, 400)}", f"bold {BAD}")
    view = sight.view
    if sight.reading and sight.last_seq:
        return Content.styled(f" reads the log: {view.seq:,} of {sight.last_seq:,} facts", WARN)
    stage = STAGES.get(view.stage, view.stage)
    if view.stage == "search":
        of = view.number("generations")
        stage = f"generation {min(view.generation, of) if of else view.generation} of {of or '?'}"
    left_s = time_left_s(view, now=now) if sight.live else None
    total = view.spending.total
    tokens = f", {total.tokens:,} tokens" if total.tokens else ""
    of_all = f" of {view.expected}" if view.expected else ""
    parts: list[str | tuple[str, str]] = [
        (f" {stage}", "bold $text-accent"), f"  {clock(elapsed_s(sight, now=now))}",
        f", about {coarse(left_s)} left" if left_s is not None else "",
        f"  {view.settled}{of_all} candidates",
        f"  {cost(total.cost_usd)}, {counted(total.calls, 'call')}{tokens}",
        (f"  {counted(view.episodes, 'episode')}", DIM),
    ]
    asked = [(f"  asked {SAID.get(kind, kind)}", WARN) for kind in sight.asked]
    return Content.assemble(*parts[:3], *asked, *parts[3:])


def _screens(present: str, gap: int) -> Content:
    parts: list[tuple[str, str]] = []
    for key, name, label in NAMES:
        parts += [(f"{key} ", DIM), (label, "bold underline" if name == present else ""), (" " * gap, "")]
    return Content.assemble(*parts)
