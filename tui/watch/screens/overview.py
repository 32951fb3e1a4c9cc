"""The run at a glance: slots, curves, elites, rejection memory, workers and spending."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container

from ...snapshot import RunSnapshot
from ..panels import draw_elites, draw_fitness, draw_memory, draw_now, draw_slots, draw_spending, draw_workers
from ..titled_panel import Panel
from .page import Page


class OverviewScreen(Page):
    """The first screen."""

    name_of_page: ClassVar[str] = "overview"

    def body(self) -> ComposeResult:
        """Panels in two groups, side by side if there is room."""
        with Container(id="overview"):
            with Container(id="main"):
                yield Panel("At a glance", draw_now, id="now")
                yield Panel("Slots", draw_slots, id="slots", fits=True)
                yield Panel("Fitness", draw_fitness, id="fitness")
            with Container(id="side"):
                yield Panel("Elites", draw_elites, id="elites", fits=True)
                yield Panel("Rejection memory", draw_memory, id="rejections")
                yield Panel("Workers", draw_workers, id="workers", fits=True)
                yield Panel("Spent", draw_spending, id="spending", fits=True)

    def see(self, snapshot: RunSnapshot, *, now: float) -> None:
        """Show all panels."""
        super().see(snapshot, now=now)
        for panel in self.query(Panel):
            panel.see(snapshot, now=now)

    def tick(self, now: float) -> None:
        """Update the panels that show times: how long each model call has been open, and how long ago things were."""
        super().tick(now)
        for name in ("#now", "#workers"):
            self.query_one(name, Panel).tick(now)
