"""A titled panel that draws itself within its size."""

from collections.abc import Callable

from textual.content import Content
from textual.widget import Widget

from ...snapshot import RunSnapshot

Drawing = Callable[..., Content]


class Panel(Widget):
    """`draw` gets (snapshot, width=, height=, now=)."""

    DEFAULT_CSS = """
    Panel { border-top: solid $primary-darken-1; border-title-style: bold; padding: 0 1; height: 1fr; }
    """

    def __init__(self, title: str, draw: Drawing, *, id: str) -> None:  # noqa: A002 - the name of Widget's parameter
        super().__init__(id=id)
        self.border_title = title
        self._draw = draw
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
        """The drawing, as large as the panel is."""
        size = self.content_size
        if self._snapshot is None or not size:
            return Content("")
        return self._draw(self._snapshot, width=size.width, height=size.height, now=self._now)
