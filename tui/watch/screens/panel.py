"""A titled panel that draws itself within whatever size it gets."""

from collections.abc import Callable

from textual.content import Content
from textual.widget import Widget

from ..snapshot import Sight

Drawing = Callable[..., Content]


class Panel(Widget):
    """`draw` gets (sight, width=, height=, now=)."""

    DEFAULT_CSS = """
    Panel { border-top: solid $primary-darken-1; border-title-style: bold; padding: 0 1; height: 1fr; }
    """

    def __init__(self, title: str, draw: Drawing, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.border_title = title
        self._draw = draw
        self._sight: Sight | None = None

    def see(self, sight: Sight) -> None:
        """Show this sight."""
        self._sight = sight
        self.refresh()

    def render(self) -> Content:
        """The drawing, as large as the panel is."""
        size, app = self.content_size, self.app
        if self._sight is None or not size:
            return Content("")
        now = app.clock() if hasattr(app, "clock") else 0.0
        return self._draw(self._sight, width=size.width, height=size.height, now=now)
