"""The port of a display of a live run: the controller passes every fact to it, and calls `tick` at intervals.

A display may also be `Attentive`: then it also gets the started orders and the workers' tasks.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, runtime_checkable

from ..events import Fact


class Activity(Protocol):
    """The current task of one worker: the fields of the rollout pool's report that displays show."""

    @property
    def worker(self) -> int:
        """Its index, from 0."""

    @property
    def phase(self) -> str:
        """Such as "idle", "starting", "environment", "working"."""

    @property
    def doing(self) -> str | None:
        """Such as "roll", "score", "examine"."""

    @property
    def order(self) -> str | None:
        """The id of its order."""

    @property
    def steps(self) -> int:
        """The steps of its episode so far."""

    @property
    def node(self) -> str | None:
        """The node of a cluster that it is on."""


class Display(Protocol):
    """The controller's interface to a display. A display never slows a run down and never ends it."""

    folder: Path | None
    """The run's folder; None before `opened`."""

    def on_open(self, folder: Path) -> None:
        """The run is in `folder`."""

    def recall(self, facts: Iterable[Fact]) -> None:
        """Read the facts from before a resume, without showing them again."""

    def show(self, fact: Fact) -> None:
        """A fact was committed."""

    def tick(self) -> None:
        """Time has passed; a display may print or draw."""

    def close(self) -> None:
        """The controller has ended; the display shows nothing after this."""


@runtime_checkable
class Attentive(Protocol):
    """A display that also needs events that are not facts. No method may take long."""

    def on_begin(self, order: str) -> None:
        """An agent started the order with this id."""

    def on_retry(self, order: str, why: str) -> None:
        """The model call of this order is tried again; `why` says for which time, and what failed."""

    def observe(self, activity: Activity) -> None:
        """A worker of the rollout pool changed its task."""
