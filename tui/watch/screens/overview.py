"""The run at a glance: slots, curves, elites, rejection memory, workers and spending."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container

from ...snapshot import RunSnapshot
from ..panels import draw_elites, draw_fitness, draw_memory, draw_slots, draw_spending, draw_workers
from .page import Page, Panel


class OverviewScreen(Page):
    """The first screen."""

    name_of_page: ClassVar[str] = "overview"

    def body(self) -> ComposeResult:
        """Panels in two groups, side by side if there is room."""
        with Container(id="overview"):
            with Container(id="main"):
                yield Panel("Slots", draw_slots, id="slots")
                yield Panel("Fitness", draw_fitness, id="fitness")
            with Container(id="side"):
                yield Panel("Elites", draw_elites, id="elites")
                yield Panel("Rejection memory", draw_memory, id="rejections")
                yield Panel("Workers", draw_workers, id="workers")
                yield Panel("Spent", draw_spending, id="spending")

    def see(self, snapshot: RunSnapshot, *, now: float) -> None:
        """Show all panels."""
        super().see(snapshot, now=now)
        for panel in self.query(Panel):
            panel.see(snapshot, now=now)

    def tick(self, now: float) -> None:
        """Update the workers' panel, which shows how long each model call has been open."""
        super().tick(now)
        self.query_one("#workers", Panel).tick(now)
