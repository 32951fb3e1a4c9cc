"""A titled panel that draws itself within its size."""

from collections.abc import Callable

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from ..snapshot import RunSnapshot

Drawing = Callable[..., Content]
MOST_LINES = 60     # of a panel that is as high as its drawing; the style bounds it further


class Panel(Widget):
    """`draw` gets (snapshot, width=, height=, now=). One that `fits` is as high as its drawing, where the style has
    its height as auto."""

    DEFAULT_CSS = """
    Panel { border-top: solid $primary-darken-1; border-title-style: bold; padding: 0 1; height: 1fr; }
    """

    def __init__(self, title: str, draw: Drawing, *, id: str, fits: bool = False) -> None:  # noqa: A002 - of Widget
        super().__init__(id=id)
        self.border_title = title
        self._draw, self._fits = draw, fits
        self._snapshot: RunSnapshot | None = None
        self._now = 0.0

    def see(self, snapshot: RunSnapshot, *, now: float) -> None:
        """Show this snapshot."""
        self._snapshot = snapshot
        self.tick(now)

    def tick(self, now: float) -> None:
        """Show the time."""
        self._now = now
        self.refresh(layout=self._fits)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The lines of the drawing with all the room that it may want."""
        if self._snapshot is None or not self._fits:
            return super().get_content_height(container, viewport, width)
        return len(self._draw(self._snapshot, width=width, height=MOST_LINES, now=self._now).split("\n"))

    def render(self) -> Content:
        """The drawing, as large as the panel is."""
        size = self.content_size
        if self._snapshot is None or not size:
            return Content("")
        return self._draw(self._snapshot, width=size.width, height=size.height, now=self._now)
