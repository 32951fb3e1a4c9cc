"""The view of a live run that its displays share: its facts and its activity, with the clock of both."""

import time
from collections.abc import Callable

from ..core.events import EliteChanged, Fact
from ..memory.activity import UnderWay
from ..memory.run_view import RunView


def steady_clock() -> Callable[[], float]:
    """A clock of seconds since the epoch that stays monotonic when the machine's clock is set."""
    epoch, began = time.time(), time.monotonic()
    return lambda: epoch + time.monotonic() - began


class LiveView:
    """The view of a live run with bounded memory: it forgets the slots of completed generations."""

    def __init__(self) -> None:
        self.view = RunView()
        self.under_way = UnderWay()

    def on_fact(self, fact: Fact, at: float) -> None:
        """Add a fact."""
        self.view.apply(fact, at)
        self.under_way.on_fact(fact)
        if isinstance(fact, EliteChanged):
            self.view.slots.forget(fact.generation)
